"""Without the data of its big tensors a model is what protobuf reads, and is refused where protobuf refuses."""

import mmap

import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neural_cost.analyzer.wire_format import INSIDE, SINGULAR, WireError, marks, without_data
from tests.wire_models import bytes_of_data, field, fixed, group, messages, parsed, put_back, scalar, tensors, varint

BIG, SMALL = bytes(range(200)) * 2, b"\x01\x02\x03\x04"
KEEP = 100


def initializer(content: bytes) -> bytes:
    return field(7, field(5, content))  # ModelProto.graph, GraphProto.initializer


def of_attribute(content: bytes, number: int = 5) -> bytes:
    attribute = field(number, content)  # AttributeProto.t, or another
    return field(7, field(1, field(5, attribute)))  # ModelProto.graph, GraphProto.node, NodeProto.attribute


RAW = field(9, BIG)
SPARSE = field(1, RAW) + field(2, field(7, BIG[:100] * 2))  # SparseTensorProto.values, indices: int64 below 128
# what -> (bytes, tensors whose data is left)
LEFT = {
    "raw data": (initializer(RAW), 1),
    "raw data after the name": (initializer(field(8, b"w") + RAW + scalar(2, 1)), 1),
    "raw data twice: the last counts": (initializer(RAW + field(9, BIG[::-1])), 1),
    "raw data in two pieces of a file": (initializer(RAW + field(8, b"w") + field(9, BIG[::-1])), 1),
    "raw data of a padded length": (initializer(field(9, BIG, 2)), 1),
    "packed floats": (initializer(field(4, BIG)), 1),
    "packed doubles": (initializer(field(10, BIG)), 1),
    "packed int64, one byte each": (initializer(field(7, BIG[:128] * 2)), 1),
    "packed int32, ten bytes each": (initializer(field(5, (b"\xff" * 9 + b"\x01") * 40)), 1),
    "packed uint64": (initializer(field(11, varint(300) * 200)), 1),
    "floats one by one": (initializer(fixed(4, SMALL) * 90), 1),
    "doubles one by one": (initializer(fixed(10, SMALL * 2) * 90), 1),
    "int64 one by one": (initializer(scalar(7, 300) * 90), 1),
    "negative int32 one by one": (initializer(scalar(5, 2**64 - 1) * 90), 1),
    "uint64 one by one, tags padded": (initializer((varint(11 << 3, 1) + varint(7)) * 90), 1),
    "floats packed and one by one": (initializer(fixed(4, SMALL) * 9 + field(4, BIG) + fixed(4, SMALL)), 1),
    "floats in two pieces, a small one between": (initializer(field(4, BIG) + scalar(2, 1) + field(4, SMALL)), 1),
    "two tensors, one of them small": (field(7, field(5, RAW) + field(5, field(9, SMALL))), 1),
    "a graph in two pieces": (initializer(RAW) + initializer(RAW), 2),
    "an attribute": (of_attribute(RAW), 1),
    "a list of tensors in an attribute": (field(7, field(1, field(5, field(10, RAW) + field(10, RAW)))), 2),
    "a sparse attribute": (of_attribute(SPARSE, 22), 2),
    "a list of sparse tensors": (field(7, field(1, field(5, field(23, SPARSE) * 2))), 4),
    "a sparse initializer": (field(7, field(15, SPARSE)), 2),
    "a body": (of_attribute(field(5, RAW), 6), 1),
    "bodies within bodies": (of_attribute(field(1, field(5, field(11, field(5, RAW)))), 6), 1),
    "a function": (field(25, field(7, field(5, field(5, RAW)))), 1),
    "a default of a function": (field(25, field(11, field(5, RAW))), 1),
    "training": (field(20, field(1, field(5, RAW)) + field(2, field(5, RAW))), 2),
    "unknown fields around it": (
        scalar(99, 7) + initializer(group(99, RAW) + RAW) + fixed(98, SMALL) + field(97, b""),
        1,
    ),
    "a group of the graph's number": (group(7, scalar(5, 1)) + initializer(RAW), 1),
    "groups in groups": (group(99, group(98, group(7, RAW)) + fixed(1, SMALL)) + initializer(RAW), 1),
}
# what stays whole: nothing is big in it, or it is no data of a tensor, or protobuf would merge it
WHOLE = {
    "nothing": b"",
    "small data": initializer(field(9, SMALL)),
    "a tensor of an attribute in two pieces": field(7, field(1, field(5, field(5, RAW) + field(5, scalar(1, 3))))),
    "values of a sparse tensor in two pieces": field(7, field(15, field(1, RAW) * 2)),
    "a sparse tensor of an attribute in two pieces": field(7, field(1, field(5, field(22, SPARSE) * 2))),
    "a long text": field(6, BIG),
    "an unknown field": field(99, RAW),
    "the graph as a group": group(7, group(5, RAW)),
    "strings": initializer(field(6, BIG)),
    "raw data as numbers": initializer(scalar(9, 1) * 90),
    "floats as numbers": initializer(scalar(4, 1) * 90),
    "int64 as fixed": initializer(fixed(7, SMALL) * 90),
    "unpacked elements so scattered that marks are longer": initializer((scalar(7, 1) + scalar(99, 1)) * 90),
}
REFUSED = {
    "a graph that ends before it should": initializer(RAW)[:-1],
    "a length beyond the file": varint(7 << 3 | 2) + varint(2**31 - 1),
    "a length of four gigabytes": varint(7 << 3 | 2) + varint(2**32 - 1) + RAW,
    "a tensor longer than its graph": field(7, varint(5 << 3 | 2) + varint(500) + RAW) + bytes(500),
    "a tag of six bytes": varint(7 << 3 | 2, 5) + b"\0",
    "a tag above 32 bits": varint(1 << 35 | 7 << 3 | 2) + b"\0",
    "a length of six bytes": initializer(varint(9 << 3 | 2) + varint(len(BIG), 4) + BIG),
    "a number of eleven bytes": scalar(99, 0)[:-1] + b"\x80" * 10 + b"\0" + initializer(RAW),
    "a number without an end": initializer(RAW) + b"\x08\x80",
    "wire type 6": initializer(RAW) + b"\x3e\0",
    "wire type 7": initializer(RAW) + b"\x3f\0",
    "the end of a group that never began": initializer(RAW) + b"\x3c",
    "a group without an end": initializer(RAW) + varint(99 << 3 | 3),
    "a group with the end of another": initializer(RAW) + varint(99 << 3 | 3) + varint(98 << 3 | 4),
    "fixed bytes cut off": initializer(RAW) + fixed(99, SMALL)[:-1],
    "packed floats that end within one": initializer(field(4, BIG[:-1])),
    "packed int64 that end within one": initializer(field(7, BIG[:-1] + b"\x80")),
}


