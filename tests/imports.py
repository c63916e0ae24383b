"""Checks of who imports what: by reading every file, and by asking a fresh process what it has loaded."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
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


def loaded_by(code: str) -> set[str]:
    """Run code in a fresh process and return the top-level modules that it loaded."""
    code = "import atexit, json, sys; atexit.register(lambda: print('\\n' + json.dumps([*sys.modules])))\n" + code
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return {name.split(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}
