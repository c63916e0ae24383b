"""What happens in the process of a backend: it makes its model ready, and runs it when it is asked to."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeAlias

from neural_cost.analyzer.errors import NeuralCostError
from neural_cost.runtime.backends.protocol import Backend, Job, NativeCall, Ready
from neural_cost.runtime.inputs import Array
from neural_cost.runtime.rounds.arrays import read_arrays, write_list
from neural_cost.runtime.timing import paused, wall

Load: TypeAlias = Callable[[], NativeCall]
PR_SET_PDEATHSIG = 1
TAKE_GPUS = ("keras", "jax")
TARGET_S = 0.02  # of the samples of a round: enough calls that one interruption does not decide it


@dataclass(frozen=True)
class Order:
    """What a process is started with: it must survive pickling.

    Attributes:
        backend: how the model is run.
        load: makes the model of the framework, in this process.
        file: the ONNX file.
        threads: that it may use.
        device: that it asks for.
        log: where its output goes, so that it does not run over the user's terminal.
    """

    backend: Backend
    load: Load | None
    file: Path | None
    threads: int
    device: str
    log: Path


@dataclass(frozen=True)
class Started:
    """How long it took to make the model ready, and the first run; what a user should know of how it runs."""

    prepare_s: float
    first_s: float
    notes: tuple[str, ...] = ()


def work(order: Order, parent: Connection) -> None:
    """Answer the parent until it hangs up: a request is its number, a name and arguments; an answer has the number."""
    _alone(order)
    number = 0
    try:
        state = _Worker(order)
        parent.send((number, "done", None))
        while True:
            number, name, arguments = parent.recv()
            parent.send((number, "done", getattr(state, name)(*arguments)))
    except EOFError:
        return
    except BaseException as error:
        with suppress(OSError):
            said = " ".join(str(error).split())[:300]
            told = said if isinstance(error, NeuralCostError) else f"{type(error).__name__}: {said}"
            parent.send((number, "failed", told))


class _Worker:
    def __init__(self, order: Order) -> None:
        start = time.perf_counter()
        native = order.load() if order.load is not None else None
        self.load_s = time.perf_counter() - start
        self.order = order
        self.native = native
        self.make: Callable[[Mapping[str, Array]], Ready] | None = None
        self.ready: Ready | None = None
        self.calls = 1
        self.cpu_s = self.wall_s = 0.0  # of all samples

    def start(self, feeds: Path) -> Started:
        """Make the model ready for these inputs, and run it once; the next time, for others."""
        begin = time.perf_counter()
        if self.make is None:
            self.make = self.order.backend.prepare(
                Job(self.order.file, self.native, self.order.threads, self.order.device)
            )
        self.ready = self.make(read_arrays(feeds))
        prepared = time.perf_counter()
        self._time(1)  # which waits for a device that works by itself
        first = time.perf_counter()
        for _ in range(2):
            self.ready.run()
        once = self._time(1)
        self.calls = max(1, min(1000, round(TARGET_S / 4 / max(once, 1e-9))))
        return Started(prepared - begin, first - prepared, tuple(self.ready.notes()))

    def sample(self) -> list[float]:
        """Seconds of a call, several times."""
        samples: list[float] = []
        wall_s, cpu_s = time.perf_counter(), time.process_time()
        with paused():
            while len(samples) < 3 or (sum(samples) * self.calls < TARGET_S and len(samples) < 50):
                samples.append(self._time(self.calls) / self.calls)
        self.wall_s += time.perf_counter() - wall_s
        self.cpu_s += time.process_time() - cpu_s
        return samples

    def cpu_share(self) -> float | None:
        """CPU seconds of all threads for each second of sampling; None where a device does the work."""
        return self.cpu_s / self.wall_s if self.wall_s > 0 and self.order.device == "cpu" else None

    def outputs(self, file: Path) -> None:
        """Write the results of a run to a file."""
        assert self.ready is not None
        write_list(file, self.ready.outputs())

    def memory(self) -> int | None:
        """The most bytes that this process had in memory; None where a device has its own, which is in no such sum."""
        return resident_peak() if self.order.device == "cpu" else None

    def _time(self, calls: int) -> float:
        assert self.ready is not None
        return (self.ready.timer or wall)(self.ready.run, calls)


def resident_peak() -> int | None:
    """The most bytes of this process in memory; None where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    told = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(told) if sys.platform == "darwin" else int(told) * 1024


def _alone(order: Order) -> None:
    """Ctrl-C is the parent's to handle, output goes to a file, and only so many cores are used."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "setsid"):
        os.setsid()  # with all that it starts it is one group, which can be ended as one
    _end_with_parent()
    descriptor = os.open(order.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    if hasattr(os, "sched_setaffinity"):
        allowed = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, allowed[: order.threads])


def _end_with_parent() -> None:
    """Let the system end this process with its parent, however that ends."""
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def variables(order: Order) -> dict[str, Any]:
    """What the environment of a process says: threads, and no GPU for frameworks that would take it unasked."""
    found = thread_variables(order.threads, order.log.parent)
    if order.device == "cpu" and order.backend.framework in TAKE_GPUS:
        found |= {"CUDA_VISIBLE_DEVICES": "-1", "HIP_VISIBLE_DEVICES": "-1"}
    return found


def thread_variables(threads: int, folder: Path) -> dict[str, Any]:
    """Variables that libraries read when they start: how many threads to use, and where compiled code is kept.

    That is a folder of this comparison, or the first call would compile nothing that was compiled on another day.
    """
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TF_NUM_INTRAOP_THREADS")
    single = " --xla_cpu_multi_thread_eigen=false" if threads == 1 else ""
    return dict.fromkeys(names, str(threads)) | {
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",  # or it starts processes of its own
        "TF_NUM_INTEROP_THREADS": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "XLA_FLAGS": (os.environ.get("XLA_FLAGS", "") + single).strip(),
    }
