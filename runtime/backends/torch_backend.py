"""PyTorch: eager, `torch.compile`, and TorchScript."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from neural_cost.analyzer.errors import BackendError
from neural_cost.runtime.backends.protocol import Job, Ready
from neural_cost.runtime.inputs import Array


@dataclass(frozen=True)
class Torch:
    """PyTorch in one of its ways: "torch", "torch.compile" or "torchscript"."""

    name: str
    framework: str = "torch"

    def missing(self) -> str | None:
        """The extra."""
        return None if find_spec("torch") else "pip install 'neural-cost[torch]'"

    def prepare(self, job: Job) -> Callable[[Mapping[str, Array]], Ready]:
        """Compile or trace the model, if that is the way."""
        import torch

        assert job.native is not None
        torch.set_num_threads(job.threads)
        if job.device.startswith("cuda") and not torch.cuda.is_available():
            raise BackendError("this torch has no CUDA device: install one that is built for it, and check the driver")
        function, example = job.native.function, job.native.example
        if job.device != "cpu" and isinstance(function, torch.nn.Module):
            function = function.to(job.device)
        made = self._made(function, [_tensor(array, job.device) for array in example.values()])

        def ready(feeds: Mapping[str, Array]) -> Ready:
            tensors = [_tensor(feeds[name], job.device) for name in example]
            if self.name == "torch.compile":
                torch.compiler.reset()  # or a second size gets code for any size, and a ninth none

            def run() -> Any:
                with torch.inference_mode():
                    return made(*tensors)

            timer = cuda_wall if job.device.startswith("cuda") else None
            notes = compiler_notes if self.name == "torch.compile" else tuple
            return Ready(run, lambda: _arrays(run()), timer, notes)

        return ready

    def _made(self, function: Callable[..., Any], tensors: Sequence[Any]) -> Callable[..., Any]:
        import torch

        if self.name == "torch.compile":
            return torch.compile(function, dynamic=False)  # type: ignore[no-any-return]
        if self.name == "torchscript":
            with warnings.catch_warnings(), torch.no_grad():
                warnings.simplefilter("ignore")
                return torch.jit.trace(function, tuple(tensors), check_trace=False)  # type: ignore[no-any-return]
        return function


def compiler_notes() -> list[str]:
    """What `torch.compile` left as it was: it says nothing by itself, and leaves recurrent layers."""
    from torch._dynamo.utils import counters

    graphs, breaks = counters["stats"]["unique_graphs"], sum(counters["graph_break"].values())
    if graphs == 0:
        return ["torch.compile compiled nothing of it, and runs it as it is"]
    return [f"torch.compile left parts as they are: {breaks} breaks between {graphs} graphs"] if breaks else []


def cuda_wall(fn: Callable[[], object], calls: int) -> float:
    """Seconds of so many calls, each of which is over before the next begins: as ONNX Runtime's are.

    Without that the host would start one call while the device is at another, and no one would have waited less.
    """
    import torch

    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(calls):
        fn()
        torch.cuda.synchronize()
    return time.perf_counter() - start


def cuda_timer(fn: Callable[[], object], calls: int) -> float:
    """Seconds of so many calls by events of the device, one after the other: a `timer` of `benchmark`.

    It has never run on a GPU: none was at hand.
    """
    import torch

    seconds = 0.0
    torch.cuda.synchronize()
    for _ in range(calls):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        fn()
        end.record()
        torch.cuda.synchronize()
        seconds += float(start.elapsed_time(end)) / 1e3
    return seconds


def _tensor(array: Array, device: str) -> Any:
    import torch

    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16).to(device)
    return torch.from_numpy(np.array(array, copy=True)).to(device)


def _arrays(found: Any) -> list[Array]:
    import torch
    import torch.utils._pytree as pytree

    leaves, _ = pytree.tree_flatten(found)
    return [_array(leaf.detach().cpu()) for leaf in leaves if isinstance(leaf, torch.Tensor)]


def _array(tensor: Any) -> Array:
    """An array of the same type, by which its tolerance goes."""
    import torch

    if tensor.dtype != torch.bfloat16:
        return np.asarray(tensor.resolve_conj().resolve_neg().numpy())
    import ml_dtypes

    return np.asarray(tensor.contiguous().view(torch.int16).numpy().view(ml_dtypes.bfloat16))
