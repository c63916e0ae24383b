"""Operators that take or put elements at positions: the positions are kept, unless they are constants."""

from __future__ import annotations

from neural_cost.analyzer.node import Node, Unknown
from neural_cost.analyzer.rules.sampling import TAPS, mode_of
from neural_cost.analyzer.training.registry import Gradient, Kept, Wants, backward


@backward("Gather", "GatherElements", "GatherND")
@backward("GatherND", "TorchEmbedding", domain="com.microsoft")
def gather(node: Node, wants: Wants) -> Gradient:
    """An add for each element taken, into a gradient of zeros."""
    del wants
    return Gradient(other_flops=node.y.size, saves=(node.required(1),))


@backward("Compress")
def compress(node: Node, wants: Wants) -> Gradient:
    """What was kept goes back to its place."""
    del wants
    return Gradient(saves=(node.required(1),))


@backward("Scatter", "ScatterElements", "ScatterND")
def scatter(node: Node, wants: Wants) -> Gradient:
    """The gradient of the data is 0 where updates went, unless they were added; an update takes that of its place.

    Updates that multiply, or of which the largest stays, multiply or compare once more, from data and updates.
    """
    del wants
    combines = node.attr("reduction", "none") not in ("none", "add")
    more = (node.x, node.required(2)) if combines else ()
    flops = 2 * node.required(2).size if combines else 0
    return Gradient(other_flops=flops, saves=(node.required(1), *more))


@backward("TensorScatter")
def tensor_scatter(node: Node, wants: Wants) -> Gradient:
    """The update takes the gradient of its place, the cache that of the rest."""
    del wants
    return Gradient(saves=(node.input(2),))


@backward("TopK")
def top_k(node: Node, wants: Wants) -> Gradient:
    """Each value takes its gradient back to its place."""
    del wants
    return Gradient(saves=(node.output(1),))


@backward("Unique")
@backward("Unique", domain="com.microsoft")
def unique(node: Node, wants: Wants) -> Gradient:
    """Each value takes its gradient to where it was first: an int64 for each, or for each slice of an axis."""
    del wants
    places, axis = node.output(1), node.attr("axis")
    count = node.y.size if axis is None else node.y.shape[axis]
    return Gradient(saves=(places,), kept=() if places else (Kept(count, "int64"),))


@backward("CumSum")
def cumulate(node: Node, wants: Wants) -> Gradient:
    """The sums from the other end: an add for each element."""
    del wants
    return Gradient(other_flops=node.x.size)


@backward("CumProd")
def cumulated_product(node: Node, wants: Wants) -> Gradient:
    """The sums of dy * y from the other end, by x: multiply, add, divide."""
    del wants
    size = node.x.size
    return Gradient(other_flops=3 * size, special_ops=size, saves=(node.x, node.y))


@backward("GridSample")
@backward("GridSample", domain="com.microsoft")
def grid_sample(node: Node, wants: Wants) -> Gradient:
    """The taps of each sample: for the image a multiply and an add each, for the grid as much in each axis."""
    axes = node.x.rank - 2
    taps = node.y.size * TAPS[mode_of(node, "linear")] ** axes
    flops = taps * 2 * ((1 if 0 in wants else 0) + (axes if 1 in wants else 0))
    return Gradient(other_flops=flops, saves=(node.required(1), node.x if 1 in wants else None))


@backward("CropAndResize", domain="com.microsoft")
def crop_and_resize(node: Node, wants: Wants) -> Gradient:
    """The taps of each sample, a multiply and an add each; regions and their batch entries are kept."""
    if 1 in wants:
        raise Unknown("the gradient of regions has no formula here")
    taps = node.y.size * TAPS[mode_of(node, "bilinear")] ** 2
    return Gradient(other_flops=2 * taps, saves=(node.required(1), node.required(2)))
