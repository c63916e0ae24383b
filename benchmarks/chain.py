"""Models as long as one likes and as small as that allows: a chain of MatMul, Add and Relu over one shared weight."""

from pathlib import Path

WIDTH = 4
BATCH = 8


def write_chain(path: Path, nodes: int) -> Path:
    """Write a chain of that many nodes, every third one a MatMul of (8, 4) by (4, 4), and return its path."""
    from onnx import TensorProto, helper, save_model

    operators = [("MatMul", ["weight"]), ("Add", ["bias"]), ("Relu", [])]
    made = []
    for index in range(nodes):
        op_type, weights = operators[index % 3]
        made.append(helper.make_node(op_type, [f"x{index}", *weights], [f"x{index + 1}"], name=f"node{index}"))
    ends = [helper.make_tensor_value_info(f"x{end}", TensorProto.FLOAT, [BATCH, WIDTH]) for end in (0, nodes)]
    weights = [
        helper.make_tensor("weight", TensorProto.FLOAT, [WIDTH, WIDTH], [0.1] * WIDTH**2),
        helper.make_tensor("bias", TensorProto.FLOAT, [WIDTH], [0.1] * WIDTH),
    ]
    graph = helper.make_graph(made, "chain", ends[:1], ends[1:], weights)
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
    return path
