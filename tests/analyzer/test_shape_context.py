"""What the context follows of the values of small tensors, and that upstream still follows more than is true."""

import onnx_ir as ir
import pytest
from onnx_shape_inference import ShapeInferenceContext, registry

from neural_cost.analyzer.shape_mends import Context


def value(name, dtype, *shape):
    return ir.Value(name=name, type=ir.TensorType(dtype), shape=ir.Shape(shape))


def divided(context, dtype):
    """Elements that a context follows through -4 / -3."""
    left, right = value("left", dtype), value("right", dtype)
    for side, data in ((left, -4), (right, -3)):
        context.set_symbolic_value(side, [data])
    node = ir.Node("", "Div", [left, right], outputs=[ir.Value(name="out")])
    registry.collect()
    registry.get("", "Div", version=20)(context, node)
    return context.get_symbolic_value(node.outputs[0])


def test_floats_are_not_followed():
    assert divided(Context({"": 20}), ir.DataType.FLOAT) is None


def test_integers_are_followed():
    assert divided(Context({"": 20}), ir.DataType.INT64) == [1]  # towards zero, as ONNX divides integers


def test_upstream_still_follows_floats_as_integers():
    theirs = divided(ShapeInferenceContext({"": 20}), ir.DataType.FLOAT)
    assert theirs == [1], "mended upstream: drop the mend"


@pytest.mark.parametrize(("shape", "data"), [((2, 1), [3, 4]), ((3,), [3, 4]), ((), [3, 4])], ids=str)
def test_only_vectors_and_scalars_of_their_length_are_followed(shape, data):
    context, tensor = Context({"": 20}), value("x", ir.DataType.INT64, *shape)
    context.set_symbolic_value(tensor, data)
    assert context.get_symbolic_value(tensor) is None


def test_upstream_still_follows_matrices_as_lists():
    context, tensor = ShapeInferenceContext({"": 20}), value("x", ir.DataType.INT64, 2, 1)
    context.set_symbolic_value(tensor, [3, 4])
    assert context.get_symbolic_value(tensor) == [3, 4], "mended upstream: drop the mend"


def test_what_is_forgotten_is_not_known():
    context, tensor = Context({"": 20}), value("x", ir.DataType.INT64, 2)
    context.set_symbolic_value(tensor, [ir.SymbolicDim("n"), 4])
    context.forget(tensor)
    assert context.get_symbolic_value(tensor) is None
