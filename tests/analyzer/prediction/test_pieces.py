"""Which kernels stand for an operator, and their sizes: by hand, for operators that are easily misread."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
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
        ("Tile", [(4, 6), ints(1, 2)], {}, [("Tile", (8, 6), 1, False)]),
        ("CumSum", [(4, 6), ints(-1).reshape(())], {}, [("CumSum", (24,), 1, False)]),
        ("CumSum", [(4, 6), ints(0).reshape(())], {}, [("CumSum first", (24,), 1, False)]),
        ("CumSum", [(4, 6, 1), ints(1).reshape(())], {}, [("CumSum", (24,), 1, False)]),
        ("TopK", [(4, 6, 9), ints(3)], {"outputs": 2}, [("TopK", (24, 9, 3), 1, False)]),
        ("TopK", [(4, 6, 9), ints(3)], {"outputs": 2, "axis": 1}, [("TopK", (36, 6, 3), 1, True)]),
        ("DepthToSpace", [(1, 8, 3, 3)], {"blocksize": 2}, [("DepthToSpace", (72,), 1, False)]),
        ("SpaceToDepth", [(1, 8, 6, 3)], {"blocksize": 3}, [("SpaceToDepth", (144,), 1, True)]),
        ("Trilu", [(4, 6)], {}, [("Trilu", (24,), 1, False)]),
        ("Resize", [(1, 2, 4, 4), None, np.array([1, 1, 2, 2], np.float32)], {"mode": "cubic"},
         [("Resize cubic", (128,), 1, False)]),
        ("Resize", [(1, 2, 4, 4), None, np.array([1, 1, 2, 2], np.float32)], {},
         [("Resize nearest", (128,), 1, False)]),
        ("Resize", [(2, 4), None, np.array([2, 2], np.float32)], {}, [("Resize nearest", (32,), 1, True)]),
        # 5 x 7 places of 3 channels
        ("GridSample", [(1, 3, 8, 8), (1, 5, 7, 2)], {}, [("GridSample", (35, 3), 1, False)]),
        ("GridSample", [(1, 3, 8, 8), (1, 5, 7, 2)], {"mode": "cubic"}, [("GridSample", (35, 3), 1, True)]),
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


def indexed(folder, op_type, data, indices, updates=None, **attributes):
    """Pieces of an operator that reads indices; they and what is put are inputs."""
    shapes = {"data": (TensorProto.FLOAT, data), "indices": (TensorProto.INT64, indices)}
    shapes |= {"updates": (TensorProto.FLOAT, updates)} if updates else {}
    ends = [helper.make_tensor_value_info(name, *each) for name, each in shapes.items()]
    node = helper.make_node(op_type, list(shapes), ["y"], **attributes)
    graph = helper.make_graph([node], "g", ends, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    onnx.save(model, folder / "model.onnx")
    seen = fusion_graph(neural_cost.analyze(folder / "model.onnx"), BLOCK)
    (group,) = fusion_groups(seen)
    return pieces(Job(seen, group, False, BLOCK))


@pytest.mark.parametrize(
    ("op_type", "shapes", "more", "expected"),
    [
        ("GatherElements", [(4, 6), (4, 5)], {"axis": 1}, [("GatherElements", (20,), 1, False)]),
        ("GatherElements", [(4, 6), (3, 6)], {"axis": 0}, [("GatherElements first", (18,), 1, False)]),
        # pairs of indices take rows of 5
        ("GatherND", [(3, 4, 5), (7, 2)], {}, [("GatherND", (7, 5), 1, False)]),
        # with a batch of 3, single indices do
        ("GatherND", [(3, 4, 5), (3, 7, 1)], {"batch_dims": 1}, [("GatherND", (21, 5), 1, False)]),
        # 2 rows of 5 are put into 60 elements
        ("ScatterND", [(3, 4, 5), (2, 2), (2, 5)], {}, [("ScatterND", (2, 5), 1, False), ("Neg", (50,), 1, False)]),
        ("ScatterND", [(4, 5), (4, 1), (4, 5)], {"reduction": "add"}, [("ScatterND", (4, 5), 1, True)]),
        ("ScatterElements", [(4, 6), (4, 2), (4, 2)], {"axis": 1},
         [("ScatterElements", (8,), 1, False), ("Neg", (16,), 1, False)]),
        ("ScatterElements", [(4, 6), (4, 6), (4, 6)], {"axis": 0}, [("ScatterElements", (24,), 1, True)]),
    ],
)  # fmt: skip
def test_sizes_of_what_is_indexed(op_type, shapes, more, expected, tmp_path):
    assert indexed(tmp_path, op_type, *shapes, **more) == [Piece(*each) for each in expected]


def test_one_hot_and_nonzero(tmp_path):
    """3 classes of 7 each make 21 elements; NonZero looks at all 24, however many it finds."""
    text = """<ir_version: 9, opset_import: ["": 20]> g (int64[3] c, float[4, 6] x) => (float[3, 7] y, int64[2, n] z)
    <int64 d = {7}, float[2] v = {0, 1}> { y = OneHot(c, d, v)  z = NonZero(x) }"""
    onnx.save(onnx.parser.parse_model(text), tmp_path / "model.onnx")
    seen = fusion_graph(neural_cost.analyze(tmp_path / "model.onnx"), BLOCK)
    found = [pieces(Job(seen, group, False, BLOCK)) for group in fusion_groups(seen)]
    assert found == [[Piece("OneHot", (21,))], [Piece("NonZero", (24,), 1, True)]]


def test_the_type_of_what_is_filled_is_that_of_the_result(tmp_path):
    """24 numbers of float64 are twice as wide as those timed; the shape, of int64, does not matter."""
    text = """<ir_version: 9, opset_import: ["": 20]> g (int64[2] s, int64 n) => (double[4, 6] y, int64[m] z)
    <int64 a = {0}, int64 d = {1}> { y = ConstantOfShape<value: tensor = double[1] {1}>(s)  z = Range(a, n, d) }"""
    onnx.save(onnx.parser.parse_model(text), tmp_path / "model.onnx")
    seen = fusion_graph(neural_cost.analyze(tmp_path / "model.onnx"), BLOCK)
    fill, steps = [pieces(Job(seen, group, False, BLOCK)) for group in fusion_groups(seen)]
    assert fill == [Piece("ConstantOfShape", (24,), 2, True)]
    assert steps is None  # nobody knows how many
