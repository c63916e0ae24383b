"""PyTorch: eager, `torch.compile`, and TorchScript."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

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
        function, example = job.native.function, job.native.example
        if job.device != "cpu" and isinstance(function, torch.nn.Module):
            function = function.to(job.device)
        made = self._made(function, [_tensor(array, job.device) for array in example.values()])

        def ready(feeds: Mapping[str, Array]) -> Ready:
            tensors = [_tensor(feeds[name], job.device) for name in example]

            def run() -> Any:
                with torch.inference_mode():
                    return made(*tensors)

            timer = cuda_timer if job.device.startswith("cuda") else None
            return Ready(run, lambda: _arrays(run()), timer)

        return ready

    def _made(self, function: Callable[..., Any], tensors: Sequence[Any]) -> Callable[..., Any]:
        import torch

        if self.name == "torch.compile":
            return torch.compile(function)  # type: ignore[no-any-return]
        if self.name == "torchscript":
            with warnings.catch_warnings(), torch.no_grad():
                warnings.simplefilter("ignore")
                return torch.jit.trace(function, tuple(tensors), check_trace=False)  # type: ignore[no-any-return]
        return function


def cuda_timer(fn: Callable[[], object], calls: int) -> float:
    """Seconds of so many calls by events of the device. It has never run on one: no GPU was at hand."""
    import torch

    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(calls):
        fn()
    end.record()
    torch.cuda.synchronize()
    return float(start.elapsed_time(end)) / 1e3


def _tensor(array: Array, device: str) -> Any:
    import torch

    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16).to(device)
    return torch.from_numpy(np.array(array, copy=True)).to(device)


def _arrays(found: Any) -> list[Array]:
    import torch
    import torch.utils._pytree as pytree

    leaves, _ = pytree.tree_flatten(found)
    return [leaf.float().cpu().numpy() if leaf.dtype == torch.bfloat16 else leaf.cpu().numpy()
            for leaf in leaves if isinstance(leaf, torch.Tensor)]  # fmt: skip
