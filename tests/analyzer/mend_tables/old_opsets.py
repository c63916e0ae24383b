"""Operators as they were: shapes by hand from the specifications of opsets 1 to 6 (GroupNormalization: 18)."""

from tests.analyzer.mend_rows import Row

PAIR = ["float32[2,3,4]", "float32[3]"]  # broadcast from an axis that an attribute gives: the first's shape holds

ROWS = [
    *(Row(op, PAIR, ["float32[2,3,4]"], {"broadcast": 1, "axis": 1}) for op in ("Add", "Sub", "Mul", "Div", "Pow")),
    *(Row(op, ["float32[2,3]"] * 2, ["float32[2,3]"]) for op in ("Max", "Min", "Mean", "Sum")),
    *(Row(op, ["float32[1,3,2,2]"], ["float32[1,3,2,2]"]) for op in ("Affine", "ImageScaler", "ParametricSoftplus")),
    *(Row(op, ["float32[1,3,2,2]"], ["float32[1,3,2,2]"]) for op in ("Scale", "ScaledTanh")),
    *(Row(op, PAIR, ["bool[2,3,4]"], {"broadcast": 1, "axis": 1}) for op in ("Equal", "Greater", "Less")),
    *(Row(op, ["bool[2,3]"] * 2, ["bool[2,3]"]) for op in ("And", "Or", "Xor")),
    Row("Gemm", ["float32[2,3]", "float32[4,3]", "float32[4]"], ["float32[2,4]"], {"transB": 1, "broadcast": 1}),
    Row("Dropout", ["float32[2,3]"], ["float32[2,3]", "float32[2,3]"]),
    Row("GRU", ["float32[5,2,3]", "float32[1,12,3]", "float32[1,12,4]"], ["float32[5,1,2,4]", "float32[1,2,4]"],
        {"hidden_size": 4}, note="steps, directions, batch, hidden"),
    Row("RNN", ["float32[5,2,3]", "float32[2,4,3]", "float32[2,4,4]"], ["float32[5,2,2,4]", "float32[2,2,4]"],
        {"hidden_size": 4, "direction": "bidirectional"}),
    Row("LSTM", ["float32[5,2,3]", "float32[1,16,3]", "float32[1,16,4]"],
        ["float32[5,1,2,4]", "float32[1,2,4]", "float32[1,2,4]"], {"hidden_size": 4}),
    Row("GroupNormalization", ["float32[1,4,2]", "float32[2]", "float32[2]"], ["float32[1,4,2]"], {"num_groups": 2},
        since=18),
    Row("Cast", ["float32[2,3]"], ["int64[2,3]"], {"to": "INT64"}),
    Row("Concat", ["float32[2,3]", "float32[2,4]"], ["float32[2,7]"], note="axis 1 by default: 3 + 4"),
    Row("Reshape", ["float32[2,3,4]"], ["float32[2,2,6]"], {"shape": [0, 2, -1]}, note="24 / (2 * 2)"),
    Row("Slice", ["float32[10,6]"], ["float32[10,3]"], {"starts": [1], "ends": [-2], "axes": [1]}, note="1, 2, 3"),
    Row("Split", ["float32[6,2]"], ["float32[2,2]", "float32[4,2]"], {"axis": 0, "split": [2, 4]}),
    Row("Split", ["float32[6,2]"], ["float32[3,2]", "float32[3,2]"], {"axis": 0}),
    Row("Tile", ["float32[2,3]", ("float32[]", 4), ("float32[]", 1)], ["float32[2,12]"], note="3 * 4"),
    Row("TopK", ["float32[2,9]"], ["float32[2,4]", "int64[2,4]"], {"k": 4}),
    Row("Upsample", ["float32[1,3,4,5]"], ["float32[1,3,8,15]"], {"height_scale": 2.0, "width_scale": 3.0}),
]  # fmt: skip
