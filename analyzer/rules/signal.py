"""Signal processing.

ONNX fixes no algorithm for a Fourier transform. By convention a complex one of n points costs 5 * n * ceil(log2(n))
FLOPs, the customary figure for a fast one, and a real one half of that; it is no contraction and has no MACs.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, Dim, prod
from neural_cost.analyzer.node import Node, Tensor
from neural_cost.analyzer.rules.activations import PerElement
from neural_cost.analyzer.rules.elementwise import per_element
from neural_cost.analyzer.rules.registry import cost
from neural_cost.analyzer.rules.sorting import log2_ceil


def fourier(points: Dim, real: bool) -> Dim:
    """FLOPs of one fast transform."""
    flops = 5 * points * log2_ceil(points)
    return flops // 2 if real else flops


def _scalar(tensor: Tensor) -> int:
    return tensor.ints()[0]


@cost("DFT")
def dft(node: Node) -> Cost:
    """Cost one transform for each line along the axis; the inverse is scaled by 1 / n.

    The axis is an attribute (default 1) before opset 20, and an input (default -2) from there on.
    """
    x = node.x
    given = node.input(2)
    axis = _scalar(given) if given else node.attr("axis", 1 if node.version < 20 else -2)
    axis %= x.rank
    lines = prod(dim for i, dim in enumerate(x.shape[:-1]) if i != axis)
    inverse, onesided = bool(node.attr("inverse", 0)), bool(node.attr("onesided", 0))
    length = node.input(1)
    if length and not (inverse and onesided):
        points: Dim = _scalar(length)
    else:
        points = node.y.shape[axis] if inverse else x.shape[axis]
    real = bool(x.shape[-1] == 1) or (inverse and onesided)
    scaling = node.y.size if inverse else 0
    return node.cost(other_flops=lines * fourier(points, real) + scaling)


@cost("STFT")
def stft(node: Node) -> Cost:
    """Cost for each frame a multiply by the window, where there is one, and a transform."""
    window, length = node.input(2), node.input(3)
    points: Dim = window.shape[0] if window else _scalar(length) if length else node.y.shape[2]
    real = node.x.rank == 2 or bool(node.x.shape[-1] == 1)
    frames = node.y.shape[0] * node.y.shape[1]
    windowing = points * (1 if real else 2) if window else 0
    return node.cost(other_flops=frames * (windowing + fourier(points, real)))


@cost("HannWindow", "HammingWindow")
def cosine_window(node: Node) -> Cost:
    """Cost a - b * cos(c * i) for each element."""
    return per_element(node, PerElement(4, 1), other_type=node.y.dtype)


@cost("BlackmanWindow")
def blackman_window(node: Node) -> Cost:
    """Cost a - b * cos(c * i) + d * cos(2 * c * i) for each element."""
    return per_element(node, PerElement(8, 2), other_type=node.y.dtype)


@cost("MelWeightMatrix")
def mel_weight_matrix(node: Node) -> Cost:
    """Cost each element's place on the slope of its triangle, zeros included, after the edges of the triangles.

    An element costs a subtract and a division. An edge, of which there are two more than bands, costs eight FLOPs:
    step and offset on the mel scale, to hertz (divide, power, subtract, multiply), to a bin (multiply, divide).
    """
    size, edges = node.y.size, node.y.shape[-1] + 2
    return node.cost(other_flops=2 * size + 8 * edges, special_ops=size + 3 * edges, other_type=node.y.dtype)


@cost("Rfft", "Irfft", domain="com.microsoft")
def rfft(node: Node) -> Cost:
    """Cost a real transform of the last `signal_ndim` axes: along one axis after the other."""
    signal = node.x if node.op_type == "Rfft" else node.y
    axes = signal.shape[signal.rank - node.attr("signal_ndim", 1) :]
    flops = 5 * signal.size * sum((log2_ceil(dim) for dim in axes), 0) // 2
    return node.cost(other_flops=flops)


@cost("ComplexMul", "ComplexMulConj", domain="com.microsoft")
def complex_mul(node: Node) -> Cost:
    """Cost a complex product, whose parts are the last axis: four multiplies and two adds for two elements."""
    return per_element(node, PerElement(3))
