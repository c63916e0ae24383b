"""Findings: for each a model that shows it and one that must not, and what it may save, by hand.

The device does 1 FLOP and moves 1 byte in a ns; times of kernels are made up.
"""

from dataclasses import replace

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper, numpy_helper

import neural_cost
from neural_cost.analyzer.comparison import BackendResult, Comparison
from neural_cost.analyzer.findings.backends import faster_backend
from neural_cost.analyzer.findings.find import find
from neural_cost.analyzer.gap.analyze import analyze_gap
from neural_cost.analyzer.measurement import Measurement
from tests.analyzer.gap.made import DEVICE, NS, PRODUCT, Timed, analyzed, kernel

STARTS = replace(DEVICE, dispatch_s=1000 * NS)
INT8 = replace(DEVICE, peaks={"float32": 1e9, "int8": 4e9})
FP16_SLOW = replace(DEVICE, peaks={"float32": 1e9, "float16": 1.1e9})

CHAIN = "g (float[1000] x) => (float[1000] y) { a = Exp(x)  b = Add(a, x)  y = Sqrt(b) }"
APART = "g (float[1000] x) => (float[1000] y, float[1000] a) { a = Exp(x)  y = Sqrt(a) }"
TRANSPOSED = "g (float[40, 50] x) => (float[50, 40] y) { a = Relu(x)  y = Transpose <perm = [1, 0]> (a) }"
CAST = "g (float[1000] x) => (float16[1000] y) { a = Relu(x)  y = Cast <to = 10> (a) }"
FOLDABLE = """g (float[2, 2] x) => (float[2, 2] y) <float[2, 2] w = {1, 2, 3, 4}> { t = Exp(w)  y = Add(x, t) }"""
STORED_INTEGERS = """g (float[2] x) => (float[2] y) <int8[2] w = {1, 2}, float s = {0.5}> {
    t = DequantizeLinear(w, s)  y = Add(x, t) }"""
NORMALIZED = """g (float[1, 2, 4, 4] x) => (float[1, 2, 4, 4] y) <float[2, 2, 1, 1] w = {1, 2, 3, 4},
  float[2] s = {1, 2}, float[2] b = {1, 2}, float[2] m = {1, 2}, float[2] v = {1, 2}> {
    c = Conv(x, w)  y = BatchNormalization(c, s, b, m, v) }"""
NORMALIZED_INPUT = NORMALIZED.replace("c = Conv(x, w)  y = BatchNormalization(c,", "c = BatchNormalization(x,").replace(
    "s, b, m, v) }", "s, b, m, v)  y = Conv(c, w) }"
)
DEPTHWISE = "g (float[1, 8, 9, 9] x, float[8, 1, 3, 3] w) => (float[1, 8, 7, 7] y) { y = Conv <group = 8> (x, w) }"
PLAIN = "g (float[1, 8, 9, 9] x, float[8, 8, 3, 3] w) => (float[1, 8, 7, 7] y) { y = Conv(x, w) }"
GATHER = "g (float[100, 50] t, int64[30] i) => (float[30, 50] y) { y = Gather(t, i) }"
QUANTIZED = """g (float[1000] x) => (float[1000] y) <float s = {1.0}, uint8 z = {0}> {
    q = QuantizeLinear(x, s, z)  y = DequantizeLinear(q, s, z) }"""
ATTENTION = """g (float[4, 16, 8] q, float[4, 8, 16] k, float[4, 16, 8] v) => (float[4, 16, 8] y) <float s = {0.5}> {
    a = MatMul(q, k)  b = Mul(a, s)  p = Softmax(b)  y = MatMul(p, v) }"""
