"""Operators that devices are slow at: grouped convolutions, gathers and scatters, quantization of floats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from neural_cost.analyzer.findings.record import Finding
from neural_cost.analyzer.findings.subject import Subject
from neural_cost.analyzer.gap.product_size import groups_of
from neural_cost.analyzer.tables.figures import plain

SHARE = 0.02  # of the whole time
HEAVY = 0.05  # of the whole time: some gathering is in every model
CONVOLUTIONS = ("Conv", "ConvTranspose", "QLinearConv", "ConvInteger", "com.microsoft::FusedConv")
GATHERS = (
    "Gather", "GatherElements", "GatherND", "Scatter", "ScatterElements", "ScatterND", "TensorScatter", "OneHot",
    "NonZero", "Compress", "com.microsoft::GatherBlockQuantized",
)  # fmt: skip


def grouped_convolutions(subject: Subject) -> Iterator[Finding]:
    """Depthwise and grouped convolutions: little arithmetic for each byte, and small products."""
    places = [place for place in range(len(subject.nodes)) if _is_grouped(subject, place)]
    saves = subject.savings(places, subject.bound_of(places)) if subject.ran else subject.seconds(places)
    if not places or not subject.matters(saves, SHARE):
        return
    whole = subject.report.totals.macs or 1
    yield subject.finding(
        "grouped-convolutions",
        places,
        f"{len(places)} grouped or depthwise convolutions do {subject.macs(places) / whole:.1%} of the MACs "
        f"and {_time(subject, places)}",
        saves,
        "they reuse little of what they load: fewer groups, or a plain convolution of fewer channels, can cost more "
        "MACs and less time; a runtime that fuses them with the 1x1 convolutions beside them saves the traffic between",
    )


def gathers(subject: Subject) -> Iterator[Finding]:
    """Rows taken by index, or written by index."""
    places = [place for place, node in enumerate(subject.nodes) if node.operator in GATHERS and subject.runs(place)]
    saves = subject.savings(places, subject.bound_of(places)) if subject.ran else subject.seconds(places)
    if places and subject.matters(saves, HEAVY):
        kinds = ", ".join(sorted({subject.nodes[place].op_type for place in places}))
        yield subject.finding(
            "gather-scatter",
            places,
            f"{len(places)} nodes ({kinds}) take or write elements by index and {_time(subject, places)}",
            saves,
            "where the indices are constant, use Slice, Split or Reshape, which are cheaper or free; gather whole rows "
            "along the first axis; put the embedding's rows in the order in which they are read",
        )


def quantize_pairs(subject: Subject) -> Iterator[Finding]:
    """QuantizeLinear and DequantizeLinear that run as kernels of their own."""
    places = [place for place, node in enumerate(subject.nodes) if node.kind == "quantization" and subject.runs(place)]
    if subject.ran:
        places = [place for place in places if _all_quantize(subject, place)]
    time = subject.seconds(places)
    if places and subject.matters(time, SHARE):
        yield subject.finding(
            "quantize-overhead",
            places,
            f"{len(places)} nodes only convert between floats and quantized integers and {_time(subject, places)}",
            time,
            "let quantized tensors run from product to product: quantize the operators between them too, keep scales "
            "alike on both sides of a Concat or Add, or use a level and provider that fuses the pairs",
        )


def _is_grouped(subject: Subject, place: int) -> bool:
    node = subject.nodes[place]
    return node.operator in CONVOLUTIONS and groups_of(node.source.node) > 1 and subject.runs(place)


def _all_quantize(subject: Subject, place: int) -> bool:
    return all(subject.nodes[each].kind == "quantization" for each in subject.kernel_of[place].source_nodes)


def _time(subject: Subject, places: Sequence[int]) -> str:
    time, whole = subject.seconds(places), subject.whole_s
    if time is None or not whole:
        return "take an unknown time"
    return f"{subject.took(places)}, {plain(100 * time / whole)} % of the {'run' if subject.ran else 'bound'}"
