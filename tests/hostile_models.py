"""Small files that ask for much work or memory: each is refused, or analyzed with what is unknown said to be."""

from __future__ import annotations

from collections.abc import Callable

import onnx
from onnx import ModelProto, TensorProto, helper

HEAD = '<ir_version: 9, opset_import: ["": 20]>'
VECTOR = HEAD + " g (int64[1000000000000] s, float[2, 3] x) => (float[a, b] y) { %s }"
FUNCTIONS = '<ir_version: 10, opset_import: ["": 20, "my": 1]> g (float[2, 3] x) => (float[2, 3] y) { y = my.f0(x) }\n'


def parsed(text: str) -> Callable[[], ModelProto]:
    return lambda: onnx.parser.parse_model(text)


def chain(count: int, op_type: str, *more: str, **attributes: object) -> Callable[[], ModelProto]:
    """One node after the other, each with these further inputs ("same": the one before again)."""

    def make() -> ModelProto:
        head = HEAD + " g (float[b, 3, h, w] x) => (float y) <int64[1] zero = {0}> { y = Relu(x) }"
        model = onnx.parser.parse_model(head)
        del model.graph.node[:]
        for i in range(count):
            before, after = f"v{i}" if i else "x", f"v{i + 1}" if i < count - 1 else "y"
            inputs = [before, *(before if name == "same" else name for name in more)]
            model.graph.node.append(helper.make_node(op_type, inputs, [after], **attributes))
        return model

    return make


def calls(count: int) -> ModelProto:
    """Many calls of one function of three nodes, one after the other."""
    body = '<domain: "my", opset_import: ["": 20]> f0 (a) => (b) { t = Relu(a) u = Neg(t) b = Add(t, u) }'
    model = onnx.parser.parse_model(FUNCTIONS + body)
    del model.graph.node[:]
    for i in range(count):
        before, after = f"v{i}" if i else "x", f"v{i + 1}" if i < count - 1 else "y"
        model.graph.node.append(helper.make_node("f0", [before], [after], domain="my"))
    return model


def functions(levels: int, times: int) -> ModelProto:
    """Functions, each of which calls the next so many times; the last is a Relu."""
    texts = []
    for level in range(levels):
        body = " ".join(f"a{i + 1} = my.f{level + 1}(a{i})" for i in range(times))
        texts.append(
            f'<domain: "my", opset_import: ["": 20, "my": 1]> f{level} (a0) => (y) {{ {body} y = Relu(a{times}) }}'
        )
    texts.append(f'<domain: "my", opset_import: ["": 20]> f{levels} (x) => (y) {{ y = Relu(x) }}')
    return onnx.parser.parse_model(FUNCTIONS + "\n".join(texts))


def loops(depth: int, trips: int) -> ModelProto:
    """Loops in the bodies of Loops, each of so many trips, around one Relu of 6 elements."""
    body = helper.make_graph([helper.make_node("Relu", ["x"], ["leaf"])], "leaf", [], [_declared("leaf")])
    model = onnx.parser.parse_model(HEAD + " g (float[2, 3] x) => (float[a, b] y) <bool c = {1}> { y = Relu(x) }")
    model.graph.initializer.append(helper.make_tensor("t", TensorProto.INT64, [], [trips]))
    for level in range(depth):
        body.input.append(helper.make_tensor_value_info(f"i{level}", TensorProto.INT64, []))
        body.input.append(helper.make_tensor_value_info(f"c{level}", TensorProto.BOOL, []))
        body.node.append(helper.make_node("Identity", [f"c{level}"], [f"k{level}"]))
        body.output.insert(0, helper.make_tensor_value_info(f"k{level}", TensorProto.BOOL, []))
        node = helper.make_node("Loop", ["t", "c"], [f"o{level}"], body=body)
        body = helper.make_graph([node], f"g{level}", [], [_declared(f"o{level}")])
    node.output[0] = "y"
    model.graph.node[0].CopyFrom(node)
    return model


def _declared(name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, None)


def played(times: int) -> ModelProto:
    """Loops that run for ever, as playing their condition through would find."""
    model = onnx.parser.parse_model(f"""{HEAD} g (float[2, 3] x) => (float[2, 3] y0)
    <int64 m = {{4000000}}, bool c = {{1}}, int64 n = {{0}}, int64 end = {{700000000}}, int64 two = {{2}}> {{
    last0, y0 = Loop(m, c, n, x) <body = b (int64 i, bool ci, int64 k, float[2, 3] a)
        => (bool co, int64 next, float[2, 3] z) {{ next = Add(k, two) co = Less(next, end) z = Mul(a, a) }}> }}""")
    for i in range(1, times):
        node = onnx.NodeProto.FromString(model.graph.node[0].SerializeToString())
        node.output[:] = [f"last{i}", f"y{i}"]
        model.graph.node.append(node)
    return model