CLASSIFIER = "g (float[4, 16] q, float[16, 16] k) => (float[4, 16] y) { a = MatMul(q, k)  y = Softmax(a) }"
LOOP = """g (float[4, 4] x, float[4, 4] w) => (float[4, 4] y) {
    n = Constant <value = int64 {9}> ()  go = Constant <value = bool {1}> ()
    y = Loop(n, go, x) <body = b (int64 i, bool c, float[4, 4] s) => (bool c2, float[4, 4] t) {
        c2 = Identity(c)  m = MatMul(s, k)  t = Tanh(m) }> }""".replace(
    "float[4, 4] w) => (float[4, 4] y)",
    f"float[4, 4] w) => (float[4, 4] y) <float[4, 4] k = {{{', '.join('1' * 16)}}}>",
)
PLAIN_LOOP = LOOP.replace("m = MatMul(s, k)", "m = Add(s, s)")
DYNAMIC = """g (float[n, 4, 6] x) => (float[n, z] y) <int64 zero = {0}, int64[1] front = {0}, int64[1] rest = {-1}> {
    s = Shape(x)  b = Gather(s, zero)  u = Unsqueeze(b, front)  t = Concat <axis = 0> (u, rest)  y = Reshape(x, t) }"""
STATIC = "g (float[3, 4, 6] x) => (float[3, 24] y) <int64[2] t = {3, 24}> { y = Reshape(x, t) }"
SHAPES_OF_FIXED = DYNAMIC.replace("float[n, 4, 6]", "float[3, 4, 6]")
ONES = ", ".join(["1"] * 512)
WEIGHTED = f"g (float[n, 8] x) => (float[n, 64] y) <float[8, 64] w = {{{ONES}}}> {{ y = MatMul(x, w) }}"
TINY = "g (float[2] x) => (float[2] y) { a = Exp(x)  b = Log(a)  c = Sqrt(b)  y = Neg(c) }"


def ids(report):
    return {finding.id for finding in report.findings}


@pytest.mark.parametrize(
    ("found", "shows", "does_not", "device"),
    [
        ("transposes", TRANSPOSED, CHAIN, DEVICE),
        ("casts", CAST, CHAIN, DEVICE),
        ("unfused-elementwise", CHAIN, APART, DEVICE),
        ("foldable", FOLDABLE, CHAIN, DEVICE),
        ("foldable", FOLDABLE, STORED_INTEGERS, DEVICE),
        ("foldable-normalization", NORMALIZED, NORMALIZED_INPUT, DEVICE),
        ("faster-type", PRODUCT, CHAIN, INT8),
        ("small-batch", WEIGHTED, PRODUCT, DEVICE),
        ("tiny-nodes", TINY, PRODUCT, STARTS),
        ("dynamic-shapes", DYNAMIC, STATIC, STARTS),
        ("dynamic-shapes", DYNAMIC, SHAPES_OF_FIXED, STARTS),
        ("grouped-convolutions", DEPTHWISE, PLAIN, DEVICE),
        ("gather-scatter", GATHER, PRODUCT, DEVICE),
        ("quantize-overhead", QUANTIZED, CHAIN, DEVICE),
        ("unfused-attention", ATTENTION, CLASSIFIER, DEVICE),
        ("recurrent-loop", LOOP, PLAIN_LOOP, DEVICE),
    ],
)
def test_a_model_that_shows_it_and_one_that_does_not(found, shows, does_not, device, tmp_path):
    report = analyzed(shows, tmp_path, device)
    (finding,) = [each for each in report.findings if each.id == found]
    assert finding.predicted
    assert finding.advice
    assert finding.saves_at_most_s is None or finding.saves_at_most_s >= 0
    assert all(place < len(report.nodes) for place in finding.nodes)
    assert found not in ids(analyzed(does_not, tmp_path, device))


@pytest.mark.parametrize("device", [FP16_SLOW, DEVICE, None])
def test_no_faster_type_without_one(device, tmp_path):
    assert "faster-type" not in ids(analyzed(PRODUCT, tmp_path, device))


def only(report, found, **run):
    (finding,) = [each for each in find(report, **run) if each.id == found]
    return finding


