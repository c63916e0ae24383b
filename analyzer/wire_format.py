"""An ONNX file's bytes without the data of its big tensors: protobuf's wire format, read in place.

protobuf reads a file whole, weights and all, and refuses more than 2 GiB. Here the file is walked field by field. What
is skipped is not touched, so on a memory map its pages stay on disk. Where the data of a tensor was, `marks` says in
which bytes of the file it is. All else is handed on as it stands, for protobuf to judge; what is refused here (fields
that run out of what holds them, tags and lengths of more than five bytes) protobuf refuses too.

https://protobuf.dev/programming-guides/encoding is the format, onnx.proto has the fields.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Mapping
from typing import TypeAlias

Buffer: TypeAlias = bytes | mmap.mmap
Span = tuple[int, int]  # first byte in the file, and the one after the last

MARK = "neural_cost.data:"  # in a tensor's metadata: this and where its data starts -> where that ends
RELEASE = 1 << 23  # bytes of a map that may be in memory at a time
DEEPEST = 100  # messages within messages: protobuf refuses more

VARINT, FIXED_64, DELIMITED, GROUP, GROUP_END, FIXED_32 = range(6)
FIXED = {FIXED_64: 8, FIXED_32: 4}  # bytes

# The fields through which tensors are reached.
INSIDE: dict[str, dict[int, str]] = {
    "ModelProto": {7: "GraphProto", 20: "TrainingInfoProto", 25: "FunctionProto"},
    "GraphProto": {1: "NodeProto", 5: "TensorProto", 15: "SparseTensorProto"},
    "FunctionProto": {7: "NodeProto", 11: "AttributeProto"},
    "TrainingInfoProto": {1: "GraphProto", 2: "GraphProto"},
    "NodeProto": {5: "AttributeProto"},
    "AttributeProto": {
        5: "TensorProto", 6: "GraphProto", 10: "TensorProto", 11: "GraphProto",
        22: "SparseTensorProto", 23: "SparseTensorProto",
    },
    "SparseTensorProto": {1: "TensorProto", 2: "TensorProto"},
}  # fmt: skip
# Of these a message has one; protobuf merges several into one, whose data is then in several places.
SINGULAR: Mapping[str, set[int]] = {"AttributeProto": {5, 22}, "SparseTensorProto": {1, 2}}
METADATA = 16  # TensorProto.metadata_props
RAW = 9
ELEMENTS = {4: FIXED_32, 5: VARINT, 7: VARINT, 10: FIXED_64, 11: VARINT}  # float, int32, int64, double, uint64_data
_ELEMENT = {VARINT: rb"[\x80-\xff]{0,9}[\x00-\x7f]", FIXED_32: rb".{4}", FIXED_64: rb".{8}"}
# Elements that are not packed, each after a tag of its own; possessive (++), so that none is kept to come back to.
RUNS = {
    field: re.compile(b"(?:" + re.escape(bytes([field << 3 | wire])) + _ELEMENT[wire] + b")++", re.DOTALL)
    for field, wire in ELEMENTS.items()
}


class WireError(ValueError):
    """Bytes that are not in protobuf's wire format."""


def without_data(buffer: Buffer, keep: int) -> bytes | None:
    """The bytes of a ModelProto without the data of tensors that have more than `keep` bytes; None if none has.

    Raises:
        WireError: the bytes are not in protobuf's wire format, or are cut off.
    """
    return _Scan(buffer, keep).message("ModelProto", (0, len(buffer)), 1)


def marks(metadata: Mapping[str, str]) -> list[Span]:
    """Where the data is that was taken out of a tensor with this metadata, in the order of the file.

    A name that is not UTF-8 comes as bytes from protobuf: it is none of ours.
    """
    ours = ((key, end) for key, end in metadata.items() if isinstance(key, str) and key.startswith(MARK))
    return [(int(key.removeprefix(MARK)), int(end)) for key, end in ours]


