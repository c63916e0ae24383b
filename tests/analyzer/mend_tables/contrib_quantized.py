"""com.microsoft, quantized operators: shapes by hand from its operators' descriptions."""

from functools import partial

from tests.analyzer.mend_rows import Row

M = partial(Row, domain="com.microsoft")
POOL = {"kernel_shape": [2, 2], "strides": [2, 2]}
SCALES = [("float32[]", 1.0), ("uint8[]", 0), ("float32[]", 1.0), ("uint8[]", 0)]  # of the input, of the output

ROWS = [
    M("QLinearAveragePool", ["uint8[1,3,8,8]", *SCALES], ["uint8[1,3,4,4]"], POOL),
    M("QLinearAveragePool", ["uint8[1,8,8,3]", *SCALES], ["uint8[1,4,4,3]"], POOL | {"channels_last": 1}),
    M("NhwcMaxPool", ["uint8[1,8,6,3]"], ["uint8[1,4,3,3]"], POOL),
    M("MaxpoolWithMask", ["float32[1,3,8,8]", "int32[1,3,8,8]"], ["float32[1,3,4,4]"], POOL),
    M("QLinearGlobalAveragePool", ["uint8[2,3,8,8]", *SCALES], ["uint8[2,3,1,1]"]),
    M("QLinearGlobalAveragePool", ["uint8[2,8,8,3]", *SCALES], ["uint8[2,1,1,3]"], {"channels_last": 1}),
    M("QLinearReduceMean", ["uint8[2,3,4]", *SCALES], ["uint8[2,1,4]"], {"axes": [1]}),
    M("QLinearReduceMean", ["uint8[2,3,4]", *SCALES], ["uint8[2,3]"], {"axes": [-1], "keepdims": 0}),
    M("ReduceSumInteger", ["uint8[2,3]"], ["?[2]"], {"axes": [1], "keepdims": 0}),
    M("QEmbedLayerNormalization",
      ["int32[2,5]", None, "uint8[30,16]", "uint8[9,16]", None, "uint8[16]", "uint8[16]", None, "float32[]"],
      ["float32[2,5,16]", "int32[2]"]),
    M("QuantizeLinear", ["float32[2,3]", ("float32[]", 1.0), ("int8[]", 0)], ["int8[2,3]"]),
    M("DequantizeLinear", ["int8[2,3]", ("float32[]", 1.0), ("int8[]", 0)], ["float32[2,3]"]),
    M("AttnLSTM", ["float32[5,2,3]"], ["float32[5,1,2,4]", "float32[1,2,4]", "float32[1,2,4]"], {"hidden_size": 4}),
    M("QuantizeWithOrder", ["float16[2,3]", "float16[]"], ["int8[2,3]"], {"order_input": 1, "order_output": 2}),
    M("DequantizeWithOrder", ["int8[2,3]", "float16[]"], ["float16[2,3]"], {"to": 10}),
    M("GatherPacked", ["uint8[30,18]", "int64[2,5]"], ["bfloat16[2,5,32]"], {"K": 32}),
    M("MulInteger", ["uint8[2,3]", None, "uint8[3]", None], ["int32[2,3]"]),
    M("DynamicQuantizeLSTM", ["float32[5,2,3]"], ["float32[5,2,2,4]", "float32[2,2,4]", "float32[2,2,4]"],
      {"hidden_size": 4, "direction": "bidirectional"}),
    M("GatherBlockQuantized", ["uint8[30,32]", "int64[2,5]", "float32[30,4]"], ["float32[2,5,64]"], {"block_size": 16},
      note="two elements of 4 bits in a byte"),
]  # fmt: skip
