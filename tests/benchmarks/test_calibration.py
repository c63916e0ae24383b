"""The references in C do what they say, and the page holds both sides against each other."""

import shutil

import pytest

from benchmarks import calibration
from benchmarks.calibration import Row, build, main, rows_of, table


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc")
    return build(tmp_path_factory.mktemp("built"))


def test_more_work_takes_longer(library):
    """Nothing of it was optimized away: 32 times the elements or steps take several times as long."""
    for seconds in (library.triad_seconds, library.sum_seconds):
        short, long = (min(seconds(elements, 64) for _ in range(20)) for elements in (4096, 32 * 4096))
        assert long > 4 * short > 0
    few, many = (min(library.fma_seconds(steps) * steps for _ in range(20)) for steps in (2000, 64_000))
    assert many > 4 * few > 0


def test_flops_of_a_step(library):
    """10 chains of vectors of 4, 8 or 16 floats; a multiply-add is 2."""
    assert library.fma_flops() in {2 * 10 * lanes for lanes in (4, 8, 16)}


def test_both_sides_are_measured(library):
    rows = list(rows_of(library, [64 << 10], 0.001))
    for number, row in enumerate(rows):
        row.turn(number)
    assert [row.name for row in rows] == [
        "float32, GFLOP/s", "sum of arrays, 64 KiB, GB/s", "row times matrix, 64 KiB, GB/s",
    ]  # fmt: skip
    assert all(min(row.best) > 0 for row in rows)


def test_the_ratio_is_of_the_same_round():
    """Ratios 0.5, 0.9 and 1.0 have the median 0.9; the two best, 4 and 6, would have 1.5."""
    row = Row("x", lambda: 0.0, lambda: 0.0, found=[(2.0, 1.0), (4.0, 3.6), (6.0, 6.0)])
    assert row.ratio == pytest.approx(0.9)
    assert "| x | 6.0 | 6.0 | 0.90 | 0.50 to 1.00 | within |" in table([row])
    assert "beyond" in table([Row("x", lambda: 0.0, lambda: 0.0, found=[(1.0, 1.16)])])


def test_half_of_the_rounds():
    """Of 1, 2, ..., 8 the two smallest and the two largest are outside."""
    row = Row("x", lambda: 0.0, lambda: 0.0, found=[(1.0, float(ours)) for ours in (8, 1, 7, 2, 6, 3, 5, 4)])
    assert row.middle == (3.0, 6.0)


def test_what_rounds_do_not_agree_on_is_undecided():
    """Ratios 0.8, 1.1, 1.3, 1.4, 1.5: the middle one is beyond 15 %, and half of them reach down to 1.1."""
    row = Row("x", lambda: 0.0, lambda: 0.0, found=[(1.0, ours) for ours in (1.5, 0.8, 1.3, 1.4, 1.1)])
    assert row.verdict == "undecided"
    assert Row("x", lambda: 0.0, lambda: 0.0, judged=False, found=row.found).verdict == ""


def test_each_round_has_another_order():
    order = []
    row = Row("x", lambda: order.append("C") or 2.0, lambda: order.append("ours") or 3.0)
    row.turn(0)
    row.turn(1)
    assert order == ["C", "ours", "ours", "C"]
    assert row.found == [(2.0, 3.0)] * 2


def test_without_a_compiler(monkeypatch, capsys):
    monkeypatch.setattr(calibration.shutil, "which", lambda name: None)
    assert main(["--rounds", "1"]) == 2
    assert "no gcc" in capsys.readouterr().err
