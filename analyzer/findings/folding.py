"""What could be computed once: nodes of constants, normalizations that fit into a convolution's weights."""

from __future__ import annotations

from collections.abc import Iterator

from neural_cost.analyzer.findings.record import Finding
from neural_cost.analyzer.findings.subject import Subject
from neural_cost.analyzer.records import NodeRecord
from neural_cost.analyzer.tables.figures import seconds

SHARE = 0.01  # of the whole time
PRODUCTS = ("Conv", "ConvTranspose", "Gemm", "MatMul")


def foldable(subject: Subject) -> Iterator[Finding]:
    """Nodes that depend on constants alone."""
    places = [place for place, node in enumerate(subject.nodes) if _can_be_folded(node)]
    ran = [place for place in places if place in subject.kernel_of]
    if not places:
        return
    time = (subject.seconds(ran) or 0.0) if subject.ran else 0.0
    what = f"{len(places)} nodes depend on constants alone"
    how = f"{len(ran)} of them run every time, for {seconds(time)}" if ran else "the runtime computes them at each load"
    yield subject.finding(
        "foldable",
        ran or places,
        f"{what}; {how}",
        time,
        "fold them once and save the result: onnxruntime's optimized_model_filepath at level basic, or onnxslim",
    )


def _can_be_folded(node: NodeRecord) -> bool:
    """Whether a node could be its result in the file; what dequantizes a weight has to stay, to be fused."""
    return node.constant and bool(node.repeats) and node.kind not in ("views", "quantization")


def foldable_normalization(subject: Subject) -> Iterator[Finding]:
    """BatchNormalization right after a product whose weights could have its scale and shift."""
    places = [place for place, node in enumerate(subject.nodes) if node.op_type == "BatchNormalization"]
    places = [place for place in places if subject.runs(place) and _follows_product(subject, place)]
    if subject.ran:
        places = [place for place in places if len(subject.kernel_of[place].source_nodes) == 1]
    time = subject.seconds(places)
    if places and subject.matters(time, SHARE):
        yield subject.finding(
            "foldable-normalization",
            places,
            f"{len(places)} BatchNormalization nodes follow a product with constant weights: "
            f"they {subject.took(places)}",
            time,
            "fold them into the weights: export in eval mode with constant folding, or run at --opt-level basic or "
            "more",
        )


def _follows_product(subject: Subject, place: int) -> bool:
    first, *statistics = subject.nodes[place].inputs
    writer = subject.writers.get(first.name)
    if writer is None or not all(tensor.constant for tensor in statistics):
        return False
    product = subject.nodes[writer]
    return (
        product.op_type in PRODUCTS
        and any(tensor.constant for tensor in product.inputs[1:2])
        and subject.readers.get(first.name) == {place}
    )
