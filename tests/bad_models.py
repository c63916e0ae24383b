"""Files that are broken, hostile or merely odd: each maker writes one into a folder and returns its path.

`UNREADABLE` must be refused. `ODD` are valid and carry the MACs that they have with batch 2. `EITHER` may be refused,
or analyzed with these MACs, or analyzed and called incomplete: only a wrong figure is a fault there.
"""

import os
import random
from collections.abc import Callable
from pathlib import Path

import onnx
from onnx import ModelProto, TensorProto, helper

Maker = Callable[[Path], Path]

HEADER = '<ir_version: 9, opset_import: ["": 20]>'
WEIGHT = "<float[4, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}>"
ONE_MATMUL = 2 * 4 * 3  # (batch 2, 4) x (4, 3)


def plain(body: str = "y = MatMul(x, w)", *, weight: str = WEIGHT, header: str = HEADER) -> ModelProto:
    """Return a model from x (batch, 4) and a weight w (4, 3) to y."""
    return onnx.parser.parse_model(f"{header} g (float[batch, 4] x) => (float[batch, n] y) {weight} {{ {body} }}")


def saved(model: ModelProto, folder: Path) -> Path:
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def of(model: Callable[[], ModelProto]) -> Maker:
    """Turn a function that returns a model into one that writes it."""
    return lambda folder: saved(model(), folder)


def of_bytes(data: bytes) -> Maker:
    def write(folder: Path) -> Path:
        path = folder / "model.onnx"
        path.write_bytes(data)
        return path

    return write


def missing(folder: Path) -> Path:
    return folder / "model.onnx"


def directory(folder: Path) -> Path:
    path = folder / "model.onnx"
    path.mkdir()
    return path


def truncated() -> bytes:
    light = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light" / "light_squeezenet.onnx"
    data = light.read_bytes()
    return data[: len(data) * 2 // 3]


def external(location: str) -> ModelProto:
    """Return the plain model with its weight in a file that does not exist."""
    model = plain()
    (weight,) = model.graph.initializer
    weight.ClearField("float_data")
    weight.data_location = TensorProto.EXTERNAL
    weight.external_data.add(key="location", value=location)
    return model


def external_constant() -> ModelProto:
    """Return the plain model with its weight in a Constant, whose data lie above the folder."""
    model = external("../weights.bin")
    weight = model.graph.initializer.pop()
    model.graph.node.insert(0, helper.make_node("Constant", [], ["w"], value=weight))
    return model


def external_in_a_branch() -> ModelProto:
    """Return a model whose branch has a weight above the folder."""
    branches = "then_branch = t () => (yt) { yt = MatMul(x, w) }, else_branch = e () => (ye) { ye = MatMul(x, w) }"
    model = plain(f"y = If(c) <{branches}>", weight="<bool c = {1}>")
    branch = model.graph.node[0].attribute[0].g
    branch.initializer.append(external("../weights.bin").graph.initializer[0])
    model.graph.node[0].attribute[1].g.initializer.append(branch.initializer[0])
    return model


def folder_for_weights(folder: Path) -> Path:
    (folder / "weights").mkdir()
    return saved(external("weights"), folder)


def no_nodes() -> ModelProto:
    return onnx.parser.parse_model(f"{HEADER} g (float[batch, 4] x) => (float[batch, 4] x) {{ }}")


def duplicate_names() -> ModelProto:
    model = plain("t = MatMul(x, w) t2 = Relu(t) y = Neg(t2)")
    model.graph.node[1].output[0] = "t"
    model.graph.node[2].input[0] = "t"
    return model


def calls_itself() -> ModelProto:
    """Return a model with a function whose body calls the function."""
    model = plain("y = MatMul(x, w)")
    model.graph.node.append(helper.make_node("f", ["y"], ["z"], domain="local"))
    body = [helper.make_node("f", ["a"], ["b"], domain="local")]
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("local", 1)]
    model.functions.append(helper.make_function("local", "f", ["a"], ["b"], body, opsets))
    model.opset_import.append(opsets[1])
    return model


def false_declaration() -> ModelProto:
    model = plain("t = MatMul(x, w) y = Relu(t)")
    model.graph.value_info.append(helper.make_tensor_value_info("t", TensorProto.FLOAT, [7, 7, 7]))
    return model


