"""Small models, each with something that ONNX Runtime writes in another way than the file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnx.parser

CONV = "Conv <pads = [1, 1, 1, 1]>"
IMAGE = "float[1, 16, 8, 8]"
HALF = np.float16


@dataclass(frozen=True)
class Made:
    """A graph as text, and its weights by name: shapes, in float32 or another type; or scales of quantized ones."""

    text: str
    weights: dict[str, tuple[int, ...]]
    dtype: type = np.float32
    opset: int = 20
    functions: str = ""
    integers: tuple[str, ...] = ()  # weights of int8, each with a scale `_s` and a zero point `_z`
    scales: str = ""  # activations of uint8 with the same

    def save(self, folder: Path) -> Path:
        domains = f'["": {self.opset}{", " + chr(34) + "my" + chr(34) + ": 1" if self.functions else ""}]'
        model = onnx.parser.parse_model(
            f"<ir_version: 10, opset_import: {domains}> {self.text.replace('CONV', CONV).replace('IMAGE', IMAGE)}\n"
            + self.functions.replace("CONV", CONV)
        )
        draw = np.random.default_rng(0)
        for name, shape in self.weights.items():
            array = np.abs(draw.standard_normal(shape)) * 0.05
            whole = (1000 * array).astype(np.int8)
            of = whole if name in self.integers else array.astype(self.dtype)
            model.graph.initializer.append(onnx.numpy_helper.from_array(of, name))
        model.graph.initializer.extend(_scales(self.integers, np.int8(0), 0.01))
        model.graph.initializer.extend(_scales(tuple(self.scales), np.uint8(128), 0.02))
        onnx.save(model, folder / "model.onnx")
        return folder / "model.onnx"


def _scales(names: tuple[str, ...], zero: np.generic, scale: float) -> list[onnx.TensorProto]:
    pairs = [(f"{name}_{kind}", value) for name in names for kind, value in (("s", np.float32(scale)), ("z", zero))]
    return [onnx.numpy_helper.from_array(np.array(value), name) for name, value in pairs]


K, K2, W = (16, 16, 3, 3), (16, 16, 3, 3), (8, 8)
NORM = {"ns": (16,), "nb": (16,), "nm": (16,), "nv": (16,)}
LOOP = "<int64 n = {3}, bool go = {1}>"
MODELS = {
    "scan in if": Made(
        """g (bool c, float[6, 8] x, float[4] h) => (float[6, 4] y) <int64[1] z = {0}> {
        y = If (c) <then_branch = t () => (float[6, 4] ty) {
            hn, ty = Scan <num_scan_inputs = 1, body = b (float[4] s, float[8] e) => (float[4] s2, float[4] o) {
                e1 = Unsqueeze(e, z)  p = MatMul(e1, w)  q = Squeeze(p, z)  s1 = Add(q, s)  s2 = Tanh(s1)
                o = Identity(s2) }> (h, x) },
        else_branch = f () => (float[6, 4] fy) { fy = MatMul(x, w) }> }""", {"w": (8, 4)}),
    "loop with convolutions": Made(
        f"""g (IMAGE x) => (IMAGE y) {LOOP} {{
        y = Loop (n, go, x) <body = b (int64 i, bool c, IMAGE s) => (bool more, IMAGE t) {{
            more = Identity(c)  p = CONV (s, k)  q = Relu(p)  r = CONV (q, k2)  u = Add(r, s)  t = Relu(u) }}> }}""",
        {"k": K, "k2": K2}),
    "loop in loop": Made(
        """g (float[4, 8] x) => (float[4, 8] y) <int64 n = {3}, int64 k = {2}, bool go = {1}> {
        y = Loop (n, go, x) <body = b (int64 i, bool c, float[4, 8] s) => (bool more, float[4, 8] t) {
            more = Identity(c)
            u = Loop (k, c, s) <body = b2 (int64 j, bool d, float[4, 8] v) => (bool more2, float[4, 8] r) {
                more2 = Identity(d)  p = MatMul(v, w)  r = Tanh(p) }>
            q = MatMul(u, w)  t = Relu(q) }> }""", {"w": W}),
    "functions": Made(
        "g (IMAGE x) => (IMAGE y) { a = my.block(x, k)  b = my.block(a, k2)  y = my.two(b, k, k2) }",
        {"k": K, "k2": K2}, functions="""
        <domain: "my", opset_import: ["": 20]>
        block (x, w) => (y) { c = CONV (x, w)  r = Relu(c)  y = Add(r, x) }
        <domain: "my", opset_import: ["": 20, "my": 1]>
        two (x, w, v) => (y) { a = my.block(x, w)  y = my.block(a, v) }"""),
    "equal branches": Made(
        """g (IMAGE x) => (float[1, 32, 8, 8] y) { a = CONV (x, k)  b = CONV (x, k)  c = Relu(a)  d = Relu(b)
        y = Concat <axis = 1> (c, d) }""", {"k": K}),
    "residual read twice": Made(
        """g (IMAGE x) => (IMAGE y, IMAGE z) {
        a0 = CONV (x, k)  a = Relu(a0)
        b = CONV (a, k2)  c = BatchNormalization(b, ns, nb, nm, nv)  d = Add(c, a)  e = Relu(d)
        f = CONV (e, k)  h = BatchNormalization(f, ns, nb, nm, nv)  i = Add(a, h)  y = Relu(i)  z = Add(e, a) }""",
        {"k": K, "k2": K2, **NORM}),
    "splits and concats": Made(
        """g (float[1, 32, 8, 8] x) => (float[1, 64, 8, 8] y) {
        a = CONV (x, k)  l, r = Split <axis = 1, num_outputs = 2> (a)  b = CONV (l, k2)  c = Relu(b)
        d = Concat <axis = 1> (c, r)  e, f = Split <axis = 1, num_outputs = 2> (d)  h = Concat <axis = 1> (f, e)
        i = Conv(h, k3)  j = Concat <axis = 1> (i, d)  y = Relu(j) }""",
        {"k": (32, 32, 3, 3), "k2": K, "k3": (32, 32, 1, 1)}),
    "float16": Made(
        """g (float16[1, 16, 8, 8] x) => (float16[1, 10] y) {
        a = CONV (x, k)  b = Relu(a)  c = CONV (b, k2)  d = Add(c, b)  e = Sigmoid(d)  f = GlobalAveragePool(e)
        h = Flatten(f)  i = MatMul(h, m)  j = Add(i, v)  y = Softmax(j) }""",
        {"k": K, "k2": K2, "m": (16, 10), "v": (10,)}, HALF),
    "quantized products": Made(
        """g (float[4, 64] x) => (float[4, 64] y) {
        xq = QuantizeLinear(x, a_s, a_z)  xd = DequantizeLinear(xq, a_s, a_z)  wd = DequantizeLinear(w, w_s, w_z)
        p = MatMul(xd, wd)  pq = QuantizeLinear(p, b_s, b_z)  pd = DequantizeLinear(pq, b_s, b_z)
        vd = DequantizeLinear(v, v_s, v_z)  r = MatMul(pd, vd)  rq = QuantizeLinear(r, c_s, c_z)
        rd = DequantizeLinear(rq, c_s, c_z)  s = Add(rd, xd)  sq = QuantizeLinear(s, c_s, c_z)
        sd = DequantizeLinear(sq, c_s, c_z)  t = MatMul(sd, wd)  y = Relu(t) }""",
        {"w": (64, 64), "v": (64, 64)}, integers=("w", "v"), scales="abc"),
    "dynamically quantized products": Made(
        """g (float[4, 64] x) => (float[4, 64] y) {
        xq, xs, xz = DynamicQuantizeLinear(x)  p = MatMulInteger(xq, w, xz, w_z)  pf = Cast <to = 1> (p)
        sc = Mul(xs, w_s)  pm = Mul(pf, sc)  pb = Add(pm, bias)  a = Relu(pb)
        aq, as, az = DynamicQuantizeLinear(a)  r = MatMulInteger(aq, v, az, v_z)  rf = Cast <to = 1> (r)
        rc = Mul(as, v_s)  rm = Mul(rf, rc)  k = MatMulInteger(xq, v, xz, v_z)  kf = Cast <to = 1> (k)
        kc = Mul(xs, v_s)  km = Mul(kf, kc)  y = Add(rm, km) }""",
        {"w": (64, 64), "v": (64, 64), "bias": (64,)}, integers=("w", "v")),
    "quantized convolutions": Made(
        """g (IMAGE x) => (IMAGE y) {
        xq = QuantizeLinear(x, a_s, a_z)  xd = DequantizeLinear(xq, a_s, a_z)  wd = DequantizeLinear(w, w_s, w_z)
        p = CONV (xd, wd)  pr = Relu(p)  pq = QuantizeLinear(pr, b_s, b_z)  pd = DequantizeLinear(pq, b_s, b_z)
        r = CONV (pd, wd)  rq = QuantizeLinear(r, c_s, c_z)  rd = DequantizeLinear(rq, c_s, c_z)  s = Add(rd, xd)
        t = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (s)  tq = QuantizeLinear(t, c_s, c_z)
        y = DequantizeLinear(tq, c_s, c_z) }""", {"w": K}, integers=("w",), scales="abc"),
    "channels last": Made(
        """g (float[1, 12, 12, 3] x) => (float[1, 6, 6, 16] y) {
        a = Transpose <perm = [0, 3, 1, 2]> (x)  b = CONV (a, k)  c = Transpose <perm = [0, 2, 3, 1]> (b)
        d = Add(c, v)  e = Relu(d)  f = Transpose <perm = [0, 3, 1, 2]> (e)  h = CONV (f, k2)
        i = Transpose <perm = [0, 2, 3, 1]> (h)  j = Add(i, e)  l = Sigmoid(j)
        m = Transpose <perm = [0, 3, 1, 2]> (l)  n = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (m)
        y = Transpose <perm = [0, 2, 3, 1]> (n) }""", {"k": (16, 3, 3, 3), "k2": K2, "v": (16,)}),
    "pushed transpose": Made(
        """g (float[8, 16, 32] x, float[8, 32, 16] z) => (float[8, 32, 16] y, float[8, 16, 32] u) {
        a = Transpose <perm = [0, 2, 1]> (x)  b = Sigmoid(a)  c = Add(b, z)  y = Sin(c)
        d = Transpose <perm = [0, 2, 1]> (c)  u = Cos(d) }""", {}),
    "gated": Made(
        """g (IMAGE x) => (float[1, 8, 8, 8] y) { a = CONV (x, k)  b = Sigmoid(a)  c = Mul(a, b)
        d = AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (c)  y = Conv(d, k1) }""",
        {"k": K, "k1": (8, 16, 1, 1)}),
    "functions of ONNX": Made(
        """g (IMAGE x) => (IMAGE y) { a = CONV (x, k)  b = GroupNormalization <num_groups = 4> (a, ns, nb)
        d = HardSwish(b)  e = CONV (d, k2)  f = Mish(e)  h = Celu(f)  y = CONV (h, k2) }""",
        {"k": K, "k2": K2, "ns": (16,), "nb": (16,)}, opset=21),
    "constant condition": Made(
        """g (float[4, 8] x) => (float[4, 8] y) <bool c = {1}, bool d = {0}> {
        b = If (c) <then_branch = t () => (float[4, 8] ty) { m = MatMul(x, w)
            ty = If (d) <then_branch = t2 () => (float[4, 8] uy) { uy = Relu(m) },
                         else_branch = f2 () => (float[4, 8] vy) { n = MatMul(m, w)  vy = Sigmoid(n) }> },
            else_branch = f () => (float[4, 8] fy) { fy = Neg(x) }>
        e = If (c) <then_branch = t3 () => (float[4, 8] ty) { m = MatMul(b, w)  ty = Tanh(m) },
            else_branch = f3 () => (float[4, 8] fy) { fy = Neg(x) }>
        y = MatMul(e, w) }""", {"w": W}),
    "constant condition in a loop": Made(
        f"""g (float[4, 8] x) => (float[4, 8] y) {LOOP} {{
        y = Loop (n, go, x) <body = b (int64 i, bool c, float[4, 8] s) => (bool more, float[4, 8] t) {{
            more = Identity(c)
            u = If (go) <then_branch = t2 () => (float[4, 8] ty) {{ m = MatMul(s, w)  ty = Relu(m) }},
                         else_branch = f2 () => (float[4, 8] fy) {{ fy = Neg(s) }}>
            t = MatMul(u, w) }}> }}""", {"w": W}),
    "loop in a constant condition": Made(
        f"""g (float[4, 8] x) => (float[4, 8] y) {LOOP} {{
        a = If (go) <then_branch = tt () => (float[4, 8] ty) {{ q = MatMul(x, w)
            ty = Loop (n, go, q) <body = b (int64 i, bool c, float[4, 8] s) => (bool more, float[4, 8] t) {{
                more = Identity(c)  m = MatMul(s, w)  t = Tanh(m) }}> }},
            else_branch = ff () => (float[4, 8] fy) {{ fy = Neg(x) }}>
        y = MatMul(a, w) }}""", {"w": W}),
}  # fmt: skip
PRODUCTS = 16 * 8 * 8 * 16 * 9  # MACs of a convolution of 16 channels to 16 over 8 x 8 places
# of one run: those of each node, as often as it runs
MACS = {
    "scan in if": 6 * 8 * 4, "loop with convolutions": 3 * 2 * PRODUCTS, "loop in loop": 3 * (2 + 1) * 4 * 8 * 8,
    "functions": 4 * PRODUCTS, "equal branches": 2 * PRODUCTS, "residual read twice": 3 * PRODUCTS,
    "splits and concats": 4 * PRODUCTS + PRODUCTS + 32 * 32 * 64, "float16": 2 * PRODUCTS + 16 * 10,
    "quantized products": 3 * 4 * 64 * 64, "dynamically quantized products": 3 * 4 * 64 * 64,
    "quantized convolutions": 2 * PRODUCTS, "channels last": 16 * 144 * 9 * (3 + 16), "pushed transpose": 0,
    "gated": PRODUCTS + 64 * 16 * 8, "functions of ONNX": 3 * PRODUCTS, "constant condition": 4 * 4 * 8 * 8,
    "constant condition in a loop": 3 * 2 * 4 * 8 * 8, "loop in a constant condition": (1 + 3 + 1) * 4 * 8 * 8,
}  # fmt: skip
