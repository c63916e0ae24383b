"""Formulas: by hand on small models; and at any point the same as the analysis with the point bound first."""

import onnx
import onnx.parser
import pytest

import neural_cost
from neural_cost.analyzer.cost import COUNTS
from neural_cost.analyzer.expressions import Formula, overtakes, power
from neural_cost.models import path
from tests.corpus import practice_models

HEAD = '<ir_version: 8, opset_import: ["": 17]>\n'
SELF_ATTENTION = """g (float[batch, seq, 8] x) => (float[a, b, c] y) <float[8, 8] w = {ONES}> {
    q = MatMul(x, w)
    t = Transpose <perm = [0, 2, 1]> (x)
    s = MatMul(q, t)
    y = MatMul(s, x)
}""".replace("ONES", ", ".join("1" * 64))
STRIDED = """g (float[batch, 1, H, 6] x) => (float[a, b, c, d] y) <float[2, 1, 3, 3] w = {ONES}> {
    y = Conv <strides = [2, 2]> (x, w)
}""".replace("ONES", ", ".join("1" * 18))
REPEATED = """g (float[steps, 2, 3] xs) => (float[steps, 2, 3] ys) {
    ys = Scan <num_scan_inputs = 1, body = b (float[2, 3] x) => (float[2, 3] y) { y = Mul(x, x) }> (xs)
}"""


def written(text, folder):
    file = folder / "model.onnx"
    onnx.save(onnx.parser.parse_model(HEAD + text), file)
    return file


def test_the_terms_are_those_of_the_products(tmp_path):
    found = neural_cost.analyze(written(SELF_ATTENTION, tmp_path)).formulas
    # x w: batch * seq * 8 * 8; q t and s x: each batch * seq * seq * 8
    assert str(found.totals["macs"]) == "batch*seq*(16*seq + 64)"
    assert found.totals["macs"]({"batch": 2, "seq": 10}) == 2 * 10 * (16 * 10 + 64)
    assert [str(node["macs"]) for node in found.nodes] == [
        "64*batch*seq", "0", "8*batch*seq**2", "8*batch*seq**2"
    ]  # fmt: skip
    assert str(found.by["macs_by_type"]["float32"]) == str(found.totals["macs"])


def test_growth_is_told(tmp_path):
    batch, seq = neural_cost.analyze(written(SELF_ATTENTION, tmp_path)).formulas.growth
    assert (batch.dim, batch.macs, batch.traffic_bytes, batch.quadratic_from) == ("batch", 1, 1, None)
    assert (seq.dim, seq.macs, seq.traffic_bytes) == ("seq", 2, 2)
    assert (batch.activation_peak_bytes, seq.activation_peak_bytes) == (1, 2)  # the scores are batch * seq * seq
    assert seq.quadratic_from == 64 // 16 + 1  # 16 seq**2 > 64 seq from seq = 5 on


def test_some_dimensions_can_be_bound(tmp_path):
    found = neural_cost.analyze(written(SELF_ATTENTION, tmp_path), dims={"batch": 3}).formulas
    assert list(found.names) == ["seq"]
    assert str(found.totals["macs"]) == "seq*(48*seq + 192)"


def test_odd_strides_stay_exact(tmp_path):
    macs = neural_cost.analyze(written(STRIDED, tmp_path), dims={"batch": 1}).formulas.totals["macs"]
    rows = {3: 1, 4: 1, 5: 2, 8: 3, 9: 4}  # (H - 3) // 2 + 1, of 2 columns
    assert {height: macs({"H": height}) for height in rows} == {h: 2 * n * 2 * 9 for h, n in rows.items()}


def test_repeats_are_formulas_too(tmp_path):
    found = neural_cost.analyze(written(REPEATED, tmp_path)).formulas
    assert str(found.totals["other_flops"]) == "6*steps"
    assert str(found.nodes[1]["repeats"]) == "steps"


def test_without_open_dimensions_formulas_are_numbers():
    found = neural_cost.analyze(path("dnn"), dims={"batch": 4}).formulas
    assert str(found.totals["macs"]) == str(4 * 118_016)


def test_a_node_without_a_cost_leaves_no_total(tmp_path):
    found = neural_cost.analyze(written("g (float[n, 3] x) => (float[a, b] y) { y = acme.Odd(x) }", tmp_path)).formulas
    assert found.totals == {}
    assert list(found.missing) == ["0"]
    assert found.why == "no formula gives the counts of 0"