def false_output() -> ModelProto:
    model = plain("y = MatMul(x, w)")
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, [50, 60]))
    return model


def unsorted() -> ModelProto:
    model = plain("t = MatMul(x, w) u = Relu(t) y = Neg(u)")
    nodes = list(model.graph.node)[::-1]
    model.graph.ClearField("node")
    model.graph.node.extend(nodes)
    return model


def named_alike() -> ModelProto:
    model = plain("t = MatMul(x, w) y = MatMul(x, w)")
    for node in model.graph.node:
        node.name = "same"
    return model


def weight_is_input() -> ModelProto:
    model = plain()
    model.ir_version = 3  # where every initializer had to be an input as well
    model.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [4, 3]))
    return model


def no_opset(ir_version: int) -> ModelProto:
    model = weight_is_input()
    model.ClearField("opset_import")
    model.ir_version = ir_version
    return model


def nested(depth: int) -> ModelProto:
    """Return Ifs within the branches of Ifs; whichever branches run, one MatMul does."""
    leaf = helper.make_node("MatMul", ["x", "w"], ["leaf"])
    branch = helper.make_graph([leaf], "leaf", [], [_output("leaf")])
    for level in range(depth):
        node = helper.make_node("If", ["c"], [f"y{level}"], then_branch=branch, else_branch=_other(level))
        branch = helper.make_graph([node], f"g{level}", [], [_output(f"y{level}")])
    model = plain("y = MatMul(x, w)")
    model.graph.node[0].CopyFrom(branch.node[0])
    model.graph.node[0].output[0] = "y"
    model.graph.input.append(helper.make_tensor_value_info("c", TensorProto.BOOL, []))
    return model


def nested_beyond_protobuf(depth: int) -> bytes:
    """Return graphs within graphs in bytes of the wire format, which the library itself refuses to build."""
    graph = b""
    for _ in range(depth):
        attribute = _field(6, graph)  # AttributeProto.g
        graph = _field(1, _field(5, attribute))  # GraphProto.node, NodeProto.attribute
    return b"\x08\x09" + _field(7, graph)  # ModelProto: ir_version 9, graph


def _field(number: int, data: bytes) -> bytes:
    """Encode a length-delimited field: its tag, its length in groups of seven bits, and the data."""
    length, groups = len(data), b""
    while length > 127:
        groups, length = groups + bytes([length & 127 | 128]), length >> 7
    return bytes([number << 3 | 2]) + groups + bytes([length]) + data


def _other(level: int) -> onnx.GraphProto:
    name = f"other{level}"
    return helper.make_graph([helper.make_node("MatMul", ["x", "w"], [name])], name, [], [_output(name)])


def _output(name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, None)


def changed(change: Callable[[ModelProto], object], body: str = "y = MatMul(x, w)") -> Maker:
    """Write the plain model with something done to it."""

    def write(folder: Path) -> Path:
        model = plain(body)
        change(model)
        return saved(model, folder)

    return write


def opset(version: int, domain: str = "") -> Callable[[ModelProto], object]:
    return lambda model: model.opset_import.insert(0, helper.make_opsetid(domain, version))


def dims(*sizes: int) -> Callable[[ModelProto], object]:
    """Give the weight a shape, and as many more dimensions as there are sizes."""

    def change(model: ModelProto) -> None:
        model.graph.initializer[0].dims[:] = sizes

    return change


def not_utf8() -> bytes:
    """Return the plain model with a name that is no text."""
    return plain("unusual = Relu(x) y = MatMul(x, w)").SerializeToString().replace(b"unusual", b"un\xffsual")


def unreadable(folder: Path) -> Path:
    """Give a path too long for any file system: what cannot be opened by permission cannot be made as root."""
    return folder / ("x" * 300 + "model.onnx")


def queue(folder: Path) -> Path:
    """Make a file that never ends."""
    path = folder / "model.onnx"
    os.mkfifo(path)
    return path


LOOP = """
    trips = Constant <value_int = 1000000000> ()
    on = Constant <value = bool {1}> ()
    h = MatMul(x, w)
    y = Loop(trips, on, h) <body = step (int64 i, bool c, float[batch, 3] a) => (bool d, float[batch, 3] b) {
        d = Identity(c) t = MatMul(x, w) b = Add(a, t) }>"""