@pytest.mark.parametrize(("data", "left"), LEFT.values(), ids=LEFT)
def test_data_is_left_where_it_is(data, left):
    rest = without_data(data, KEEP)
    found = list(tensors(parsed(rest)))
    assert [bytes_of_data(tensor) for tensor in found if tensor.metadata_props] == [0] * left
    assert all(bytes_of_data(tensor) <= KEEP for tensor in found)
    assert len(rest) < len(data) - 200 * left
    assert put_back(data, KEEP) == parsed(data) is not None


@pytest.mark.parametrize("data", WHOLE.values(), ids=WHOLE)
def test_what_is_no_big_data_stays_whole(data):
    assert parsed(data) is not None
    assert without_data(data, KEEP) is None


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED)
def test_what_protobuf_refuses_is_refused(data):
    assert parsed(data) is None
    with pytest.raises(WireError):
        without_data(data, KEEP)


def test_a_mark_says_where_the_data_is():
    """Tags 7, 5, 9 and three lengths of two bytes stand before the 400 bytes of data; the mark counts the last tag."""
    data = initializer(RAW)
    (tensor,) = tensors(parsed(without_data(data, KEEP)))
    ((start, end),) = marks({entry.key: entry.value for entry in tensor.metadata_props})
    assert (start, end) == (3 + 3, 3 + 3 + 3 + 400)
    assert data[start:end] == RAW


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on a busy machine
@given(messages(), st.sampled_from([0, 20]))
def test_with_its_data_put_back_a_model_is_what_protobuf_reads(data, keep):
    assert _text(put_back(data, keep)) == _text(parsed(data))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on a busy machine
@given(messages().filter(len), st.data())
def test_a_damaged_model_is_refused_or_read_as_protobuf_does(data, draw):
    position = draw.draw(st.integers(0, len(data) - 1))
    damaged = bytearray(data)
    damaged[position] = draw.draw(st.integers(0, 255))
    assert _text(put_back(bytes(damaged), 0)) == _text(parsed(bytes(damaged)))


@pytest.mark.parametrize("keep", [0, 20])
def test_a_model_cut_at_any_byte_is_refused_or_read_as_protobuf_does(keep):
    data = b"".join(data for data, _ in LEFT.values())[:6000]
    assert parsed(data[:100]) is None
    for end in range(0, len(data), 1 if len(data) < 2000 else 7):
        assert _text(put_back(data[:end], keep)) == _text(parsed(data[:end]))


def test_the_fields_are_those_of_onnx():
    """Every way to a tensor, and of which of them a message has one, as onnx's own schema says."""
    kinds, ways = ["ModelProto"], {}
    for kind in kinds:
        fields = getattr(onnx, kind).DESCRIPTOR.fields
        ways[kind] = {each.number: each.message_type.name for each in fields if each.message_type is not None}
        kinds += [name for name in ways[kind].values() if hasattr(onnx, name) and name not in kinds]
    reach = {"TensorProto"}
    while more := {kind for kind, to in ways.items() if reach & set(to.values())} - reach:
        reach |= more
    assert {
        kind: {number: name for number, name in to.items() if name in reach}
        for kind, to in ways.items()
        if kind in reach - {"TensorProto"}
    } == INSIDE
    for kind, numbers in SINGULAR.items():
        alone = getattr(onnx, kind)()
        found = {
            each.number
            for each in alone.DESCRIPTOR.fields
            if isinstance(getattr(alone, each.name), onnx.TensorProto | onnx.SparseTensorProto)
        }
        assert found == numbers


def test_a_long_run_of_single_elements_takes_no_memory(tmp_path):
    """A million elements with a tag each: no Python object for each, and no backtracking."""
    path = tmp_path / "model.onnx"
    path.write_bytes(initializer(scalar(7, 300) * 1_000_000))
    with path.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert len(without_data(mapped, KEEP)) < 100


def _text(model: onnx.ModelProto | None) -> bytes | None:
    return None if model is None else model.SerializeToString(deterministic=True)
