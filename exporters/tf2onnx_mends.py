"""What tf2onnx writes that would be counted as parameters and is none: zeros, and whole numbers as floats."""

from __future__ import annotations

from typing import Any

import numpy as np

from neural_cost.exporters.weight_origins import BIAS, RECURRENT

SAME_TYPE = {"Add", "Sub", "Mul", "Min", "Max", "Concat", "Slice", "Squeeze", "Unsqueeze", "Reshape", "Gather"}
LONGEST = 20  # nodes looked through for a type


def mend(graph: Any) -> None:
    """Mend one graph in place; what nothing reads any more is gone."""
    for node in list(graph):
        if node.op_type in RECURRENT:
            _without_second_bias(graph, node)
        elif node.op_type in {"Max", "Min"}:
            _in_whole_numbers(graph, node)
    unused = [name for name, value in graph.initializers.items() if not value.uses() and not value.is_graph_output()]
    for name in unused:
        del graph.initializers[name]


def _without_second_bias(graph: Any, node: Any) -> None:
    """Pad a bias whose second half is zeros, once for all that share it: Keras has one bias, the operator two."""
    bias = _constant(node.inputs[BIAS]) if len(node.inputs) > BIAS else None
    if bias is None:
        return
    first, second = np.split(bias, 2, axis=1)
    if not second.any():
        sharing = [user for user, place in node.inputs[BIAS].uses() if user.op_type in RECURRENT and place == BIAS]
        padded = _padded(graph, node, first)
        for user in sharing:
            user.replace_input_with(BIAS, padded)


def _padded(graph: Any, node: Any, half: Any) -> Any:
    import onnx_ir as ir

    name = node.inputs[BIAS].name
    values = [
        ir.Value(
            name=f"{name}_{end}",
            const_value=tensor,
            shape=ir.Shape(list(tensor.shape.numpy())),
            type=ir.TensorType(tensor.dtype),
        )
        for end, tensor in (("half", ir.tensor(half)), ("pads", ir.tensor([0, 0, 0, half.shape[1]])))
    ]
    for value in values:
        graph.initializers[value.name] = value
    pad = ir.node("Pad", values, name=f"{node.name}_bias")
    pad.outputs[0].name = f"{name}_padded"
    graph.insert_before(node, pad)
    return pad.outputs[0]


def _in_whole_numbers(graph: Any, node: Any) -> None:
    """Take a largest or smallest of int32 as such: tf2onnx casts it to float and back, with its constants."""
    import onnx_ir as ir

    casts = [use.node for use in node.outputs[0].uses()]
    if not casts or any(cast.op_type != "Cast" or _to(cast) != ir.DataType.INT32 for cast in casts):
        return
    inputs = [_as_int32(value) for value in node.inputs]
    if None in inputs or node.outputs[0].is_graph_output():
        return
    for position, value in enumerate(inputs):
        if value.const_value is not None and value.graph is None and value.name not in graph.initializers:
            graph.initializers[value.name] = value
        node.replace_input_with(position, value)
    node.outputs[0].type = ir.TensorType(ir.DataType.INT32)


def _as_int32(value: Any) -> Any:
    """What a float was cast from, or a constant of whole numbers as int32; None for any other."""
    import onnx_ir as ir

    maker = value.producer()
    if maker is not None and maker.op_type == "Cast":
        source = maker.inputs[0]
        return source if _dtype(source) == ir.DataType.INT32 else None
    array = _constant(value)
    if array is None or not np.array_equal(array, np.round(array)) or np.abs(array).max(initial=0) >= 2**31:
        return None
    tensor = ir.tensor(array.astype(np.int32))
    return ir.Value(
        name=f"{value.name}_int32",
        const_value=tensor,
        shape=ir.Shape(list(tensor.shape.numpy())),
        type=ir.TensorType(tensor.dtype),
    )


def _constant(value: Any) -> Any:
    import onnx_ir as ir

    tensor = None if value is None else ir.convenience.get_const_tensor(value)
    return None if tensor is None else tensor.numpy()


def _dtype(value: Any) -> Any:
    """The type of a value, or of what it was made of by operators that keep the type; None where that is not told."""
    for _ in range(LONGEST):
        if value is None or value.dtype is not None:
            return None if value is None else value.dtype
        maker = value.producer()
        if maker is None or maker.op_type not in SAME_TYPE:
            return _to(maker) if maker is not None and maker.op_type == "Cast" else None
        value = next((each for each in maker.inputs if each is not None and each.dtype is not None), maker.inputs[0])
    return None


def _to(cast: Any) -> int:
    return int(cast.attributes["to"].as_int())
