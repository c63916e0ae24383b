"""The JSON of `compare` and `neural-cost-compare` is what its schema says; findings are shown; failures are kept."""

import json
from dataclasses import replace
from importlib.resources import files

import pytest
import typer.testing
from jsonschema import Draft202012Validator

from neural_cost import ExportError
from neural_cost.analyzer.comparison import BackendResult, Comparison
from neural_cost.commands import compare_families
from neural_cost.models import path

SCHEMA = json.loads((files("neural_cost") / "comparison.schema.json").read_text())
VALIDATOR = Draft202012Validator(SCHEMA)


def result(name, framework, seconds, **more):
    """Twelve rounds of one sample each, a little apart."""
    return BackendResult(name=name, framework=framework, median_s=seconds, min_s=seconds, ci_s=(seconds, seconds),
                         throughput={1: 1 / seconds}, samples=[[seconds * (1 + step / 1000)] for step in range(12)],
                         **more)  # fmt: skip


def made(native_s=1e-3, runtime_s=2e-3, **more):
    backends = [result("torch", "torch", native_s), result("onnxruntime all", "onnx", runtime_s, **more)]
    return Comparison(target="t", reference="torch", threads=1, device="cpu", dims={"batch": 1}, machine="m",
                      date="2026-01-02", versions={}, backends=backends)  # fmt: skip


BROKEN = replace(
    made(), backends=[BackendResult(name="torch", framework="torch", error="no", throughput={}, samples=[])]
)


def as_read(found):
    return json.loads(json.dumps(found.to_dict()))


def test_schema_is_one():
    Draft202012Validator.check_schema(SCHEMA)


def test_a_comparison_is_valid_and_read_back():
    found = as_read(made())
    VALIDATOR.validate(found)
    assert [each["id"] for each in found["findings"]] == ["native-faster"]
    assert Comparison.from_dict(found) == made()
    VALIDATOR.validate(as_read(BROKEN))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("more",), 1),
        (("schema_version",), 2),
        (("backends", 0, "median_s"), -1.0),
        (("backends", 0, "within"), 0),
        (("backends", 0, "more"), 1),
        (("backends", 0, "throughput"), {"x": 1.0}),
        (("findings", 0, "nodes"), [0]),
        (("backends",), []),
    ],
)
def test_what_would_be_wrong_is_not_valid(place, value):
    found = as_read(made())
    inside = found
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    assert not VALIDATOR.is_valid(found)


@pytest.mark.parametrize("name", ["backends", "findings", "interrupted", "schema_version"])
def test_nothing_is_left_out(name):
    assert not VALIDATOR.is_valid({key: value for key, value in as_read(made()).items() if key != name})


def test_another_version_is_refused():
    with pytest.raises(ValueError, match="of version 2, and 1 is wanted"):
        Comparison.from_dict(as_read(made()) | {"schema_version": 2})


def test_one_that_was_saved_before_there_was_a_version_is_read():
    old = {key: value for key, value in as_read(made()).items() if key not in ("schema_version", "findings")}
    assert Comparison.from_dict(old) == made()


def test_the_finding_is_under_the_table():
    text = " ".join(str(made()).split())
    assert "native-faster: torch takes 1 ms and onnxruntime all 2 ms" in text
    assert "saves 1 ms at most" in text
    assert text.index("onnxruntime all") < text.index("native-faster")
    assert "native-faster" not in str(made(2e-3, 1e-3))


def test_what_the_command_writes_is_valid(run):
    options = ("--budget", "0", "--backend", "onnxruntime all", "--backend", "onnxruntime basic", "--format", "json")
    VALIDATOR.validate(json.loads(run("compare", path("dnn"), *options)[1]))


@pytest.fixture
def families(monkeypatch):
    """The command on three families, each of which does what its entry says: a comparison, or an error to raise."""
    does = {}

    def compared(family, framework, progress, asked):
        if isinstance(does[family], BaseException):
            raise does[family]
        return does[family]

    monkeypatch.setattr(compare_families, "FAMILIES", ("dnn", "cnn", "rnn"))
    monkeypatch.setattr(compare_families, "FRAMEWORKS", {"torch": "neural_cost"})
    monkeypatch.setattr(compare_families, "_compared", compared)
    monkeypatch.setattr("neural_cost.targets.onnx_file", lambda target: path("dnn"))
    return does


def call(*arguments):
    given = ("--quiet", "--peak-flops", "1e9", "--memory-bandwidth", "1e6")
    done = typer.testing.CliRunner().invoke(compare_families.app, [*given, *arguments], env={"COLUMNS": "200"})
    return done.exit_code, done.stdout


@pytest.mark.parametrize("error", [ExportError("it has no export"), ImportError("a library is broken")])
def test_a_family_that_fails_does_not_end_the_others(error, families):
    families |= {"dnn": made(), "cnn": error, "rnn": made()}
    code, out = call("--format", "json")
    found = json.loads(out)
    VALIDATOR.validate(found)
    assert code == 3
    assert [each["family"] for each in found] == ["dnn", "cnn", "rnn"]
    assert found[1] == {"family": "cnn", "framework": "torch", "error": str(error)}
    code, out = call()
    assert code == 3
    assert f"cnn in torch: {error}" in " ".join(out.split())
    code, out = call("--format", "csv")
    assert [line.split(",")[0] for line in out.splitlines()] == ["family", "dnn", "cnn", "rnn"]


def test_ctrl_c_keeps_what_was_measured(families):
    families |= {"dnn": made(), "cnn": KeyboardInterrupt(), "rnn": ValueError("it is not reached")}
    code, out = call("--format", "json")
    assert code == 130
    assert [each["family"] for each in json.loads(out)] == ["dnn"]


def test_ctrl_c_within_rounds_keeps_those(families):
    families |= {"dnn": replace(made(), interrupted=True), "cnn": ValueError("it is not reached")}
    code, out = call("--format", "json")
    assert code == 130
    assert [each["interrupted"] for each in json.loads(out)] == [True]
    assert "dnn in torch: it was interrupted" in " ".join(call()[1].split())


def test_ctrl_c_before_anything_was_measured(families):
    families |= {"dnn": KeyboardInterrupt()}
    assert call() == (130, "")


@pytest.mark.parametrize(
    ("second", "code"),
    [(made(), 0), (made(within=False, max_abs_diff=1.0), 1), (BROKEN, 3)],
    ids=["fine", "apart", "none"],
)
def test_exit_codes(second, code, families):
    families |= {"dnn": made(), "cnn": second, "rnn": made()}
    assert call()[0] == code
