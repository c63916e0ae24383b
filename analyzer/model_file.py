"""A file -> its protobuf. What is no ONNX file is refused, and named where its first bytes tell what it is."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import onnx

from neural_cost.analyzer.errors import ModelError
from neural_cost.analyzer.inline_data import KEEP, read_graph

MAX_BYTES = 2**31 - 1  # of one protobuf message
HEAD = 4096  # bytes that tell what a file is
AGAIN = "export or download it again"
EXPORT = "export its model to ONNX first"
# First bytes at a place of the file: what has them, and what to do.
MAGIC: tuple[tuple[int, bytes, str, str], ...] = (
    (0, b"PK\x03\x04", "a zip archive (PyTorch's .pt and Keras's .keras files are such)", EXPORT),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file, as Keras writes", EXPORT),
    (0, b"\x80\x02", "a Python pickle, as PyTorch writes, which is never opened here", EXPORT),
    (0, b"\x80\x03", "a Python pickle, which is never opened here", EXPORT),
    (0, b"\x80\x04", "a Python pickle, which is never opened here", EXPORT),
    (0, b"\x80\x05", "a Python pickle, which is never opened here", EXPORT),
    (0, b"\x1f\x8b", "a gzip archive", "unpack it first"),
    (0, b"\xfd7zXZ\x00", "an xz archive", "unpack it first"),
    (0, b"\x28\xb5\x2f\xfd", "a zstd archive", "unpack it first"),
    (0, b"BZh", "a bzip2 archive", "unpack it first"),
    (257, b"ustar", "a tar archive", "unpack it first"),
    (0, b"ptrt", "a TensorRT engine", "give the ONNX file that it was built from"),
    (0, b"ftrt", "a TensorRT engine", "give the ONNX file that it was built from"),
    (4, b"ORTM", "a model in ONNX Runtime's own format (.ort)", "give the ONNX file that it was made from"),
    (4, b"TFL3", "a TensorFlow Lite model", "convert it to ONNX first"),
    (0, b"GGUF", "a GGUF file of weights", EXPORT),
    (8, b'{"', "a safetensors file: weights without a graph", EXPORT),
    (0, b"\x93NUMPY", "a NumPy array", EXPORT),
)
# How the text of a file starts, in lower case.
TEXTS: tuple[tuple[str, str, str], ...] = (
    ("version https://git-lfs", "a Git LFS pointer, not the file it points to", "fetch it with git lfs pull"),
    ("<!doctype html", "a web page", "download the model itself"),
    ("<html", "a web page", "download the model itself"),
    ("<?xml", "an XML file", EXPORT),
    ("<ir_version", "a model in ONNX's text form", "save it with onnx.save after onnx.parser.parse_model"),
    ("<\n", "a model in ONNX's text form", "save it with onnx.save after onnx.parser.parse_model"),
    ("ir_version:", "a model as protobuf text", 'load it with onnx.load(path, format="textproto") and save it'),
    ("{", "a JSON file", 'if it holds a model, load it with onnx.load(path, format="json") and save it'),
)


def read_model(file: Path) -> tuple[onnx.ModelProto, bool]:
    """Read a model's protobuf, and say whether data of big tensors was left in the file.

    Raises:
        ModelError: the file is missing, no file, not readable, too large, not ONNX, or holds no graph.
    """
    head = _head(file)
    if not head:
        raise ModelError(f"{file} is empty; {AGAIN}.")
    proto = onnx.ModelProto()
    try:
        data, data_left = read_graph(file, KEEP)
        if len(data) <= MAX_BYTES:
            proto.ParseFromString(data)
    except OSError as error:
        raise _unreadable(file, error) from error
    except Exception as error:
        told = looks_like(head)
        if told:
            raise ModelError(f"{file} is not an ONNX file but {told[0]}; {told[1]}.") from error
        raise ModelError(
            f"{file} is not an ONNX file, or is cut off, or nested too deep: its protobuf cannot be read; {AGAIN}."
        ) from error
    if len(data) > MAX_BYTES:
        raise ModelError(
            f"{file} has {len(data):,} bytes beside its weights, and protobuf reads at most {MAX_BYTES:,}."
        )
    if not proto.HasField("graph") or not (proto.graph.node or proto.graph.output):
        kind, advice = looks_like(head) or ("something that holds no graph", AGAIN)
        raise ModelError(f"{file} is not an ONNX model but {kind}; {advice}.")
    return proto, data_left


def looks_like(data: bytes) -> tuple[str, str] | None:
    """What a file that is not ONNX seems to be, and what to do; None where nothing tells."""
    for place, magic, kind, advice in MAGIC:
        if data[place : place + len(magic)] == magic:
            return kind, advice
    head = data[:HEAD]
    if any(byte < 32 and byte not in b"\t\n\r\f" for byte in head):
        return None
    start = head.decode(errors="replace").lstrip("\ufeff \t\r\n").lower()
    return next(((kind, advice) for text, kind, advice in TEXTS if start.startswith(text)), ("a text file", AGAIN))


def _head(file: Path) -> bytes:
    """The first bytes of a file."""
    try:
        found = file.stat()
        if stat.S_ISDIR(found.st_mode):
            raise ModelError(f"{file} is a directory; give the path of an .onnx file in it.")
        if not stat.S_ISREG(found.st_mode):
            raise ModelError(f"{file} is no regular file; save the model to a file first.")
        with file.open("rb") as opened:
            return opened.read(HEAD)
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:  # ValueError: a null character
        raise ModelError(f"{file} does not exist; give the path of an .onnx file.".replace("\0", "\\0")) from error
    except OSError as error:
        raise _unreadable(file, error) from error


def _unreadable(file: Path, error: OSError) -> ModelError:
    return ModelError(f"{_short(file)} cannot be read ({os.strerror(error.errno or 0)}); check its path.")


def _short(file: Path) -> str:
    text = str(file)
    return text if len(text) < 300 else f"{text[:100]}...{text[-100:]}"
