"""Which kernels stand for an operator, and their sizes: by hand, for operators that are easily misread."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import neural_cost
from neural_cost.analyzer.fusion.groups import fusion_graph, fusion_groups
from neural_cost.analyzer.prediction.kinds import pieces
from neural_cost.analyzer.prediction.layout import Layout
from neural_cost.analyzer.prediction.piece import Job, Piece

MICROSOFT = "com.microsoft"
BLOCK = 16
SCALE, ZERO = np.array(0.5, np.float32), np.array(0, np.uint8)


def w(*shape: int, dtype=np.float32) -> np.ndarray:
    """A constant."""
    return np.ones(shape, dtype)


def ints(*values: int) -> np.ndarray:
    """Whole numbers that are constant."""
    return np.array(values, np.int64)


def made(folder, op_type, inputs, *, domain="", opset=20, outputs=1, dtype=TensorProto.FLOAT, **attributes):
    """Pieces of the one node of a model; arrays are constants, tuples are shapes of inputs."""
    names = ["" if each is None else f"i{place}" for place, each in enumerate(inputs)]
    given = [(n, e) for n, e in zip(names, inputs, strict=True) if e is not None]
    ends = [helper.make_tensor_value_info(n, dtype, e) for n, e in given if isinstance(e, tuple)]
    constants = [numpy_helper.from_array(e, n) for n, e in given if isinstance(e, np.ndarray)]
    results = [f"o{place}" for place in range(outputs)]
    node = helper.make_node(op_type, names, results, domain=domain, **attributes)
    out = [helper.make_tensor_value_info(name, dtype, None) for name in results]
    opsets = [helper.make_opsetid("", opset), *([helper.make_opsetid(domain, 1)] if domain else [])]
    graph = helper.make_graph([node], "g", ends, out, constants)
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), folder / "model.onnx")
    seen = fusion_graph(neural_cost.analyze(folder / "model.onnx"), BLOCK)
    groups = fusion_groups(seen)
    (group,) = groups
    return pieces(Job(seen, group, 0 in Layout.of(seen, groups).packed, BLOCK))


@pytest.mark.parametrize(
    ("op_type", "inputs", "more", "expected"),
    [
        # stacks of 3 x 1 and 1 x 5 matrices: 15 products
        ("MatMul", [(3, 1, 4, 8), (1, 5, 8, 6)], {}, [("MatMul", (15, 4, 8, 6), 1, False)]),
        ("MatMul", [(8, 1, 4, 8), (2, 8, 6)], {}, [("MatMul", (16, 4, 8, 6), 1, False)]),
        ("MatMul", [(2, 4, 8), (8, 1, 8, 6)], {}, [("MatMul", (16, 4, 8, 6), 1, False)]),
        ("MatMul", [(8,), (8, 6)], {}, [("MatMul", (1, 1, 8, 6), 1, False)]),
        ("MatMul", [(2, 4, 8), w(8, 6)], {}, [("MatMul weight", (8, 8, 6), 1, False)]),
        # a column was never timed
        ("MatMul", [(4, 8), w(8)], {}, [("MatMul weight", (4, 8, 1), 1, True)]),
        ("Gemm", [(8, 4), w(6, 8)], {"transA": 1, "transB": 1}, [("MatMul weight", (4, 8, 6), 1, False)]),
        ("FusedMatMul", [(8,), (8, 6)], {"domain": MICROSOFT, "transA": 1}, [("MatMul", (1, 1, 8, 6), 1, False)]),
        ("FusedMatMul", [(2, 8, 4), (2, 8, 6)], {"domain": MICROSOFT, "transA": 1},
         [("MatMul", (2, 4, 8, 6), 1, False)]),
        # 2 groups of 16 channels that are packed; 4 groups of 4 that are not
        ("Conv", [(1, 32, 6, 6), w(32, 16, 3, 3)], {"group": 2}, [("conv 3x3", (16, 16, 16), 2, False)]),
        ("Conv", [(1, 16, 6, 6), w(16, 4, 3, 3)], {"group": 4}, [("plain conv 3x3", (4, 16, 4, 4), 1, False)]),
        ("Conv", [(2, 16, 10), w(8, 16, 3)], {}, [("plain conv 3x3", (2, 8, 16 * 3 / 9, 8), 1, False)]),
        ("Conv", [(1, 4, 4, 4, 4), w(8, 4, 3, 3, 3)], {}, [("plain conv 3x3", (1, 8, 4 * 27 / 9, 8), 1, True)]),
        ("FusedConv", [(1, 32, 6, 6), w(32, 32, 3, 3)], {"domain": MICROSOFT, "activation": "Relu"},
         [("conv 3x3", (16, 32, 32), 1, False)]),
        # 4 x 4 windows of 4 channels by 3 x 3, with 8 filters
        ("QLinearConv", [(1, 4, 6, 6), SCALE, ZERO, w(8, 4, 3, 3, dtype=np.uint8), SCALE, ZERO, SCALE, ZERO],
         {"dtype": TensorProto.UINT8}, [("MatMulInteger", (16, 36, 8), 1, True)]),
        # each of 5 x 5 places is spread over 4 x 4: 4 windows of 2 x 2
        ("ConvTranspose", [(1, 8, 5, 5), w(8, 6, 4, 4)], {"strides": [2, 2]},
         [("ConvTranspose", (25, 8, 6), 4, False)]),
        # before opset 13 all axes from this one on are one row
        ("Softmax", [(2, 4, 8)], {"opset": 11, "axis": 1}, [("Softmax", (2, 32), 1, False)]),
        ("Softmax", [(2, 4, 8)], {"axis": 1},
         [("Softmax", (16, 4), 1, False), ("Transpose 2d", (16, 4), 2, False)]),
        ("Softmax", [(2, 4, 1)], {"axis": 1}, [("Softmax", (2, 4), 1, False)]),
        ("ReduceSum", [(4, 8), ints()], {}, [("ReduceMean", (1, 32), 1, False)]),
        ("ReduceSum", [(4, 8), ints()], {"noop_with_empty_axes": 1}, [("Neg", (32,), 1, True)]),
        ("ReduceSum", [(6, 8), ints(0)], {}, [("ReduceMean first", (6, 8), 1, False)]),
        # in the middle, as a mean over the places of channels that come last: nothing of that form was timed
        ("ReduceSum", [(2, 6, 8), ints(1)], {}, [("ReduceMean first", (6, 16), 1, True)]),
        ("ReduceMean", [(2, 3, 4, 5)], {"opset": 13, "axes": [2, 3]}, [("ReduceMean", (6, 20), 1, False)]),
        ("Gather", [(4, 6, 8), ints(0, 1, 2)], {"axis": 1}, [("Gather", (12, 8), 1, False)]),
        ("LayerNormalization", [(2, 4, 8), w(4, 8)], {"axis": 1}, [("LayerNormalization", (2, 32), 1, False)]),
        ("SkipLayerNormalization", [(2, 4, 8), (2, 4, 8), w(8)], {"domain": MICROSOFT},
         [("SkipLayerNormalization", (8, 8), 1, False)]),
        ("FastGelu", [(4, 8)], {"domain": MICROSOFT}, [("FastGelu", (32,), 1, False)]),
        ("FastGelu", [(4, 8), w(8)], {"domain": MICROSOFT}, [("BiasGelu", (4, 8), 1, False)]),
        ("GroupNormalization", [(2, 8, 3), w(8), w(8)], {"opset": 21, "num_groups": 4},
         [("InstanceNormalization", (8, 6), 1, True)]),
        ("Transpose", [(4, 8, 16, 2)], {"perm": [0, 2, 1, 3]}, [("Transpose", (512, 2), 1, False)]),
        ("Transpose", [(4, 8, 16, 1)], {"perm": [0, 2, 1, 3]}, [("Transpose 2d", (32, 16), 1, False)]),
        ("Transpose", [(4, 8, 16)], {"perm": [1, 2, 0]}, [("Transpose 2d", (32, 16), 1, False)]),
        ("Transpose", [(4, 8, 16)], {"perm": [2, 1, 0]}, [("Transpose 2d", (32, 16), 1, True)]),
        ("Transpose", [(1, 8, 16)], {"perm": [1, 0, 2]}, [("Reshape", (1,), 1, False)]),
        ("Slice", [(4, 8, 16), ints(0), ints(4), ints(1)], {}, [("Slice", (4, 64), 1, False)]),
        # every second of 8 rows: 4 x 4 rows of 16 that stay together; every second element: none does
        ("Slice", [(4, 8, 16), ints(0), ints(8), ints(1), ints(2)], {}, [("Slice", (16, 16), 1, True)]),
        ("Slice", [(4, 8, 16), ints(0), ints(16), ints(2), ints(2)], {}, [("Slice", (256, 1), 1, True)]),
        ("Split", [(4, 6)], {"axis": 1, "num_outputs": 3, "outputs": 3}, [("Split", (12, 2), 1, False)]),
        ("Tile", [(4, 6), ints(1, 2)], {}, [("Expand", (8, 6), 1, True)]),
        # two sums one after another; a power that is not known to be a square; what only resembles what was timed
        ("Sum", [(4, 8)] * 3, {}, [("Add", (32,), 2, True)]),
        ("Sub", [(4, 8)] * 2, {}, [("Add", (32,), 1, False)]),
        ("Pow", [(4, 8), np.array(0.5, np.float32)], {}, [("Pow scalar", (32,), 1, True)]),
        ("PRelu", [(4, 8), w(8)], {}, [("Add broadcast", (4, 8), 1, True)]),
        ("Tan", [(4, 8)], {}, [("Sin", (32,), 1, True)]),
        # elements of 8 bytes take twice as long at least; whole numbers that are few only start the kernel
        ("Exp", [(4, 8)], {"dtype": TensorProto.DOUBLE}, [("Exp", (32,), 2, True)]),
        ("Relu", [(4, 8)], {"dtype": TensorProto.FLOAT16}, [("Relu", (32,), 1, True)]),
        ("Add", [(4, 32)] * 2, {"dtype": TensorProto.INT64}, [("Add", (128,), 2, True)]),
        ("Add", [(3,)] * 2, {"dtype": TensorProto.INT64}, [("Add", (3,), 2, False)]),
        ("LSTM", [(6, 2, 4), w(2, 32, 4), w(2, 32, 8)], {"hidden_size": 8, "direction": "bidirectional"},
         [("LSTM", (6, 2, 8), 2, False), ("MatMul weight", (12, 4, 32), 2, False)]),
        ("LSTM", [(2, 6, 4), w(1, 32, 4), w(1, 32, 8)], {"hidden_size": 8, "layout": 1},
         [("LSTM", (6, 2, 8), 1, False), ("MatMul weight", (12, 4, 32), 1, False)]),
    ],
)  # fmt: skip
def test_sizes(op_type, inputs, more, expected, tmp_path):
    assert made(tmp_path, op_type, inputs, **more) == [Piece(*each) for each in expected]


def test_the_weights_of_a_quantized_lstm_lie_the_other_way_round(tmp_path):
    whole = [(6, 2, 4), w(1, 4, 32, dtype=np.int8), w(1, 8, 32, dtype=np.int8), None, None, None, None, None]
    scales = [w(1), w(1, dtype=np.int8)] * 2
    found = made(tmp_path, "DynamicQuantizeLSTM", [*whole, *scales], domain=MICROSOFT, hidden_size=8)
    assert found == [Piece("DynamicQuantizeLSTM", (6, 2, 8), 1), Piece("DynamicQuantizeMatMul", (12, 4, 32), 1)]


def test_what_is_known_to_take_many_times_as_long_is_left_out(tmp_path):
    scales = np.array([1, 1, 2, 2], np.float32)
    assert made(tmp_path, "Resize", [(1, 2, 4, 4), None, scales], mode="cubic") is None
    assert made(tmp_path, "Resize", [(1, 2, 4, 4), None, scales]) == [Piece("Resize nearest", (128,), 1, False)]
