"""Random nodes of the operators that change shapes: what inference says in numbers is what ONNX Runtime makes."""

from random import Random

import pytest

from neural_cost.analyzer.dimensions import bind
from neural_cost.analyzer.load import load
from neural_cost.analyzer.shapes import infer
from tests.random_nodes import FAMILIES

pytestmark = pytest.mark.long

NODES = 200  # of each family


def made(node):
    """Types and shapes that ONNX Runtime makes; None for a node that it refuses."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    try:
        session = onnxruntime.InferenceSession(node.model().SerializeToString(), providers=["CPUExecutionProvider"])
        return [(each.dtype, each.shape) for each in session.run(None, node.feeds())]
    except Exception:
        return None


def inferred(node, folder):
    file = folder / "node.onnx"
    file.write_bytes(node.model().SerializeToString())
    model = load(file)
    infer(model, bind(model, {}, {}), {})
    return [(v.dtype and v.dtype.numpy(), None if v.shape is None else tuple(v.shape)) for v in model.ir.graph.outputs]


@pytest.mark.parametrize("family", FAMILIES)
def test_shapes_are_those_of_a_run(family, tmp_path):
    rng = Random(family)
    wrong, unknown, ran = [], [], 0
    for _ in range(NODES):
        node = FAMILIES[family](rng)
        truth = made(node)
        if truth is None:
            continue
        ran += 1
        for (dtype, shape), (true_dtype, true_shape) in zip(inferred(node, tmp_path), truth, strict=True):
            text = f"{node}: {shape}, not {true_shape}"
            if shape is None or any(not isinstance(dim, int) for dim in shape):
                unknown.append(text)
            elif (dtype, shape) != (true_dtype, true_shape):
                wrong.append(text)
    assert ran > NODES // 3
    assert wrong == []
    assert unknown == []
