"""What an export of a module depends on: weights, structure, source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from neural_cost.exporters.cache import digest_of, user_sources

if TYPE_CHECKING:
    from torch import Tensor, nn

PLAIN = (bool, int, float, str, bytes, type(None))


def content_of(model: Any, example_inputs: Any) -> bytes:
    """A digest of a module or program and of the kind of its inputs."""
    import torch

    if isinstance(model, torch.export.ExportedProgram):
        return digest_of(iter([str(model.graph), *_tensors(model.state_dict), *_inputs(example_inputs)]))
    return digest_of(iter([*_module(model), *_inputs(example_inputs), *user_sources()]))


def _module(module: nn.Module) -> Iterator[Any]:
    yield repr(module)
    yield from _tensors(module.state_dict())
    for name, each in module.named_modules():
        plain = sorted((key, value) for key, value in vars(each).items() if _is_plain(value) and key != "training")
        yield name, type(each).__module__, type(each).__qualname__, plain
    tensors = {name: value for name, value in module.named_buffers() if value is not None}
    yield from _tensors(tensors)  # those that a state_dict leaves out


def _tensors(named: dict[str, Any]) -> Iterator[Any]:
    for name, tensor in named.items():
        if hasattr(tensor, "shape"):
            yield name, str(tensor.dtype), tuple(tensor.shape)
            yield _bytes(tensor)
        else:
            yield name, tensor


def _bytes(tensor: Tensor) -> bytes | memoryview:
    import torch

    flat = tensor.detach().cpu().contiguous().reshape(-1)
    return memoryview(flat.view(torch.uint8).numpy()) if flat.numel() else b""


def _inputs(example_inputs: Any) -> Iterator[Any]:
    """Types and shapes of tensors, and all else as it is."""
    import torch.utils._pytree as pytree

    leaves, tree = pytree.tree_flatten(example_inputs)
    yield str(tree)
    for leaf in leaves:
        yield (str(leaf.dtype), tuple(leaf.shape)) if hasattr(leaf, "dtype") else leaf


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    return isinstance(value, PLAIN)
