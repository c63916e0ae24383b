"""com.microsoft: attention, where upstream lacks it or is wrong on packed inputs and on caches."""

from __future__ import annotations

import onnx_ir as ir
from onnx_shape_inference import ShapeInferenceContext

from neural_cost.analyzer.shape_mends.reading import (
    Dim,
    dims_of,
    given,
    integer,
    integers,
    known_int,
    product,
    required,
    set_output,
)
from neural_cost.analyzer.shape_mends.registry import ask_upstream, mend

MICROSOFT = "com.microsoft"


@mend("GroupQueryAttention", domain=MICROSOFT)
def group_query_attention(context: ShapeInferenceContext, node: ir.Node) -> None:
    """The cache may be longer than what it holds: it stays as it is, or grows to total_sequence_length.

    Upstream always adds the new keys to it.
    """
    ask_upstream(context, node, 1)
    past = given(node, 3)
    dims = dims_of(past, 4)
    if past is None or dims is None or integer(node, "sliding_window_cache"):
        return
    total = known_int(context, given(node, 6))
    length: Dim = context.new_symbolic_dim()
    if isinstance(total, int) and isinstance(dims[2], int):
        length = max(total, dims[2])
    elif total is not None:
        length = context.simplify_dim(ir.SymbolicDim(f"Max({total}, {dims[2]})"))
    for index in (1, 2):
        set_output(context, node, index, [*dims[:2], length, dims[3]], past.dtype)


@mend("Attention", domain=MICROSOFT)
def attention(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Heads divide what the weights project to; upstream divides the width of the input for the first cache."""
    ask_upstream(context, node, 1)
    out = dims_of(node.outputs[0], 3)
    cache = dims_of(node.outputs[1], 5) if len(node.outputs) > 1 else None
    if out is not None and cache is not None and given(node, 4) is None:
        set_output(context, node, 1, [*cache[:4], out[2] // integer(node, "num_heads")], required(node, 0).dtype)


@mend("MultiHeadAttention", domain=MICROSOFT)
def multi_head_attention(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Values may be wider or narrower than keys, and a shared cache stays as it is: upstream leaves that out."""
    ask_upstream(context, node, 1)
    heads = integer(node, "num_heads")
    query, values, past = required(node, 0), given(node, 2), given(node, 6)
    wide, query_dims, cache = dims_of(values), dims_of(query, 3), dims_of(past, 4)
    width = None
    if wide is not None and len(wide) in (3, 4):
        width = wide[3] if len(wide) == 4 else wide[2] // heads
    if width is not None and query_dims is not None:
        set_output(context, node, 0, [*query_dims[:2], width * heads], query.dtype)
    for index in (1, 2):
        found = dims_of(node.outputs[index]) if index < len(node.outputs) else None
        if found is None:
            continue
        if index == 2 and width is not None:
            found[3] = width
        if given(node, 8) is not None and cache is not None:
            found[2] = cache[2]
        set_output(context, node, index, found, query.dtype)


@mend("DecoderMaskedMultiHeadAttention", domain=MICROSOFT)
def decoder_masked(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Without a key the query packs all three; a cache that is not shared grows by one: upstream leaves both out."""
    query, values = required(node, 0), given(node, 2)
    dims, wide = dims_of(query, 3), dims_of(values)
    if dims is not None and given(node, 1) is None:
        dims[2] = dims[2] // 3
    elif dims is not None and wide is not None:
        dims[2] = wide[1] * wide[3] if len(wide) == 4 else wide[-1]
    set_output(context, node, 0, dims, query.dtype)
    for index in (1, 2):
        set_output(context, node, index, _grown(node, given(node, 4 + index)), query.dtype)


@mend("DecoderMaskedSelfAttention", domain=MICROSOFT)
def decoder_masked_self(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Projects, then attends one new token to a cache of keys and values."""
    x, weights = required(node, 0), dims_of(required(node, 1), 2)
    dims = dims_of(x, 3)
    if dims is not None and weights is not None:
        dims[2] = integers(node, "qkv_hidden_sizes", [0, 0, 0])[2] or weights[1] // 3
    set_output(context, node, 0, dims if weights is not None else None, x.dtype)
    set_output(context, node, 1, _grown(node, given(node, 4), 3), x.dtype)


def _grown(node: ir.Node, past: ir.Value | None, axis: int = 2) -> list[Dim] | None:
    dims = dims_of(past)
    if dims is not None and not integer(node, "past_present_share_buffer"):
        dims[axis] = dims[axis] + 1
    return dims


@mend("SparseAttention", domain=MICROSOFT)
def sparse_attention(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Without a key the query packs all three; the caches keep their shape: upstream leaves both out."""
    query = required(node, 0)
    dims = dims_of(query, 3)
    if dims is not None and given(node, 1) is None:
        heads, groups = integer(node, "num_heads"), integer(node, "kv_num_heads")
        dims[2] = dims[2] // (heads + 2 * groups) * heads
    set_output(context, node, 0, dims, query.dtype)
    for index in (1, 2):
        set_output(context, node, index, dims_of(given(node, 2 + index)), query.dtype)


@mend("DecoderAttention", domain=MICROSOFT)
def decoder_attention(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Sequence first; how long the new caches are depends on flags that are inputs."""
    query = required(node, 0)
    dims, heads = dims_of(query, 3), integer(node, "num_heads")
    set_output(context, node, 0, dims, query.dtype)
    for index in (1, 2):
        cache = None if dims is None else [dims[1], heads, context.new_symbolic_dim(), dims[2] // heads]
        set_output(context, node, index, cache, query.dtype)


@mend("RelativePositionBias", domain=MICROSOFT)
def relative_position_bias(context: ShapeInferenceContext, node: ir.Node) -> None:
    """A bias for each head, query and key."""
    table = required(node, 0)
    dims = dims_of(table, 2)
    lengths = [known_int(context, required(node, i)) for i in (1, 2)]
    sizes = [context.new_symbolic_dim() if length is None else length for length in lengths]
    set_output(context, node, 0, None if dims is None else [1, dims[1], *sizes], table.dtype)


@mend("GemmaRotaryEmbedding", domain=MICROSOFT)
def gemma_rotary(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Rotated queries and keys, like those that come in."""
    for index, source in enumerate((1, 3)):
        set_output(context, node, index, dims_of(required(node, source)), required(node, source).dtype)


@mend("RMSNormRotary", domain=MICROSOFT)
def rms_norm_rotary(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Heads side by side after the rotation; only `input_width` of each row is taken."""
    dims = dims_of(required(node, 0), 4)
    dtype = ir.DataType.FLOAT16 if integer(node, "output_fp16") else ir.DataType.BFLOAT16
    if dims is None:
        set_output(context, node, 0, None, dtype)
        return
    batch, steps, heads, stride = dims
    width = integer(node, "input_width") or stride
    rows = [1, product([batch, steps])] if integer(node, "flatten_batch") else [batch, steps]
    set_output(context, node, 0, [*rows, product([heads, width])], dtype)
    set_output(context, node, 1, [batch, steps, heads, width], ir.DataType.FLOAT)
