"""A report as operations: what each node of a graph is, so that the operations cost what the graph does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import replace
from typing import Any

from neural_cost.analyzer.cost import FLOPS_PER_MAC, Cost
from neural_cost.analyzer.errors import OptionError
from neural_cost.analyzer.node import BITS, Node, Tensor
from neural_cost.analyzer.parameters import parameters
from neural_cost.analyzer.records import NodeRecord
from neural_cost.analyzer.report import Report
from neural_cost.operations.costs import node_cost
from neural_cost.operations.record import USES, Operation

POOLS = {"MaxPool", "AveragePool", "LpPool", "GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"}


def operations_of(report: Report) -> list[Operation]:
    """An operation for each node that computes or moves anything, in order.

    A node has a portable kind where that costs exactly what the node does; bytes are then stated where they differ.
    All others are custom, with the figures of the node. One whose arithmetic runs in several types is several
    operations, the first of which moves the bytes.
    """
    weights = set(parameters(report.opened.nodes))
    return [operation for node in report.nodes if _counts(node) for operation in _operations(node, weights)]


def _counts(node: NodeRecord) -> bool:
    """Whether a node runs and does anything, or hands weights to a body: views, and what constants decide, do not."""
    cost = node.source.cost
    hands_on = bool(node.weights) and node.kind == "control_flow"
    return node.repeats != 0 and (cost is None or hands_on or bool(cost.flops or cost.traffic_bytes))


def _operations(node: NodeRecord, weights: Set[str]) -> Iterator[Operation]:
    """The operations of a node; `weights` are the names under which nodes read them."""
    cost = node.source.cost
    if cost is None:
        yield _custom(node, "", weights, why=node.why or "its cost is not known")
    elif (portable := _portable(node, cost, weights)) is not None:
        yield portable
    else:
        yield from _figures(node, cost, weights)


def _portable(node: NodeRecord, cost: Cost, weights: Set[str]) -> Operation | None:
    """The operation of a portable kind that costs the same; None where there is none."""
    view = node.source.node
    reader = READERS.get(view.op_type, _elementwise if node.kind == "elementwise" else None)
    if view.domain or reader is None or not _known(node):
        return None
    try:
        kind, shapes, more = reader(view)
        dtype = str(view.x.dtype)
        if "weights" in USES.get(kind, ()):
            more["weights"] = [place for place, tensor in enumerate(node.inputs) if tensor.name in weights]
        made = Operation(
            node.name, kind, shapes, view.y.shape, _bytes(dtype), dtype=dtype, repeats=node.repeats, **more
        )
    except (OptionError, IndexError, ValueError):
        return None
    return _as_costed(made, cost)


def _bytes(dtype: str) -> float:
    """Bytes of one element."""
    return BITS[dtype] / 8 if BITS[dtype] % 8 else BITS[dtype] // 8


def _known(node: NodeRecord) -> bool:
    """Whether all its tensors have shapes and types that an operation can have."""
    tensors = (*node.inputs, *node.outputs)
    return bool(node.inputs and node.outputs) and all(
        tensor.dims is not None and None not in tensor.dims and tensor.dtype in BITS for tensor in tensors
    )


def _as_costed(made: Operation, cost: Cost) -> Operation | None:
    """The operation, with its bytes stated where its rule has others; None where it computes something else."""
    found = node_cost(made).cost
    if found is None or _arithmetic(found) != _arithmetic(cost):
        return None
    moved = {name: int(getattr(cost, name)) for name in ("read_bytes", "write_bytes")}
    other: dict[str, Any] = {name: size for name, size in moved.items() if getattr(found, name) != size}
    return replace(made, **other)


def _arithmetic(cost: Cost) -> tuple[Any, ...]:
    return (cost.macs, cost.other_flops, cost.special_ops, cost.macs_by_type, cost.flops_by_type)


def _figures(node: NodeRecord, cost: Cost, weights: Set[str]) -> Iterator[Operation]:
    """Custom operations with the figures of a node, one for each type that it computes in."""
    moved = {"read_bytes": int(cost.read_bytes), "write_bytes": int(cost.write_bytes)}
    parts: dict[str, dict[str, int]] = {}
    for kind, macs in cost.macs_by_type.items():
        parts[kind] = {"macs": int(macs), "flops": FLOPS_PER_MAC * int(macs)}
    if cost.other_flops and cost.other_type:
        part = parts.setdefault(cost.other_type, {"macs": 0, "flops": 0})
        part["flops"] += int(cost.other_flops)
        part["special_ops"] = int(cost.special_ops)
    (first, figures), *others = (parts or {"": {"macs": 0, "flops": 0}}).items()
    yield _custom(node, first, weights, **figures, **moved)
    for kind, counts in others:
        whole = _custom(node, kind, set(), **counts, read_bytes=0, write_bytes=0)
        yield replace(whole, input_shapes=(), output_shape=(0,))  # its tensors are those of the first


def _custom(node: NodeRecord, dtype: str, weights: Set[str], **more: Any) -> Operation:
    known = [tensor for tensor in node.inputs if tensor.dims is not None and None not in tensor.dims]
    places = [place for place, tensor in enumerate(known) if tensor.name in weights]
    output = node.outputs[0] if node.outputs else None
    whole = output is not None and output.dims is not None and None not in output.dims and output.dtype in BITS
    kind = dtype or (output.dtype if output is not None and output.dtype in BITS else None) or "float32"
    shape = output.shape if whole and output is not None else None
    size = _bytes(kind)
    return Operation(
        node.name,
        "custom",
        [tensor.shape for tensor in known],
        shape,
        size,
        dtype=kind,
        op=node.operator,
        repeats=node.repeats,
        weights=places,
        **more,
    )


Found = tuple[str, list[tuple[int, ...]], dict[str, Any]]  # kind, shapes of inputs, keywords


def _shapes(node: Node, most: int | None = None) -> list[tuple[int, ...]]:
    return [tensor.shape for tensor in node.inputs[:most] if tensor is not None]


def _gemm(node: Node) -> Found:
    x, weight, *bias = _tensors(node)
    if node.attr("transA", 0) or not weight.constant:
        raise OptionError("not rows that a weight multiplies")
    return "linear", [x.shape, weight.shape, *(each.shape[-1:] for each in bias)], {}


def _matmul(node: Node) -> Found:
    weight = _tensors(node)[1]
    kind = "linear" if weight.constant and weight.rank == 2 else "matmul"
    return kind, _shapes(node), {}


def _conv(node: Node) -> Found:
    return "conv2d", _shapes(node), _attributes(node, group="groups", strides="strides", dilations="dilations")


def _gather(node: Node) -> Found:
    table, positions = _tensors(node)
    if node.attr("axis", 0) or not table.constant or positions.constant:
        raise OptionError("no rows of a table")
    return "embedding", [positions.shape, table.shape], {"index_bytes": positions.bits // 8}


def _attention(node: Node) -> Found:
    named = _attributes(node, q_num_heads="heads", kv_num_heads="kv_heads")
    return "attention", _shapes(node), named | {"causal": bool(node.attr("is_causal", 0))}


def _recurrent(node: Node) -> Found:
    names = set(node.attr("activations") or ())
    more: dict[str, Any] = {"op": names.pop()} if node.op_type == "RNN" and len(names) == 1 else {}
    if node.op_type == "GRU" and node.attr("linear_before_reset", 0):
        more["reset_after"] = True
    return node.op_type.lower(), _shapes(node, 4), more


def _elementwise(node: Node) -> Found:
    return "elementwise", _shapes(node), {"op": node.op_type}


def _softmax(node: Node) -> Found:
    return "softmax", _shapes(node), {}


def _norm(node: Node) -> Found:
    kind = "layernorm" if node.op_type == "LayerNormalization" else "rmsnorm"
    return kind, _shapes(node), {"axis": node.attr("axis", -1)}


def _batchnorm(node: Node) -> Found:
    return "batchnorm", _shapes(node), {}


def _pool(node: Node) -> Found:
    named = _attributes(node, kernel_shape="kernel", strides="strides", dilations="dilations")
    return "pooling", _shapes(node), named | {"op": node.op_type}


def _tensors(node: Node) -> list[Tensor]:
    return [tensor for tensor in node.inputs if tensor is not None]


def _attributes(node: Node, **names: str) -> dict[str, Any]:
    """Attributes that a node has, by the names that an operation has for them."""
    return {own: node.attr(name) for name, own in names.items() if node.attr(name) is not None}


READERS: Mapping[str, Callable[[Node], Found]] = {
    "Gemm": _gemm, "MatMul": _matmul, "Conv": _conv, "Gather": _gather, "Attention": _attention, "RNN": _recurrent,
    "LSTM": _recurrent, "GRU": _recurrent, "Softmax": _softmax, "LayerNormalization": _norm,
    "RMSNormalization": _norm, "BatchNormalization": _batchnorm, **dict.fromkeys(POOLS, _pool),
}  # fmt: skip
"""How the nodes of an operator are read; those of elementwise operators all alike."""
