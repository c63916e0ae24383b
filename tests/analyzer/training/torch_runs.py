"""Torch's own figures of a training pass: MACs by its counter, and the bytes of what autograd keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def plain_kernels() -> Iterator[None]:
    """Kernels that torch's counter sees: neither mkldnn's nor fused attention, nor the encoder's own for inference."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with sdpa_kernel(SDPBackend.MATH), torch.backends.mkldnn.flags(enabled=False):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)


def real_outputs(found: Any) -> list[Any]:
    """All tensors of real numbers in what a module gives."""
    import torch

    if torch.is_tensor(found):
        return [found] if found.is_floating_point() and found.requires_grad else []
    values = found.values() if hasattr(found, "values") else found if isinstance(found, list | tuple) else ()
    return [tensor for each in values for tensor in real_outputs(each)]


def backward_macs(run: Callable[[], Any]) -> int:
    """MACs of the backward pass of the sum of all outputs."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    with plain_kernels():
        with torch.no_grad(), FlopCounterMode(display=False) as forward:
            run()
        with FlopCounterMode(display=False) as both:
            outputs = real_outputs(run())
            torch.autograd.backward(outputs, [torch.ones_like(each) for each in outputs])
    macs, rest = divmod(both.get_total_flops() - forward.get_total_flops(), 2)
    assert rest == 0
    return macs


def saved_tensors(module: Any, run: Callable[[], Any]) -> list[Any]:
    """What autograd keeps of one pass, each memory once; parameters and buffers are no activations."""
    import torch

    own = {each.untyped_storage().data_ptr() for each in (*module.parameters(), *module.buffers())}
    found: dict[int, Any] = {}

    def keep(tensor: Any) -> Any:
        at = tensor.untyped_storage().data_ptr()
        if at not in own and tensor.numel():
            found[at] = tensor
        return tensor

    with plain_kernels(), torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        outputs = real_outputs(run())
    assert outputs
    return list(found.values())


def saved_bytes(module: Any, run: Callable[[], Any]) -> int:
    """Bytes of the memories that autograd keeps, whole."""
    return sum(tensor.untyped_storage().nbytes() for tensor in saved_tensors(module, run))


# FLOPs of each element that is read, and of each that is written, by the operators of optimizers' steps.
OF_READ = {"linalg_vector_norm": 2, "mean": 1, "norm": 2}
OF_WRITTEN = {
    "linalg_vector_norm": 1, "norm": 1, "mean": 1, "lerp_": 3, "mul_": 1, "mul": 1, "div_": 1, "div": 1, "square_": 1,
    "pow_": 1, "pow": 1, "sqrt": 1, "rsqrt_": 1, "clamp_": 1, "clamp_min_": 1, "addcmul_": 3, "addcdiv_": 3, "mm": 1,
    "bmm": 1,
}  # fmt: skip
FREE = {"clone", "detach", "view", "expand", "_unsafe_view", "zeros_like", "conj", "_local_scalar_dense", "empty_like"}


def elementwise_flops(run: Callable[[], Any]) -> int:
    """FLOPs of all that torch runs; what it gives one element of for a tensor or a matrix is left out."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    found = 0

    class Counter(TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            nonlocal found
            result = function(*args, **(kwargs or {}))
            name = function.overloadpacket.__name__
            if name in FREE or not torch.is_tensor(result):
                return result
            found += OF_READ.get(name, 0) * args[0].numel()
            if result.numel() > 1 and result.shape[-2:] != (1, 1):
                scaled = 2 if (kwargs or {}).get("alpha", 1) != 1 else 1
                found += result.numel() * (scaled if name == "add_" else OF_WRITTEN[name])
            return result

    with Counter():
        run()
    return found
