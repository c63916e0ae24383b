"""Imports point one way, and nothing heavy is loaded before it is needed."""

from __future__ import annotations

import pytest

from tests.imports import (
    FOLDERS,
    LAYERS,
    SLOW_TO_START,
    UPWARD,
    cycle,
    direction_complaints,
    imports_within,
    loaded_by,
    upward,
)
from tests.layout import ROOT

HELP = "import runpy, sys; sys.argv = ['neural-cost', '--help']; "

BAD = {
    "analyzer/a.py": ("from neural_cost.runtime import timing", "imports runtime from analyzer"),
    "analyzer/b.py": ("from neural_cost import exporters", "imports exporters from analyzer"),
    "analyzer/c.py": ("def f():\n    from neural_cost.cli import main", "imports face from analyzer"),
    "analyzer/d.py": ("def f():\n    import torch.nn", "imports torch, which analyzer may not at all"),
    "analyzer/e.py": (
        "import importlib\nimportlib.import_module('onnxruntime')",
        "imports onnxruntime, which",
    ),
    "analyzer/f.py": ("if X:\n    import sympy", "imports sympy outside a function"),
    "analyzer/rules/g.py": ("from . import views", "imports relatively"),
    "exporters/h.py": ("import neural_cost.runtime", "imports runtime from exporters"),
    "exporters/i.py": ("try:\n    import keras\nexcept ImportError:\n    keras = None", "imports keras outside"),
    "runtime/j.py": ("import neural_cost.exporters.torch", "imports exporters from runtime"),
    "models/k.py": ("class A:\n    import jax", "imports jax outside a function"),
    "models/l.py": ("from neural_cost import analyze", "imports face from models"),
    "src/neural_cost/m.py": ("from pandas import DataFrame", "imports pandas outside a function"),
}

GOOD = {
    "analyzer/a.py": "from neural_cost.analyzer.cost import Cost\nimport onnx_ir\ndef f():\n    import sympy",
    "runtime/a.py": "from neural_cost.analyzer import cost\nasync def f():\n    import onnxruntime",
    "exporters/a.py": "if TYPE_CHECKING:\n    import torch\ndef f():\n    import torch",
    "src/neural_cost/a.py": "from neural_cost import models, runtime\nfrom neural_cost.render import table",
}


def write(root, path, content):
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(content)


def test_imports_point_one_way():
    assert all((ROOT / folder).is_dir() for folder in FOLDERS)
    assert direction_complaints(ROOT) == []


@pytest.mark.parametrize("path", BAD)
def test_wrong_import_is_found(path, tmp_path):
    content, complaint = BAD[path]
    write(tmp_path, path, content)
    (found,) = {line.split(" ", 1)[1] for line in direction_complaints(tmp_path)}
    assert found.startswith(complaint)


@pytest.mark.parametrize("path", GOOD)
def test_right_import_is_let_through(path, tmp_path):
    write(tmp_path, path, GOOD[path])
    assert direction_complaints(tmp_path) == []


@pytest.mark.parametrize(
    "code",
    [
        "import neural_cost",
        "import neural_cost.models",
        "import neural_cost; dir(neural_cost)",
        HELP + "from neural_cost.cli import main; main()",
        HELP + "runpy.run_module('neural_cost', run_name='__main__')",
    ],
)
def test_start_loads_nothing_heavy(code):
    assert loaded_by(code) & SLOW_TO_START == set()


@pytest.mark.parametrize("module", ["torch", "onnxruntime", "sympy", "pandas", "matplotlib", "onnx_ir"])
def test_loading_something_heavy_is_noticed(module):
    assert module in loaded_by(f"import {module}") & SLOW_TO_START


def test_the_analyzer_imports_nothing_in_a_circle():
    imports = imports_within(ROOT / "analyzer")
    assert len(imports) > 100
    assert "cost" in imports["node"]  # so that the names are those of modules
    assert {(name, other) for name, others in imports.items() for other in others} >= UPWARD
    down = {name: {other for other in others if (name, other) not in UPWARD} for name, others in imports.items()}
    assert cycle(down) == []
    assert upward(down) == set()


def test_an_import_of_a_higher_layer_is_found():
    found = {
        "cost": {"errors"},
        "load": {"walk"},
        "rules.pooling": {"memory.record", "node"},
        "tables.text": {"report"},
    }
    assert upward(found) == {("load", "walk"), ("rules.pooling", "memory.record")}


def test_the_layers_are_those_that_are_written_down():
    written = (ROOT / "CONTRIBUTING.md").read_text()
    for layer in LAYERS:
        assert all(f"`{name}`" in written or f"`{name}/`" in written for name in layer)
        assert all((ROOT / "analyzer" / name).is_dir() or (ROOT / f"analyzer/{name}.py").is_file() for name in layer)


@pytest.mark.parametrize("hidden", ["", "def f():\n    "])
def test_a_circle_is_found(hidden, tmp_path):
    write(tmp_path, "a.py", "from neural_cost.analyzer import b")
    write(tmp_path, "b.py", "from neural_cost.analyzer.c import C")
    write(tmp_path, "c.py", hidden + "from neural_cost.analyzer.a import A")
    found = cycle(imports_within(tmp_path))
    assert set(found) == {"a", "b", "c"}
    assert found[0] == found[-1]


def test_imports_for_type_checkers_make_no_circle(tmp_path):
    write(tmp_path, "a.py", "from neural_cost.analyzer import b")
    write(tmp_path, "b.py", "if TYPE_CHECKING:\n    from neural_cost.analyzer.a import A")
    assert imports_within(tmp_path) == {"a": {"b"}, "b": set()}
    assert cycle(imports_within(tmp_path)) == []
