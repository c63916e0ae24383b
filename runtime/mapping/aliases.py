"""Which tensor of the file each tensor of the executed graph holds, if need be in another layout or type.

Most keep their names. Those that a rewrite made get theirs from what is around them: from layout operators, which
hold the same on both sides, from the tensor after which ONNX Runtime names a convolution that it blocks, from a node
that kept its name and its operator, and from a node of the file that does the same to the same tensors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from neural_cost.runtime.mapping.executed import NCHWC, ExecutedGraph, ExecutedNode
from neural_cost.runtime.mapping.names import BLOCKED, kind_of, original
from neural_cost.runtime.mapping.source import SourceGraph, SourceNode

CLIPS = frozenset({"Relu", "Clip"})
CHANNELS = (("Transpose", (0, 2, 3, 1)), ("Transpose", (0, 3, 1, 2)))  # to the last axis, and from it


def aliases(executed: ExecutedGraph, source: SourceGraph, outer: Mapping[str, str]) -> dict[str, str]:
    """Tensors of the file by executed ones; `outer` are those of the graphs around."""
    known = {name for node in source.nodes for name in (*node.inputs, *node.outputs)}
    found = dict(outer)
    found |= {name: name for name in executed.tensors if name in known}
    found |= {name: original(name) for name in executed.tensors if name not in known and original(name) in known}
    _through_layouts(executed, source, found)
    for node in executed.nodes:
        for output, tensor in _targets(node, source, found):
            found.setdefault(output, tensor)
    _through_layouts(executed, source, found)
    return found


def _through_layouts(executed: ExecutedGraph, source: SourceGraph, found: dict[str, str]) -> None:
    """Before a layout operator stands what stands after it; before one of the file, what it reads there."""
    for node in reversed(executed.nodes):
        if node.is_layout and node.inputs and node.outputs and node.outputs[0] in found:
            after = found[node.outputs[0]]
            own = source.producers.get(after)
            found.setdefault(node.inputs[0], own.inputs[0] if own is not None and _is_done(own, node) else after)


def _is_done(own: SourceNode, node: ExecutedNode) -> bool:
    """Whether a layout operator is one of the file: it has its name, or is the move of channels that it asks for."""
    kept = (own.name, own.op_type) == (node.name, node.op_type)
    return bool(own.inputs) and (kept or (node.channels_last and own.moves in CHANNELS))


def _targets(node: ExecutedNode, source: SourceGraph, found: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Outputs that are not known yet, each with the tensor of the file that it holds."""
    if all(name in found for name in node.outputs):
        return
    blocked = _blocked(node, source)
    if blocked is not None:
        yield node.outputs[0], _after_fused(blocked, node, source, found)
        return
    counterpart = _counterpart(node, source, found)
    if counterpart is not None:
        outputs = counterpart.outputs
        yield from zip(node.outputs, [_after_quantizing(name, node, source) for name in outputs], strict=False)
    elif node.is_layout and node.inputs and node.inputs[0] in found:
        yield node.outputs[0], found[node.inputs[0]]


def _blocked(node: ExecutedNode, source: SourceGraph) -> str | None:
    """The tensor after which a blocked convolution is named; one that was transposed is named after its node."""
    named = BLOCKED.fullmatch(node.name) if node.domain == NCHWC else None
    if named is None:
        return None
    tensor = original(named["tensor"])
    maker = source.producers.get(tensor) or source.by_name.get(tensor)
    if maker is None or not maker.outputs:
        return None
    return tensor if tensor in maker.outputs else maker.outputs[0]


def _after_quantizing(tensor: str, node: ExecutedNode, source: SourceGraph) -> str:
    """The result of a kernel that quantizes it as the file does after the node that it stands for."""
    if node.op_type == _made_by(tensor, source) or kind_of(node.op_type) == node.op_type:
        return tensor
    after = tensor
    for _ in range(2):  # an activation may stand between, which quantizing does
        readers = source.consumers[after]
        quantized = next((reader for reader in readers if reader.op_type == "QuantizeLinear"), None)
        if quantized is not None:
            return quantized.outputs[0]
        if len(readers) != 1 or readers[0].op_type not in CLIPS:
            break
        after = readers[0].outputs[0]
    return tensor


def _after_fused(tensor: str, node: ExecutedNode, source: SourceGraph, found: Mapping[str, str]) -> str:
    """The result of a convolution after the sum and the activation that were drawn into it."""
    if node.sums in found:
        tensor = _after_sum(tensor, found[node.sums], source)
    if not node.activation or _made_by(tensor, source) == node.activation:
        return tensor
    return next((reader.outputs[0] for reader in _readers(tensor, source) if reader.op_type == node.activation), tensor)


def _after_sum(tensor: str, added: str, source: SourceGraph) -> str:
    for reader in _readers(tensor, source):
        if reader.op_type in ("Add", "Sum") and source.root(added) in map(source.root, reader.inputs):
            return reader.outputs[0]
    return tensor


def _made_by(tensor: str, source: SourceGraph) -> str:
    return source.producers[tensor].op_type if tensor in source.producers else ""


def _counterpart(node: ExecutedNode, source: SourceGraph, found: Mapping[str, str]) -> SourceNode | None:
    """The node of the file with its name and operator, or else the only one that does the same to the same."""
    kind = kind_of(node.op_type)
    named = source.by_name.get(node.name) or source.by_name.get(original(node.name))
    if named is not None and named.op_type in (kind, node.op_type):
        return named
    if node.is_layout or not node.inputs or any(name not in found for name in node.inputs):
        return None
    roots = [source.root(found[name]) for name in node.inputs]
    if node.op_type == "QuickGelu":
        return _gated(found[node.inputs[0]], source)
    same = [
        reader
        for reader in _readers(found[node.inputs[0]], source)
        if reader.op_type == kind and [source.root(name) for name in reader.inputs] == roots
    ]
    return same[0] if len(same) == 1 else None


def _gated(tensor: str, source: SourceGraph) -> SourceNode | None:
    """The product of a tensor and its sigmoid."""
    for reader in _readers(tensor, source):
        makers = [_made_by(name, source) for name in reader.inputs]
        if reader.op_type == "Mul" and "Sigmoid" in makers:
            return reader
    return None


def _readers(tensor: str, source: SourceGraph) -> Iterator[SourceNode]:
    """Nodes that read what a tensor holds, in whatever layout."""
    waiting = [tensor]
    seen = set()
    while waiting:
        name = waiting.pop()
        for reader in source.consumers[name]:
            if reader in seen:
                continue
            seen.add(reader)
            yield reader
            if reader.is_layout:
                waiting += reader.outputs
