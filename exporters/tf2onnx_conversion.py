"""tf2onnx, step by step: so that what a function closes over is no input, and weights are not copied in every pass.

By itself tf2onnx makes three copies of each weight in each of its passes over the graph, and frees few of them:
VGG-16, 0.55 GB of weights, took 25 GB. It also takes two weights for one where they are equal, as the biases of layers
that were not trained yet: `weight_origins` says which ones are one weight.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

from neural_cost.exporters.messages import first_line
from neural_cost.exporters.tf_freezing import frozen, parted
from neural_cost.exporters.weight_origins import copied, shake


@dataclass(frozen=True)
class Conversion:
    """A graph of TensorFlow without variables, and the names of its inputs, outputs and weights."""

    graph: Any
    inputs: Sequence[str]
    outputs: Sequence[str]
    weights: frozenset[str]
    opset: int

    def model(self) -> Any:
        """A ModelProto.

        Where a pass of tf2onnx fails, all of them run once more, on copies of the graph, so that it can be skipped.
        """
        import tensorflow as tf

        with tf.device("/cpu:0"), _weights_kept_apart():
            try:
                with _constants_left_alone():
                    return self._model(copies=False)
            except Exception as error:
                logging.getLogger("tf2onnx").warning("converted once more, as a pass failed: %s", first_line(error))
                return self._model(copies=True)

    @cached_property
    def copies(self) -> Collection[str]:
        """Names of weights of many different numbers that have those of another."""
        return copied(self.graph, self.weights)

    def shaken(self) -> Conversion:
        """The same graph, as it would be if all of its weights had been trained."""
        return replace(self, graph=shake(self.graph, self.weights, self.copies))

    def _model(self, *, copies: bool) -> Any:
        """Write it in operators of ONNX; with copies, a pass that fails is skipped."""
        import tensorflow as tf
        from tf2onnx.optimizer import optimize_graph
        from tf2onnx.tfonnx import process_tf_graph

        with tf.Graph().as_default() as graph:
            tf.import_graph_def(self.graph, name="")
            made = process_tf_graph(
                graph, continue_on_error=True, opset=self.opset, input_names=self.inputs, output_names=self.outputs
            )
        return optimize_graph(made, catch_errors=copies).make_model("neural-cost")


def conversion(function: Any, signature: Sequence[Any], opset: int) -> Conversion:
    """What is needed to translate a `tf.function` of flat tensors; its arguments come first among its inputs."""
    import tensorflow as tf

    with tf.device("/cpu:0"):
        concrete = function.get_concrete_function(*signature)
        arguments, captured = parted(concrete)
        inputs, outputs = ([each.name for each in tensors] for tensors in (arguments, concrete.outputs))
        weights = frozenset(each.op.name for each in captured)
        return Conversion(frozen(concrete, inputs, outputs), inputs, outputs, weights, opset)


@contextmanager
def _weights_kept_apart() -> Iterator[None]:
    """Keep tf2onnx from taking two constants of several floats for one because they are equal."""
    from tf2onnx.optimizer import MergeDuplicatedNodesOptimizer

    equal = MergeDuplicatedNodesOptimizer._have_equal_attr

    def have_equal_attr(self: Any, first: Any, second: Any, graph: Any) -> bool:
        return not (_may_be_weight(first) or _may_be_weight(second)) and bool(equal(self, first, second, graph))

    MergeDuplicatedNodesOptimizer._have_equal_attr = have_equal_attr
    try:
        yield
    finally:
        MergeDuplicatedNodesOptimizer._have_equal_attr = equal


def _may_be_weight(node: Any) -> bool:
    import onnx

    if not node.is_const():
        return False
    tensor = node.attr["value"].t
    floats = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16)
    return tensor.data_type in floats and prod(tensor.dims) > 1


@contextmanager
def _constants_left_alone() -> Iterator[None]:
    """Keep tf2onnx from writing a constant's value into its node after each pass: a graph is made of the attribute."""
    from tf2onnx.graph import Node

    whole = Node.update_proto

    def update_proto(node: Any, external_tensor_storage: Any = None) -> None:
        if not node.is_const():
            whole(node, external_tensor_storage)

    Node.update_proto = update_proto
    try:
        yield
    finally:
        Node.update_proto = whole
