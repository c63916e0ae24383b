"""Products in float32 where the device computes another type faster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from neural_cost.analyzer.compute_type import WIDTHS
from neural_cost.analyzer.device import Device
from neural_cost.analyzer.findings.record import Finding
from neural_cost.analyzer.findings.subject import Subject
from neural_cost.analyzer.roofline import Work, kernel_bound
from neural_cost.analyzer.tables.figures import count, plain, seconds

SHARE = 0.05  # of the whole time
FASTER = 1.2  # times the peak of float32: less is not worth another type
HOW = {
    "tf32": "allow TF32: NVIDIA_TF32_OVERRIDE=1, or torch.backends.cuda.matmul.allow_tf32",
    "float16": "convert it to float16 (onnxconverter-common, or export it in half precision), and check its results",
    "bfloat16": "export the model in bfloat16, and check its results",
    "int8": "quantize it to int8 (onnxruntime.quantization, with calibration data), and check its accuracy",
    "float8": "quantize it to float8, and check its accuracy",
}


def faster_type(subject: Subject) -> Iterator[Finding]:
    """Of the types that the device computes faster than float32, the one with the lowest bound."""
    device = subject.device
    places = [place for place, node in enumerate(subject.nodes) if _in_float32(subject, place) and node.macs]
    if device is None or not places:
        return
    found = [(sum(_bound(subject, place, kind, device) for place in places), kind) for kind in _types(device)]
    if not found:
        return
    left, kind = min(found)
    saves, now = subject.savings(places, left), subject.bound_of(places)
    if left < now and subject.matters(saves, SHARE):
        peak, faster = device.peak("float32"), device.peak(kind)
        yield subject.finding(
            "faster-type",
            places,
            f"{len(places)} nodes do {count(subject.macs(places))} MACs in float32, at most {_tera(peak)}; in {kind} "
            f"the device reaches {_tera(faster)}, and their bound falls from {seconds(now)} to {seconds(left)}",
            saves,
            HOW[kind],
        )


def _in_float32(subject: Subject, place: int) -> bool:
    cost = subject.nodes[place].source.cost
    counts = cost is not None and bool(cost.macs_by_type.get("float32"))
    return counts and subject.runs(place) and subject.nodes[place].source.integer_type is None


def _types(device: Device) -> Sequence[str]:
    """Types with a figure of their own that is well above that of float32."""
    base = device.peaks.get("float32")
    if base is None:
        return []
    return [kind for kind in HOW if device.peaks.get(kind, 0.0) > FASTER * base]


def _bound(subject: Subject, place: int, kind: str, device: Device) -> float:
    """Seconds that a node needs at least with its products in another type: all its bytes shrink with the type."""
    node = subject.nodes[place]
    cost = node.source.needed
    assert cost is not None
    flops = {each: int(number) for each, number in cost.flops_by_type.items() if each != "float32"}
    flops[kind] = flops.get(kind, 0) + int(cost.flops_by_type.get("float32", 0))
    bytes_ = int(cost.traffic_bytes) * (1.0 if kind == "tf32" else WIDTHS[kind] / WIDTHS["float32"])
    return (node.repeats or 0) * (kernel_bound(Work(flops, int(bytes_)), device).seconds or 0.0)


def _tera(rate: float | None) -> str:
    return "unknown" if rate is None else f"{plain(rate / 1e12)} TFLOP/s"