def measured(report, *kernels, ns=None):
    whole = ns or sum(each.seconds for each in kernels) / NS
    return {"gap": analyze_gap(report, Timed(whole, whole), kernels=kernels), "kernels": kernels}


def test_what_fusing_a_chain_saves(tmp_path):
    """Exp and Sqrt move 8,000 bytes and Add 12,000; as one kernel they move x and y: 8,000."""
    report = analyzed(CHAIN, tmp_path)
    assert only(report, "unfused-elementwise").saves_at_most_s == pytest.approx((28000 - 8000) * NS)
    ran = [kernel(report, [0], 20000), kernel(report, [1], 30000), kernel(report, [2], 9000)]
    assert only(report, "unfused-elementwise", **measured(report, *ran)).saves_at_most_s == pytest.approx(51000 * NS)


def test_a_chain_in_one_kernel_is_none(tmp_path):
    report = analyzed(CHAIN, tmp_path)
    found = find(report, **measured(report, kernel(report, [0, 1, 2], 20000)))
    assert "unfused-elementwise" not in {finding.id for finding in found}


def test_what_another_type_saves(tmp_path):
    """Products in int8 take 256 ns for 1,024 FLOPs; of 896 bytes a quarter is left: 224. It took 2,000."""
    report = analyzed(PRODUCT, tmp_path, INT8)
    finding = only(report, "faster-type", **measured(report, kernel(report, [0], 2000), kernel(report, [1], 600)))
    assert finding.saves_at_most_s == pytest.approx((2000 - 256) * NS)
    assert not finding.predicted
    assert finding.nodes == (0,)


@pytest.mark.parametrize(("per_ns", "crossing"), [(1, 3), (2, 10), (3, 39)])
def test_the_batch_from_which_arithmetic_takes_longer(per_ns, crossing, tmp_path):
    """For n rows 1,024 n FLOPs, and 2,048 + 288 n bytes: equal at 2,048 / (1,024 / rate - 288), 2.8, 9.1 and 38.4."""
    device = replace(DEVICE, peaks={"float32": per_ns * 1e9})
    finding = only(analyzed(WEIGHTED, tmp_path, device), "small-batch")
    assert f"from n = {crossing} on" in finding.evidence
    assert finding.saves_at_most_s == pytest.approx((2048 + 288 - 1024 / per_ns) * NS)


def test_no_batch_is_large_enough(tmp_path):
    """At 4 FLOPs a ns a row needs 256 ns of arithmetic, and 288 for its bytes."""
    device = replace(DEVICE, peaks={"float32": 4e9})
    assert "small-batch" not in ids(analyzed(WEIGHTED, tmp_path, device))


def test_transposes_in_a_product_are_free(tmp_path):
    report = analyzed(TRANSPOSED, tmp_path)
    alone = measured(report, kernel(report, [0], 9000), kernel(report, [1], 17000))
    assert only(report, "transposes", **alone).saves_at_most_s == pytest.approx(17000 * NS)
    fused = measured(report, kernel(report, [0, 1], 20000))
    assert "transposes" not in {finding.id for finding in find(report, **fused)}


def test_what_the_runtime_inserts(tmp_path):
    report = analyzed(PRODUCT, tmp_path)
    ran = [kernel(report, [0, 1], 2000), kernel(report, [], 300, serves=(1,)), kernel(report, [], 100, "Cast")]
    finding = only(report, "inserted-conversions", **measured(report, *ran))
    assert finding.saves_at_most_s == pytest.approx(400 * NS)
    assert "1 ReorderOutput, 1 Cast" in finding.evidence
    assert "for 1 node" in finding.evidence
    assert finding.nodes == (1,)
    ran += [kernel(report, [], 400, serves=(0,)), kernel(report, [], 1, serves=(0, 1))]
    assert only(report, "inserted-conversions", **measured(report, *ran)).nodes == (0, 1)  # the dearest first
    assert "inserted-conversions" not in {each.id for each in find(report, **measured(report, ran[0]))}