BRANCHES = """g (float[n, 4] x) => (float[m, 4] y) <int64 zero = {0}, int64 limit = {5}> {
    s = Shape(x)  d = Gather(s, zero)  c = Greater(d, limit)
    y = If <then_branch = a () => (float[p, 4] q) { q = Relu(x) },
            else_branch = b () => (float[p, 4] r) { z = Exp(x)  r = Sigmoid(z) }> (c) }"""


def test_a_total_without_a_formula_says_why(tmp_path):
    """Which branch runs depends on n; no node lacks a formula."""
    found = neural_cost.analyze(written(BRANCHES, tmp_path)).formulas
    assert list(found.missing) == []
    with pytest.raises(neural_cost.NeuralCostError, match=r"no formula of macs: how often the body main/.*else_branch"):
        found.totals["macs"]
    with pytest.raises(neural_cost.NeuralCostError, match="called 'mac'; there are: macs, flops"):
        found.totals["mac"]
    assert found.totals.get("macs") is None
    assert "else_branch" in found.to_dict()["why"]
    assert neural_cost.analyze(path("dnn")).formulas.why == ""


SYMBOL = {"x": 2**40 + 1}


@pytest.mark.parametrize(
    ("make", "value"),
    [
        (lambda x: (x - 1) // 2, 2**39),
        (lambda x: -(-x // 2), 2**39 + 1),
        (lambda x: x * x // 3, (2**40 + 1) ** 2 // 3),
        (lambda x: 7, 7),
    ],
)
def test_large_numbers_and_roundings_are_exact(make, value):
    import sympy

    assert Formula(make(sympy.Symbol("x", integer=True, positive=True)), ["x"])(SYMBOL) == value


def test_names_are_no_code():
    import sympy

    name = "__import__('os')"
    formula = Formula(2 * sympy.Symbol(name, integer=True, positive=True), [name])
    assert formula({name: 4}) == 8


@pytest.mark.parametrize(("name", "text"), [("n.0", "2*n.0"), ("x:0", "2*x:0"), ("n/2", '2*"n/2"'), ("n-1", '2*"n-1"')])
def test_a_name_that_could_be_read_as_arithmetic_is_quoted(name, text):
    import sympy

    assert str(Formula(2 * sympy.Symbol(name, integer=True, positive=True), [name])) == text


def test_powers_and_crossings():
    import sympy

    s, b = (sympy.Symbol(name, integer=True, positive=True) for name in "sb")
    formula = Formula(b * (3 * s**2 + 100 * s) + s // 2, ["b", "s"])
    assert (power(formula, "s"), power(formula, "b"), power(formula, "other")) == (2, 1, 0)
    assert overtakes(formula, "s", {"b": 1, "s": 1}) == 34  # 3 s**2 > 100.5 s
    assert overtakes(formula, "b", {"b": 1, "s": 1}) is None


def assert_at(file, open_report, sizes):
    """The formulas of an open report at some sizes are the counts of the report bound to them, node by node."""
    found = open_report.formulas
    if not found.totals:
        return 0
    bound = neural_cost.analyze(file, dims=sizes)
    assert bound.totals.complete
    assert open_report.at(sizes) == bound.totals
    for node, formula in zip(bound.nodes, found.nodes, strict=True):
        cost = node.source.cost
        assert {name: formula[name](sizes) for name in COUNTS} == {name: getattr(cost, name) for name in COUNTS}, node
    return len(bound.nodes)


@pytest.mark.parametrize("family", ["dnn", "cnn", "rnn", "lstm", "transformer"])
@pytest.mark.parametrize("batch", [1, 2, 7, 64])
def test_families_at_any_batch(family, batch):
    assert assert_at(path(family), neural_cost.analyze(path(family)), {"batch": batch})


# Sizes that each model takes: windows need room, and some dimensions go together.
POINTS = {
    "ch_PP-OCRv4_det_infer": [(1, 32, 64), (2, 96, 160)],
    "deepcut": [(1, 1), (5, 5)],
    "gigaam_v3": [(1, 320), (3, 16_000), (2, 477)],
    "x100_w32full_pair": [(1, 3), (2, 50), (7, 33)],
}
WITHOUT = {
    "silero_vad_half": "which branch it takes depends on the length",
}


@pytest.mark.long
@pytest.mark.parametrize("model", practice_models(), ids=lambda model: model.name)
def test_practice_models_at_several_points(model):
    report = neural_cost.analyze(model.file())
    names = report.model.assumed_dims
    if not names:
        return
    points = POINTS.get(model.name, [[3 + 2 * i for i in range(len(names))], [16 >> i for i in range(len(names))]])
    checked = [assert_at(model.file(), report, dict(zip(names, point, strict=True))) for point in points]
    assert (model.name in WITHOUT) == (0 in checked), "formulas for it now: take it out of WITHOUT"
