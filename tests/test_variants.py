"""Quantizing, narrowing, optimizing and fusing a model changes neither its MACs nor its number of parameters."""

from functools import cache

import numpy as np
import onnx
import onnx.inliner
import onnx.parser
import pytest

import neural_cost
from neural_cost.models import path
from tests.variants import Source, made

FAMILIES = ["dnn", "cnn", "transformer", "lstm", "rnn"]
BATCH = 2

# By variant: operators of which a model must have one, or the variant is none.
QLINEAR = {"QLinearConv", "QLinearMatMul", "QGemm"}
DYNAMIC = {"ConvInteger", "MatMulInteger"}
FUSED_DYNAMIC = {"ConvInteger", "MatMulIntegerToFloat", "DynamicQuantizeMatMul"}
FLOAT = {
    "qdq": {"DequantizeLinear"},
    "qdq per channel": {"DequantizeLinear"},
    "int4": {"MatMulNBits"},
    "int4 qdq": {"DequantizeLinear"},
    "int4, all": {"MatMulNBits"},
    "basic": {"Gemm", "MatMul"},
    "extended": {"FusedGemm", "FusedConv", "FusedMatMul", "SkipLayerNormalization", "LSTM", "RNN"},
    "all": {"FusedGemm", "Conv", "FusedMatMul", "SkipLayerNormalization", "LSTM", "RNN"},
    "float16, extended": {"Cast"},  # the CPU has few kernels for float16: ONNX Runtime computes in float32
}
INTEGER = {
    "qoperator": QLINEAR,
    "qoperator, all": QLINEAR,
    "dynamic": DYNAMIC,
    "dynamic, all": FUSED_DYNAMIC,
}
QDQ_OPTIMIZED = {
    "qdq, extended": QLINEAR,
    "qdq, all": QLINEAR,
}  # which products become integer is ONNX Runtime's choice
VARIANTS = {**FLOAT, **INTEGER, **QDQ_OPTIMIZED, "float16": {"Gemm", "MatMul"}}
WITHOUT_MATMUL = {"dnn", "cnn", "lstm", "rnn"}  # weights of a few bits are for MatMul alone, not for Gemm


def cases(models, variants):
    return [
        (model, variant)
        for model in models
        for variant in variants
        if not (model in WITHOUT_MATMUL and variant.startswith("int4"))
    ]


def both(variants):
    """Cases of the families, and those of exported transformers, which take long."""
    long = [pytest.param(*case, marks=pytest.mark.long) for case in cases(["bert", "gpt2"], variants)]
    return pytest.mark.parametrize(("model", "variant"), cases(FAMILIES, variants) + long)


@pytest.fixture(scope="session")
def reports(exported, traced, tmp_path_factory):
    """Reports of a model and of a variant of it, by names."""
    sources = cache(lambda name: source_of(name, exported, traced))

    @cache
    def of(name, variant=None):
        source = sources(name)
        if variant is not None:
            source = made(source, variant, tmp_path_factory.mktemp("variant"))
        return neural_cost.analyze(source.file, dims=source.dims)

    return of


def source_of(name, exported, traced):
    if name in FAMILIES:
        file = path(name)
        (value,) = onnx.load(file).graph.input
        shape = [dim.dim_value or BATCH for dim in value.type.tensor_type.shape.dim]
        data = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        return Source(name, file, {value.name: data}, {"batch": BATCH})
    model = traced(name.removesuffix("_traced")) if name.endswith("_traced") else exported(name)
    return Source(name, model.file, model.feeds, model.dims)


def assert_same(report, original, operators):
    assert {node.op_type for node in report.nodes} & operators
    assert report.totals.complete
    assert report.totals.macs == original.totals.macs
    assert report.totals.parameters == original.totals.parameters


@both(VARIANTS)
def test_neither_macs_nor_parameters_change(model, variant, reports):
    assert_same(reports(model, variant), reports(model), VARIANTS[variant])