def test_what_is_inserted_for_a_node_is_not_counted_twice(tmp_path):
    """A reorder for the Transpose is a finding of its own, and none of what the Transpose takes."""
    report = analyzed(TRANSPOSED, tmp_path)
    ran = measured(report, kernel(report, [0], 9000), kernel(report, [1], 17000), kernel(report, [], 4000, serves=(1,)))
    assert only(report, "transposes", **ran).saves_at_most_s == pytest.approx(17000 * NS)
    assert only(report, "inserted-conversions", **ran).saves_at_most_s == pytest.approx(4000 * NS)


def test_constants_that_are_computed_at_every_run(tmp_path):
    report = analyzed(FOLDABLE, tmp_path)
    folded = only(report, "foldable", **measured(report, kernel(report, [1], 100)))
    assert (folded.saves_at_most_s, folded.nodes) == (0, (0,))
    each_time = measured(report, kernel(report, [0], 70), kernel(report, [1], 100))
    assert only(report, "foldable", **each_time).saves_at_most_s == pytest.approx(70 * NS)


def test_attention_in_one_kernel_is_none(tmp_path):
    """As one kernel its three inputs and its result move, 2,048 bytes each, which takes less than its arithmetic."""
    report = analyzed(ATTENTION, tmp_path)
    apart = measured(report, *(kernel(report, [place], 20000) for place in range(4)))
    scores = 4 * 16 * 16
    softmax = report.nodes[2].flops
    left = 2 * 2 * scores * 8 + scores + softmax
    assert only(report, "unfused-attention", **apart).saves_at_most_s == pytest.approx((80000 - left) * NS)
    fused = measured(report, kernel(report, [0, 1, 2, 3], 40000))
    assert "unfused-attention" not in {finding.id for finding in find(report, **fused)}


def test_threads(tmp_path):
    report = analyzed(PRODUCT, tmp_path)

    def run(threads, cores, median_s=1.0):
        found = Measurement(
            backend="onnxruntime", version="1", provider="CPUExecutionProvider", threads=threads, cores=cores,
            level="all", median_s=median_s, min_s=median_s, ci_s=(median_s, median_s), samples=1, stopped_by="interval",
            profiled_s=median_s, kernels_s=median_s, peak_bytes=None, session_s=0.1,
        )  # fmt: skip
        gap = analyze_gap(report, found, kernels=[kernel(report, [0, 1], median_s / NS)])
        return {finding.id: finding for finding in find(report, gap, (), found)}

    assert run(1, 4)["few-threads"].saves_at_most_s == pytest.approx(0.75)
    assert run(8, 4)["many-threads"].saves_at_most_s is None
    assert not {"few-threads", "many-threads"} & run(4, 4).keys()
    assert not {"few-threads", "many-threads"} & run(None, 4).keys()
    assert "few-threads" not in run(1, 4, 1e-5)


def with_weights(folder, arrays, external):
    """x + a + b + ...; a weight named "unused" is read by no node."""
    names = [name for name in arrays if name != "unused"]
    nodes = [helper.make_node("Add", ["x" if place == 0 else f"t{place - 1}", name], [f"t{place}"])
             for place, name in enumerate(names)]  # fmt: skip
    shape = next(iter(arrays.values())).shape
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in ("x", f"t{len(names) - 1}")]
    weights = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    file = folder / "weights.onnx"
    onnx.save(model, file, save_as_external_data=external, location="weights.bin", size_threshold=0)
    return file


@pytest.mark.parametrize("external", [False, True])
def test_weights_that_are_there_twice(external, tmp_path):
    rng = np.random.default_rng(0)
    one, other = (rng.random((300, 300), np.float32) for _ in range(2))
    nearly = one.copy()
    nearly[150, 150] += 1  # no sample sees it
    arrays = {"a": one, "b": other, "c": one.copy(), "d": nearly}
    report = neural_cost.analyze(with_weights(tmp_path, arrays, external), device=DEVICE)
    (finding,) = [each for each in report.findings if each.id == "duplicate-weights"]
    assert finding.nodes == (0, 2)
    assert finding.saves_at_most_s == pytest.approx(300 * 300 * 4 * NS)
    del arrays["c"]
    assert "duplicate-weights" not in ids(neural_cost.analyze(with_weights(tmp_path, arrays, external), device=DEVICE))


