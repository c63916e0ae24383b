"""Operators that read between the elements: resizing, grids and regions.

A weighted sum of t taps costs t multiplies and t - 1 adds. Where positions follow from the shapes (Resize), they and
their weights are arithmetic on positions, which is not counted; where positions are data (GridSample, RoiAlign), they
are counted, once for all channels.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, Dim, ceil_div, maximum, minimum, prod
from neural_cost.analyzer.node import Node, Unknown
from neural_cost.analyzer.rules.indexing import partial_read
from neural_cost.analyzer.rules.registry import cost

MODES = {"linear": "linear", "bilinear": "linear", "cubic": "cubic", "bicubic": "cubic", "nearest": "nearest"}
TAPS = {"nearest": 1, "linear": 2, "cubic": 4}

# For one coordinate: scale and shift it; round it, or floor it and take what is left, then the weights of the taps.
COORDINATE_FLOPS = {
    "nearest": 2 + 1,
    "linear": 2 + 2 + 1,  # f and 1 - f
    # Four weights at distances 1 + f, f, 1 - f, 2 - f (3 FLOPs), by Horner's rule: 5 for each of the inner two
    # ((a + 2) * d - (a + 3)) * d * d + 1, and 6 for each of the outer two ((a * d - 5a) * d + 8a) * d - 4a.
    "cubic": 2 + 2 + 3 + 2 * 5 + 2 * 6,
}


def mode_of(node: Node, default: str) -> str:
    """Interpolation mode, under one name for all versions. Raises Unknown for one that ONNX does not define."""
    given = node.attr("mode", default)
    if given not in MODES:
        raise Unknown(f"interpolation mode {given} is not defined")
    return MODES[given]


@cost("Resize", "Upsample")
@cost("Upsample", domain="com.microsoft.nchwc")
def resize(node: Node) -> Cost:
    """Cost a weighted sum over the taps of the axes that change size; nearest moves data alone.

    An axis has 2 taps (linear) or 4 (cubic); with `antialias`, shrinking widens the window by the ratio of sizes.
    Along an axis that shrinks so far that taps of neighbours do not meet, what lies between is not read.
    """
    mode = mode_of(node, "nearest")
    taps: Dim = 1
    read: Dim = 1
    for axis, (source, target) in enumerate(zip(node.x.shape, node.y.shape, strict=True)):
        if not _interpolates(node, axis):
            read = read * source
            continue
        along: Dim = TAPS[mode]
        if node.attr("antialias", 0) and mode != "nearest":
            along = maximum(along, ceil_div(along * source, target))
        taps = taps * along
        read = read * minimum(source, target * along)
    sums = 0 if mode == "nearest" or taps == 1 else 2 * taps - 1
    return node.cost(other_flops=node.y.size * sums, read_bytes=partial_read(node, read))


def _interpolates(node: Node, axis: int) -> bool:
    if node.attr("coordinate_transformation_mode") == "tf_crop_and_resize":  # the region moves positions on any axis
        axes = node.attr("axes", list(range(2, node.x.rank)))
        return axis in [named % node.x.rank for named in axes]
    return bool(node.x.shape[axis] != node.y.shape[axis])


@cost("GridSample")
@cost("GridSample", domain="com.microsoft")
def grid_sample(node: Node) -> Cost:
    """Cost for each grid point its coordinates and weights, and for each channel the weighted sum of the taps."""
    mode = mode_of(node, "linear")
    grid = node.required(1)
    dims = node.x.rank - 2
    points = prod(grid.shape[:-1])
    taps = TAPS[mode] ** dims
    weights = taps * (dims - 1) if taps > 1 else 0  # the product of one weight along each axis
    sums = 2 * taps - 1 if taps > 1 else 0
    flops = points * (dims * COORDINATE_FLOPS[mode] + weights) + node.y.size * sums
    return node.cost(other_flops=flops, read_bytes=partial_read(node, node.y.size * taps))


@cost("AffineGrid")
def affine_grid(node: Node) -> Cost:
    """Cost the product of each position, in homogeneous coordinates, with its sample's matrix."""
    return node.cost(macs=node.y.size * node.x.shape[-1])


@cost("RoiAlign")
def roi_align(node: Node) -> Cost:
    """Cost, for each of the `sampling_ratio` ** 2 points of an output element, four taps and an add; then a division.

    A point costs 5 FLOPs for each of its two coordinates and 4 for its weights, once for all channels; `max` takes
    the largest weighted tap, without a division. Raises Unknown where the number of points follows the region.
    """
    ratio = node.attr("sampling_ratio", 0)
    if ratio <= 0:
        raise Unknown("with sampling_ratio 0 the number of samples follows each region's size", node.required(1).name)
    size, samples = node.y.size, ratio * ratio
    averages = size if node.attr("mode", "avg") == "avg" else 0
    points = node.y.shape[0] * prod(node.y.shape[2:]) * samples
    flops = size * samples * 2 * 4 + averages + points * (2 * COORDINATE_FLOPS["linear"] + 4)
    return node.cost(other_flops=flops, special_ops=averages, read_bytes=partial_read(node, size * samples * 4))


@cost("CropAndResize", domain="com.microsoft")
def crop_and_resize(node: Node) -> Cost:
    """Cost for each point of each crop its coordinates and weights, and for each channel the weighted sum."""
    mode = mode_of(node, "bilinear")
    size, points = node.y.size, node.y.shape[0] * prod(node.y.shape[2:])
    taps = TAPS[mode] ** 2
    weights, sums = (taps, 2 * taps - 1) if taps > 1 else (0, 0)
    flops = points * (2 * COORDINATE_FLOPS[mode] + weights) + size * sums
    return node.cost(other_flops=flops, read_bytes=partial_read(node, size * taps))
