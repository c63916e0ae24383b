"""What an operation costs: the rule of the ONNX operator that it stands for, on a node of its shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from neural_cost.analyzer.cost import FLOPS_PER_MAC, Cost
from neural_cost.analyzer.node import Node, Tensor, Unknown
from neural_cost.analyzer.rules.registry import Rule, lookup
from neural_cost.analyzer.walk import NodeCost
from neural_cost.operations.kinds import Part, Standing, stands_for
from neural_cost.operations.record import Operation

OPSET = 23  # whose rules are asked: the first that has all operators that the kinds stand for


def rule_of(op_type: str) -> Rule | None:
    """The rule of an operator of ONNX."""
    return lookup("", op_type, OPSET)


def node_cost(operation: Operation, index: int = 0) -> NodeCost:
    """The node of an operation with its cost, or with the reason why that is not known.

    Its tensors are its own: no name of theirs is that of another operation's, whose index differs.
    """
    standing = stands_for(operation)
    custom = operation.kind == "custom"
    node = Node(
        standing.op_type,
        [_tensor(operation, part, f"{index}.{place}") for place, part in enumerate(standing.inputs)],
        [_output(operation, standing, f"{index}.out")],
        standing.attributes,
        operation.name,
        version=OPSET,
    )
    rule = None if custom else rule_of(standing.op_type)
    cost, why = _given(operation, node) if custom else _ruled(operation, node, rule)
    kind = "custom" if rule is None else rule.kind
    return NodeCost(
        index, node, "", kind, "main", operation.repeats, False, cost, why, custom and cost is None,
        open_repeats=operation.repeats,
    )  # fmt: skip


def weights_of(found: NodeCost, operation: Operation) -> list[Tensor]:
    """Tensors of a node that are weights."""
    return [tensor for tensor, part in _parts(found, operation) if part.weight]


def constants_of(found: NodeCost, operation: Operation) -> list[Tensor]:
    """Tensors of a node that are constants: weights, and others that are data."""
    return [tensor for tensor, part in _parts(found, operation) if part.weight or part.constant]


def _parts(found: NodeCost, operation: Operation) -> list[tuple[Tensor, Part]]:
    pairs = zip(found.node.inputs, stands_for(operation).inputs, strict=True)
    return [(tensor, part) for tensor, part in pairs if tensor is not None]


def _tensor(operation: Operation, part: Part, name: str) -> Tensor:
    return Tensor(name, part.dtype or operation.element_type, part.shape, constant=part.weight or part.constant)


def _output(operation: Operation, standing: Standing, name: str) -> Tensor:
    return Tensor(name, operation.element_type, standing.output, operation.why or "its shape is not given")


def _ruled(operation: Operation, node: Node, rule: Rule | None) -> tuple[Cost | None, str | None]:
    if rule is None:
        return None, f"there is no cost rule for {node.op_type}"
    try:
        cost = rule.function(node)
    except Unknown as unknown:
        return None, f"{unknown.why}; give it, or make the operation custom"
    return _moved(operation, cost), None


def _given(operation: Operation, node: Node) -> tuple[Cost | None, str | None]:
    """The figures of a custom operation."""
    macs, flops = operation.macs, operation.flops
    if macs is None or flops is None:
        missing = [name for name in ("macs", "flops") if getattr(operation, name) is None]
        return None, operation.why or f"its {' and '.join(missing)} are not given"
    try:
        return _moved(operation, _custom(operation, node, flops - FLOPS_PER_MAC * macs)), None
    except Unknown as unknown:
        return None, unknown.why


def _custom(operation: Operation, node: Node, other: int) -> Cost:
    return node.cost(
        macs=operation.macs or 0,
        other_flops=other,
        special_ops=operation.special_ops,
        read_bytes=operation.read_bytes,
        write_bytes=operation.write_bytes,
        compute_type=operation.element_type,
    )


def _moved(operation: Operation, cost: Cost) -> Cost:
    """The cost with the bytes that the operation states."""
    read, write = operation.read_bytes, operation.write_bytes
    return replace(
        cost,
        read_bytes=cost.read_bytes if read is None else read,
        write_bytes=cost.write_bytes if write is None else write,
    )


def costs_of(operations: Sequence[Operation]) -> list[NodeCost]:
    """The nodes of operations, in order."""
    return [node_cost(operation, index) for index, operation in enumerate(operations)]
