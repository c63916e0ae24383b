"""The check for a GPU: it ends where there is none, and its own code runs here with the CPU under the name of CUDA."""

import json

import pytest

from benchmarks import gpu_check
from neural_cost.runtime import detect, gpus, providers, this_machine
from neural_cost.runtime.calibrate import calibrate, place, store
from neural_cost.runtime.calibrate.calibrate import Plan
from neural_cost.runtime.gpus import Gpu

A100 = Gpu(name="NVIDIA A100-SXM4-80GB", vendor="NVIDIA", memory_bytes=80 << 30, driver="580.1")


def test_without_a_gpu_it_ends(monkeypatch, capsys):
    monkeypatch.setattr(gpus, "detect_gpus", list)
    assert gpu_check.main([]) == 4
    assert capsys.readouterr() == (
        "",
        "no GPU: neither nvidia-ml-py nor nvidia-smi tells of one, so nothing was checked\n",
    )


@pytest.fixture
def pretended(monkeypatch, tmp_path):
    """CUDA is the CPU under another name, and drivers tell of an A100."""
    for module in (gpus, place, this_machine, detect):
        monkeypatch.setattr(module, "detect_gpus", lambda: [A100])
    for names in (providers.PROVIDERS, place.PROVIDERS):
        monkeypatch.setitem(names, "cuda", providers.CPU)
    monkeypatch.setattr(calibrate, "GPU_PLAN", Plan(budget_s=0.1, passes=1, sizes=(64,), types=("float32",),
                                                    working_sets=(1 << 20,)))  # fmt: skip
    monkeypatch.setattr(place, "COPIED", (1 << 20,))
    monkeypatch.setattr(store, "FOLDER", tmp_path / "kept")
    monkeypatch.setattr(gpu_check, "compared", lambda name: (None, "not here", {}))


@pytest.mark.usefixtures("pretended")
def test_a_cpu_under_the_name_of_a_gpu_does_not_pass(capsys, tmp_path):
    """Results are right; but nothing ran on CUDA, and it is far slower than the datasheet of an A100."""
    file = tmp_path / "seen.json"
    assert gpu_check.main(["--output", str(file)]) == 1
    verdicts = {each["name"]: each["holds"] for each in json.loads(file.read_text())}
    assert verdicts == {
        "detect": True, "session": True, "calibrate": False, "what CUDA lacks": False,
        "results, cnn": True, "profile, cnn": False, "compare, cnn": None,
        "results, transformer": True, "profile, transformer": False, "compare, transformer": None,
    }  # fmt: skip
    out = capsys.readouterr().out
    assert "4 of 10 fail: calibrate, what CUDA lacks, profile, cnn, profile, transformer" in out
    assert "mapped 100.0% of time, 100.0% of MACs" in out
    assert "Error" not in out


def test_an_error_is_a_failure(capsys):
    found = gpu_check.checked("it", lambda: 1 / 0)
    assert (found.holds, found.seen) == (False, "ZeroDivisionError: division by zero")
    assert str(found).startswith("FAILS   it")
