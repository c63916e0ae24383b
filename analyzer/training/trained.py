"""Which weights are trained: those of real numbers of 16 bits and more, but for the frozen ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from neural_cost.analyzer.errors import OptionError
from neural_cost.analyzer.node import Tensor
from neural_cost.analyzer.parameters import Weight, distinct
from neural_cost.analyzer.training.flow import Turn, is_real
from neural_cost.analyzer.training.storage import Storage
from neural_cost.analyzer.walk import NodeCost

SHOWN = 3
TRAINABLE = {"float64", "float32", "float16", "bfloat16", "complex64", "complex128"}  # narrower ones are quantized


class Trained(NamedTuple):
    """Weights as the file stores them, and the tensors under which nodes read those that are trained.

    Attributes:
        named: the trained ones by the names that nodes read them under.
    """

    trained: Sequence[Weight]
    frozen: Sequence[Weight]
    tensors: Sequence[Tensor]
    named: Mapping[str, Weight]


def choose(nodes: Sequence[NodeCost], weights: Mapping[str, Weight], freeze: Iterable[str], path: str) -> Trained:
    """Split weights by patterns of the names that they, or what they are made of at load time, have in the file.

    A weight that an exporter has turned, and given a number for a name, goes by the module that reads it as well.

    Raises:
        OptionError: a pattern fits no weight.
    """
    made = _makers(nodes)
    names = {name: {name, weight.stored.name, *_origins(made, name)} for name, weight in weights.items()}
    for name, modules in _modules(nodes).items():
        if not any("." in each for each in names.get(name, ["."])):
            names[name] |= modules
    for pattern in freeze:
        if not any(fnmatchcase(each, pattern) for known in names.values() for each in known):
            some = ", ".join(f'"{weight.stored.name}"' for weight in distinct(weights.values())[:SHOWN])
            raise OptionError(
                f'{path}: no weight fits freeze "{pattern}"; names are such as {some or "none: it has none"}.'
            )
    fixed = {
        name
        for name, known in names.items()
        if weights[name].stored.dtype not in TRAINABLE
        or any(fnmatchcase(each, one) for each in known for one in freeze)
    }
    named = {name: weight for name, weight in weights.items() if name not in fixed}
    frozen = [weight for name, weight in weights.items() if name in fixed]
    return Trained(distinct(named.values()), distinct(frozen), _tensors(nodes, named), named)


def without_gradient(chosen: Trained, flow: Iterable[Turn], storage: Storage) -> list[Weight]:
    """Trained weights that no gradient reaches: nothing that is put out depends on them, but by what jumps."""
    read = {tensor for turn in flow for tensor in map(turn.node.node.required, turn.wants)}
    names = {tensor.name for tensor in read} | {storage.root(tensor).name for tensor in read}
    reached = {weight.stored.name for name, weight in chosen.named.items() if name in names}
    return [weight for weight in chosen.trained if weight.stored.name not in reached]


def _tensors(nodes: Iterable[NodeCost], names: Iterable[str]) -> list[Tensor]:
    wanted = frozenset(names)
    read = (tensor for each in nodes if not each.constant for tensor in each.node.inputs)
    return list(dict.fromkeys(tensor for tensor in read if tensor and tensor.constant and tensor.name in wanted))


def _modules(nodes: Iterable[NodeCost]) -> dict[str, set[str]]:
    """What a weight would be called in the modules that read it, as PyTorch names them: "layers.0.linear.weight"."""
    found: dict[str, set[str]] = {}
    for each in nodes:
        for tensor in each.node.inputs if each.scope and not each.constant else ():
            if tensor is not None and tensor.constant and tensor.dims is not None:
                kind = "weight" if len(tensor.dims) > 1 else "bias"
                found.setdefault(tensor.name, set()).add(f"{each.scope.replace('/', '.')}.{kind}")
    return found


def _origins(made: Mapping[str, Sequence[str]], name: str) -> set[str]:
    """Names of the constants that one was made of at load time."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for source in made.get(waiting.pop(), ()):
            if source not in found:
                found.add(source)
                waiting.append(source)
    return found


def _makers(nodes: Iterable[NodeCost]) -> dict[str, list[str]]:
    return {
        output.name: [tensor.name for tensor in each.node.inputs if tensor is not None and is_real(tensor)]
        for each in nodes
        if each.constant
        for output in each.node.outputs
        if output is not None
    }
