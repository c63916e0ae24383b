"""Operators that are linear in what needs a gradient: back, the adjoint does as much as the operator did forward."""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost
from neural_cost.analyzer.node import Node, Unknown
from neural_cost.analyzer.rules.registry import lookup
from neural_cost.analyzer.training.registry import Gradient, Wants, backward


def forward(node: Node) -> Cost:
    """What the node costs forward."""
    rule = lookup(node.domain, node.op_type, node.version)
    if rule is None:
        raise Unknown(f"{node.op_type} has no cost rule, which its backward cost is made of")
    return rule.function(node)


@backward("DFT")
@backward("Rfft", "Irfft", domain="com.microsoft")
def dft(node: Node, wants: Wants) -> Gradient:
    """The transform the other way."""
    del wants
    return Gradient(other_flops=forward(node).other_flops)


@backward("STFT")
def stft(node: Node, wants: Wants) -> Gradient:
    """The transforms the other way and the window; for a window that is learned products with the signal, kept, too."""
    flops = forward(node).other_flops
    frames = node.y.shape[0] * node.y.shape[1]
    window, points = node.input(2), 0
    if 2 in wants and window is not None:
        points = 2 * frames * window.size
    return Gradient(other_flops=flops + points, saves=(window, node.x if 2 in wants else None))


@backward("AffineGrid")
def affine_grid(node: Node, wants: Wants) -> Gradient:
    """Each position, which is no tensor, with the gradient of its place."""
    del wants
    return Gradient(macs={0: forward(node).macs})


@backward("RoiAlign")
def roi_align(node: Node, wants: Wants) -> Gradient:
    """What each sample was made of, added back; regions and their batch entries are kept."""
    del wants
    if node.attr("mode", "avg") != "avg":
        raise Unknown("the gradient of a maximum of weighted taps has no formula here")
    cost = forward(node)
    return Gradient(
        other_flops=cost.other_flops, special_ops=cost.special_ops, saves=(node.required(1), node.required(2))
    )


@backward("DeformConv")
def deform_conv(node: Node, wants: Wants) -> Gradient:
    """A product for the filters and one for the samples; x, its offsets and its mask each take as much as sampling did.

    The samples are not kept: for the filters they are made again.
    """
    cost = forward(node)
    sampling = cost.other_flops - (node.y.size if node.input(3) else 0)
    of_samples = wants & {0, 2, 4}
    flops = sampling * (len(of_samples) + (1 if 1 in wants else 0))
    if 3 in wants:
        flops = flops + node.y.size - node.required(3).size
    return Gradient(
        macs={1: cost.macs} if 1 in wants else {},
        inner_macs=cost.macs if of_samples else 0,
        other_flops=flops,
        saves=(node.x, node.required(2), node.input(4)),
    )


@backward("MaxUnpool")
def max_unpool(node: Node, wants: Wants) -> Gradient:
    """Each value takes the gradient of its place."""
    del wants
    return Gradient(saves=(node.required(1),))