def test_kernels_of_unknown_work_are_no_tiny_nodes(tmp_path):
    report = analyzed(TINY, tmp_path, STARTS)
    ran = [kernel(report, [0, 1], 900, work=None), kernel(report, [2], 900), kernel(report, [3], 900)]
    assert "tiny-nodes" not in {finding.id for finding in find(report, **measured(report, *ran))}


def test_weights_whose_file_is_missing_are_no_duplicates(tmp_path):
    file = with_weights(tmp_path, dict.fromkeys("ab", np.ones((100, 100), np.float32)), external=True)
    (tmp_path / "weights.bin").unlink()
    assert "duplicate-weights" not in ids(neural_cost.analyze(file))


@pytest.mark.parametrize(("kind", "held"), [(TensorProto.UNDEFINED, ">= 0 B"), (TensorProto.STRING, "0 B")])
def test_a_weight_whose_elements_have_no_size(kind, held, tmp_path):
    """It is read by no node, and told of; what one of no type holds is not known. Of texts there are none here."""
    file = with_weights(tmp_path, {"a": np.ones((100, 100), np.float32)}, external=False)
    model = onnx.load(file)
    model.graph.initializer.append(onnx.TensorProto(name="odd", data_type=kind, dims=[0]))
    onnx.save(model, file)
    (finding,) = [each for each in neural_cost.analyze(file).findings if each.id == "unused-weights"]
    assert finding.evidence.startswith(f"1 initializers, {held},")


def test_weights_that_nothing_reads(tmp_path):
    arrays = {"a": np.ones((100, 100), np.float32), "unused": np.zeros((9, 9), np.float32)}
    report = neural_cost.analyze(with_weights(tmp_path, arrays, external=False))
    (finding,) = [each for each in report.findings if each.id == "unused-weights"]
    assert "1 initializers, 324 B" in finding.evidence
    del arrays["unused"]
    assert "unused-weights" not in ids(neural_cost.analyze(with_weights(tmp_path, arrays, external=False)))


def compared(native_s, runtime_s):
    def result(name, framework, seconds):
        return BackendResult(name=name, framework=framework, median_s=seconds, min_s=seconds, throughput={},
                             samples=[[seconds * (1 + step / 1000)] for step in range(12)])  # fmt: skip

    return Comparison(
        target="t", reference="torch", threads=1, device="cpu", dims={}, machine="m", date="", versions={},
        backends=[result("torch", "torch", native_s), result("onnxruntime all", "onnx", runtime_s)],
    )  # fmt: skip


def test_a_native_backend_that_is_faster():
    (finding,) = faster_backend(compared(1e-3, 2e-3))
    assert finding.id == "native-faster"
    assert finding.saves_at_most_s == pytest.approx(1e-3)
    assert "torch takes 1 ms" in finding.evidence


@pytest.mark.parametrize("native_s", [2e-3, 3e-3, 1.95e-3])
def test_a_native_backend_that_is_not(native_s):
    assert not list(faster_backend(compared(native_s, 2e-3)))


def test_the_one_that_saves_most_comes_first(tmp_path):
    saves = [finding.saves_at_most_s for finding in analyzed(ATTENTION, tmp_path, INT8).findings]
    known = [each for each in saves if each is not None]
    assert len(known) > 1
    assert saves == sorted(known, reverse=True) + [None] * (len(saves) - len(known))


def test_without_a_device_nothing_is_said_of_time(tmp_path):
    findings = analyzed(ATTENTION, tmp_path, None).findings
    assert {finding.id for finding in findings} >= {"unfused-attention"}
    assert all(not finding.saves_at_most_s for finding in findings)
