"""Weights as bytes of a file: which are there twice, and which nobody reads. Few bytes of each are looked at."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import onnx_ir as ir

from neural_cost.analyzer.inline_data import InlineTensor

LEAST_BYTES = 4096  # of a weight that is looked at: less is no matter
SAMPLES, SAMPLE_BYTES = 8, 64  # of a weight, to tell it from others of its shape
CHUNK = 1 << 20


@dataclass(frozen=True)
class Stored:
    """Where the bytes of a weight are."""

    name: str
    file: Path
    start: int
    length: int

    def sample(self) -> bytes:
        """A few bytes from all over it.

        Raises:
            OSError: they cannot be read.
        """
        step = max(SAMPLE_BYTES, self.length // SAMPLES)
        with self.file.open("rb") as opened:
            return b"".join(self._read(opened, place, SAMPLE_BYTES) for place in range(0, self.length, step))

    def digest(self) -> bytes:
        """A digest of all of it.

        Raises:
            OSError: they cannot be read.
        """
        found = hashlib.sha256()
        with self.file.open("rb") as opened:
            for place in range(0, self.length, CHUNK):
                found.update(self._read(opened, place, CHUNK))
        return found.digest()

    def _read(self, opened: BinaryIO, place: int, size: int) -> bytes:
        opened.seek(self.start + place)
        return opened.read(min(size, self.length - place))


def unused(model: ir.Model) -> list[str]:
    """Names of weights that no node reads and the model does not return."""
    returned = {value.name for value in model.graph.outputs}
    inputs = {value.name for value in model.graph.inputs}
    return [
        name
        for name, value in model.graph.initializers.items()
        if not value.uses() and name not in returned and name not in inputs
    ]


def duplicates(model: ir.Model) -> list[list[str]]:
    """Names of weights that are equal to each other, byte by byte: each group with more than one.

    Of weights of one type and shape a few bytes are compared first, and all only of those that are alike in them.
    Weights whose file is missing or cut off are left out.
    """
    groups = [list(_readable(group)) for group in _by_shape(model)]
    for key in (Stored.sample, Stored.digest):
        groups = [part for group in groups if len(group) > 1 for part in _split(group, key)]
    return [[stored.name for stored in group] for group in groups if len(group) > 1]


def bytes_of(model: ir.Model, name: str) -> int | None:
    """Bytes of a weight; None where that is not known."""
    return _held(model.graph.initializers[name].const_value)


def _held(tensor: ir.TensorProtocol | None) -> int | None:
    """Bytes of a tensor; None where there is none, or its elements have no size: strings, types that do not exist."""
    if tensor is None:
        return None
    try:
        return int(tensor.nbytes)
    except TypeError:
        return None


def _by_shape(model: ir.Model) -> Iterable[list[tuple[str, ir.TensorProtocol]]]:
    found: dict[tuple[object, ...], list[tuple[str, ir.TensorProtocol]]] = {}
    for name, value in model.graph.initializers.items():
        tensor = value.const_value
        if tensor is not None and (_held(tensor) or 0) >= LEAST_BYTES and value.uses():
            found.setdefault((tensor.dtype, tuple(tensor.shape.numpy())), []).append((name, tensor))
    return [group for group in found.values() if len(group) > 1]


def _readable(group: list[tuple[str, ir.TensorProtocol]]) -> Iterator[Stored]:
    for name, tensor in group:
        if isinstance(tensor, InlineTensor) and len(tensor.spans) == 1:
            ((start, end),) = tensor.spans
            yield Stored(name, tensor.file, start, end - start)
        elif isinstance(tensor, ir.ExternalTensor):
            path = Path(tensor.base_dir) / tensor.location
            start, length = tensor.offset or 0, int(tensor.nbytes)
            if path.is_file() and path.stat().st_size >= start + length:
                yield Stored(name, path, start, length)


def _split(group: list[Stored], key: Callable[[Stored], bytes]) -> Iterator[list[Stored]]:
    parts: dict[bytes, list[Stored]] = {}
    for stored in group:
        try:
            parts.setdefault(key(stored), []).append(stored)
        except OSError:
            continue
    yield from parts.values()
