"""tf2onnx, step by step: so that what a function closes over is no input, and weights are not copied in every pass.

By itself tf2onnx makes three copies of each weight in each of its passes over the graph, and frees few of them:
VGG-16, 0.55 GB of weights, took 25 GB. What is left is TensorFlow's own, which freezes and folds the graph.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from neural_cost.exporters.messages import first_line


def converted(function: Any, signature: Sequence[Any], opset: int) -> Any:
    """Translate a `tf.function` of flat tensors into a ModelProto.

    Where a pass of tf2onnx fails, all of them run once more, on copies of the graph, so that this one can be skipped.
    """
    import tensorflow as tf

    with tf.device("/cpu:0"):
        graph = _frozen(function.get_concrete_function(*signature), opset)
        try:
            with _constants_left_alone():
                return graph.model(copies=False)
        except Exception as error:
            logging.getLogger("tf2onnx").warning("converted once more, as a pass failed: %s", first_line(error))
            return graph.model(copies=True)


@dataclass(frozen=True)
class _Frozen:
    """A graph of TensorFlow without variables, and the names of its inputs and outputs."""

    graph: Any
    inputs: Sequence[str]
    outputs: Sequence[str]
    opset: int

    def model(self, *, copies: bool) -> Any:
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


def _frozen(concrete: Any, opset: int) -> _Frozen:
    """Make constants of all that a function captures; its arguments come first among its inputs."""
    from tf2onnx import tf_loader

    arguments = len(concrete.inputs) - len(concrete.captured_inputs)
    inputs = [each.name for each in concrete.inputs[:arguments]]
    outputs = [each.name for each in concrete.outputs]
    return _Frozen(tf_loader.from_function(concrete, inputs, outputs), inputs, outputs, opset)


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
