"""Ways to break a model: each changes a ModelProto in place, by what a random number generator draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import onnx
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, helper

Mutation = Callable[[Random, ModelProto], None]
INTS = (-(2**63), -(2**31), -7, -2, -1, 0, 1, 2, 3, 7, 64, 2**10, 2**20, 2**31, 2**40, 2**62, 2**63 - 1)
FLOATS = (0.0, -1.0, 0.5, 3.0, 1e30, -1e30, float("inf"), float("nan"))
NAMES = ("", "x", "ghost", "a:0", "ü ", "then_branch", "1", "_d0", "open_0", "x" * 5000, "a\nb", "[red]x[/]")
DOMAINS = ("", "ai.onnx", "ai.onnx.ml", "com.microsoft", "acme", "ai.onnx.preview", "ai.onnx.training")
MAX_DEPTH = 8  # of what `nest` makes


def graphs(graph: GraphProto) -> Iterator[GraphProto]:
    todo = [graph]
    while todo:
        current = todo.pop()
        yield current
        for node in current.node:
            for attr in node.attribute:
                todo += [attr.g] if attr.HasField("g") else []
                todo += attr.graphs


def a_graph(rng: Random, model: ModelProto) -> GraphProto:
    return rng.choice(list(graphs(model.graph)))


def a_node(rng: Random, model: ModelProto) -> NodeProto:
    nodes = [node for graph in graphs(model.graph) for node in graph.node]
    nodes += [node for function in model.functions for node in function.node]
    return rng.choice(nodes)


def an_attribute(rng: Random, model: ModelProto) -> AttributeProto:
    return rng.choice(a_node(rng, model).attribute)


def a_tensor(rng: Random, model: ModelProto) -> TensorProto:
    found = [tensor for graph in graphs(model.graph) for tensor in graph.initializer]
    nodes = [node for graph in graphs(model.graph) for node in graph.node]
    found += [attr.t for node in nodes for attr in node.attribute if attr.HasField("t")]
    return rng.choice(found)


def a_value(rng: Random, model: ModelProto) -> onnx.ValueInfoProto:
    found = [v for g in graphs(model.graph) for values in (g.input, g.output, g.value_info) for v in values]
    return rng.choice(found)


def a_name(rng: Random, model: ModelProto) -> str:
    found = [name for graph in graphs(model.graph) for node in graph.node for name in (*node.input, *node.output)]
    return rng.choice([*found, *NAMES])


def _shuffle(rng: Random, names: Any, model: ModelProto) -> None:
    """Drop, repeat, swap, blank or replace one of a node's inputs or outputs."""
    kept = list(names)
    place = rng.randrange(len(kept))
    match rng.randrange(6):
        case 0:
            del kept[place]
        case 1:
            kept.insert(place, kept[place])
        case 2:
            other = rng.randrange(len(kept))
            kept[place], kept[other] = kept[other], kept[place]
        case 3:
            kept[place] = ""
        case 4:
            kept[place] = a_name(rng, model)
        case _:
            kept += [kept[place]] * rng.randrange(40)
    del names[:]
    names.extend(kept)


def inputs(rng: Random, model: ModelProto) -> None:
    _shuffle(rng, a_node(rng, model).input, model)


def outputs(rng: Random, model: ModelProto) -> None:
    _shuffle(rng, a_node(rng, model).output, model)


def no_inputs(rng: Random, model: ModelProto) -> None:
    del a_node(rng, model).input[:]


def no_outputs(rng: Random, model: ModelProto) -> None:
    del a_node(rng, model).output[:]


def op_type(rng: Random, model: ModelProto) -> None:
    schema = rng.choice(SCHEMAS)
    node = a_node(rng, model)
    node.op_type, node.domain = schema.name, schema.domain


def domain(rng: Random, model: ModelProto) -> None:
    a_node(rng, model).domain = rng.choice(DOMAINS)


def node_name(rng: Random, model: ModelProto) -> None:
    a_node(rng, model).name = rng.choice(NAMES)