@both(FLOAT)
def test_products_stay_float(model, variant, reports):
    """Between QuantizeLinear and DequantizeLinear a file says float32; weights of 4 bits compute as activations do."""
    assert reports(model, variant).totals.macs_by_type == {"float32": reports(model).totals.macs}


@both(["float16"])
def test_halves_compute_as_such(model, variant, reports):
    report, original = reports(model, variant), reports(model)
    assert report.totals.macs_by_type == {"float16": original.totals.macs}
    assert report.totals.parameter_bytes == 2 * original.totals.parameters


@both(INTEGER)
def test_quantized_products_are_integer(model, variant, reports):
    """Convolutions and products are quantized, dynamically only those with weights; recurrent layers are not."""
    integer = {"int8": 0, "float32": 0}
    for node in reports(model).nodes:
        quantized = node.op_type in ("Conv", "Gemm", "MatMul") and (
            variant.startswith("qoperator") or node.inputs[1].constant
        )
        integer["int8" if quantized else "float32"] += node.macs
    assert reports(model, variant).totals.macs_by_type == {kind: macs for kind, macs in integer.items() if macs}


@both(QDQ_OPTIMIZED)
def test_what_became_integer_is_counted_as_such(model, variant, reports):
    report = reports(model, variant)
    integer = sum(node.macs for node in report.nodes if node.op_type in QLINEAR | DYNAMIC | FUSED_DYNAMIC)
    assert report.totals.macs_by_type.get("int8") == integer
    assert set(report.totals.macs_by_type) <= {"int8", "float32"}


def test_quantized_lstm(reports):
    """Its weights must be constants, so the file is optimized first; then all of it is integer."""
    report, original = reports("lstm", "basic, dynamic"), reports("lstm")
    assert_same(report, original, {"DynamicQuantizeLSTM"})
    assert report.totals.macs_by_type == {"int8": original.totals.macs}


FUSIONS = {
    "bert": {
        "fused as bert": {"Attention"},
        "fused as bert, fused float16": {"EmbedLayerNormalization"},
        "fused as bert, dynamic": {"QAttention"},
        "fused as bert, qdq": {"Attention"},
        "fused as bert, int4": {"MatMulNBits"},
        "fused as bert, all": {"SkipLayerNormalization"},
        "fused as bert, dynamic, all": {"QAttention"},
    },
    "gpt2": {
        "fused as gpt2": {"SkipLayerNormalization"},
        "fused as gpt2, fused float16": {"FastGelu"},
        "fused as gpt2, dynamic": {"MatMulInteger"},
        "fused as gpt2, int4": {"MatMulNBits"},
        "fused as gpt2, all": {"FusedMatMul"},
        "fused as gpt2, dynamic, all": {"DynamicQuantizeMatMul"},
    },
}


@pytest.mark.long
@pytest.mark.parametrize(("model", "variant"), [(model, variant) for model in FUSIONS for variant in FUSIONS[model]])
def test_fusions_change_nothing(model, variant, reports):
    assert_same(reports(f"{model}_traced", variant), reports(f"{model}_traced"), FUSIONS[model][variant])


PADDED = """<ir_version: 8, opset_import: ["": 17]>
g (float[1, 3, 8, 8] x, float[20, 3, 3, 3] w, float[24, 20, 3, 3] v) => (float[1, 24, 4, 4] y) {
    a = Conv <pads = [1, 1, 1, 1]> (x, w)
    b = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (a)
    c = Tanh(b)
    y = Conv <pads = [1, 1, 1, 1]> (c, v)
}"""


