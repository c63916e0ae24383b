"""Compare: backends of a framework beside ONNX Runtime; verdicts; and what cannot be compared."""

import csv
import io
import json
import shutil
import subprocess
import sys

import onnx
import onnx.parser
import pytest

import neural_cost
from neural_cost.analyzer.comparison import BackendResult, Comparison, best_native, ratios, verdict_of
from neural_cost.analyzer.tables.comparison import since
from neural_cost.analyzer.tables.text import to_text
from neural_cost.commands.compare_families import COLUMNS
from neural_cost.comparing import _busy
from neural_cost.models import path
from neural_cost.runtime import free_memory
from neural_cost.runtime.backends.registry import chosen
from neural_cost.runtime.rounds.rounds import Run

QUICK = {"budget_s": 0.0}


def result(name, ci, ratio, **more):
    return BackendResult(name=name, framework="torch", median_s=ci[0], min_s=ci[0], ci_s=ci, ratio_ci=ratio,
                         ratio_to_native=ratio[0], throughput={1: 2.0}, samples=[[ci[0]]], **more)  # fmt: skip


MADE = Comparison(
    target="model", reference="native", threads=1, device="cpu", dims={"batch": 1}, machine="Made",
    date="2026-01-02T03:04:05+00:00", versions={"torch": "2"}, notes=("note",),
    backends=[
        result("native", (1.0, 1.1), (1.0, 1.0)),
        result("quick", (0.5, 0.6), (0.4, 0.9), within=True, max_abs_diff=0.0),
        result("slow", (2.0, 2.1), (1.1, 3.0)),
        result("same", (1.0, 1.2), (0.9, 1.1), within=False),
        BackendResult(name="broken", framework="torch", error="it broke", throughput={}, samples=[]),
    ],
)  # fmt: skip


def test_a_verdict_needs_an_interval_without_1():
    verdicts = {each.name: each.verdict("native") for each in MADE.backends}
    assert verdicts == {
        "native": "reference", "quick": "faster", "slow": "slower", "same": "no difference shown", "broken": "failed",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        ((0.5, 0.949), "faster"),
        ((0.5, 0.951), "no difference shown"),  # two processes of one backend differ by as much
        ((1.049, 2.0), "no difference shown"),
        ((1.051, 2.0), "slower"),
        (None, "failed"),
    ],
)
def test_a_verdict_needs_more_than_two_processes_differ_by(interval, verdict):
    assert verdict_of(interval) == verdict


def test_what_ctrl_c_came_before_did_not_fail():
    never = BackendResult(name="never", framework="torch", throughput={}, samples=[])
    assert never.verdict("native") == "not measured"


def test_ratios_are_of_the_same_round():
    """Rounds in which one of the two did not run are left out."""
    assert ratios([[2.0, 4.0, 6.0], [], [5.0]], [[2.0], [1.0], [1.0, 10.0]]) == [2.0, 5.0 / 5.5]


def test_it_is_read_back():
    assert Comparison.from_dict(json.loads(json.dumps(MADE.to_dict()))) == MADE
    assert len(MADE.to_dataframe()) == 5
    assert "<table" in MADE._repr_html_()
    text = str(MADE)
    assert "broken: it broke" in text
    assert "other results than native: same" in text


def test_since_another_comparison():
    before = Comparison.from_dict(MADE.to_dict() | {"machine": "Other"})
    text = to_text(since(MADE, before), width=120)
    assert "1.00 (intervals overlap)" in text
    assert "machine was Other" in text


def test_the_fastest_of_a_framework():
    found = best_native(MADE, "slow")
    assert (found["native"], found["ratio"]) == ("quick", 2.0 / 0.5)
    assert found["error"] == "broken: it broke"
    assert set(COLUMNS) - {"family", "framework"} == set(found)


def test_levels_of_a_file():
    found = neural_cost.compare(path("dnn"), dims={"batch": 3}, **QUICK)
    assert [each.name for each in found.backends] == [f"onnxruntime {level}" for level in
                                                      ("all", "extended", "basic", "disable")]  # fmt: skip
    assert found.reference == "onnxruntime all"
    assert all(each.within and each.max_abs_diff < 1e-4 and each.error is None for each in found.backends)
    assert all(len(each.samples) == 8 for each in found.backends)
    assert found.dims == {"batch": 3}
    assert found.backends[0].throughput == {3: pytest.approx(3 / found.backends[0].median_s)}


def test_a_target_beside_its_file():
    found = neural_cost.compare(
        "zoo:dnn@torch", backends=["torch", "torchscript", "onnxruntime all"], batches=[1, 4], **QUICK
    )
    assert [each.error for each in found.backends] == [None] * 3
    assert found.reference == "torch"
    assert all(each.within for each in found.backends)
    assert set(found.backends[2].throughput) == {1, 2, 4}
    assert "Examples per second" in str(found)


