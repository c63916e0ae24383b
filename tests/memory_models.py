"""Activations of models written as text."""

import onnx
import onnx.parser

from neural_cost.analyzer.dimensions import bind
from neural_cost.analyzer.load import load
from neural_cost.analyzer.memory.liveness import Method, Policy, levels
from neural_cost.analyzer.memory.orders import file_order
from neural_cost.analyzer.memory.reading import activations
from neural_cost.analyzer.shapes import infer
from neural_cost.analyzer.views import Views

HEAD = '<ir_version: 8, opset_import: ["": 17]>\n'


def written(text, folder):
    file = folder / "model.onnx"
    onnx.save(onnx.parser.parse_model(HEAD + text), file)
    return file


def activations_of(file, dims=None, trips=None):
    model = load(file)
    inference = infer(model, bind(model, dims or {}, {}), trips or {})
    return activations(Views(inference.engine, inference.symbols))


def bytes_at(found, policy=Policy.PLAIN, order=file_order):
    """Bytes alive at each node, by its name or index."""
    method = Method(found.sizes(), order, policy, found.forms())
    return {level.step.name: max(level.sums) for level in levels(found.scope, method)}