def test_channels_are_padded_to_blocks(tmp_path):
    """Level `all` pads channels of a convolution to blocks of 8 or 16, as the CPU has it, and computes the padding."""
    source = Source("padded", tmp_path / "padded.onnx", {}, {})
    onnx.save(with_weights(PADDED), source.file)
    report = neural_cost.analyze(made(source, "all", tmp_path).file)
    first, second = (8 * 8) * 3 * (3 * 3), (4 * 4) * (3 * 3)  # for each output channel; for each pair of channels
    assert neural_cost.analyze(source.file).totals.macs == 20 * first + 24 * 20 * second
    blocked = {
        8: (24 * first + 24 * 24 * second, 24 * 3 * 9 + 24 * 24 * 9),
        16: (32 * first + 32 * 32 * second, 32 * 3 * 9 + 32 * 32 * 9),
    }
    assert report.totals.complete
    assert {node.domain for node in report.nodes} >= {"com.microsoft.nchwc"}
    assert (report.totals.macs, report.totals.parameters) in blocked.values()


def with_weights(text):
    """Parse a model, and make weights of all its inputs but the first."""
    model = onnx.parser.parse_model(text)
    for value in list(model.graph.input)[1:]:
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        data = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(data, value.name))
        model.graph.input.remove(value)
    return model


# Functions that call functions, with attributes handed on, one of them called at two shapes, and a function in a branch
WITH_FUNCTIONS = """<ir_version: 9, opset_import: ["": 18, "net": 1]>
g (float[2, 5, 16] x, float[16, 16] q, float[16, 16] k, float[16, 32] up, float[32, 16] down, float[16] one)
        => (float[2, 5, 16] y) {
    a = net.attend <scale: float = 0.25> (x, q, k)
    b = net.norm <axis: int = -1> (a, one)
    c = net.mlp <axis: int = -1> (b, up, down, one)
    yes = Constant <value = bool {1}> ()
    y = If (yes) <
        then_branch = t () => (float[2, 5, 16] d) { d = net.norm <axis: int = -1> (c, one) },
        else_branch = e () => (float[2, 5, 16] f) { f = Identity(c) }>
}
<domain: "net", opset_import: ["": 18, "net": 1]>
attend <scale> (x, q, k) => (y) {
    query = MatMul(x, q)
    key = MatMul(x, k)
    turned = Transpose <perm = [0, 2, 1]> (key)
    scores = MatMul(query, turned)
    factor = Constant <value_float: float = @scale> ()
    scaled = Mul(scores, factor)
    weights = Softmax(scaled)
    y = MatMul(weights, x)
}
<domain: "net", opset_import: ["": 18, "net": 1]>
norm <axis> (x, one) => (y) { y = LayerNormalization <axis: int = @axis> (x, one) }
<domain: "net", opset_import: ["": 18, "net": 1]>
mlp <axis> (x, up, down, one) => (y) {
    h = MatMul(x, up)
    r = Gelu(h)
    o = MatMul(r, down)
    s = Add(o, x)
    y = net.norm <axis: int = @axis> (s, one)
}
<domain: "net", opset_import: ["": 18, "net": 1]>
Gelu (x) => (y) { y = Relu(x) }
"""


def test_inlined_functions(tmp_path):
    model = with_weights(WITH_FUNCTIONS.replace("Gelu(h)", "net.Gelu(h)"))
    onnx.checker.check_model(model)
    variants = {"functions": model, "inlined": onnx.inliner.inline_local_functions(model)}
    variants["partly"] = onnx.inliner.inline_selected_functions(model, [("net", "mlp"), ("net", "Gelu")])
    totals = {}
    for name, variant in variants.items():
        onnx.save(variant, tmp_path / f"{name}.onnx")
        totals[name] = neural_cost.analyze(tmp_path / f"{name}.onnx").totals
    tokens, width, steps = 2 * 5, 16, 5
    attention = 2 * tokens * width * width + 2 * tokens * steps * width  # query and key; scores, and their use
    for found in totals.values():
        assert found.complete
        assert found.macs == attention + 2 * tokens * width * 32
        assert found.parameters == 2 * 16 * 16 + 2 * 16 * 32 + 16
        assert found.other_flops == totals["functions"].other_flops
        assert found.per_op_bytes == totals["functions"].per_op_bytes
    assert not variants["inlined"].functions
    assert len(variants["partly"].functions) == 2
