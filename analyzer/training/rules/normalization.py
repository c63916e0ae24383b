"""Normalizations: the gradient of x passes through the mean and the deviation of its row as well.

With h for the standardized x and g for the gradient that reaches it, dx = (g - mean(g) - h * mean(g * h)) / deviation.
Each element costs

    h            subtract, multiply     means        multiply, add; add     dx    multiply, subtract, subtract, multiply

which is 9, and each row 2 divisions. The scale is a multiply for g; its own gradient is a multiply and a sum, that of
the bias a sum. x is kept, with the mean and the inverse deviation of each row in float32.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Dim, prod
from neural_cost.analyzer.node import Node
from neural_cost.analyzer.rules.normalization import rows_before
from neural_cost.analyzer.training.registry import Gradient, Kept, Wants, backward


def standardized(node: Node, wants: Wants, rows: Dim, scale: int = 1, bias: int = 2) -> Gradient:
    """The gradients of x, of the scale and of the bias, of so many rows."""
    size = node.x.size
    return Gradient(
        other_flops=size * _flops(node, wants, 9, scale, bias) + (2 * rows if 0 in wants else 0),
        special_ops=2 * rows if 0 in wants else 0,
        saves=(node.x if wants & {0, scale} else None,),
        kept=(Kept(2 * rows, _wide(node)),) if wants & {0, scale} else (),
    )


def _flops(node: Node, wants: Wants, x: int, scale: int, bias: int) -> int:
    """FLOPs of each element; a scale of its own alone standardizes x all the same."""
    has_scale = node.input(scale) is not None
    for_x = x + has_scale if 0 in wants else 2 if scale in wants else 0
    return for_x + (2 if scale in wants else 0) + (1 if bias in wants else 0)


def _wide(node: Node) -> str:
    return "float64" if node.x.dtype == "float64" else "float32"


@backward("LayerNormalization")
def layer_normalization(node: Node, wants: Wants) -> Gradient:
    """Rows along `axis` and all later axes."""
    return standardized(node, wants, rows_before(node.x.shape, node.attr("axis", -1)))


@backward("InstanceNormalization")
def instance_normalization(node: Node, wants: Wants) -> Gradient:
    """A row is a channel of a sample."""
    return standardized(node, wants, prod(node.x.shape[:2]))


@backward("GroupNormalization")
def group_normalization(node: Node, wants: Wants) -> Gradient:
    """A row is a group of channels of a sample."""
    return standardized(node, wants, node.x.shape[0] * node.required_attr("num_groups"))


@backward("MeanVarianceNormalization")
def mean_variance_normalization(node: Node, wants: Wants) -> Gradient:
    """A row lies along `axes`, by default all but the channels."""
    shape = node.x.shape
    axes = {axis % len(shape) for axis in node.attr("axes", [0, 2, 3])}
    return standardized(node, wants, prod(dim for axis, dim in enumerate(shape) if axis not in axes))


@backward("BatchNormalization")
def batch_normalization(node: Node, wants: Wants) -> Gradient:
    """A row is a channel. In training the statistics are those of the batch, whichever form the file has."""
    return standardized(node, wants, node.required(1).size)


@backward("RMSNormalization", "SimplifiedLayerNormalization")
def rms_normalization(node: Node, wants: Wants) -> Gradient:
    """Rows along `axis` and all later axes."""
    return root_mean_square(node, wants, rows_before(node.x.shape, node.attr("axis", -1)))


def root_mean_square(node: Node, wants: Wants, rows: Dim) -> Gradient:
    """Without a mean: h is a multiply, and dx = (g - h * mean(g * h)) / rms 3: 6 for each element, 1 for each row."""
    for_x = 6 + (node.input(1) is not None) if 0 in wants else 1
    return Gradient(
        other_flops=node.x.size * (for_x + (2 if 1 in wants else 0)) + (rows if 0 in wants else 0),
        special_ops=rows if 0 in wants else 0,
        saves=(node.x,),
        kept=(Kept(rows, _wide(node)),),
    )


@backward("LpNormalization")
def lp_normalization(node: Node, wants: Wants) -> Gradient:
    """(dy - y * sum(dy * y)) / norm: multiply, add, multiply, subtract, divide; y and the norm are kept."""
    del wants
    size, axis = node.x.size, node.attr("axis", -1) % node.x.rank
    rows = prod(dim for i, dim in enumerate(node.x.shape) if i != axis)
    return Gradient(other_flops=5 * size, special_ops=size, saves=(node.y,), kept=(Kept(rows, _wide(node)),))


@backward("LRN")
def lrn(node: Node, wants: Wants) -> Gradient:
    """Dy * s ** -beta - c * x * (the sum over neighbours of dy * y / s), with s = bias + alpha / size * squares, kept.

    For each element: power, multiply; dy * y / s, `size` adds, two multiplies, subtract.
    """
    del wants
    size = node.x.size
    kept = (Kept(size, node.x.dtype or "float32", precise=False),)
    return Gradient(
        other_flops=size * (2 + 2 + node.required_attr("size") + 3),
        special_ops=2 * size,
        saves=(node.x, node.y),
        kept=kept,
    )