def attribute_value(rng: Random, model: ModelProto) -> None:
    attr = an_attribute(rng, model)
    match attr.type:
        case AttributeProto.INT:
            attr.i = rng.choice(INTS)
        case AttributeProto.INTS:
            attr.ints[rng.randrange(len(attr.ints))] = rng.choice(INTS)
        case AttributeProto.FLOAT:
            attr.f = rng.choice(FLOATS)
        case AttributeProto.FLOATS:
            attr.floats[rng.randrange(len(attr.floats))] = rng.choice(FLOATS)
        case AttributeProto.STRING:
            attr.s = rng.choice([b"", b"\xff\xfe", b"SAME_UPPER", b"ij,jk->", b"...", b"x" * 3000])
        case _:
            attr.name = rng.choice(["value", "body", "then_branch", "axis", ""])


def attribute_length(rng: Random, model: ModelProto) -> None:
    ints = an_attribute(rng, model).ints
    if rng.random() < 0.5:
        del ints[rng.randrange(len(ints)) :]
    else:
        ints.extend(rng.choice(INTS) for _ in range(rng.choice([1, 2, 50, 5000])))


def attribute_type(rng: Random, model: ModelProto) -> None:
    an_attribute(rng, model).type = rng.choice(list(AttributeProto.AttributeType.values()))


def attribute_kind(rng: Random, model: ModelProto) -> None:
    """Give an attribute another value of another kind, under its name."""
    node = a_node(rng, model)
    name = rng.choice([*(attr.name for attr in node.attribute), *ATTRIBUTES])
    kept = [attr for attr in node.attribute if attr.name != name]
    value = rng.choice([rng.choice(INTS), rng.choice(FLOATS), "text", [rng.choice(INTS)] * rng.randrange(1, 9), [1.5]])
    del node.attribute[:]
    node.attribute.extend([*kept, helper.make_attribute(name, value)])


def attribute_gone(rng: Random, model: ModelProto) -> None:
    attributes = a_node(rng, model).attribute
    del attributes[rng.randrange(len(attributes))]


def attribute_twice(rng: Random, model: ModelProto) -> None:
    attributes = a_node(rng, model).attribute
    attributes.append(rng.choice(attributes))


def reference(rng: Random, model: ModelProto) -> None:
    an_attribute(rng, model).ref_attr_name = rng.choice(NAMES)


def dimension(rng: Random, model: ModelProto) -> None:
    dims = _shape(a_value(rng, model)).dim
    dim = rng.choice(dims)
    if rng.random() < 0.3:
        dim.dim_param = rng.choice([*NAMES, "batch", "2*n", "a/0", "n**n**n", "floor(n)", "__import__('os')", "n+"])
    else:
        dim.dim_value = rng.choice(INTS)


def rank(rng: Random, model: ModelProto) -> None:
    shape = _shape(a_value(rng, model))
    if rng.random() < 0.5:
        del shape.dim[:1]
    else:
        for _ in range(rng.choice([1, 1, 3, 300])):
            shape.dim.add(dim_value=rng.choice(INTS))


def value_type(rng: Random, model: ModelProto) -> None:
    value = a_value(rng, model)
    match rng.randrange(4):
        case 0:
            value.ClearField("type")
        case 1:
            value.type.tensor_type.elem_type = rng.choice([*TensorProto.DataType.values()])
        case 2:
            value.type.tensor_type.ClearField("shape")
        case _:
            value.type.sequence_type.elem_type.tensor_type.elem_type = 1


def value_name(rng: Random, model: ModelProto) -> None:
    a_value(rng, model).name = a_name(rng, model)


def value_twice(rng: Random, model: ModelProto) -> None:
    graph = a_graph(rng, model)
    values = rng.choice([graph.input, graph.output, graph.value_info])
    values.append(rng.choice(values))


def value_gone(rng: Random, model: ModelProto) -> None:
    graph = a_graph(rng, model)
    values = rng.choice([graph.input, graph.output, graph.value_info])
    del values[rng.randrange(len(values))]


