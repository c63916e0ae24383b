"""Which small graphs are one kernel, and which are not; ONNX Runtime's own answer is in test_against_executed.py."""

from __future__ import annotations

import onnx
import pytest

import neural_cost
from neural_cost.analyzer.fusion.graph import FusionGraph
from neural_cost.analyzer.fusion.groups import fusion_groups
from tests.analyzer.gap.made import analyzed

CONV = "float[1, 16, 8, 8] x, float[16, 16, 3, 3] w, float[16] s, float[16, 1, 1] c, float[1, 16, 6, 6] r"
WEIGHTS = "float[16, 16, 3, 3] w = {%s}"


def groups(text: str, tmp_path, block: int | None = 16) -> list[tuple[str, list[str]]]:
    """Kernel and operators of each group."""
    report = analyzed(text, tmp_path)
    graph = FusionGraph(report.opened.nodes, frozenset(report.opened.returned), block=block)
    return [(g.kernel, [report.nodes[place].op_type for place in g.places]) for g in fusion_groups(graph)]


def weighted(ends: str, body: str, **weights: tuple[int, ...]) -> str:
    """A graph whose weights come from ConstantOfShape, which is as constant as an initializer."""
    made = []
    for place, (name, shape) in enumerate(weights.items()):
        sizes = ", ".join(map(str, shape))
        value = f"value = float[1] {{{place + 1}}}"
        made.append(f"n{name} = Constant <value = int64[{len(shape)}] {{{sizes}}}> ()")
        made.append(f"{name} = ConstantOfShape <{value}> (n{name})")
    return f"g {ends} {{ {'  '.join(made)}  {body} }}"


def test_a_convolution_takes_scale_sum_and_activation(tmp_path):
    text = weighted(
        "(float[1, 16, 8, 8] x, float[1, 16, 6, 6] r) => (float[1, 16, 6, 6] y)",
        "a = Conv(x, w)  b = Mul(a, c)  d = Add(b, r)  y = Relu(d)",
        w=(16, 16, 3, 3), c=(16, 1, 1),
    )  # fmt: skip
    assert groups(text, tmp_path) == [("FusedConv", ["Conv", "Mul", "Add", "Relu"])]
    # where channels are not packed there is no sum in a convolution, and what comes after it is not for it either
    plain = [("FusedConv", ["Conv", "Mul"]), ("Add", ["Add"]), ("Relu", ["Relu"])]
    assert groups(text, tmp_path, block=0) == plain
    assert groups(text, tmp_path, block=None) == groups(text, tmp_path)  # not known: as much as any may


def test_what_two_read_stays_between_kernels(tmp_path):
    text = weighted(
        "(float[1, 16, 8, 8] x) => (float[1, 16, 6, 6] y, float[1, 16, 6, 6] z)",
        "a = Conv(x, w)  y = Relu(a)  z = Sigmoid(a)",
        w=(16, 16, 3, 3),
    )
    assert groups(text, tmp_path) == [("Conv", ["Conv"]), ("Relu", ["Relu"]), ("Sigmoid", ["Sigmoid"])]


def test_one_number_for_all_channels_in_an_axis_of_its_own_is_not_folded(tmp_path):
    """ONNX Runtime folds a constant into the weights only where it has an axis for each that follows the channels."""
    text = weighted(
        "(float[1, 16, 8, 8] x) => (float[1, 16, 6, 6] y)", "a = Conv(x, w)  y = Mul(a, c)", w=(16, 16, 3, 3), c=(1,)
    )
    assert groups(text, tmp_path) == [("Conv", ["Conv"]), ("Mul", ["Mul"])]


