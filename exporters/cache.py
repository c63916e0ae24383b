"""Files exported before, by what they were made of, in `$NEURAL_COST_CACHE` or the user's cache folder."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import sysconfig
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from neural_cost.analyzer.user_folder import user_folder
from neural_cost.exporters.protocol import Request

LARGEST = 8 << 30  # bytes that the cache may hold; what was not used for longest goes first
INSTALLED = {"site-packages", "dist-packages"}
PACKAGES = ("onnx", "onnx-ir", "torch", "onnxscript", "tensorflow", "keras", "tf2onnx", "jax", "jax2onnx", "flax")


def folder() -> Path:
    """Where exports are kept."""
    return user_folder() / "exports"


def cached(name: str, content: bytes, request: Request, write: Callable[[Path], object]) -> Path:
    """Return the file of this content, written anew where there is none.

    Args:
        name: of the file, as reports will show it.
        content: what the model is made of.
        request: what was asked of the exporter.
        write: writes the file; it must write it whole or not at all.
    """
    key = _key(content, request)
    file = folder() / key / f"{name}.onnx"
    if file.exists():
        os.utime(file.parent)
        return file
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        write(file)
    except BaseException:
        if not any(file.parent.iterdir()):
            file.parent.rmdir()
        raise
    _shrink(keep=file.parent)
    return file


def user_sources() -> Iterator[bytes]:
    """The text of every loaded module that was not installed: the code that the model and its factory are made of."""
    standard = sysconfig.get_path("stdlib")
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if (
            file
            and file.endswith(".py")
            and not INSTALLED.intersection(Path(file).parts)
            and not file.startswith(standard)
        ):
            yield name.encode() + _read(Path(file))


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def _key(content: bytes, request: Request) -> str:
    digest = hashlib.sha256(content)
    digest.update(repr((request.dynamic_dims, request.opset, sorted(_versions().items()))).encode())
    return digest.hexdigest()[:32]


def _versions() -> dict[str, str]:
    found = {}
    for package in ("neural-cost", *PACKAGES):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def _shrink(keep: Path) -> None:
    """Drop what was not used for longest until the rest is small enough."""
    entries = sorted((each for each in folder().iterdir() if each.is_dir()), key=lambda each: each.stat().st_mtime)
    sizes: dict[Path, int] = {each: sum(file.stat().st_size for file in each.iterdir()) for each in entries}
    total = sum(sizes.values())
    for each in entries:
        if total <= LARGEST or each == keep:
            continue
        shutil.rmtree(each, ignore_errors=True)
        total -= sizes[each]


def digest_of(parts: Iterator[Any]) -> bytes:
    """One digest of many parts, bytes or anything with a faithful `repr`."""
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes | memoryview) else repr(part).encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.digest()