def tensor_dims(rng: Random, model: ModelProto) -> None:
    tensor = a_tensor(rng, model)
    match rng.randrange(3):
        case 0 if tensor.dims:
            tensor.dims[rng.randrange(len(tensor.dims))] = rng.choice(INTS)
        case 1:
            del tensor.dims[:]
        case _:
            tensor.dims.extend([rng.choice(INTS)] * rng.choice([1, 1, 80]))


def tensor_type(rng: Random, model: ModelProto) -> None:
    a_tensor(rng, model).data_type = rng.choice([*TensorProto.DataType.values(), 99])


def tensor_data(rng: Random, model: ModelProto) -> None:
    """Cut the data off, or garble them."""
    tensor = a_tensor(rng, model)
    if rng.random() < 0.4:
        tensor.raw_data = tensor.raw_data[: rng.randrange(len(tensor.raw_data) + 1)]
    elif tensor.int64_data:
        tensor.int64_data[rng.randrange(len(tensor.int64_data))] = rng.choice(INTS)
    elif tensor.data_type == TensorProto.INT64:
        count = len(tensor.raw_data) // 8
        tensor.raw_data = b"".join(rng.choice(INTS).to_bytes(8, "little", signed=True) for _ in range(count))
    else:
        tensor.raw_data = rng.randbytes(len(tensor.raw_data))


def tensor_elsewhere(rng: Random, model: ModelProto) -> None:
    tensor = a_tensor(rng, model)
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=rng.choice(["w.bin", "", "../w.bin", "a\0b", "x" * 5000]))
    tensor.external_data.add(key=rng.choice(["offset", "length", "?"]), value=rng.choice(["0", "-1", "x", str(2**70)]))


def tensor_name(rng: Random, model: ModelProto) -> None:
    a_tensor(rng, model).name = a_name(rng, model)


def constant_input(rng: Random, model: ModelProto) -> None:
    """Make one of the inputs a constant of odd integers."""
    node = a_node(rng, model)
    place = rng.randrange(len(node.input))
    dims = rng.choice([(), (1,), (2,), (4,), (1, 1)])
    count = 1
    for dim in dims:
        count *= dim
    name = f"odd{rng.randrange(10**6)}"
    values = [rng.choice(INTS) for _ in range(count)]
    model.graph.initializer.append(helper.make_tensor(name, TensorProto.INT64, dims, values))
    node.input[place] = name


def opset(rng: Random, model: ModelProto) -> None:
    match rng.randrange(4):
        case 0:
            del model.opset_import[:]
        case 1:
            model.opset_import.append(rng.choice(model.opset_import))
        case 2:
            rng.choice(model.opset_import).domain = rng.choice(DOMAINS)
        case _:
            rng.choice(model.opset_import).version = rng.choice([*INTS, *range(1, 30)])


def ir_version(rng: Random, model: ModelProto) -> None:
    model.ir_version = rng.choice([0, 1, 2, 3, 4, 9, 14, 99, -1, 2**40])


def cycle(rng: Random, model: ModelProto) -> None:
    graph = a_graph(rng, model)
    first, last = rng.choice(graph.node), rng.choice(graph.node)
    first.input[rng.randrange(len(first.input))] = rng.choice(last.output)


def order(rng: Random, model: ModelProto) -> None:
    graph = a_graph(rng, model)
    nodes = list(graph.node)
    rng.shuffle(nodes)
    del graph.node[:]
    graph.node.extend(nodes)


def node_gone(rng: Random, model: ModelProto) -> None:
    nodes = a_graph(rng, model).node
    del nodes[rng.randrange(len(nodes))]


def node_again(rng: Random, model: ModelProto) -> None:
    graph = a_graph(rng, model)
    node = NodeProto.FromString(rng.choice(graph.node).SerializeToString())
    for i in range(len(node.output)):
        node.output[i] = f"{node.output[i]}_again"
    graph.node.append(node)