def test_a_module_that_is_handed_over():
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU())
    found = neural_cost.compare(model, torch.ones(2, 4), backends=["torch", "onnxruntime all"], **QUICK)
    assert [each.error for each in found.backends] == [None, None]
    assert found.target == "Sequential"
    assert found.backends[1].within


SCRIPT = """
import neural_cost, torch

class Local(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x * scale)

scale = 3
found = neural_cost.compare(Local(), torch.ones(2, 3), backends=["torch", "onnxruntime all"], budget_s=0.0)
print([each.error for each in found.backends], found.backends[1].within)
"""


def test_a_script_without_a_guard(tmp_path):
    """Its model can be imported by nobody, and it must not run again in the processes of the backends."""
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, tmp_path / "script.py"], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stdout == "[None, None] True\n", done.stderr


def test_bfloat16_is_handed_over_and_compared_as_such():
    import torch

    model = torch.nn.Linear(64, 64).to(torch.bfloat16)
    found = neural_cost.compare(
        model, torch.randn(2, 64, dtype=torch.bfloat16), backends=["torch", "torchscript", "onnxruntime all"], **QUICK
    )
    assert [each.error for each in found.backends[:2]] == [None, None]
    assert found.backends[1].within
    assert "NOT_IMPLEMENTED" in found.backends[2].error  # ONNX Runtime has no such kernels on CPUs


@pytest.mark.long
def test_what_torch_compile_left_is_told():
    (found,) = neural_cost.compare("zoo:lstm@torch", backends=["torch.compile"], **QUICK).backends
    assert found.notes == ("torch.compile compiled nothing of it, and runs it as it is",)


@pytest.mark.long
def test_each_size_is_compiled_for_itself():
    """After eight of them torch.compile would fall back to what is not compiled, and say nothing."""
    import torch

    model = torch.nn.Sequential(*(torch.nn.Tanh() for _ in range(8)))
    sizes = [*range(3, 13)]
    (found,) = neural_cost.compare(model, torch.ones(2, 8), backends=["torch.compile"], batches=sizes, **QUICK).backends
    assert (found.error, found.notes) == (None, ())
    assert set(found.throughput) == {2, *sizes}


def test_a_busy_machine_is_told():
    runs = [Run("a", "onnx", cpu_share=share) for share in (0.5, 0.75, 0.99, None)]
    (note,) = _busy(runs, 1)
    assert "had the processor for 50% to 75% of their time" in note
    assert _busy(runs, 2) == _busy(runs[2:], 1) == ()


def test_a_model_of_a_closure():
    torch = pytest.importorskip("torch")
    width = 5

    class Local(torch.nn.Module):
        def forward(self, x):
            return x * width

    found = neural_cost.compare(Local(), torch.ones(2, 3), backends=["torch"], **QUICK)
    assert found.backends[0].error is None


@pytest.mark.long
@pytest.mark.parametrize("framework", ["keras", "jax"])
def test_other_frameworks(framework):
    found = neural_cost.compare(f"zoo:dnn@{framework}", **QUICK)
    assert [each.error for each in found.backends] == [None] * len(found.backends)
    assert all(each.within for each in found.backends)


@pytest.mark.long
def test_torch_compile():
    (found,) = neural_cost.compare("zoo:dnn@torch", backends=["torch.compile"], **QUICK).backends
    assert found.error is None
    assert found.first_call_s > found.median_s


def test_a_model_that_has_no_file_is_timed_alone(tmp_path):
    file = tmp_path / "odd.py"
    file.write_text(
        "import torch\n"
        "class Odd(torch.nn.Module):\n"
        "    def forward(self, x):\n"
        "        return x * 2 if x.sum().item() > 0 else x\n"
        "def make():\n    return Odd(), torch.ones(2, 3)\n"
    )
    found = neural_cost.compare(f"{file}:make", backends=["torch"], **QUICK)
    assert found.backends[0].error is None
    assert found.notes[0].startswith("ONNX Runtime is left out: ")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"backends": ["onnxruntime most"]}, r'no backend "onnxruntime most" \(did you mean "onnxruntime \w+"\?\)'),
        ({"backends": ["torch"]}, "torch cannot run a file: choose of onnxruntime all, "),
        ({"reference": "torch"}, 'reference "torch" is not among the backends'),
        ({"dims": {"steps": 2}}, 'no open dimension "steps"; it has: batch'),
    ],
)
def test_what_is_not_there(options, why):
    with pytest.raises(neural_cost.NeuralCostError, match=why):
        neural_cost.compare(path("dnn"), **QUICK, **options)


