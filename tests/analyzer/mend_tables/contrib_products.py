"""com.microsoft, convolutions and matrix products: shapes by hand from its operators' descriptions."""

from functools import partial

from tests.analyzer.mend_rows import Row

M = partial(Row, domain="com.microsoft")
QUANTIZED = (("float32[]", 1.0), ("uint8[]", 0))  # scale and zero point

ROWS = [
    M("FusedConv", ["float32[1,3,8,8]", "float32[4,3,3,3]"], ["float32[1,4,4,4]"],
      {"activation": "Relu", "strides": [2, 2], "pads": [1, 1, 1, 1]}, note="(8 + 2 - 3) // 2 + 1"),
    M("NhwcFusedConv", ["float16[1,8,8,4]", "float16[2,4,3,3]"], ["float16[1,6,6,2]"], note="8 - 3 + 1"),
    M("NhwcConv", ["float32[1,8,8,4]", "float32[2,4,3,3]"], ["float32[1,6,6,2]"]),
    M("FusedGemm", ["float32[2,3]", "float32[4,3]"], ["float32[2,4]"], {"transB": 1, "activation": "Relu"}),
    M("GemmFloat8", ["float32[3,2]", "float32[3,4]"], ["float16[2,4]"], {"transA": 1, "dtype": 10}),
    M("QGemm", ["uint8[2,3]", *QUANTIZED, "uint8[4,3]", *QUANTIZED, None, *QUANTIZED], ["uint8[2,4]"], {"transB": 1}),
    M("FusedMatMul", ["float32[2,5,3]", "float32[5,3,4]"], ["float32[5,2,4]"], {"transBatchA": 1},
      note="5 products of 2x3 by 3x4"),
    M("FusedMatMul", ["float32[5,3,2]", "float32[4,5,3]"], ["float32[5,2,4]"],
      {"transA": 1, "transBatchB": 1, "transB": 1}),
    M("FusedMatMulActivation", ["float32[2,3]", "float32[4,3]"], ["float32[2,4]"], {"transB": 1, "activation": "Relu"}),
    M("TransposeMatMul", ["float32[2,5,3]", "float32[5,3,4]"], ["float32[5,2,4]"], {"transBatchA": 1}),
    M("MatMulIntegerToFloat", ["uint8[2,3]", "int8[3,4]", "float32[1]", "float32[1]"], ["float32[2,4]"]),
    M("DynamicQuantizeMatMul", ["float32[2,3]", "int8[3,4]", "float32[1]"], ["float32[2,4]"]),
    M("MatMulInteger16", ["int16[2,3]", "int16[3,4]"], ["int32[2,4]"]),
    M("MatMulBnb4", ["float32[2,5,64]", "uint8[256]", "float32[32]"], ["float32[2,5,8]"],
      {"K": 64, "N": 8, "block_size": 16, "quant_type": 1}, note="64 * 8 / 2 bytes"),
    M("MatMulNBitsQLoRA", ["float32[2,64]"], ["float32[2,8]"], {"K": 64, "N": 8}),
    M("MatMulPacked", ["bfloat16[2,64]", "uint8[8,36]"], ["bfloat16[2,8]"], {"K": 64, "N": 8}),
    M("RouterGateUpProj", ["float16[2,64]", "float16[64,20]"], ["float16[2,4]", "float16[2,8]"], {"router_size": 4},
      note="(20 - 4) / 2"),
    M("HyperConnectionLowRankMix", ["float16[5,32]"], ["float16[5,8]", "float16[5,4]", "float16[5,32]"],
      {"num_branches": 4}),
    M("MatMulNBitsMlp", ["float16[2,64]"], ["float16[2,8]", "float16[2,64]"], {"K": 64, "N": 8}),
    M("MatMulNBitsQkv", ["float16[2,64]"], ["float16[2,8]", "float16[2,4]", "float16[2,4]", "float16[2,64]"],
      {"K": 64, "Nq": 8, "Nkv": 4}),
    M("MatMulFpQ4", ["float32[2,64]", "uint8[576]", ("int64[2]", [64, 8])], ["float32[2,8]"]),
    M("SparseToDenseMatMul", ["float32[3,2]", "float32[3,4]"], ["float32[2,4]"], {"transA": 1}),
]  # fmt: skip
