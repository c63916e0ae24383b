"""What the command says to broken files and misuse: one sentence, the right exit code, never a wrong figure."""

import json
import subprocess
import sys
import time

import onnx
import pytest

import neural_cost
from neural_cost.analyzer.shape_checks import CHECKS
from neural_cost.cli import main
from tests.bad_models import (
    EITHER,
    HEADER,
    MISTAKEN,
    ODD,
    ONE_MATMUL,
    OPEN_DIMENSION,
    UNKNOWN_DOMAIN,
    UNREADABLE,
    external,
    plain,
    saved,
)
from tests.hostile_models import loops

SECONDS_AT_MOST = 10

MISUSE = {
    "dimension that the model lacks": (["--dim", "bacth=2"], "bacth"),
    "dimension that is no number": (["--dim", "batch=many"], "batch"),
    "negative dimension": (["--dim", "batch=-1"], "batch"),
    "dimension without a value": (["--dim", "batch"], "batch"),
    "axis that the input lacks": (["--dim", "x:7=3"], "x"),
    "axis of an input that the model lacks": (["--dim", "ghost:0=3"], "ghost"),
    "input that the model lacks": (["--shape", "ghost=2x4"], "ghost"),
    "shape of the wrong rank": (["--shape", "x=2x4x4"], "x"),
    "shape against a fixed dimension": (["--shape", "z=5x3"], "z"),
    "huge dimension": (["--dim", "batch=99999999999999999999"], "batch"),
    "huge shape": (["--shape", "x=9999999999x9999999999"], "x"),
    "shape without sizes": (["--shape", "x="], "x"),
    "shape that is no shape": (["--shape", "x=2xfour"], "x"),
    "shape against a dimension given": (["--dim", "batch=2", "--shape", "x=3x4"], "batch"),
    "shape against the graph": (["--shape", "x=2x5"], "MatMul"),  # the weight is (4, 3)
    "dimension against the graph": (["--dim", "k=5"], "MatMul"),
    "dimension given twice": (["--dim", "batch=2", "--dim", "batch=4"], 'gives"batch"as2andas4'),
    "shape given twice": (["--shape", "x=2x4", "--shape", "x=3x4"], 'gives"x"as2x4andas3x4'),
    "trips given twice": (["--trips", "loop=2", "--trips", "loop=3"], 'gives"loop"as2andas3'),
    "option that does not exist": (["--no-such-option"], "no-such-option"),
}


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command in this process: (exit code, stdout, stderr)."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["neural-cost", *map(str, arguments)])
        start = time.perf_counter()
        code = exit_code()
        assert time.perf_counter() - start < SECONDS_AT_MOST
        return code, *capsys.readouterr()

    return run


def exit_code() -> int:
    try:
        return main() or 0
    except SystemExit as exit_:
        return exit_.code or 0


def assert_one_sentence(text: str, *names: str) -> None:
    """Check the error's form, blind to how it is wrapped and framed."""
    assert "Traceback" not in text
    assert 20 < len(text) < 600
    bare = "".join(text.split())
    assert all(name in bare for name in names), text


