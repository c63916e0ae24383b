"""A `tf.function` as a graph of constants: its weights as they are, and its calls and control dependencies resolved.

TensorFlow's pass that folds constants (`constfold`) is left out: it drops an addition of zeros, and with it the bias of
every layer that was not trained yet. tf2onnx folds what depends on constants alone by itself, and drops nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

PASSES = ("function", "dependency")  # of TensorFlow's optimizer, those of tf2onnx's choice that leave weights alone


def frozen(concrete: Any, inputs: Sequence[str], outputs: Sequence[str]) -> Any:
    """The GraphDef of a concrete function, with constants in place of all that it captures."""
    from tf2onnx import tf_loader

    graph = tf_loader.fix_freezing_errors_part2(_with_constants(concrete))
    return _optimized(graph, [*inputs, *outputs])


def parted(concrete: Any) -> tuple[Sequence[Any], Sequence[Any]]:
    """Inputs of a concrete function: its arguments, and what it captures (variables, and tensors closed over).

    The latter give their names to the constants that stand for them.
    """
    arguments = len(concrete.inputs) - len(concrete.captured_inputs)
    return concrete.inputs[:arguments], concrete.inputs[arguments:]


def _with_constants(concrete: Any) -> Any:
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
    from tf2onnx import tf_loader

    try:
        made = convert_variables_to_constants_v2(concrete, lower_control_flow=False, aggressive_inlining=True)
    except ValueError as error:
        if "incompatible with expected resource" not in str(error):
            raise
        return tf_loader.fix_freezing_errors(tf_loader.convert_variables_to_constants_large_model(concrete))
    return made.graph.as_graph_def(add_shapes=True)


def _optimized(graph: Any, kept: Sequence[str]) -> Any:
    """Run TensorFlow's passes; the nodes of these tensors stay."""
    import tensorflow as tf
    from tensorflow.core.protobuf import config_pb2, meta_graph_pb2
    from tensorflow.python.grappler import tf_optimizer

    config = config_pb2.ConfigProto()
    config.graph_options.infer_shapes = True
    config.graph_options.rewrite_options.optimizers[:] = PASSES
    with tf.Graph().as_default():
        tf.import_graph_def(graph, name="")
        meta = tf.compat.v1.train.export_meta_graph(graph_def=graph)
    kept_nodes = meta_graph_pb2.CollectionDef()
    kept_nodes.node_list.value.extend(kept)
    meta.collection_def["train_op"].CopyFrom(kept_nodes)
    return tf_optimizer.OptimizeGraph(config, meta)
