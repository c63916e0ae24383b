"""PyTorch: modules and programs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, ClassVar

from neural_cost.adapters.exporting import ExportingAdapter
from neural_cost.adapters.trace import Event, Trace, check_runs
from neural_cost.runtime.timing import Timing

ALLOCATOR = (
    "allocated_bytes.all.current", "allocated_bytes.all.peak", "reserved_bytes.all.peak", "allocation.all.allocated",
    "num_alloc_retries", "num_ooms",
)  # fmt: skip


class TorchAdapter(ExportingAdapter):
    """Reads `torch.nn.Module`, and times it in eval mode without gradients. The module is left as it was."""

    framework: ClassVar[str] = "torch"

    def run(self, model: Any, inputs: Sequence[Any]) -> Callable[[], object]:
        """One call, and the end of what it started on an accelerator."""
        import torch

        wait = _synchronize(_devices(model, inputs))

        def run() -> None:
            with torch.inference_mode():
                model(*inputs)
            wait()

        return run

    def benchmark(self, model: Any, *inputs: Any, **options: Any) -> Timing:
        """Time the module on inputs; options are those of `neural_cost.benchmark`."""
        with _inference(model):
            return super().benchmark(model, *inputs, **options)

    def trace(self, model: Any, *inputs: Any, runs: int = 1) -> Trace:
        """Run the module under torch.profiler: sums over its operators, and the statistics of CUDA's allocator.

        Raises:
            OptionError: fewer runs than one.
        """
        import torch

        check_runs(runs)
        cuda = "cuda" in _devices(model, inputs)
        run = self.run(model, inputs)
        with _inference(model):
            run()  # what is done once is not in the trace
            if cuda:
                torch.cuda.reset_peak_memory_stats()
            with _profiled(cuda=cuda) as averages:
                for _ in range(runs):
                    run()
        told = torch.cuda.memory_stats() if cuda else None
        return Trace(
            framework=f"torch {torch.__version__}",
            runs=runs,
            events=tuple(sorted(map(_event, averages()), key=lambda event: -(event.cpu_s + event.device_s))),
            allocator=None if told is None else {name: int(told[name]) for name in ALLOCATOR if name in told},
        )


def _inference(model: Any) -> AbstractContextManager[object]:
    import torch

    from neural_cost.exporters.torch_state import as_for_inference

    return as_for_inference(model) if isinstance(model, torch.nn.Module) else nullcontext()


def _devices(model: Any, inputs: Sequence[Any]) -> set[str]:
    """Types of the devices that hold the model and its inputs."""
    import torch

    parameters = getattr(model, "parameters", None)
    held = list(parameters()) if callable(parameters) else []
    return {str(each.device.type) for each in (*held, *inputs) if isinstance(each, torch.Tensor)}


def _synchronize(devices: set[str]) -> Callable[[], object]:
    import torch

    if "cuda" in devices:
        wait: Callable[[], object] = torch.cuda.synchronize
        return wait
    return torch.mps.synchronize if "mps" in devices else lambda: None


@contextmanager
def _profiled(*, cuda: bool) -> Iterator[Callable[[], Any]]:
    """Profile what runs inside; the averages can be asked for afterwards."""
    from torch.profiler import ProfilerActivity, profile

    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if cuda else [])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with profile(activities=activities) as profiler:
            yield profiler.key_averages


def _event(average: Any) -> Event:
    """An average of torch's, whose times are microseconds."""
    return Event(
        name=average.key,
        calls=int(average.count),
        cpu_s=average.self_cpu_time_total * 1e-6,
        device_s=average.self_device_time_total * 1e-6,
    )
