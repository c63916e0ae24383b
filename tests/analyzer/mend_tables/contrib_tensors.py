"""com.microsoft, the rest: shapes by hand from its operators' descriptions."""

from functools import partial

from tests.analyzer.mend_rows import Row

M = partial(Row, domain="com.microsoft")
ONE = ("int32[1]", [1])

ROWS = [
    M("BiasSoftmax", ["float32[2,3]", "float32[2,3]"], ["float32[2,3]"], {"axis": 1, "is_inner_broadcast": 0}),
    M("Inverse", ["float32[2,3,3]"], ["float32[2,3,3]"]),
    M("Trilu", ["float32[3,4]"], ["float32[3,4]"]),
    M("SampleOp", ["float32[3,4]"], ["float32[3,4]"]),
    M("MoEPacked", ["float16[2,5,32]"], ["float16[2,5,32]"]),
    *(M(op, ["float32[9]", "float32[5]", "float32[7]"], ["float32[7]"])
      for op in ("ConvStateReplay", "GatedDeltaNetStateReplay")),
    M("NGramRepeatBlock", ["int64[2,5]", "float32[2,30]"], ["float32[2,30]"], {"ngram_size": 2}),
    M("BiasDropout", ["float32[2,3]", "float32[3]"], ["float32[2,3]", "bool[2,3]"]),
    *(M(op, ["float32[5,13]"], ["float32[5,13]", "uint32[3]"], note="65 bits in words of 32")
      for op in ("BitmaskDropout", "BitmaskBiasDropout")),
    *(M(op, ["float32[4,2]", "float32[2]"], ["float32[4,2]"]) for op in ("ComplexMul", "ComplexMulConj")),
    M("SwiGLU", ["float16[2,64]"], ["float16[2,32]"]),
    M("SwiGLU", ["float16[2,64]", "float16[2,64]"], ["float16[2,64]"]),
    M("IsAllFinite", ["float32[2,3]", "float32[4]"], ["bool[]"]),
    M("MurmurHash3", ["int32[3]"], ["uint32[3]"]),
    M("CDist", ["float32[5,3]", "float32[4,3]"], ["float32[5,4]"], {"metric": "euclidean"}),
    M("CropAndResize", ["float32[2,3,9,9]", "float32[5,4]", ("int32[5]", [0] * 5), ("int32[2]", [4, 6])],
      ["float32[5,3,4,6]"]),
    M("GridSample", ["float32[1,3,9,9]", "float32[1,4,5,2]"], ["float32[1,3,4,5]"]),
    M("ExpandDims", ["float32[2,3]", ("int32[]", -1)], ["float32[2,3,1]"]),
    M("GatherND", ["float32[2,3,4]", "int64[5,2]"], ["float32[5,4]"]),
    M("TorchEmbedding", ["float32[30,8]", "int64[2,5]"], ["float32[2,5,8]"]),
    M("Pad", ["float32[2,3]", ("int64[1,4]", [[0, 1, 2, 3]])], ["float32[4,7]"], note="0 + 2 + 2, 1 + 3 + 3"),
    M("Range", [("float32[]", 1.0), ("float32[]", 8.0), ("float32[]", 2.0)], ["float32[4]"], note="1, 3, 5, 7"),
    M("Range", [("int64[]", 1), ("int64[]", 8)], ["int64[7]"]),
    M("UnfoldTensor", ["float32[2,9]"], ["float32[2,4,3]"], {"dim": 1, "size": 3, "step": 2}, note="(9 - 3) // 2 + 1"),
    M("Unique", ["float32[6]"], ["float32[?]", "int64[6]", "int64[?]"]),
    M("DynamicTimeWarping", ["float32[4,5]"], ["int32[2,?]"]),
    M("Tokenizer", ["string[2,3]"], ["string[2,3,?]"]),
    M("BifurcationDetector", ["int64[9]", "int64[4]", "int64[]"], ["int64[?]", "int64[]"]),
    M("Rfft", ["float32[2,8]"], ["float32[2,5,2]"], {"signal_ndim": 1}),
    M("Irfft", ["float32[2,5,2]"], ["float32[2,8]"], {"signal_ndim": 1}),
    *(M(op, ["int32[2,5]", ("int32[1]", [40])], ["int32[2,40]"]) for op in ("GreedySearch", "Sampling")),
    *(M(op, ["int32[2,5]", ("int32[1]", [40]), ONE, ("int32[1]", [4]), ("int32[1]", [3])], ["int32[2,3,40]"])
      for op in ("BeamSearch", "WhisperBeamSearch")),
]  # fmt: skip
