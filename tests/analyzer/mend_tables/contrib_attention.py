"""com.microsoft, attention: shapes by hand from its operators' descriptions."""

from functools import partial

from tests.analyzer.mend_rows import Row

M = partial(Row, domain="com.microsoft")
GROUPED = {"num_heads": 4, "kv_num_heads": 2}  # heads of 8: queries of 32, keys of 16
GQA = ["float32[1,1,32]", "float32[1,1,16]", "float32[1,1,16]"]
CACHE, LENGTHS = "float32[1,2,20,8]", ("int32[1]", [9])

ROWS = [
    M("Attention", ["float32[2,5,12]", "float32[12,48]", "float32[48]"], ["float32[2,5,16]", "float32[2,2,4,5,4]"],
      {"num_heads": 4}, note="48 / 3 projected, in 4 heads"),
    M("GroupQueryAttention", [*GQA, CACHE, CACHE, LENGTHS, ("int32[]", 10)],
      ["float32[1,1,32]", CACHE, CACHE], GROUPED, note="10 tokens fit into a cache of 20"),
    M("GroupQueryAttention", [*GQA, CACHE, CACHE, LENGTHS, "int32[]"],
      ["float32[1,1,32]", "float32[1,2,?,8]", "float32[1,2,?,8]"], GROUPED, note="how many tokens is not known"),
    M("MultiHeadAttention", ["float32[2,5,32]", "float32[2,6,32]", "float32[2,6,64]"],
      ["float32[2,5,64]", "float32[2,4,6,8]", "float32[2,4,6,16]"], {"num_heads": 4}, note="values of 64 / 4"),
    M("MultiHeadAttention", ["float32[2,5,32]", "float32[2,4,6,8]", "float32[2,4,6,16]"], ["float32[2,5,64]"],
      {"num_heads": 4}, note="keys and values by head"),
    M("DecoderMaskedMultiHeadAttention",
      ["float32[1,1,96]", None, None, None, None, "float32[1,4,20,8]", "float32[1,4,20,8]"],
      ["float32[1,1,32]", "float32[1,4,20,8]", "float32[1,4,20,8]"], {"num_heads": 4, "past_present_share_buffer": 1},
      note="96 / 3 packed"),
    M("DecoderMaskedMultiHeadAttention",
      ["float32[1,1,32]", "float32[1,1,32]", "float32[1,1,32]", None, None, "float32[1,4,20,8]", "float32[1,4,20,8]"],
      ["float32[1,1,32]", "float32[1,4,21,8]", "float32[1,4,21,8]"], {"num_heads": 4}),
    M("DecoderMaskedSelfAttention",
      ["float32[1,1,24]", "float32[24,96]", "float32[96]", None, "float32[2,1,4,20,8]"],
      ["float32[1,1,32]", "float32[2,1,4,20,8]"], {"num_heads": 4, "past_present_share_buffer": 1}),
    M("SparseAttention", ["float32[1,3,64]", None, None, CACHE, CACHE], ["float32[1,3,32]", CACHE, CACHE], GROUPED,
      note="64 / (4 + 2 * 2) * 4"),
    M("DecoderAttention", ["float32[5,2,32]"], ["float32[5,2,32]", "float32[2,4,?,8]", "float32[2,4,?,8]"],
      {"num_heads": 4}),
    M("RelativePositionBias", ["float32[32,4]", ("int64[1]", [7]), ("int64[1]", [7])], ["float32[1,4,7,7]"],
      {"max_distance": 128}),
    M("GemmaRotaryEmbedding", ["float32[2,5,8]", *["float16[2,4,5,8]"] * 4], ["float16[2,4,5,8]", "float16[2,4,5,8]"]),
    M("RMSNormRotary", ["float16[2,5,4,16]"], ["bfloat16[1,10,32]", "float32[2,5,4,8]"],
      {"input_width": 8, "flatten_batch": 1}),
]  # fmt: skip