@pytest.mark.parametrize("make", UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_is_refused_in_one_sentence(make, tmp_path, run):
    code, out, err = run("analyze", make(tmp_path))
    assert code == 3
    assert out == ""
    assert len(err.strip().split("\n\n")) == 1
    assert_one_sentence(err, "model.onnx")


@pytest.mark.parametrize(("data", "kind"), MISTAKEN.values(), ids=MISTAKEN)
def test_what_is_given_in_place_of_a_model_is_told(data, kind, tmp_path, run):
    (tmp_path / "model.onnx").write_bytes(data)
    code, out, err = run("analyze", tmp_path / "model.onnx")
    assert (code, out) == (3, "")
    assert kind in err
    assert_one_sentence(err, "model.onnx")


def test_what_is_given_twice_alike_is_given(tmp_path, run):
    code, out, _ = run("analyze", OPEN_DIMENSION(tmp_path), *2 * ["--dim", "batch=2"], "--format", "json")
    assert (code, json.loads(out)["totals"]["macs"]) == (0, 2 * 4 * 3)


def test_a_dimension_of_a_like_name_is_suggested(tmp_path, run):
    code, _, err = run("analyze", OPEN_DIMENSION(tmp_path), "--dim", "bacth=2")
    assert code == 2
    assert 'did you mean "batch"?' in " ".join(err.split())


def test_minus_one_is_an_open_dimension(tmp_path):
    """Old exporters write it; the first axis of x is then nameless."""
    model = plain()
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -1
    report = neural_cost.analyze(saved(model, tmp_path), dims={"x:0": 5})
    assert (report.totals.macs, report.totals.complete) == (5 * 4 * 3, True)
    assert neural_cost.analyze(saved(model, tmp_path)).model.assumed_dims == ["x:0"]


def test_an_output_there_twice_is_written_once(tmp_path):
    once = neural_cost.analyze(saved(plain(), tmp_path), dims={"batch": 2})
    model = plain()
    model.graph.output.append(model.graph.output[0])
    twice = neural_cost.analyze(saved(model, tmp_path), dims={"batch": 2})
    assert twice.totals.compulsory_bytes == once.totals.compulsory_bytes == 4 * (2 * 4 + 4 * 3 + 2 * 3)


def test_a_size_below_zero_is_never_counted(tmp_path):
    """A window of 5 does not fit into 3 columns: the output would have 3 - 5 + 1 = -1."""
    text = f"{HEADER} g (float[1, 1, 3, 3] x) => (float[a, b, c, d] y) {{ y = MaxPool <kernel_shape = [5, 5]> (x) }}"
    report = neural_cost.analyze(saved(onnx.parser.parse_model(text), tmp_path))
    assert report.nodes[0].flops is None
    assert not report.totals.complete


@pytest.mark.parametrize("count", [2**62, -1, 0, 3])
def test_a_scan_that_scans_more_than_it_has(count, tmp_path):
    text = f"""{HEADER} g (float[3, 3] s, float[5, 2, 3] xs) => (float[3, 3] last, float[5, 2, 3] ys) {{
        last, ys = Scan <num_scan_inputs = {count}, body = b (float[3, 3] a, float[2, 3] x)
            => (float[3, 3] a2, float[2, 3] y) {{ a2 = Identity(a) y = MatMul(x, a) }}> (s, xs) }}"""
    report = neural_cost.analyze(saved(onnx.parser.parse_model(text), tmp_path))
    assert not report.totals.complete
    assert f"num_scan_inputs is {count}" in report.coverage.unknown_shapes[0]["why"]


def test_an_operator_without_inputs_is_not_costed(tmp_path):
    for op_type in sorted(CHECKS):
        model = plain()
        model.graph.node.append(onnx.helper.make_node(op_type, [], ["z"]))
        model.graph.node.append(onnx.helper.make_node(op_type, ["x"], []))
        report = neural_cost.analyze(saved(model, tmp_path), dims={"batch": 2})
        assert report.totals.macs == ONE_MATMUL


def test_a_value_that_cannot_be_read_is_no_fault(tmp_path):
    """The value that fills has two elements of data and a shape of one."""
    text = f"""{HEADER} g (float[batch, 4] x) => (float[a, b] y) {{
        s = Shape(x)  z = ConstantOfShape <value = float[1] {{0}}> (s)  y = Add(x, z) }}"""
    model = onnx.parser.parse_model(text)
    model.graph.node[1].attribute[0].t.ClearField("float_data")
    model.graph.node[1].attribute[0].t.raw_data = bytes(8)
    report = neural_cost.analyze(saved(model, tmp_path))
    assert report.ranges["batch"].least == 1
    assert report.at(batch=3).other_flops == 3 * 4


def test_a_table_of_unknown_size_makes_the_parameters_incomplete(tmp_path):
    """How many of the 2000 elements are kept is not worked out; what is read of them is known: 2 elements."""
    text = f"""{HEADER} g (int64[2] at) => (float[2] y) <int64[1] n = {{2000}}, float zero = {{0}}> {{
        v = ConstantOfShape <value = float[1] {{1}}> (n) c = Greater(v, zero) t = Compress(v, c) y = Gather(t, at) }}"""
    report = neural_cost.analyze(saved(onnx.parser.parse_model(text), tmp_path))
    gather = report.nodes[-1]
    assert (gather.inputs[0].constant, gather.inputs[0].dims) == (True, (None,))
    assert not report.totals.complete


def test_a_body_that_runs_too_often_is_left_out(tmp_path):
    report = neural_cost.analyze(saved(loops(3, 2**40), tmp_path))
    relu = next(node for node in report.nodes if node.op_type == "Relu")
    assert (relu.flops, relu.repeats) == (2 * 3, None)
    assert not report.totals.complete
    assert any("2^63" in note for note in report.notes)


@pytest.mark.parametrize(("arguments", "named"), MISUSE.values(), ids=MISUSE)
def test_misuse_is_told_in_one_sentence(arguments, named, tmp_path, run):
    code, out, err = run("analyze", OPEN_DIMENSION(tmp_path), *arguments)
    assert code == 2
    assert out == ""
    assert_one_sentence(err, named)


@pytest.mark.parametrize(("make", "macs"), ODD.values(), ids=ODD)
def test_what_is_only_odd_is_counted(make, macs, tmp_path, run):
    code, out, err = run("analyze", make(tmp_path), "--dim", "batch=2", "--format", "json")
    assert (code, err) == (0, "")
    totals = json.loads(out)["totals"]
    assert (totals["macs"], totals["complete"]) == (macs, True)


@pytest.mark.parametrize(("make", "macs"), EITHER.values(), ids=EITHER)
def test_what_the_format_leaves_open_is_never_a_wrong_figure(make, macs, tmp_path, run):
    code, out, err = run("analyze", make(tmp_path), "--dim", "batch=2", "--format", "json")
    if code:
        assert code == 3
        assert_one_sentence(err, "model.onnx")
    else:
        totals = json.loads(out)["totals"]
        assert totals["macs"] == macs or not totals["complete"]


def test_an_operator_of_an_unknown_domain_is_listed_and_left_out(tmp_path, run):
    code, out, _ = run("analyze", UNKNOWN_DOMAIN(tmp_path), "--dim", "batch=2", "--format", "json")
    report = json.loads(out)
    assert code == 0
    assert not report["totals"]["complete"]
    assert report["totals"]["macs"] == 2 * 4 * 3  # the MatMul before it
    (uncounted,) = report["coverage"]["uncounted"]
    assert (uncounted["domain"], uncounted["op_type"], uncounted["nodes"]) == ("acme", "Unheard", 1)
    assert uncounted["why"]
    assert report["nodes"][1]["macs"] is None


def test_an_operator_of_an_unknown_domain_shows_in_the_table(tmp_path, run):
    code, out, _ = run("analyze", UNKNOWN_DOMAIN(tmp_path))
    assert code == 0
    assert "Unheard" in out


def test_a_false_declaration_is_reported_and_not_trusted(tmp_path, run):
    model = plain("t = MatMul(x, w) y = MatMul(t, v)", weight="<float[4, 3] w = {0}, float[3, 5] v = {0}>")
    model.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 50
    code, out, err = run("analyze", saved(model, tmp_path), "--dim", "batch=2", "--format", "json")
    assert code == 0
    report = json.loads(out)
    assert report["nodes"][1]["outputs"][0]["shape"] == [2, 5]
    del report["nodes"]
    assert '"y"' in json.dumps(report) or "y" in err.split()


def test_parameters_are_known_though_the_weight_file_is_missing(tmp_path, run):
    code, out, _ = run("analyze", saved(external("weights.bin"), tmp_path), "--format", "json")
    assert code == 0
    assert json.loads(out)["totals"]["parameters"] == 4 * 3
    assert json.loads(out)["totals"]["parameter_bytes"] == 4 * 3 * 4


def test_a_weight_file_that_is_cut_off_is_told_of(tmp_path, run):
    path = saved(external("weights.bin"), tmp_path)
    (tmp_path / "weights.bin").write_bytes(bytes(4 * 3 * 4 - 1))
    code, out, _ = run("analyze", path, "--dim", "batch=2", "--format", "json")
    assert code == 0
    assert json.loads(out)["totals"]["macs"] == 2 * 4 * 3
    (note,) = json.loads(out)["notes"]
    assert "weights.bin" in note
    assert "47" in note
    assert "48" in note


def test_a_link_out_of_the_folder_is_not_followed(tmp_path, run):
    """Download caches keep a model's files as links; sizes need no file."""
    (tmp_path / "blob").write_bytes(bytes(1))  # too short, which nobody may find out
    (tmp_path / "snapshot").mkdir()
    (tmp_path / "snapshot" / "weights.bin").symlink_to(tmp_path / "blob")
    code, out, _ = run("analyze", saved(external("weights.bin"), tmp_path / "snapshot"), "--format", "json")
    assert code == 0
    assert json.loads(out)["notes"] == []
    assert json.loads(out)["totals"]["parameters"] == 4 * 3


def test_a_process_of_its_own_says_the_same(tmp_path):
    path = UNREADABLE["text"](tmp_path)
    command = [sys.executable, "-m", "neural_cost", "analyze", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert_one_sentence(done.stderr, "model.onnx")
