"""Calibrations in a row agree, or the machine is said to be noisy; a disturbed one does not replace a good one."""

from dataclasses import replace
from itertools import pairwise

import pytest

from neural_cost.analyzer.calibration import Calibration, Rate
from neural_cost.analyzer.recalibration import disagreement, ratios, worse
from neural_cost.analyzer.tables.calibration import calibration_page
from neural_cost.analyzer.tables.text import to_text
from neural_cost.cli import main
from neural_cost.runtime.calibrate import store
from neural_cost.runtime.calibrate.place import identity
from neural_cost.runtime.detect import detect_cpu

LOADED = ("something else had the processor",)


def made(per_s=(100e9, 50e9), spread=0.01, disturbed=(), date="2026-01-01"):
    product, memory = per_s
    rates = (
        Rate(what="float32", threads=1, size=256, per_s=product, spread=spread),
        Rate(what="bandwidth", threads=1, size=65536, per_s=memory, spread=spread),
    )
    return Calibration(
        machine={"name": "Made"}, date=date, versions={}, rates=rates, dispatch_s=1e-6, left_out={}, disturbed=disturbed
    )


def test_three_in_a_row_that_agree():
    """100, 109 and 105 GFLOP/s are within 10 % of each other; 50, 46 and 49 GB/s too."""
    row = [made(), made((109e9, 46e9)), made((105e9, 49e9))]
    assert [disagreement(after, before) for before, after in pairwise(row)] == [None, None]


@pytest.mark.parametrize(
    ("rates", "told"),
    [
        ((100e9, 56e9), "1 of 2 figures are more than 10% from those of 2026-01-01, most of all bandwidth at 64 KiB on "
                        "1 thread: 1.12 times as fast"),
        ((80e9, 44e9), "2 of 2 figures are more than 10% from those of 2026-01-01, most of all float32 at n = 256 on "
                       "1 thread: 0.80 times as fast"),
    ],
)  # fmt: skip
def test_two_that_do_not_agree(rates, told):
    assert disagreement(made(rates), made()) == f"the machine is noisy, or has changed: {told}"


def test_only_points_that_both_have_are_compared():
    before = made()
    after = replace(before, rates=(before.rates[0], replace(before.rates[1], size=1 << 20, per_s=1.0)))
    assert ratios(after, before) == [(before.rates[0], 1.0)]
    assert disagreement(after, before) is None
    alien = replace(before, rates=(replace(before.rates[0], what="int8"),), disturbed=LOADED)
    assert worse(alien, replace(before, disturbed=LOADED)) is None


NOISY_SPREAD = 0.2
CASES = {
    "a quiet one replaces any": (made((50e9, 20e9)), made(), False),
    "a quiet one replaces a disturbed one": (made(), made(disturbed=LOADED), False),
    "a disturbed one does not replace a quiet one": (made(disturbed=LOADED), made(), True),
    "nor if it is faster": (made((120e9, 60e9), disturbed=LOADED), made(), True),
    "a noisy one does not replace a quiet one": (made(spread=NOISY_SPREAD), made(), True),
    "of two disturbed the later, if it is about as fast": (
        made((95e9, 47e9), disturbed=LOADED), made(disturbed=LOADED), False,
    ),
    "of two disturbed the faster": (made((80e9, 40e9), disturbed=LOADED), made(spread=NOISY_SPREAD), True),
}  # fmt: skip


@pytest.mark.parametrize(("found", "before", "left_out"), CASES.values(), ids=CASES)
def test_which_of_two_is_used(found, before, left_out, monkeypatch, tmp_path):
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    store.keep(before)
    found = replace(found, date="2026-02-02")
    kept = store.keep(found)
    assert (kept.instead is not None) is left_out
    assert store.stored(found.machine).date == ("2026-01-01" if left_out else "2026-02-02")
    if left_out:
        assert kept.instead == before
        assert kept.why.startswith("this calibration is doubtful (")
    assert store.keep(found, force=True).instead is None
    assert store.stored(found.machine).date == "2026-02-02"


def test_how_much_slower_is_told():
    """Both points at 0.8 of what they were."""
    assert worse(made((80e9, 40e9), disturbed=LOADED), made()) == (
        "this calibration is doubtful (something else had the processor), and 20% slower"
    )


def test_the_disagreement_stays_with_what_is_kept(monkeypatch, tmp_path):
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    assert store.keep(made()).calibration == made()
    store.keep(made((80e9, 50e9)))
    kept = store.stored({"name": "Made"})
    assert "the machine is noisy, or has changed: 1 of 2 figures" in " ".join(to_text(calibration_page(kept)).split())
    assert kept.device().notes == kept.notes


def test_the_spread_of_samples_is_a_doubt():
    assert made().doubts == []
    assert made(spread=0.2).doubts == ["the machine is noisy: a median sample took 20% longer than the best"]
    assert "20% longer" in to_text(calibration_page(made(spread=0.2)))


DAMAGE = {
    "cut off": lambda text: text[: len(text) // 2],
    "of another version": lambda text: text.replace('"version": 1', '"version": 99'),
    "without a field": lambda text: text.replace('"rates"', '"rate"'),
    "of negative rates": lambda text: text.replace("100000000000.0", "-1.0"),
    "of no number": lambda text: text.replace("100000000000.0", "NaN"),
    "of a text for a rate": lambda text: text.replace("100000000000.0", '"fast"'),
    "of another machine": lambda text: text.replace('"Made"', '"Other"'),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_one_is_not_used_and_that_is_said(damage, monkeypatch, tmp_path, caplog):
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    assert store.stored({"name": "Made"}) is None
    assert caplog.messages == []
    file = store.store(made())
    sound = file.read_text()
    assert store.stored({"name": "Made"}) == made()
    file.write_text(damage(sound))
    assert file.read_text() != sound
    assert store.stored({"name": "Made"}) is store.stored({"name": "Made"}) is None
    (said,) = caplog.messages
    assert said.startswith(f"{file}: this calibration is not used (")


def command(monkeypatch, capsys, *options):
    monkeypatch.setattr("sys.argv", ["neural-cost", "hardware", *options])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    return ended.value.code, said.out, " ".join(said.err.replace("│", " ").split())


def test_the_command_says_which_it_keeps(monkeypatch, capsys, tmp_path):
    machine = identity(detect_cpu())
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    store.store(replace(made(), machine=machine))
    later = replace(made(disturbed=LOADED, date="2026-02-02"), machine=machine)
    monkeypatch.setattr("neural_cost.runtime.calibrate.calibrate.calibrate", lambda progress: later)
    code, out, err = command(monkeypatch, capsys, "--calibrate", "--format", "json")
    assert code == 0
    assert "Not kept: this calibration is doubtful (something else had the processor)" in err
    assert "the calibration of 2026-01-01" in err
    assert '"calibration_in_use": "2026-01-01"' in out
    code, out, err = command(monkeypatch, capsys, "--calibrate", "--force", "--format", "json")
    assert (code, err) == (0, "")
    assert '"calibration_in_use": "2026-02-02"' in out


def test_force_alone_is_a_misuse(monkeypatch, capsys):
    code, out, err = command(monkeypatch, capsys, "--force")
    assert (code, out) == (2, "")
    assert "--force needs --calibrate" in err
