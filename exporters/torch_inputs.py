"""How a module is called: its example inputs by the names of its parameters, flat and back."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from neural_cost.exporters.protocol import Array

if TYPE_CHECKING:
    from torch import Tensor, nn


@dataclass(frozen=True)
class Call:
    """The arguments of a call, in the order in which `forward` names them.

    Attributes:
        tensors: the tensors among them by name: that of the parameter, with the position or key inside it, `state_0`.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    tensors: dict[str, Tensor]

    def with_tensors(self, tensors: Mapping[str, Tensor]) -> Call:
        """The same call with other tensors."""
        import torch.utils._pytree as pytree

        rest = iter(tensors[name] for name in self.tensors)
        leaves, tree = pytree.tree_flatten((self.args, self.kwargs))
        args, kwargs = pytree.tree_unflatten([next(rest) if _is_tensor(leaf) else leaf for leaf in leaves], tree)
        return Call(args, kwargs, dict(tensors))

    def specification(self, forward: Callable[..., Any], of: Mapping[str, Any]) -> dict[str, Any]:
        """Something for each tensor, in the structure of the arguments, as `torch.export` takes dynamic shapes."""
        import torch.utils._pytree as pytree

        bound = inspect.signature(forward).bind(*self.args, **self.kwargs).arguments
        names = iter(self.tensors)
        return dict(pytree.tree_map(lambda leaf: of.get(next(names)) if _is_tensor(leaf) else None, dict(bound)))


def call_of(
    forward: Callable[..., Any], example_inputs: Any, device: Any, keywords: Collection[str] | None = None
) -> Call:
    """Read example inputs: a tensor, a sequence of arguments whose last may be a dict of keywords, or such a dict.

    Args:
        forward: what is called.
        example_inputs: its arguments.
        device: where the tensors are to be.
        keywords: parameters that are passed by name, all others by place; None leaves it to the signature.

    Raises:
        TypeError: they do not fit the parameters of `forward`.
    """
    args, kwargs = _split(example_inputs)
    signature = inspect.signature(forward)
    bound = signature.bind(*args, **kwargs)
    args, kwargs = _on(device, bound.args), _on(device, bound.kwargs)
    named = {name: _on(device, value) for name, value in bound.arguments.items()}
    if keywords is not None:
        args = tuple(value for name, value in named.items() if name not in keywords)
        kwargs = {name: named[name] for name in keywords if name in named}
        named = {name: value for name, value in named.items() if name not in keywords} | kwargs
    return Call(args, kwargs, dict(_named_tensors(named, signature)))


def to_numpy(tensor: Tensor) -> Array:
    """An array of the same type; bfloat16 as ml_dtypes has it."""
    import ml_dtypes
    import torch

    tensor = tensor.detach().cpu().resolve_conj().resolve_neg()
    if tensor.dtype == torch.bfloat16:
        return np.asarray(tensor.contiguous().view(torch.int16).numpy().view(ml_dtypes.bfloat16))
    return np.asarray(tensor.numpy())


def from_numpy(array: Array, device: Any) -> Tensor:
    """A tensor of the same type, with memory of its own."""
    import torch

    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16).to(device)
    return torch.from_numpy(np.array(array, copy=True)).to(device)


def device_of(module: nn.Module) -> Any:
    """Where the weights are; the CPU for a module without any."""
    import itertools

    import torch

    weights = itertools.chain(module.parameters(), module.buffers())
    return next((weight.device for weight in weights), torch.device("cpu"))


def tensors_of(output: Any) -> list[tuple[str, Tensor]]:
    """Tensors of an output, each with the keys and positions on the way to it."""
    import torch.utils._pytree as pytree

    leaves, _ = pytree.tree_flatten_with_path(output)
    return [("_".join(map(_step, path)), leaf) for path, leaf in leaves if _is_tensor(leaf)]


def _split(example_inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(example_inputs, Mapping):
        return (), dict(example_inputs)
    if not isinstance(example_inputs, Sequence):
        return (example_inputs,), {}
    args = tuple(example_inputs)
    if args and isinstance(args[-1], Mapping) and all(isinstance(key, str) for key in args[-1]):
        return args[:-1], dict(args[-1])
    return args, {}


def _on(device: Any, value: Any) -> Any:
    import torch
    import torch.utils._pytree as pytree

    def moved(leaf: Any) -> Any:
        if isinstance(leaf, np.ndarray):
            return from_numpy(leaf, device)
        return leaf.detach().to(device) if isinstance(leaf, torch.Tensor) else leaf

    return pytree.tree_map(moved, value)


def _named_tensors(named: Mapping[str, Any], signature: inspect.Signature) -> list[tuple[str, Tensor]]:
    """Names of tensors; what `**kwargs` takes goes by its own name."""
    import torch.utils._pytree as pytree

    spread = {name for name, each in signature.parameters.items() if each.kind is inspect.Parameter.VAR_KEYWORD}
    leaves, _ = pytree.tree_flatten_with_path(dict(named))
    found = []
    for path, leaf in leaves:
        steps = [_step(step) for step in path]
        if _is_tensor(leaf):
            found.append(("_".join(steps[1:] if steps[0] in spread else steps), leaf))
    return found


def _step(key: Any) -> str:
    return str(getattr(key, "key", getattr(key, "idx", getattr(key, "name", key))))


def _is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)
