"""Normalizations that ONNX Runtime fuses with what surrounds them (com.microsoft).

Each costs what its parts cost on their own: fusing changes traffic, never the arithmetic.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, Dim, minimum, prod
from neural_cost.analyzer.node import Node, Tensor
from neural_cost.analyzer.rules.activations import ACTIVATIONS, PerElement
from neural_cost.analyzer.rules.normalization import Work, affine, divide_by_rms, finish, rows_before, standardize
from neural_cost.analyzer.rules.quantized_elementwise import dequantize, quantize
from neural_cost.analyzer.rules.registry import cost

DOMAIN = "com.microsoft"


@cost("SkipLayerNormalization", domain=DOMAIN)
def skip_layer_normalization(node: Node) -> Cost:
    """Cost adding skip and bias, then a LayerNormalization of the last axis."""
    size = node.x.size
    added = affine(size, node.input(1), node.input(4))
    work = standardize(size, rows_before(node.x.shape, -1))
    return finish(node, work, added + affine(size, node.input(2), node.input(3)))


@cost("SkipSimplifiedLayerNormalization", domain=DOMAIN)
def skip_simplified_layer_normalization(node: Node) -> Cost:
    """Cost adding skip and bias, then an RMSNormalization of the last axis."""
    size = node.x.size
    added = affine(size, node.input(1), node.input(3))
    work = divide_by_rms(size, rows_before(node.x.shape, -1))
    return finish(node, work, added + affine(size, node.input(2)))


def _group_norm(node: Node, *added: Tensor | None) -> Cost:
    """Cost adding what is there, standardizing each group, scale, bias, and the activation SiLU where it is on."""
    size = node.x.size
    work = standardize(size, node.x.shape[0] * node.required_attr("groups"))
    after = ACTIVATIONS["silu"] if node.attr("activation", 0) else PerElement(0)
    flops = affine(size, *added) + affine(size, node.input(1), node.input(2)) + size * after.flops
    return finish(node, Work(work.flops, work.special + size * after.special), flops)


@cost("GroupNorm", domain=DOMAIN)
def group_norm(node: Node) -> Cost:
    """Cost a GroupNormalization, in either layout, and its activation."""
    return _group_norm(node)


@cost("SkipGroupNorm", domain=DOMAIN)
def skip_group_norm(node: Node) -> Cost:
    """Cost adding skip and bias, then a GroupNormalization and its activation."""
    return _group_norm(node, node.input(3), node.input(4))


def _tables(node: Node) -> list[Tensor]:
    """Embeddings of words and positions, and of segments where the node is given segments."""
    return [node.required(index) for index in ((2, 3, 4) if node.input(1) else (2, 3))]


def _rows_read(node: Node, tables: list[Tensor], own_positions: bool) -> Dim:
    """Bytes of the rows taken, each table at most once, and of all other inputs."""
    size = node.y.size
    positions = size if own_positions else node.y.shape[-2] * node.y.shape[-1]  # the same for each sample
    taken = [size, positions, size][: len(tables)]
    rows = sum(table.size_in_bytes(minimum(table.size, count)) for table, count in zip(tables, taken, strict=True))
    return rows + node.read_bytes - sum(table.bytes for table in tables)


def _embed(node: Node, own_positions: bool, dequantized: Dim = 0) -> Cost:
    """Cost the sum of the rows taken, a LayerNormalization, and one add for each element of a mask, to count words."""
    tables, size, mask = _tables(node), node.y.size, node.input(7)
    work = standardize(size, rows_before(node.y.shape, -1))
    flops = size * (len(tables) - 1) + affine(size, node.input(5), node.input(6)) + (mask.size if mask else 0)
    return node.cost(
        other_flops=work.flops + flops + dequantized,
        special_ops=work.special,
        read_bytes=_rows_read(node, tables, own_positions),
        other_type=node.y.dtype,
    )


@cost("EmbedLayerNormalization", domain=DOMAIN)
def embed_layer_normalization(node: Node) -> Cost:
    """Cost the rows taken of two or three tables, their sum, and a LayerNormalization of the last axis."""
    return _embed(node, own_positions=node.input(8) is not None)


@cost("QEmbedLayerNormalization", domain=DOMAIN)
def quantized_embed_layer_normalization(node: Node) -> Cost:
    """Cost an EmbedLayerNormalization whose tables, scale and bias are dequantized as they are taken."""
    elements = node.y.size * len(_tables(node)) + 2 * node.y.shape[-1]
    return _embed(node, own_positions=False, dequantized=dequantize(node.input(13)).flops * elements)


@cost("QOrderedLayerNormalization", domain=DOMAIN)
def quantized_ordered_layer_normalization(node: Node) -> Cost:
    """Cost dequantizing, a LayerNormalization, and quantizing."""
    size = node.x.size
    work = standardize(size, rows_before(node.x.shape, node.attr("axis", -1)))
    before, after = dequantize(None), quantize(None)
    flops = work.flops + size * (before.flops + after.flops) + affine(size, node.input(2), node.input(3))
    return node.cost(other_flops=flops, special_ops=work.special + size * after.special, other_type="float32")


@cost("BranchwiseRMSNorm", domain=DOMAIN)
def branchwise_rms_norm(node: Node) -> Cost:
    """Cost an RMS norm of each branch; they are an axis, or `num_branches` of them share the last one."""
    size = node.x.size
    rows = rows_before(node.x.shape, -1) * (node.attr("num_branches", 0) or 1)
    work = divide_by_rms(size, rows)
    return node.cost(
        other_flops=work.flops + affine(size, node.input(1)), special_ops=work.special, other_type="float32"
    )


@cost("GatedRMSNorm", domain=DOMAIN)
def gated_rms_norm(node: Node) -> Cost:
    """Cost an RMS norm of rows as long as the scale, and the product with an activation of the gate."""
    size, scale = node.x.size, node.required(1)
    work = divide_by_rms(size, size // scale.size)
    gate = ACTIVATIONS["sigmoid" if node.attr("activation", "silu") == "sigmoid" else "silu"] + PerElement(1)
    return node.cost(
        other_flops=work.flops + affine(size, scale) + size * gate.flops,
        special_ops=work.special + size * gate.special,
        other_type="float32",
    )


@cost("EngramGate", domain=DOMAIN)
def engram_gate(node: Node) -> Cost:
    """Cost RMS norms of key and query with their scales, their dot product for each row, and the gated value.

    A row's gate: scale, sign, absolute, max, root, multiply, sigmoid. The optional output is one more norm.
    """
    size, rows = node.x.size, prod(node.x.shape[:-1])
    norm = divide_by_rms(size, rows)
    norms = 3 if node.output(1) else 2
    gate = PerElement(6, 1) + ACTIVATIONS["sigmoid"]
    return node.cost(
        macs=size,
        other_flops=norms * (norm.flops + size) + rows * gate.flops + size,
        special_ops=norms * norm.special + rows * gate.special,
        other_type="float32",
    )
