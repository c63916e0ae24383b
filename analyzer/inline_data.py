"""Weights that lie inside the model's file: left there, and read only where someone asks for their elements."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from mmap import ACCESS_READ, mmap
from pathlib import Path

import onnx
import onnx_ir as ir
from onnx_ir.serde import TensorProtoTensor

from neural_cost.analyzer.places import places
from neural_cost.analyzer.values import MAX_ELEMENTS
from neural_cost.analyzer.wire_format import Span, marks, without_data

KEEP = 8 * MAX_ELEMENTS  # bytes of a tensor's data: shapes and tables whose values are followed have no more


def read_graph(file: Path, keep: int) -> tuple[bytes, bool]:
    """Bytes of an ONNX file without the data of tensors of more than `keep` bytes, and whether any was left out.

    Raises:
        OSError: the file cannot be read.
        WireError: it is not in protobuf's wire format, or is cut off.
    """
    if not file.is_file() or file.stat().st_size <= keep:
        return file.read_bytes(), False
    with file.open("rb") as opened, mmap(opened.fileno(), 0, access=ACCESS_READ) as mapped:
        data = without_data(mapped, keep)
        return (mapped[:], False) if data is None else (data, True)


def link_inline_data(model: ir.Model, file: Path) -> None:
    """Let every tensor whose data was left in the file find it there."""
    path = file.resolve()
    for place in places(model):
        tensor = place.tensor
        if isinstance(tensor, TensorProtoTensor) and (spans := marks(tensor.metadata_props)):
            with suppress(ValueError):  # of an element type that does not exist: it stays what it is
                place.put(InlineTensor(tensor, path, spans))


class InlineTensor(ir.LazyTensor):
    """A tensor whose data was left in the model's file, at these bytes of it."""

    def __init__(self, tensor: TensorProtoTensor, file: Path, spans: list[Span]) -> None:
        read = partial(_read, tensor.raw, file, spans)
        super().__init__(read, tensor.dtype, tensor.shape, name=tensor.name, doc_string=tensor.doc_string)
        self.file = file
        self.spans = spans


def _read(proto: onnx.TensorProto, file: Path, spans: list[Span]) -> ir.TensorProtocol:
    """The tensor with its data, as protobuf reads it."""
    whole = onnx.TensorProto()
    whole.CopyFrom(proto)
    with file.open("rb") as opened:
        for start, end in spans:
            opened.seek(start)
            whole.MergeFromString(opened.read(end - start))
    return TensorProtoTensor(whole)
