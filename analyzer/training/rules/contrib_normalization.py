"""Normalizations that ONNX Runtime fuses with what surrounds them, by the rules of `normalization`.

What is normalized is often a sum inside the operator: it is kept, as an output where the node has it as one.
"""

from __future__ import annotations

from dataclasses import replace

from neural_cost.analyzer.cost import Dim, prod
from neural_cost.analyzer.node import Node, Tensor
from neural_cost.analyzer.training.registry import Gradient, Kept, Wants, backward
from neural_cost.analyzer.training.rules.activations import SWISH
from neural_cost.analyzer.training.rules.contrib import like
from neural_cost.analyzer.training.rules.normalization import root_mean_square, standardized

DOMAIN = "com.microsoft"
STANDARDIZED, ROOT_MEAN_SQUARE = (9, 2), (6, 1)
"""FLOPs of each element for what is normalized, scale apart, and statistics of each row: as in `normalization`."""


@backward("SkipLayerNormalization", domain=DOMAIN)
def skip_layer_normalization(node: Node, wants: Wants) -> Gradient:
    """As a LayerNormalization of the sum; x and skip both get its gradient, a bias sums it."""
    return _of_sum(node, wants, _last(node), STANDARDIZED, added=(0, 1, 4), scale=2, shift=3, whole=node.output(3))


@backward("SkipSimplifiedLayerNormalization", domain=DOMAIN)
def skip_rms_normalization(node: Node, wants: Wants) -> Gradient:
    """As an RMSNormalization of the sum; x and skip both get its gradient, a bias sums it."""
    return _of_sum(node, wants, _last(node), ROOT_MEAN_SQUARE, added=(0, 1, 3), scale=2, shift=-1, whole=node.output(3))


def _last(node: Node) -> Dim:
    """Rows along the last axis."""
    return prod(node.y.shape[:-1])


def _of_sum(
    node: Node,
    wants: Wants,
    rows: Dim,
    kind: tuple[int, int],
    *,
    added: tuple[int, ...],
    scale: int,
    shift: int,
    whole: Tensor | None,
) -> Gradient:
    """Of a normalized sum of inputs, `whole` where that is an output; each of them that was broadcast sums its part."""
    terms = sorted(wants & set(added))
    sums = sum((node.y.size - node.required(index).size for index in terms), 0)
    found = _normalized(node, rows, kind, passes=bool(terms), scaled=scale in wants, whole=whole)
    return replace(found, other_flops=found.other_flops + sums + (node.y.size if shift in wants else 0))


def _normalized(
    node: Node, rows: Dim, kind: tuple[int, int], *, passes: bool, scaled: bool, whole: Tensor | None
) -> Gradient:
    """Of what is normalized where a gradient passes to that, and of the scale, where it needs one."""
    work, statistics = kind
    if not passes and not scaled:
        return Gradient()
    size, divisions = node.y.size, statistics * rows if passes else 0
    each = (work + 1 if passes else statistics) + (2 if scaled else 0)
    return Gradient(
        other_flops=size * each + divisions,
        special_ops=divisions,
        saves=(whole,),
        kept=(Kept(statistics * rows, "float32"), *(() if whole else (like(node.y, size),))),
    )


def _through_swish(found: Gradient, node: Node) -> Gradient:
    """Back through the activation behind a group's normalization, where it is on, from what that gave."""
    if not node.attr("activation", 0):
        return found
    size, work = node.y.size, SWISH.work
    return replace(
        found,
        other_flops=found.other_flops + size * work.flops,
        special_ops=found.special_ops + size * work.special,
        kept=(*found.kept, like(node.y, size)),
    )


@backward("GroupNorm", domain=DOMAIN)
def group_norm(node: Node, wants: Wants) -> Gradient:
    """As a GroupNormalization, in either layout, then a Swish where it is on."""
    return _through_swish(standardized(node, wants, node.x.shape[0] * node.required_attr("groups")), node)


@backward("SkipGroupNorm", domain=DOMAIN)
def skip_group_norm(node: Node, wants: Wants) -> Gradient:
    """As a GroupNorm of x + skip + bias."""
    rows = node.x.shape[0] * node.required_attr("groups")
    found = _of_sum(node, wants, rows, STANDARDIZED, added=(0, 3, 4), scale=1, shift=2, whole=node.output(1))
    return _through_swish(found, node)


@backward("EmbedLayerNormalization", domain=DOMAIN)
def embed_layer_normalization(node: Node, wants: Wants) -> Gradient:
    """As a LayerNormalization of a sum of rows; each table has an add for each element that was taken, as a Gather."""
    tables, size = wants & {2, 3, 4}, node.y.size
    whole, scaled = node.output(2), 5 in wants
    found = _normalized(node, _last(node), STANDARDIZED, passes=bool(tables), scaled=scaled, whole=whole)
    places = (node.x if 2 in tables else None, node.input(1) if 4 in tables else None, node.input(8))
    return replace(
        found,
        other_flops=found.other_flops + size * (len(tables) + (1 if 6 in wants else 0)),
        saves=(*found.saves, *(places if tables else ())),
    )


@backward("BranchwiseRMSNorm", domain=DOMAIN)
def branchwise_rms_norm(node: Node, wants: Wants) -> Gradient:
    """As an RMSNormalization of each branch: an axis of their own, or `num_branches` of them share the last one."""
    return root_mean_square(node, wants, _last(node) * (node.attr("num_branches", 0) or 1))
