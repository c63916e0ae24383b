"""Checks of the tree against pyproject.toml. Each returns its complaints, so that a made-up tree can be checked too."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LINKED = ("analyzer", "exporters", "models", "runtime")


def setuptools_table(root: Path) -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]
    return table


def folders(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield (dotted name, folder) of every folder under the mapped ones; links are not followed."""
    for package, mapped in setuptools_table(root)["package-dir"].items():
        for here, inside, _ in os.walk(root / mapped):
            inside[:] = [name for name in inside if name != "__pycache__"]
            below = Path(here).relative_to(root / mapped).parts
            yield ".".join((package, *below)), Path(here)


def package_complaints(root: Path) -> list[str]:
    """Compare the package list with the folders that hold Python files."""
    listed = set(setuptools_table(root)["packages"])
    found = {name: folder for name, folder in folders(root) if any(folder.glob("*.py"))}
    return [
        *(f"{name} holds Python files and is not listed in pyproject.toml" for name in sorted(found.keys() - listed)),
        *(f"{name} is listed in pyproject.toml and is not there" for name in sorted(listed - found.keys())),
        *(f"{name} has no __init__.py" for name, folder in found.items() if not (folder / "__init__.py").is_file()),
    ]


def data_complaints(root: Path) -> list[str]:
    """Find files that a wheel would lack: neither Python nor listed as package data."""
    patterns = setuptools_table(root)["package-data"]
    return [
        f"{file.name} in {name} is no package data in pyproject.toml"
        for name, folder in folders(root)
        for file in sorted(folder.iterdir())
        if file.is_file() and file.suffix != ".py"
        if not any(fnmatch(file.name, pattern) for pattern in patterns.get(name, ()))
    ]


def link_complaints(root: Path) -> list[str]:
    """Find missing or wrong links of src/neural_cost, by which type checkers see one package."""
    links = {name: root / "src" / "neural_cost" / name for name in LINKED}
    return [
        f"src/neural_cost/{name} is no link to {name}/"
        for name, link in links.items()
        if not link.is_symlink() or link.readlink() != Path("..", "..", name) or not link.is_dir()
    ]
