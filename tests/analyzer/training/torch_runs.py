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