HUGE_WEIGHT = "s = Constant <value_ints = [4, 1000000000000]> () big = ConstantOfShape(s) y = MatMul(x, big)"
HUGE_RANGE = """
    zero = Constant <value_int = 0> () end = Constant <value_int = 1000000000000> () one = Constant <value_int = 1> ()
    r = Range(zero, end, one) f = Cast <to = 1> (r) t = ReduceMax <keepdims = 0> (f) m = MatMul(x, w) y = Add(m, t)"""
OTHER_DOMAIN = '<ir_version: 9, opset_import: ["": 20, "acme": 1]>'

UNREADABLE: dict[str, Maker] = {
    "missing": missing,
    "empty": of_bytes(b""),
    "text": of_bytes(b"This is not a model, it only ends in .onnx.\n" * 50),
    "directory": directory,
    "truncated": of_bytes(truncated()),
    "garbage": of_bytes(random.Random(0).randbytes(10_000)),
    "weights above the folder": of(lambda: external("../weights.bin")),
    "weights of a Constant above the folder": of(external_constant),
    "weights in a branch above the folder": of(external_in_a_branch),
    "weights in what is no file": folder_for_weights,
    "weights at an absolute path": of(lambda: external("/etc/hostname")),
    "weights above the folder, roundabout": of(lambda: external("sub/../../weights.bin")),
    "cycle": of(lambda: plain("t = Add(u, x) u = Relu(t) m = MatMul(x, w) y = Add(m, u)")),
    "tensor nobody makes": of(lambda: plain("t = MatMul(x, w) y = Add(t, ghost)")),
    "output nobody makes": of(lambda: plain("t = MatMul(x, w)")),
    "tensor made twice": of(duplicate_names),
    "function that calls itself": of(calls_itself),
    "path that is too long": unreadable,
    "queue": queue,
    "no outputs": changed(lambda model: model.graph.ClearField("output")),
    "only a header": of_bytes(b"\x08\x09"),
    "opset 0": changed(lambda model: setattr(model.opset_import[0], "version", 0)),
    "negative opset": changed(lambda model: setattr(model.opset_import[0], "version", -3)),
    "two opsets of one domain": changed(opset(17)),
    "two spellings of one domain": changed(opset(17, "ai.onnx")),
    "negative IR version": changed(lambda model: setattr(model, "ir_version", -1)),
    "input there twice": changed(lambda model: model.graph.input.append(model.graph.input[0])),
    "nameless input": changed(lambda model: model.graph.input.append(onnx.ValueInfoProto())),
    "weight of negative size": changed(dims(-4, 3)),
    "weight beyond 64 bits": changed(dims(2**40, 2**40)),
    "weight of 100 dimensions": changed(dims(*[1] * 100)),
    "weight there twice, in two shapes": changed(
        lambda model: model.graph.initializer.append(helper.make_tensor("w", TensorProto.FLOAT, [2, 2], [0.0] * 4))
    ),
    "body that reads what nobody makes": of(
        lambda: plain(
            "y = If(c) <then_branch = t () => (yt) { yt = Neg(ghost) }, else_branch = e () => (ye) { ye = Neg(x) }>",
            weight="<bool c = {1}>",
        )
    ),
    "attribute of a function outside one": changed(
        lambda model: model.graph.node[0].attribute.add(name="k", ref_attr_name="k", type=onnx.AttributeProto.INT)
    ),
    "name that is no text": of_bytes(not_utf8()),
    "nested beyond what protobuf reads": of_bytes(nested_beyond_protobuf(60)),
}