def test_a_backend_of_another_package(monkeypatch):
    from neural_cost.runtime.backends import registry
    from tests.runtime.backends.pretenders import Pretender

    class Entry:
        name = "mine"

        def load(self):
            return Pretender("mine")

    registry.backends.cache_clear()
    monkeypatch.setattr(registry, "entry_points", lambda group: [Entry()] if group == "neural_cost.backends" else [])
    try:
        assert [each.name for each in chosen(None, ["mine"])] == ["mine"]
        found = neural_cost.compare(path("dnn"), backends=["onnxruntime all", "mine"], **QUICK)
        assert found.backends[1].error == "the output \"output 0\" has the shape [1, 784] in the exported file and " \
            "[1, 10] in the model at batch = 1."  # fmt: skip
        assert found.backends[1].within is False
    finally:
        registry.backends.cache_clear()


def test_memory_that_will_not_do_is_told_of_before(monkeypatch):
    report = neural_cost.analyze(path("cnn"), dims={"batch": 100})
    monkeypatch.setattr(free_memory, "free_bytes", lambda: 10_000_000)
    needed = 100 * 4 * (3 * 32 * 32 + 64 * 32 * 32 + 64 * 16 * 16) + 4 * 76_938  # alive at the pooling, and weights
    assert f"needs {needed / 1e6:.2f} MB" in free_memory.foreseen(report)
    with pytest.warns(ResourceWarning, match=r"and 10.00 MB are free"):
        neural_cost.profile(path("cnn"), dims={"batch": 100}, budget_s=0.0, threads=1)
    monkeypatch.setattr(free_memory, "free_bytes", lambda: None)
    assert free_memory.foreseen(report) is None


def test_free_memory_is_that_of_the_cgroup_if_less(monkeypatch, tmp_path):
    def written(name, text):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    monkeypatch.setattr(free_memory, "MEMINFO", written("meminfo", "MemTotal: 9 kB\nMemAvailable:   1000 kB\n"))
    monkeypatch.setattr(free_memory, "LIMITS", (written("max", "max\n"), written("limit", "500000\n")))
    monkeypatch.setattr(free_memory, "USES", (written("current", "1\n"), written("usage", "200000\n")))
    assert free_memory.free_bytes() == 300_000
    monkeypatch.setattr(free_memory, "LIMITS", (tmp_path / "none", tmp_path / "none"))
    assert free_memory.free_bytes() == 1_024_000


def test_command(run, tmp_path):
    saved = tmp_path / "saved.json"
    options = ("--budget", "0", "--backend", "onnxruntime all", "--backend", "onnxruntime basic")
    assert run("compare", path("dnn"), *options, "--format", "json", "--output", saved)[:2] == (0, "")
    code, out, _ = run("compare", saved, "--against", saved)
    assert code == 0
    assert "onnxruntime basic" in out
    assert "Since 2" in out
    rows = list(csv.DictReader(io.StringIO(run("compare", saved, "--format", "csv")[1])))
    assert rows[0]["verdict"] == "reference"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("nothing.json",), "cannot be read"),
        (("{bad}",), "is no comparison that was saved"),
        ((path("dnn"), "--batch", "1,x"), "not of the form 1,8,32"),
        ((path("dnn"), "--threads", "0"), "--threads"),
        ((path("dnn"), "--against", "nothing.json"), "cannot be read"),
    ],
)
def test_misuse(arguments, why, run, tmp_path):
    bad = tmp_path / "bad.json"
    bad.write_text('{"backends": 3}')
    code, out, err = run("compare", *(bad if each == "{bad}" else each for each in arguments))
    assert (code, out) == (2, "")
    assert why in " ".join(err.replace("│", " ").split())


def test_other_results_end_with_1(run, tmp_path):
    saved = tmp_path / "saved.json"
    saved.write_text(json.dumps(MADE.to_dict()))
    assert run("compare", saved)[0] == 1


def test_an_interrupt_ends_with_130(run, tmp_path):
    saved = tmp_path / "saved.json"
    saved.write_text(json.dumps(MADE.to_dict() | {"interrupted": True}))
    assert run("compare", saved)[0] == 130


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    neural_cost.compare(shutil.copy(path("dnn"), tmp_path), backends=["onnxruntime all"], **QUICK)
    assert [file.name for file in tmp_path.iterdir()] == ["dnn.onnx"]


def test_nothing_that_runs_ends_with_3(run, tmp_path):
    file = tmp_path / "odd.onnx"
    onnx.save(
        onnx.parser.parse_model(
            '<ir_version: 8, opset_import: ["": 17, "acme": 1]> g (float[2] x) => (float[2] y) { y = acme.Odd(x) }'
        ),
        file,
    )
    code, out, _ = run("compare", file, "--budget", "0", "--backend", "onnxruntime all")
    assert code == 3
    assert f"onnxruntime all: {file} cannot be loaded" in " ".join(out.split())