@pytest.mark.parametrize(
    ("ends", "body", "found"),
    [
        (
            "(float[4, 8] x) => (float[4, 6] y)",
            "a = MatMul(x, w)  b = Add(a, c)  y = Relu(b)",
            [("Gemm", ["MatMul", "Add", "Relu"])],
        ),
        ("(float[4, 8] x) => (float[4, 6] y)", "a = Gemm(x, w, c)  y = Tanh(a)", [("FusedGemm", ["Gemm", "Tanh"])]),
        (
            "(float[4, 8] x) => (float[4, 6] y)",
            "a = Gemm(x, w, c)  y = Exp(a)",
            [("Gemm", ["Gemm"]), ("Exp", ["Exp"])],
        ),
        (
            "(float[4, 6] x) => (float[4, 6] y)",
            "s = Sigmoid(x)  y = Mul(x, s)",
            [("QuickGelu", ["Sigmoid", "Mul"])],
        ),
        (
            "(float[2, 4, 6] x, float[2, 4, 6] z) => (float[2, 4, 6] y)",
            "a = Add(x, z)  y = LayerNormalization(a, c)",
            [("SkipLayerNormalization", ["Add", "LayerNormalization"])],
        ),
        (
            "(float[2, 4, 6] x, float[4, 6] z) => (float[2, 4, 6] y)",
            "a = Add(x, z)  y = LayerNormalization(a, c)",
            [("Add", ["Add"]), ("LayerNormalization", ["LayerNormalization"])],
        ),
    ],
)
def test_products_and_normalizations(ends, body, found, tmp_path):
    assert groups(weighted(ends, body, w=(8, 6), c=(6,)), tmp_path) == found


def test_what_changes_nothing_goes_with_its_reader(tmp_path):
    text = "g (float[4] x) => (float[4] y) { a = Identity(x)  b = Dropout(a)  y = Exp(b) }"
    assert groups(text, tmp_path) == [("Exp", ["Identity", "Dropout", "Exp"])]


def test_what_is_returned_is_made(tmp_path):
    text = "g (float[4] x) => (float[4] a, float[4] y) { a = Identity(x)  y = Exp(a) }"
    assert groups(text, tmp_path) == [("Identity", ["Identity"]), ("Exp", ["Exp"])]


def test_nodes_that_do_the_same_are_one(tmp_path):
    text = "g (float[4] x) => (float[4] y) { a = Exp(x)  b = Exp(x)  c = Neg(x)  d = Add(a, b)  y = Mul(c, d) }"
    assert groups(text, tmp_path) == [
        ("Exp", ["Exp", "Exp"]), ("Neg", ["Neg"]), ("Add", ["Add"]), ("Mul", ["Mul"]),
    ]  # fmt: skip
    other = "g (float[4] x) => (float[4] y) { a = Elu <alpha = 1.0> (x)  b = Elu <alpha = 2.0> (x)  y = Add(a, b) }"
    assert [each[1] for each in groups(other, tmp_path)] == [["Elu"], ["Elu"], ["Add"]]


def test_slices_that_are_all_of_a_tensor_are_a_split(tmp_path):
    def cut(middle: int) -> str:
        ends = "(float[4, 6] x) => (float[4, 2] y, float[4, 4] z)"
        first = "s0 = Constant <value = int64[1] {0}> ()  e0 = Constant <value = int64[1] {2}> ()"
        second = f"s1 = Constant <value = int64[1] {{{middle}}}> ()  e1 = Constant <value = int64[1] {{6}}> ()"
        axis = "ax = Constant <value = int64[1] {1}> ()"
        return f"g {ends} {{ {first} {second} {axis} y = Slice(x, s0, e0, ax)  z = Slice(x, s1, e1, ax) }}"

    assert [each[0] for each in groups(cut(2), tmp_path) if each[1][0] == "Slice"] == ["Split"]
    overlapping = cut(1).replace("float[4, 4] z", "float[4, 5] z")
    assert [each[0] for each in groups(overlapping, tmp_path) if each[1][0] == "Slice"] == ["Slice", "Slice"]


def test_a_long_run_of_nodes_that_change_nothing_takes_no_time(tmp_path):
    many = 3000
    steps = "  ".join(f"t{n + 1} = Identity(t{n})" for n in range(many))
    text = f"g (float[4] t0) => (float[4] y) {{ {steps}  y = Exp(t{many}) }}"
    assert len(groups(text, tmp_path)) == 1


def test_an_attribute_that_cannot_be_read_is_like_no_other(tmp_path):
    wrong = onnx.TensorProto(data_type=onnx.TensorProto.UINT64, dims=[1], float_data=[1.0])
    nodes = [onnx.helper.make_node("Op", ["x"], [name], domain="mine", value=wrong) for name in "ab"]
    ends = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1]) for name in "xab"]
    opsets = [onnx.helper.make_opsetid("", 20), onnx.helper.make_opsetid("mine", 1)]
    model = onnx.helper.make_model(onnx.helper.make_graph(nodes, "g", ends[:1], ends[1:]), opset_imports=opsets)
    onnx.save(model, tmp_path / "m.onnx")
    assert neural_cost.analyze(tmp_path / "m.onnx").coverage.uncounted[0]["nodes"] == 2
