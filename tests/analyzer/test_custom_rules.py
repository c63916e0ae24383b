"""A user's own operator: a rule in a few lines, from Python and from a file."""

import json
import sys

import onnx
import onnx.parser
import pytest

import neural_cost
from neural_cost.analyzer.rules import registry
from neural_cost.cli import main

MODEL = """<ir_version: 8, opset_import: ["": 17, "acme": 1]>
g (float[2, 3] x) => (float[2, 5] y) <float[3, 5] w = {ONES}> {
    m = acme.Mystery <times = 4> (x, w)
    y = Relu(m)
}""".replace("ONES", ", ".join("1" * 15))
RULE = """
import neural_cost

@neural_cost.register("Mystery", domain="acme")
def mystery(node):
    return node.cost(macs=node.attr("times") * node.y.size * node.x.shape[-1])
"""
MACS = 4 * (2 * 5) * 3


@pytest.fixture(autouse=True)
def _forget():
    registry.registered()  # loads what is built in
    before = {key: list(rules) for key, rules in registry._rules.items()}
    yield
    registry._rules.clear()
    registry._rules.update(before)


@pytest.fixture
def file(tmp_path):
    model = onnx.parser.parse_model(MODEL)
    model.graph.value_info.append(onnx.helper.make_tensor_value_info("m", onnx.TensorProto.FLOAT, [2, 5]))
    onnx.save(model, tmp_path / "model.onnx")
    return tmp_path / "model.onnx"


def test_without_a_rule_it_is_uncounted(file):
    report = neural_cost.analyze(file)
    assert not report.totals.complete
    assert report.totals.macs == 0


def test_a_rule_in_python(file):
    @neural_cost.register("Mystery", domain="acme")
    def mystery(node):
        return node.cost(macs=node.attr("times") * node.y.size * node.x.shape[-1])

    report = neural_cost.analyze(file)
    assert report.totals.complete
    assert report.totals.macs == MACS
    assert report.nodes[0].kind == "custom"


def test_a_second_rule_is_an_error():
    neural_cost.register("Mystery", domain="acme")(lambda node: node.cost())
    with pytest.raises(ValueError, match="acme::Mystery has a cost rule"):
        neural_cost.register("Mystery", domain="acme")(lambda node: node.cost())


def test_a_rule_takes_the_place_of_a_built_in_one_where_it_says_so(file):
    with pytest.raises(neural_cost.RuleError, match=r"Relu has a cost rule .* replace=True"):
        neural_cost.register("Relu")(lambda node: node.cost())
    neural_cost.register("Relu", replace=True)(lambda node: node.cost(macs=7))
    assert neural_cost.analyze(file).nodes[1].macs == 7


def test_a_replacement_stands_for_all_later_versions_too(file):
    for since in (1, 9, 14):
        neural_cost.register("Mystery", domain="acme", since=since)(lambda node: node.cost(macs=1))
    neural_cost.register("Mystery", domain="acme", since=9, replace=True)(lambda node: node.cost(macs=2))
    assert [rule.since for rule in registry._rules["acme", "Mystery"]] == [9, 1]


@pytest.mark.parametrize("names", [(), (len,)], ids=["no name", "without parentheses"])
def test_a_rule_for_nothing_is_an_error(names):
    with pytest.raises(neural_cost.RuleError, match="needs the names"):
        neural_cost.register(*names)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("return 12", "int where a Cost"),
        ("return node.nothing", "no attribute"),
        ("return node.cost(macs=-5)", "below 0"),
        ("return node.cost(macs=0.5 * node.y.size)", "a fraction"),
    ],
)
def test_a_rule_that_is_wrong_is_told_of(body, why, file):
    scope = {}
    exec(f"def rule(node):\n    {body}", scope)
    neural_cost.register("Mystery", domain="acme")(scope["rule"])
    report = neural_cost.analyze(file)
    assert report.nodes[0].macs is None
    assert why in report.nodes[0].why


def run(capsys, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["neural-cost", "analyze", *map(str, arguments), "--format", "json"])
    try:
        code = main() or 0
    except SystemExit as exit_:
        code = exit_.code or 0
    return code, *capsys.readouterr()


def test_rules_from_a_file(file, tmp_path, capsys, monkeypatch):
    rules = tmp_path / "my_rules.py"
    rules.write_text(RULE)
    code, out, _ = run(capsys, monkeypatch, file, "--rules", rules)
    assert code == 0
    assert json.loads(out)["totals"]["macs"] == MACS


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "does not exist"),
        ("1 / 0", "division by zero"),
        ("import sys\nsys.exit(0)", "sys.exit"),
        (RULE.replace('"Mystery", domain="acme"', '"Gemm"'), "replace=True"),
    ],
)
def test_a_rules_file_that_fails_is_told_in_one_sentence(text, said, file, tmp_path, capsys, monkeypatch):
    rules = tmp_path / "my_rules.py"
    if text is not None:
        rules.write_text(text)
    code, out, err = run(capsys, monkeypatch, file, "--rules", rules)
    assert (code, out) == (2, "")
    assert said in " ".join(err.split())
    assert "Traceback" not in err