ODD: dict[str, tuple[Maker, int]] = {
    "plain": (of(plain), ONE_MATMUL),
    "no nodes": (of(no_nodes), 0),
    "weight file missing": (of(lambda: external("weights.bin")), ONE_MATMUL),
    "false value_info": (of(false_declaration), ONE_MATMUL),
    "false output shape": (of(false_output), ONE_MATMUL),
    "unsorted": (of(unsorted), ONE_MATMUL),
    "nameless nodes": (of(lambda: plain("t = MatMul(x, w) u = Relu(t) v = Relu(u) y = Neg(v)")), ONE_MATMUL),
    "nodes of one name": (of(named_alike), 2 * ONE_MATMUL),
    "unused weight": (of(lambda: plain(weight=WEIGHT[:-1] + ", float[2, 2] spare = {1, 2, 3, 4}>")), ONE_MATMUL),
    "unused node": (of(lambda: plain("y = MatMul(x, w) z = Relu(y)")), ONE_MATMUL),
    "weight that is also an input": (of(weight_is_input), ONE_MATMUL),
    "no opset at an IR version before opsets": (of(lambda: no_opset(2)), ONE_MATMUL),
    "default domain spelled ai.onnx": (of(lambda: plain(header=HEADER.replace('"":', '"ai.onnx":'))), ONE_MATMUL),
    "weight of 4e12 elements": (of(lambda: plain(HUGE_WEIGHT)), 2 * 4 * 10**12),
    "output there twice": (changed(lambda model: model.graph.output.append(model.graph.output[0])), ONE_MATMUL),
    "weight there twice": (
        changed(lambda model: model.graph.initializer.append(model.graph.initializer[0])),
        ONE_MATMUL,
    ),
    "the same opset twice": (changed(opset(20)), ONE_MATMUL),
    "range of 1e12 elements": (of(lambda: plain(HUGE_RANGE)), ONE_MATMUL),
}

EITHER: dict[str, tuple[Maker, int]] = {
    "no opset": (of(lambda: no_opset(9)), ONE_MATMUL),
    "future opset": (of(lambda: plain(header=HEADER.replace("20", "99"))), ONE_MATMUL),
    "future IR version": (of(lambda: plain(header=HEADER.replace("9,", "99,"))), ONE_MATMUL),
    "loop of 1e9 steps": (of(lambda: plain(LOOP)), (1 + 10**9) * ONE_MATMUL),
    "nested conditions": (of(lambda: nested(20)), ONE_MATMUL),
    "unknown operator": (of(lambda: plain("t = MatMul(x, w) y = NoSuchOperator(t)")), ONE_MATMUL),
}

UNKNOWN_DOMAIN = of(lambda: plain("t = MatMul(x, w) y = acme.Unheard(t)", header=OTHER_DOMAIN))
OPEN_DIMENSION = of(
    lambda: onnx.parser.parse_model(f"""
    {HEADER} g (float[batch, k] x, float[2, 3] z) => (float[batch, 3] y) {WEIGHT} {{ y = MatMul(x, w) }}""")
)

# What is given in place of a model: its first bytes, and what the error must tell.
MISTAKEN: dict[str, tuple[bytes, str]] = {
    "zip": (b"PK\x03\x04" + bytes(60), "a zip archive"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(60), "HDF5"),
    "pickle": (b"\x80\x02}q\x00." + bytes(60), "pickle"),
    "gzip": (b"\x1f\x8b\x08\x00" + bytes(60), "gzip"),
    "tensorrt": (b"ptrt\x00\x00" + bytes(60), "TensorRT"),
    "ort": (b"\x20\x00\x00\x00ORTM" + bytes(60), ".ort"),
    "tflite": (b"\x1c\x00\x00\x00TFL3" + bytes(60), "TensorFlow Lite"),
    "safetensors": (b"\x40\x00\x00\x00\x00\x00\x00\x00" + b'{"weight": {"dtype": "F32"}}', "safetensors"),
    "gguf": (b"GGUF\x03\x00\x00\x00" + bytes(60), "GGUF"),
    "tar": (bytes(257) + b"ustar\x0000" + bytes(300), "tar"),
    "json": (b'{"irVersion": "9", "graph": {}}', "JSON"),
    "textproto": (b'ir_version: 9\ngraph {\n  name: "g"\n}\n', "protobuf text"),
    "onnx text": (HEADER.encode() + b" g (float x) => (float y) { y = Relu(x) }", "ONNX's text form"),
    "web page": (b"<!DOCTYPE html><html><body>404</body></html>", "a web page"),
    "lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "Git LFS"),
    "xml": (b'<?xml version="1.0"?><net name="m"/>', "XML"),
    "text": (b"Nothing to see here.\n", "a text file"),
}