GROWING = f"""{HEAD} g (float[2, 3] x) => (float[2, 3] y)
    <int64 m = {{4000}}, bool c = {{1}}, int64[4] n = {{1, 1, 1, 1}}, int64 end = {{70}}> {{
    last, y = Loop(m, c, n, x) <body = b (int64 i, bool ci, int64[k] k, float[2, 3] a)
        => (bool co, int64[l] next, float[2, 3] z) {{
        next = Concat <axis = 0> (k, k, k, k, k, k, k, k, k, k)
        p = Concat <axis = 0> (next, next, next, next, next, next, next, next, next, next)
        q = Concat <axis = 0> (p, p, p, p, p, p, p, p, p, p) r = Concat <axis = 0> (q, q, q, q, q, q, q, q, q, q)
        s = Concat <axis = 0> (r, r, r, r, r, r, r, r, r, r) t = Concat <axis = 0> (s, s, s, s, s, s, s, s, s, s)
        u = ReduceMax <keepdims = 0> (t) co = Less(u, end) z = Mul(a, a) }}> }}"""
INSIDE = f"""{HEAD} g (float[2, 3] x) => (float[2, 3] y)
    <int64 m = {{4000}}, bool c = {{1}}, int64[2] n = {{100000, 100000}}, float end = {{7}}> {{
    last, y = Loop(m, c, n, x) <body = b (int64 i, bool ci, int64[2] k, float[2, 3] a)
        => (bool co, int64[2] next, float[2, 3] z) {{ next = Identity(k) big = ConstantOfShape(k)
        u = ReduceMax <keepdims = 0> (big) co = Less(u, end) z = Mul(a, a) }}> }}"""
FOLDED = f"""{HEAD} g (float[2, 3] x) => (float[2, 3] y) <int64[2] n = {{100000, 100000}}, int64 a = {{0}},
    int64 end = {{4000000000}}, int64 one = {{1}}> {{ b = ConstantOfShape(n) e = Expand(b, n) f = Tile(e, n)
    r = Range(a, end, one) s = Add(r, r) t = Gather(s, a) y = Relu(x) }}"""


def arithmetic(steps: int, op_type: str) -> ModelProto:
    """Sizes computed from sizes, so that their expressions grow."""
    text = "".join(
        f" m{i} = {op_type}(v{i}, w{i}) v{i + 1} = Add(m{i}, w{i}) w{i + 1} = Add(m{i}, v{i})" for i in range(steps)
    )
    return onnx.parser.parse_model(
        f"{HEAD} g (float[b, c] x) => (float[p] y) <int64 zero = {{0}}, int64 one = {{1}}, int64[1] at = {{0}}> {{"
        f" s = Shape(x) v0 = Gather(s, zero) w0 = Gather(s, one) {text} u = Unsqueeze(v{steps}, at)"
        " y = ConstantOfShape(u) }"
    )


HOSTILE: dict[str, Callable[[], ModelProto]] = {
    "reshape to 1e12 dimensions": parsed(VECTOR % "y = Reshape(x, s)"),
    "concatenated vectors of 1e12 unknown elements": parsed(VECTOR % "t = Concat <axis = 0> (s, s) y = Relu(x)"),
    "choice among 1e12 elements": parsed(VECTOR % "c = Equal(s, s) t = Where(c, s, s) q = Add(s, s) y = Relu(x)"),
    "split into 4e9 parts": parsed(
        f"{HEAD} g (float[4] x) => (float y) {{ y = Split <num_outputs = 4000000000> (x) }}"
    ),
    "constants that fold into much": parsed(FOLDED),
    "sizes that double": chain(400, "Concat", "same", axis=0),
    "sizes that halve by roundings": chain(16, "MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
    "ranks that grow": chain(3000, "Unsqueeze", "zero"),
    "products of sizes": lambda: arithmetic(30, "Mul"),
    "quotients of sizes": lambda: arithmetic(30, "Div"),
    "calls by the thousand": lambda: calls(300),
    "functions that double": lambda: functions(40, 2),
    "functions that call each other 2000 deep": lambda: functions(2000, 1),
    "loops in loops": lambda: loops(20, 2**62),
    "loops that are played for ever": lambda: played(40),
    "loop whose condition reads what grows": parsed(GROWING),
    "loop whose condition makes much": parsed(INSIDE),
}
