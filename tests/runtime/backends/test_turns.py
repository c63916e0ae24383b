"""Backends in processes of their own: one that fails, crashes or hangs is told of, and the others are measured."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from neural_cost.runtime.rounds.arrays import write_arrays
from neural_cost.runtime.rounds.rounds import Plan, Run, order_of, take_turns
from tests.runtime.backends.pretenders import PIDS, Pretender

QUICK = {"budget_s": 0.0, "timeout_s": 20.0}


def turns(folder, *backends, tell=lambda stage: None, **options):
    """Runs by the name of the backend, and whether it was interrupted."""
    feeds = folder / "feeds.npz"
    write_arrays(feeds, {"x": np.ones((2, 3), np.float32)})
    orders = [order_of(folder, backend=each, load=None, file=None, threads=1, device="cpu") for each in backends]
    runs, interrupted = take_turns(orders, feeds, Plan(**{**QUICK, **options}), folder, tell)
    return {run.name: run for run in runs}, interrupted


def test_the_good_are_measured_beside_the_bad(tmp_path):
    names = ("raise", "crash", "leave", "absent", "crash later")
    found, interrupted = turns(tmp_path, Pretender("good"), *map(Pretender, names), Pretender("slow", sleep_s=0.004))
    assert not interrupted
    for name in ("good", "slow"):
        assert found[name].error is None
        assert len([each for each in found[name].rounds if each]) == 8
        assert np.array_equal(found[name].arrays[0], np.full((2, 3), 2, np.float32))
        assert found[name].memory > 1 << 20
    assert min(found["slow"].samples) > 2 * min(found["good"].samples)
    assert found["raise"].error == "RuntimeError: no such kernel"
    assert found["crash"].error == "its process was killed by signal 6: about to crash"
    assert found["leave"].error == "its process ended with code 3: about to leave"
    assert found["absent"].error == "not installed: pip install nothing"
    assert "killed by signal 6" in found["crash later"].error
    assert all(found[name].arrays is None for name in names)


def test_the_share_of_the_processor_is_told(tmp_path):
    """A pretender sleeps most of its time."""
    found, _ = turns(tmp_path, Pretender("good", sleep_s=0.01))
    assert 0 < found["good"].cpu_share < 0.5


def test_samples_of_one_round_are_one():
    run = Run("name", "onnx", rounds=[[1.0, 2.0, 9.0], [], [4.0]])
    assert run.medians == [2.0, 4.0]


def test_one_that_hangs_is_ended(tmp_path):
    start = time.perf_counter()
    found, _ = turns(tmp_path, Pretender("hang"), Pretender("good"), timeout_s=2.0)
    assert found["hang"].error == "it did not answer for 2 s and was ended"
    assert found["good"].error is None
    assert time.perf_counter() - start < 60


@pytest.fixture
def pids(tmp_path, monkeypatch):
    """Where pretenders and their children leave their ids."""
    (tmp_path / "pids").mkdir()
    monkeypatch.setenv(PIDS, str(tmp_path / "pids"))
    return tmp_path / "pids"


def living(folder, number):
    """Ids of so many processes that still live, after they had time to end."""
    found = [int(file.name) for file in folder.iterdir()]
    assert len(found) == number
    until = time.monotonic() + 5
    while any(map(lives, found)) and time.monotonic() < until:
        time.sleep(0.05)
    return [pid for pid in found if lives(pid)]


def lives(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


only_linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@only_linux
def test_what_a_backend_started_ends_with_it(tmp_path, pids):
    found, _ = turns(tmp_path, Pretender("hang with a child"), Pretender("crash later"), timeout_s=3.0)
    assert "did not answer" in found["hang with a child"].error
    assert living(pids, 3) == []


@only_linux
def test_backends_end_with_the_one_who_compares(tmp_path, pids):
    write_arrays(tmp_path / "feeds.npz", {"x": np.ones((2, 3), np.float32)})
    code = (
        "import sys; sys.path[:] = sys.argv[1].split('|'); from pathlib import Path\n"
        "from tests.runtime.backends.test_turns import turns, Pretender\n"
        "turns(Path(sys.argv[2]), Pretender('good'), Pretender('hang'), timeout_s=600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, "|".join(sys.path), str(tmp_path)])
    until = time.monotonic() + 60
    while len(list(pids.iterdir())) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    parent.kill()
    parent.wait()
    assert living(pids, 2) == []


def test_other_sizes(tmp_path):
    other = tmp_path / "other.npz"
    write_arrays(other, {"x": np.ones((8, 3), np.float32)})
    found, _ = turns(tmp_path, Pretender("good"), others={8: other})
    assert len(found["good"].others[8]) == 5


def test_an_interrupt_keeps_what_was_measured(tmp_path):
    def tell(stage):
        if stage == "round 4":
            threading.Timer(0.0, os.kill, (os.getpid(), signal.SIGINT)).start()
            time.sleep(0.2)

    found, interrupted = turns(tmp_path, Pretender("good"), Pretender("slow"), tell=tell, budget_s=60.0)
    assert interrupted
    assert 3 <= len(found["good"].rounds) < 8
    assert found["good"].arrays is not None


def test_a_model_that_cannot_be_handed_over(tmp_path):
    feeds = tmp_path / "feeds.npz"
    write_arrays(feeds, {"x": np.ones(2)})
    order = order_of(tmp_path, backend=Pretender("good"), load=lambda: None, file=None, threads=1, device="cpu")
    (run,), _ = take_turns([order], feeds, Plan(**QUICK), tmp_path, lambda stage: None)
    assert run.error.startswith("the model cannot be handed to a process of its own")
    assert "module:factory" in run.error


@pytest.mark.parametrize("name", ["OMP_NUM_THREADS", "XLA_FLAGS"])
def test_the_environment_is_put_back(name, tmp_path):
    before = os.environ.get(name)
    turns(tmp_path, Pretender("good"))
    assert os.environ.get(name) == before


def interrupting(stage_of_interrupt, after_s=0.0):
    """A progress that presses Ctrl-C so long after a stage has begun."""

    def tell(stage):
        if stage == stage_of_interrupt:
            threading.Timer(after_s, os.kill, (os.getpid(), signal.SIGINT)).start()

    return tell


def test_an_answer_that_comes_after_an_interrupt_is_not_taken_for_another(tmp_path):
    """It comes in the middle of a sample of 3 x 0.15 s; memory and share of the processor, asked next, are right."""
    tell = interrupting("round 3", after_s=0.2)
    found, interrupted = turns(tmp_path, Pretender("slow", sleep_s=0.15), tell=tell, budget_s=60.0)
    assert interrupted
    assert found["slow"].error is None
    assert found["slow"].memory > 1 << 20
    assert 0 < found["slow"].cpu_share < 0.5
    assert np.array_equal(found["slow"].arrays[0], np.full((2, 3), 2, np.float32))


def test_an_interrupt_does_not_wait_for_one_that_takes_long(tmp_path):
    """Started are a good one and then one that hangs: that is left out, and the good one's results are there."""
    tell = interrupting("starting hang", after_s=4.0)
    start = time.perf_counter()
    found, interrupted = turns(tmp_path, Pretender("good"), Pretender("hang"), tell=tell, timeout_s=600.0)
    assert interrupted
    assert found["hang"].error == "it had no answer yet when it was interrupted"
    assert found["good"].error is None
    assert found["good"].arrays is not None
    assert time.perf_counter() - start < 60