class _Scan:
    """One walk through a buffer: each method gives a message without data, or None where there is nothing to leave."""

    def __init__(self, buffer: Buffer, keep: int) -> None:
        self.buffer = buffer
        self.keep = keep
        self.released = 0

    def message(self, kind: str, span: Span, depth: int) -> bytes | None:
        if kind == "TensorProto":
            return self.tensor(span)
        inside, singular = INSIDE[kind], SINGULAR.get(kind, ())
        at, end = span
        parts: list[bytes] = []
        copied, seen = at, set()
        while at < end:
            start = at
            number, wire, body, at = _field(self.buffer, at, end)
            if wire != DELIMITED or number not in inside:
                continue
            if number in seen:
                return None
            if number in singular:
                seen.add(number)
            if at - body <= self.keep or depth == DEEPEST:
                continue
            message = self.message(inside[number], (body, at), depth + 1)
            if message is not None:
                parts += [self.buffer[copied:start], _delimited(number, message)]
                copied = at
            self.release(at)
        return b"".join([*parts, self.buffer[copied:end]]) if parts else None

    def tensor(self, span: Span) -> bytes | None:
        """A TensorProto with marks in place of its data: all of it, or none."""
        spans = self.data(span)
        size = sum(end - start for start, end in spans)
        if size <= self.keep:
            return None
        left = [_mark(each) for each in spans]
        if self.keep and sum(map(len, left)) > size:  # scattered so widely that nothing is saved
            return None
        starts, ends = [span[0], *(end for _, end in spans)], [*(start for start, _ in spans), span[1]]
        return b"".join([*(self.buffer[start:end] for start, end in zip(starts, ends, strict=True)), *left])

    def data(self, span: Span) -> list[Span]:
        """The fields of a TensorProto that hold its elements, neighbours as one."""
        at, end = span
        found: list[Span] = []
        while at < end:
            start = at
            number, wire, body, at = _field(self.buffer, at, end)
            element = ELEMENTS.get(number)
            if wire == DELIMITED and element is not None:
                _check_packed(self.buffer, element, body, at)
            elif wire == element:
                run = RUNS[number].match(self.buffer, start, min(end, start + RELEASE))
                at = run.end() if run else at
            elif number != RAW or wire != DELIMITED:
                continue
            joined = bool(found) and found[-1][1] == start
            found[-1:] = [(found[-1][0], at)] if joined else [*found[-1:], (start, at)]
            self.release(at)
        return found

    def release(self, at: int) -> None:
        """Give pages of a map back: some systems bring in two megabytes around each byte that is read."""
        if at - self.released < RELEASE or not isinstance(self.buffer, mmap.mmap):
            return
        self.released = at
        if hasattr(mmap, "MADV_DONTNEED"):  # not on Windows
            self.buffer.madvise(mmap.MADV_DONTNEED)


def _check_packed(buffer: Buffer, element: int, body: int, end: int) -> None:
    """Refuse elements of which the last is cut off, as protobuf does."""
    cut = (end - body) % FIXED[element] if element in FIXED else body < end and buffer[end - 1] > 127
    if cut:
        raise WireError("packed elements end within one")


def _mark(span: Span) -> bytes:
    entry = _delimited(1, f"{MARK}{span[0]}".encode()) + _delimited(2, str(span[1]).encode())
    return _delimited(METADATA, entry)


def _field(buffer: Buffer, at: int, end: int) -> tuple[int, int, int, int]:
    """The field that starts there: its number, wire type, where its content starts, and where it ends."""
    tag, at = _varint(buffer, at, end, 5)
    number, wire = tag >> 3, tag & 7
    if wire == DELIMITED:
        size, body = _varint(buffer, at, end, 5)
        after = body + size
    else:
        body = at
        after = _after_group(buffer, at, end, number) if wire == GROUP else _after(buffer, wire, at, end)
    if after > end or tag > 0xFFFFFFFF:
        raise WireError("a field runs out of its message")
    return number, wire, body, after


def _after(buffer: Buffer, wire: int, at: int, end: int) -> int:
    """Where the content of a field ends that starts there."""
    if wire == VARINT:
        return _varint(buffer, at, end, 10)[1]
    if wire == DELIMITED:
        size, at = _varint(buffer, at, end, 5)
        return at + size
    if wire in FIXED:
        return at + FIXED[wire]
    raise WireError(f"wire type {wire} does not stand for a field")


def _after_group(buffer: Buffer, at: int, end: int, number: int) -> int:
    """Where a group ends; groups may hold groups."""
    opened = [number]
    while opened:
        tag, at = _varint(buffer, at, end, 5)
        if tag & 7 == GROUP:
            opened.append(tag >> 3)
        elif tag & 7 != GROUP_END:
            at = _after(buffer, tag & 7, at, end)
        elif opened.pop() != tag >> 3:
            raise WireError("the end of a group is that of another")
    return at


def _varint(buffer: Buffer, at: int, end: int, longest: int) -> tuple[int, int]:
    """A number in groups of seven bits, and where it ends."""
    value = 0
    for shift in range(0, 7 * longest, 7):
        if at >= end:
            raise WireError("the bytes end within a number")
        byte = buffer[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise WireError(f"a number has more than {longest} bytes")


def _delimited(number: int, content: bytes) -> bytes:
    return _encoded(number << 3 | DELIMITED) + _encoded(len(content)) + content


def _encoded(value: int) -> bytes:
    groups = bytearray()
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    return bytes([*groups, value])
