"""Models in bytes of protobuf's wire format, written by hand or drawn at random, and how data is put back into them."""

from collections.abc import Iterator

import onnx
from google.protobuf.message import DecodeError, Message
from hypothesis import strategies as st

from neural_cost.analyzer.wire_format import INSIDE, MARK, marks, without_data

FIELDS = "float_data", "int32_data", "int64_data", "raw_data", "double_data", "uint64_data"


def varint(value: int, padding: int = 0) -> bytes:
    """Encode a number in groups of seven bits, low ones first; `padding` adds groups that say nothing."""
    groups = [value & 127]
    while value := value >> 7:
        groups.append(value & 127)
    groups += [0] * padding
    return bytes([*(group | 128 for group in groups[:-1]), groups[-1]])


def field(number: int, content: bytes, padding: int = 0) -> bytes:
    """A length-delimited field."""
    return varint(number << 3 | 2) + varint(len(content), padding) + content


def scalar(number: int, value: int) -> bytes:
    """A field that is one number."""
    return varint(number << 3) + varint(value)


def fixed(number: int, content: bytes) -> bytes:
    """A field of four bytes or of eight."""
    return varint(number << 3 | {4: 5, 8: 1}[len(content)]) + content


def group(number: int, content: bytes) -> bytes:
    """A group, the old way to nest."""
    return varint(number << 3 | 3) + content + varint(number << 3 | 4)


def parsed(data: bytes) -> onnx.ModelProto | None:
    """What protobuf makes of it; None where it refuses."""
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except DecodeError:
        return None
    return model


def put_back(data: bytes, keep: int) -> onnx.ModelProto | None:
    """The model without its data, and then the data put back from where the marks say it is; None where refused."""
    try:
        rest = without_data(data, keep)
        model = parsed(data if rest is None else rest)
        for tensor in tensors(model) if model is not None else ():
            spans = marks({entry.key: entry.value for entry in tensor.metadata_props})
            kept = [entry for entry in tensor.metadata_props if not _is_mark(entry.key)]
            del tensor.metadata_props[:]
            tensor.metadata_props.extend(kept)
            for start, end in spans:
                tensor.MergeFromString(data[start:end])
    except (ValueError, DecodeError):
        return None
    return model


def _is_mark(key: str | bytes) -> bool:
    """Whether a key is a mark; protobuf hands one that is no UTF-8 on as bytes."""
    return isinstance(key, str) and key.startswith(MARK)


def tensors(message: Message) -> Iterator[onnx.TensorProto]:
    """Every tensor in a message, wherever it is."""
    for descriptor, value in message.ListFields():
        if descriptor.message_type is None:
            continue
        for each in [value] if isinstance(value, Message) else value:
            if isinstance(each, onnx.TensorProto):
                yield each
            else:
                yield from tensors(each)


def bytes_of_data(tensor: onnx.TensorProto) -> int:
    """Bytes that its elements take in a file."""
    alone = onnx.TensorProto()
    alone.CopyFrom(tensor)
    for descriptor, _ in tensor.ListFields():
        if descriptor.name not in FIELDS:
            alone.ClearField(descriptor.name)
    alone.DiscardUnknownFields()
    return alone.ByteSize()


@st.composite
def messages(draw: st.DrawFn, kind: str = "ModelProto", depth: int = 0) -> bytes:
    """A message of a kind with its fields in any order, unknown ones among them, tags and lengths padded."""
    parts = []
    for _ in range(draw(st.integers(1 if depth < 2 else 0, 3))):
        number = draw(st.sampled_from(sorted(INSIDE.get(kind, {})) or [0]))
        if kind == "TensorProto":
            parts.append(draw(TENSOR_FIELD))
        elif depth < 7 and draw(st.integers(0, 4)):
            inner = draw(messages(INSIDE[kind][number], depth + 1))
            parts.append(field(number, inner, draw(st.integers(0, 2))))
        else:
            parts.append(draw(ODD_FIELD))
    return b"".join(parts)


CONTENT = st.binary(max_size=40)
VARINTS = st.lists(st.builds(varint, st.integers(0, 2**64 - 1)), max_size=9).map(b"".join)
UNKNOWN = st.integers(30, 2**29 - 1)
ODD_FIELD = st.one_of(
    st.builds(field, UNKNOWN, CONTENT, st.integers(0, 2)),
    st.builds(scalar, UNKNOWN, st.integers(0, 2**64 - 1)),
    st.builds(scalar, st.integers(1, 29), st.integers(0, 99)),  # known numbers, often of another wire type
    st.builds(fixed, UNKNOWN, st.binary(min_size=4, max_size=4) | st.binary(min_size=8, max_size=8)),
    st.builds(group, st.integers(1, 200), st.builds(scalar, st.integers(0, 200), st.integers(0, 99))),
    st.builds(group, UNKNOWN, st.builds(group, UNKNOWN, st.builds(field, st.integers(1, 99), CONTENT))),
)
TENSOR_FIELD = st.one_of(
    st.builds(scalar, st.just(1), st.integers(0, 99)),
    st.builds(scalar, st.just(2), st.integers(0, 23)),
    st.builds(field, st.sampled_from([8, 12]), st.just(b"w")),
    st.builds(field, st.just(9), CONTENT, st.integers(0, 2)),
    st.builds(field, st.sampled_from([5, 7, 11]), VARINTS),
    st.builds(scalar, st.sampled_from([5, 7, 11]), st.integers(0, 2**64 - 1)),
    st.builds(lambda part: field(4, part * 4), st.binary(max_size=9)),
    st.builds(lambda part: field(10, part * 8), st.binary(max_size=9)),
    st.builds(fixed, st.just(4), st.binary(min_size=4, max_size=4)),
    st.builds(fixed, st.just(10), st.binary(min_size=8, max_size=8)),
    st.builds(field, st.just(16), st.just(field(1, b"key") + field(2, b"value"))),
    ODD_FIELD,
)
