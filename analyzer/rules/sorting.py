"""Operators that compare elements with each other. ONNX fixes no algorithm, so each count is a stated convention.

To sort n elements takes n * ceil(log2(n)) comparisons here, the order of any comparison sort. A real kernel may do
more, or fewer on data that is in order already.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, Dim, prod
from neural_cost.analyzer.node import Node
from neural_cost.analyzer.rules.registry import cost


def log2_ceil(size: Dim) -> Dim:
    """Comparisons that find one place among `size`: the binary logarithm, rounded up; 0 for one or none."""
    if isinstance(size, int):
        return max(size - 1, 0).bit_length()
    import sympy

    steps: Dim = sympy.ceiling(sympy.log(size, 2))
    return steps


def sort(size: Dim) -> Dim:
    """Comparisons that put so many elements in order."""
    return size * log2_ceil(size)


@cost("TopK")
def top_k(node: Node) -> Cost:
    """Cost one comparison for each input element, against the k-th best so far, and sorting the k that are found.

    Unsorted results (`sorted` = 0) are not put in order.
    """
    k = node.y.shape[node.attr("axis", -1)]
    order = node.y.size * log2_ceil(k) if node.attr("sorted", 1) else 0
    return node.cost(other_flops=node.x.size + order)


@cost("Unique")
@cost("Unique", domain="com.microsoft")
def unique(node: Node) -> Cost:
    """Cost sorting, and comparing each with the one before it; along an axis, whole slices are compared.

    Each comparison of slices counts all of their elements.
    """
    axis = node.attr("axis")
    items = node.x.size if axis is None else node.x.shape[axis]
    width = 1 if axis is None else prod(dim for i, dim in enumerate(node.x.shape) if i != axis % node.x.rank)
    return node.cost(other_flops=(sort(items) + items) * width)


OVERLAP = 19
"""FLOPs of comparing the overlap of two boxes with a threshold.

Intersection: two max, two min, two subtracts, two clamps, a multiply. Two areas: two subtracts and a multiply each.
Union: an add and a subtract. The ratio and its comparison.
"""


@cost("NonMaxSuppression")
def non_max_suppression(node: Node) -> Cost:
    """Cost a threshold for each score, sorting each class, and each selected box's overlap with every box.

    How many boxes are selected is data: it is the first dimension of the output, and stays a symbol until it is
    bound. Corners are computed first where boxes are given by centers: two multiplies, two subtracts and two adds.
    """
    boxes, scores = node.required(0), node.required(1)
    count = boxes.shape[-2]
    lists = prod(scores.shape[:-1])
    corners = 6 * prod(boxes.shape[:-1]) if node.attr("center_point_box", 0) else 0
    overlaps = node.y.shape[0] * count
    threshold = scores.size if node.input(4) else 0
    return node.cost(other_flops=corners + threshold + lists * sort(count) + OVERLAP * overlaps, special_ops=overlaps)