def rename(rng: Random, model: ModelProto) -> None:
    """Give a tensor another name wherever it stands."""
    old, new = a_name(rng, model), a_name(rng, model)
    for graph in graphs(model.graph):
        for names in (each for node in graph.node for each in (node.input, node.output)):
            for i, name in enumerate(names):
                names[i] = new if name == old else name


def nest(rng: Random, model: ModelProto) -> None:
    """Put the nodes of a graph into the body of an If or a Loop."""
    graph = a_graph(rng, model)
    body = helper.make_graph(list(graph.node), "body", [], list(graph.output))
    for depth in range(rng.randrange(1, MAX_DEPTH)):
        ends = [value.name for value in graph.output]
        if rng.random() < 0.5:
            node = helper.make_node("If", [a_name(rng, model)], ends, then_branch=body, else_branch=body)
        else:
            body.input.extend([helper.make_tensor_value_info(f"i{depth}", 7, []), *graph.input])
            node = helper.make_node("Loop", [a_name(rng, model), "", *(v.name for v in graph.input)], ends, body=body)
        body = helper.make_graph([node], f"nested{depth}", [], list(graph.output))
    del graph.node[:]
    graph.node.extend(body.node)


def to_function(rng: Random, model: ModelProto) -> None:
    """Turn a node into the call of a function that holds it."""
    node = a_node(rng, model)
    inner = NodeProto.FromString(node.SerializeToString())
    imports = list(model.opset_import)
    function = helper.make_function("local", "f", _unique(node.input), _unique(node.output), [inner], imports)
    model.functions.append(function)
    model.opset_import.append(helper.make_opsetid("local", 1))
    node.domain, node.op_type = "local", "f"
    if rng.random() < 0.5:
        del node.attribute[:]


def scan_inputs(rng: Random, model: ModelProto) -> None:
    found = [a for g in graphs(model.graph) for n in g.node for a in n.attribute if a.name == "num_scan_inputs"]
    rng.choice(found).i = rng.choice(INTS)


def metadata(rng: Random, model: ModelProto) -> None:
    a_node(rng, model).metadata_props.add(key=rng.choice(METADATA), value=rng.choice(["[]", "['a', ", "{", "[1]", "x"]))


def _shape(value: onnx.ValueInfoProto) -> onnx.TensorShapeProto:
    return value.type.tensor_type.shape


def _unique(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(name for name in names if name))


SCHEMAS = onnx.defs.get_all_schemas()
ATTRIBUTES = ("axis", "axes", "perm", "kernel_shape", "pads", "group", "to", "num_outputs", "hidden_size", "auto_pad")
METADATA = ("pkg.torch.onnx.name_scopes", "pkg.torch.onnx.class_hierarchy", "namespace")
MUTATIONS: Sequence[Mutation] = (
    inputs, outputs, no_inputs, no_outputs, op_type, domain, node_name, attribute_value, attribute_length,
    attribute_type, attribute_kind, attribute_gone, attribute_twice, reference, dimension, rank, value_type, value_name,
    value_twice, value_gone, tensor_dims, tensor_type, tensor_data, tensor_elsewhere, tensor_name, constant_input,
    opset, ir_version, cycle, order, node_gone, node_again, rename, nest, to_function, scan_inputs, metadata,
)  # fmt: skip


def mutant(rng: Random, model: ModelProto) -> bytes:
    """Bytes of a broken copy of a model; now and then the bytes are broken as well."""
    model = ModelProto.FromString(model.SerializeToString())
    for _ in range(rng.choice([1, 1, 2, 3, 6])):
        try:
            rng.choice(MUTATIONS)(rng, model)
        except (IndexError, ValueError, TypeError):  # the model has nothing of that kind to break
            continue
    data = bytearray(model.SerializeToString())
    if rng.random() < 0.1 and data:
        for _ in range(rng.choice([1, 2, 10])):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    if rng.random() < 0.03:
        del data[rng.randrange(len(data) + 1) :]
    return bytes(data)
