"""Normalizations: statistics over a row, then the same work for each of its elements.

Most of them standardize. For a row of n elements that costs

    mean        n adds, a division          variance    n subtracts, n multiplies, n adds, a division
    1 / std     add epsilon, sqrt, 1 / x    result      n multiplies

and `affine` adds a multiply for a scale and an add for a bias. An input of 16 bits is standardized in the type that
`stash_type` names (float32 by default, as ONNX prescribes), which is then the type of the FLOPs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from neural_cost.analyzer.cost import Cost, Dim, prod
from neural_cost.analyzer.node import Node, Tensor
from neural_cost.analyzer.rules.activations import PRECISIONS
from neural_cost.analyzer.rules.registry import cost


class Work(NamedTuple):
    """FLOPs, and how many of them are transcendental."""

    flops: Dim
    special: Dim


def standardize(elements: Dim, rows: Dim) -> Work:
    """Work of giving each row zero mean and unit variance."""
    return Work(5 * elements + 5 * rows, 4 * rows)


def divide_by_rms(elements: Dim, rows: Dim) -> Work:
    """Work of giving each row unit mean square: square, sum, divide for elements; mean, epsilon, sqrt for rows."""
    return Work(3 * elements + 3 * rows, elements + 2 * rows)


def affine(elements: Dim, *parameters: Tensor | None) -> Dim:
    """Work of a scale and a bias: one FLOP for each element and each parameter that is there."""
    return elements * sum(parameter is not None for parameter in parameters)


def rows_before(shape: Sequence[Dim], axis: int) -> Dim:
    """Count the rows that lie along `axis` and all later axes."""
    return prod(shape[: axis if axis >= 0 else axis + len(shape)])


def finish(node: Node, work: Work, affine_flops: Dim = 0) -> Cost:
    """Make the cost of a normalization from its standardizing and its affine work."""
    kind = PRECISIONS.get(node.attr("stash_type", 1)) if node.x.dtype in ("float16", "bfloat16") else node.x.dtype
    return node.cost(other_flops=work.flops + affine_flops, special_ops=work.special, other_type=kind)


@cost("LayerNormalization")
def layer_normalization(node: Node) -> Cost:
    """Cost standardizing over the last axes, scale and bias. Mean and InvStdDev are by-products: only written."""
    size, rows = node.x.size, rows_before(node.x.shape, node.attr("axis", -1))
    return finish(node, standardize(size, rows), affine(size, node.input(1), node.input(2)))


@cost("RMSNormalization", "SimplifiedLayerNormalization")
def rms_normalization(node: Node) -> Cost:
    """Cost division by the root mean square over the last axes, and the scale."""
    size, rows = node.x.size, rows_before(node.x.shape, node.attr("axis", -1))
    return finish(node, divide_by_rms(size, rows), affine(size, node.input(1)))


@cost("InstanceNormalization")
def instance_normalization(node: Node) -> Cost:
    """Cost standardizing each channel of each sample, scale and bias."""
    size = node.x.size
    return finish(node, standardize(size, prod(node.x.shape[:2])), affine(size, node.input(1), node.input(2)))


@cost("GroupNormalization")
def group_normalization(node: Node) -> Cost:
    """Cost standardizing each group of channels of each sample, scale and bias."""
    size, rows = node.x.size, node.x.shape[0] * node.required_attr("num_groups")
    return finish(node, standardize(size, rows), affine(size, node.input(1), node.input(2)))


@cost("MeanVarianceNormalization")
def mean_variance_normalization(node: Node) -> Cost:
    """Cost standardizing over `axes` (default: all but the channels), with no scale."""
    shape = node.x.shape
    axes = {axis % len(shape) for axis in node.attr("axes", [0, 2, 3])}
    return finish(node, standardize(node.x.size, prod(dim for axis, dim in enumerate(shape) if axis not in axes)))


@cost("BatchNormalization")
def batch_normalization(node: Node) -> Cost:
    """Cost a multiply and an add for each element, after five FLOPs for each channel.

    For a channel: scale / sqrt(variance + epsilon), and bias - mean * that (add, sqrt, divide, multiply, subtract).
    In training, the statistics of the batch come first: four FLOPs for each element and two divisions for each
    channel, and running mean and variance take three FLOPs each. Training is `training_mode`, or before opset 14
    any output beyond the first.
    """
    size, channels = node.x.size, node.required(1).size
    outputs = sum(tensor is not None for tensor in node.outputs)
    flops, special = 2 * size + 5 * channels, 2 * channels
    if node.attr("training_mode", 0) or outputs > 1:
        running = min(outputs - 1, 2)
        flops, special = flops + 4 * size + (2 + 3 * running) * channels, special + 2 * channels
    return node.cost(other_flops=flops, special_ops=special)


@cost("LRN")
def lrn(node: Node) -> Cost:
    """Cost x / (bias + alpha / size * sum of squares over `size` channels) ** beta; the edges count in full.

    For each element: its square, `size` adds, a multiply, an add, a power and a division.
    """
    size = node.x.size
    return node.cost(other_flops=size * (node.required_attr("size") + 5), special_ops=2 * size)


@cost("LpNormalization")
def lp_normalization(node: Node) -> Cost:
    """Cost division by the norm along one axis: absolute or square, add, divide; a root for each row where p is 2."""
    size = node.x.size
    axis = node.attr("axis", -1) % node.x.rank
    roots = prod(dim for i, dim in enumerate(node.x.shape) if i != axis) if node.attr("p", 2) == 2 else 0
    return node.cost(other_flops=3 * size + roots, special_ops=size + roots)
