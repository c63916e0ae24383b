"""Nodes so small that starting them takes longer than their work; and shapes that are computed at every run."""

from __future__ import annotations

from collections.abc import Iterator

from neural_cost.analyzer.findings.record import Finding
from neural_cost.analyzer.findings.subject import Subject
from neural_cost.analyzer.node import Tensor
from neural_cost.analyzer.tables.figures import seconds

SHARE = 0.1  # of the whole time
SHAPES = 0.01  # of the whole time
FEW = 4  # nodes: fewer are no crowd
SHAPE_OPERATORS = ("Shape", "Size")
SMALL = 64  # elements of a tensor that can only be a shape


def tiny_nodes(subject: Subject) -> Iterator[Finding]:
    """Many nodes whose work takes less than starting them."""
    start = None if subject.device is None else subject.device.dispatch_s
    if not start:
        return
    places = [place for place in range(len(subject.nodes)) if subject.runs(place) and _is_tiny(subject, place, start)]
    if subject.gap is not None:
        places = [place for place in places if place in subject.gap.nodes]  # of the others no one knows what took time
        costs = subject.gap.seconds("dispatch") + sum(subject.gap.nodes[place].kernel_s for place in places)
    else:
        costs = start * sum(subject.nodes[place].repeats or 0 for place in places)
    if len(places) >= FEW and subject.matters(costs, SHARE):
        yield subject.finding(
            "tiny-nodes",
            places,
            f"{len(places)} nodes have work for less than the {seconds(start)} that starting a kernel takes; "
            f"starting kernels and running these {'takes' if subject.ran else 'would take'} {seconds(costs)}",
            costs,
            "raise the batch, fuse them into larger operators, or run in a compiler that does; on a GPU record the run "
            "as a CUDA graph",
        )


def _is_tiny(subject: Subject, place: int, start: float) -> bool:
    node = subject.nodes[place]
    if node.kind in ("views", "control_flow") or not node.repeats:
        return False
    work_s = subject.bound_of([place]) / node.repeats
    return node.source.cost is not None and work_s < start


def shape_arithmetic(subject: Subject) -> Iterator[Finding]:
    """Kernels that compute shapes, as the file leaves dimensions open."""
    open_dims = subject.report.opened.inference.binding.open_names
    if not open_dims:
        return
    places = [place for place in _shape_nodes(subject) if subject.runs(place)]
    if subject.ran:
        members = set(places)
        places = [place for place in places if set(subject.kernel_of[place].source_nodes) <= members]
        saves = subject.seconds(places)
    else:
        start = None if subject.device is None else subject.device.dispatch_s
        saves = None if start is None else start * len(places)
    if len(places) >= FEW and subject.matters(saves, SHAPES):
        names = ", ".join(sorted(open_dims))
        yield subject.finding(
            "dynamic-shapes",
            places,
            f"{len(places)} nodes compute shapes at every run, as these dimensions are open: {names}; they "
            f"{'take' if subject.ran else 'would take'} {seconds(saves)}, and patterns that hold them are not fused",
            saves,
            "fix the sizes: python -m onnxruntime.tools.make_dynamic_shape_fixed, SessionOptions."
            "add_free_dimension_override_by_name, or an export without dynamic dimensions",
        )


def _shape_nodes(subject: Subject) -> list[int]:
    """Shape nodes, and what integers they are computed to, as long as these are as small as shapes are."""
    found: list[int] = []
    tensors: set[str] = set()
    for place, node in enumerate(subject.nodes):
        starts = node.op_type in SHAPE_OPERATORS and not node.domain
        follows = any(tensor.name in tensors for tensor in node.inputs) and not node.macs
        if (starts or follows) and all(_is_shape(tensor) for tensor in node.outputs):
            found.append(place)
            tensors |= {tensor.name for tensor in node.outputs}
    return found


def _is_shape(tensor: Tensor) -> bool:
    """Whether a tensor may be a shape, or a part of one: a few whole numbers."""
    dims = tensor.dims
    if dims is None or tensor.dtype not in ("int64", "int32"):
        return False
    return len(dims) == 0 or (len(dims) == 1 and isinstance(dims[0], int) and dims[0] <= SMALL)
