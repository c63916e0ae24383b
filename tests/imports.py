"""Checks of who imports what: by reading every file, and by asking a fresh process what it has loaded."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Container, Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

FACE = "face"
ROOMS = {
    "analyzer": {"analyzer"},
    "exporters": {"exporters", "analyzer"},
    "runtime": {"runtime", "analyzer"},
    "models": {"models", "exporters", "runtime", "analyzer"},
    FACE: {FACE, "models", "exporters", "runtime", "analyzer"},
}
FOLDERS = {"src/neural_cost": FACE} | {room: room for room in ROOMS if room != FACE}
FRAMEWORKS = {"torch", "onnxscript", "tensorflow", "keras", "tf2onnx", "jax", "jaxlib", "jax2onnx", "flax", "equinox"}
HEAVY = FRAMEWORKS | {"onnxruntime", "sympy", "pandas", "matplotlib", "plotly"}  # imported inside functions alone
SLOW_TO_START = HEAVY | {"onnx", "onnx_ir", "onnx_shape_inference"}

# Of the analyzer, from the bottom up, as CONTRIBUTING.md has them: modules and folders that say where others belong.
LAYERS = (
    {"errors", "cost", "record", "expressions", "intervals", "values"},
    {"wire_format", "external_data", "inline_data", "functions", "load"},
    {"node", "shape_mends", "dimensions", "engine", "control_flow", "conditions", "views", "shapes"},
    {"rules", "walk", "parameters", "records", "totals"},
    {"device", "roofline", "kernel_work"},
    {"memory", "fusion", "training", "formulas", "tokens", "opened", "bounding"},
    {"report", "report_data", "analyze"},
    {"gap", "prediction", "findings", "profiled"},
)
# Imports inside functions that go up a layer: a record's own methods draw it, or ask for what is made of it.
UPWARD = {
    ("report", "findings.find"),
    ("report", "prediction.predict"),
    ("gap.record", "tables.gap"),
    ("comparison", "findings.backends"),
    ("comparison", "tables.comparison"),
}


@dataclass(frozen=True)
class Import:
    module: str
    line: int
    at_import: bool  # runs when the file is imported: neither inside a function nor for type checkers alone


def imports_of(tree: ast.AST, *, at_import: bool = True) -> Iterator[Import]:
    """Yield every import of a file; of `from a import b` both a and a.b, as b may be a module."""
    for node in ast.iter_child_nodes(tree):
        yield from (Import(module, node.lineno, at_import) for module in _modules(node))  # type: ignore[attr-defined]
        if isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}:
            for child in node.body:
                yield from imports_of(ast.Module([child], []), at_import=False)
            yield from imports_of(ast.Module(node.orelse, []), at_import=at_import)
        else:
            deferred = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from imports_of(node, at_import=at_import and not deferred)


def _modules(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(level=0, module=str(module), names=names):
            return [module, *(f"{module}.{alias.name}" for alias in names)]
        case ast.ImportFrom(level=level, module=module):
            return ["." * level + (module or "")]
        case ast.Call(func=function, args=[ast.Constant(value=str(module)), *_]) if ast.unparse(function).endswith(
            ("import_module", "__import__")
        ):
            return [module]
    return []


def direction_complaints(root: Path) -> list[str]:
    """Find imports that point the wrong way, or load something heavy when the file is imported."""
    return [
        f"{file.relative_to(root)}:{found.line} {complaint}"
        for folder, room in FOLDERS.items()
        for file in sorted((root / folder).rglob("*.py"))
        for found in imports_of(ast.parse(file.read_text()))
        if (complaint := _complaint(room, found))
    ]


def _complaint(room: str, found: Import) -> str | None:
    top = found.module.split(".")[0]
    if found.module.startswith("."):
        return "imports relatively"
    if room == "analyzer" and top in FRAMEWORKS | {"onnxruntime"}:
        return f"imports {top}, which analyzer may not at all"
    if top in HEAVY and found.at_import:
        return f"imports {top} outside a function"
    target = _room(found.module)
    return f"imports {target} from {room}" if target and target not in ROOMS[room] else None


def _room(module: str) -> str | None:
    """Name the room of a module; `neural_cost` alone has none: what is taken from it tells."""
    match module.split("."):
        case ["neural_cost", room, *_]:
            return room if room in ROOMS else FACE
    return None


def imports_within(analyzer: Path) -> dict[str, set[str]]:
    """Which modules of the analyzer each of them imports at run time, in functions too; by names inside the package."""
    files = {_name(file.relative_to(analyzer)): file for file in sorted(analyzer.rglob("*.py"))}
    return {
        name: {found for node in _at_run_time(ast.parse(file.read_text())) for found in _targets(node, files)} - {name}
        for name, file in files.items()
    }


def _targets(node: ast.AST, known: Container[str]) -> Iterator[str]:
    """The modules of the analyzer that a statement takes something from, or takes whole."""
    module, *members = [name.removeprefix("neural_cost.analyzer.") for name in _modules(node)] or [""]
    whole = [name for name in members if name in known]
    yield from whole or [name for name in (module,) if name in known]


def upward(imports: dict[str, set[str]]) -> set[tuple[str, str]]:
    """Imports of a higher layer by a lower one."""
    pairs = {(name, other) for name, others in imports.items() for other in others}
    return {(name, other) for name, other in pairs if -1 < _layer(name) < _layer(other)}


def _layer(module: str) -> int:
    """The place of a module's layer; -1 for one that belongs to none."""
    names = {module, module.split(".", maxsplit=1)[0]}
    return next((place for place, layer in enumerate(LAYERS) if names & layer), -1)


def cycle(imports: dict[str, set[str]]) -> list[str]:
    """Modules of which each imports the one before it, the first and the last being one; empty without a circle."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return [str(name) for name in error.args[1]]
    return []


def _name(file: Path) -> str:
    parts = file.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _at_run_time(tree: ast.AST) -> Iterator[ast.AST]:
    """All of a file that runs, sooner or later: what is for type checkers alone is left out."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield from _at_run_time(node)


def loaded_by(code: str) -> set[str]:
    """Run code in a fresh process and return the top-level modules that it loaded."""
    code = "import atexit, json, sys; atexit.register(lambda: print('\\n' + json.dumps([*sys.modules])))\n" + code
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return {name.split(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}
