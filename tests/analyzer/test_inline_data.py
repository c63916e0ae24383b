"""Weights inside the file and beside it stay on disk, and the report is the same as with every byte read."""

import ctypes
import json
import mmap
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper, numpy_helper

import neural_cost
from neural_cost.analyzer import inline_data, model_file
from neural_cost.analyzer.inline_data import link_inline_data, read_graph
from neural_cost.analyzer.places import places
from tests.bad_models import ODD, WEIGHT, external, plain, saved
from tests.wire_models import field, scalar, varint

CANONICAL = sorted((Path(__file__).parents[2] / "models").glob("*.onnx"))
ALL, NONE = sys.maxsize, 0
GIGABYTES = 3 * 10**9  # more than protobuf reads
PEAK = 250e6  # bytes of a process; the imports alone take 90 to 150 MB

ARRAYS = {
    "float32": np.linspace(0, 1, 50, dtype=np.float32).reshape(5, 10),
    "float64": np.linspace(0, 1, 50),
    "float16": np.linspace(0, 1, 50, dtype=np.float16),
    "int8": np.arange(-25, 25, dtype=np.int8),
    "int64": np.arange(-25, 25) * 10**12,
    "uint64": np.arange(50, dtype=np.uint64) + 2**63,
    "bool": np.arange(50) % 3 == 0,
    "complex64": np.arange(50, dtype=np.complex64) * 1j,
    "no element": np.zeros((0, 3), np.float32),
    "scalar": np.array(7),
}


@pytest.fixture
def at(monkeypatch):
    """Analyze with the data of tensors left in the file that have more bytes than `keep`."""

    def at(keep, path, **arguments):
        monkeypatch.setattr(model_file, "KEEP", keep)
        return neural_cost.analyze(path, **arguments).to_dict()

    return at


@pytest.mark.parametrize("make", [make for make, _ in ODD.values()], ids=ODD)
def test_an_odd_model_has_the_same_report_without_its_data(make, tmp_path, at):
    path = make(tmp_path)
    assert at(NONE, path, dims={"batch": 2}) == at(ALL, path, dims={"batch": 2})


@pytest.mark.parametrize("path", CANONICAL, ids=[path.stem for path in CANONICAL])
def test_a_canonical_model_has_the_same_report_without_its_data(path, at):
    assert at(NONE, path) == at(ALL, path)


@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_elements_that_were_left_are_read_when_asked_for(array, raw, tmp_path):
    tensor = numpy_helper.from_array(array, "w")
    if not raw:
        elements = array.view(np.uint16) if array.dtype == np.float16 else array
        tensor = helper.make_tensor("w", tensor.data_type, array.shape, elements.flatten().tolist())
        if array.dtype == np.float16:
            tensor.int32_data[:] = elements.flatten().tolist()
    nodes = [helper.make_node("Constant", [], ["c"], value=tensor), helper.make_node("Many", [], ["d"], ts=[tensor])]
    model = helper.make_model(helper.make_graph(nodes, "g", [], [], [tensor]))
    path = saved(model, tmp_path)
    data, left = read_graph(path, NONE)
    loaded = ir.from_proto(onnx.load_from_string(data))
    assert left == (array.size > 0 or raw)
    assert len(data) < path.stat().st_size + 150
    link_inline_data(loaded, path)
    found = [place.tensor for place in places(loaded)]
    assert len(found) == 3
    for tensor in found:
        np.testing.assert_array_equal(tensor.numpy(), array)
        assert (tensor.nbytes, tensor.name) == (array.nbytes, "w")


def test_a_file_cut_at_any_byte_is_refused_as_before(tmp_path, at):
    whole = plain("s = Constant <value_ints = [2, 6]> () t = MatMul(x, w) y = Reshape(t, s)").SerializeToString()
    path = tmp_path / "model.onnx"
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        answers = [_answer(at, keep, path) for keep in (NONE, ALL)]
        assert answers[0] == answers[1]
        assert end == 0 or str(path) in answers[0]


def _answer(at, keep, path):
    try:
        return str(at(keep, path, dims={"batch": 4}))
    except neural_cost.ModelError as error:
        return str(error)


def test_weights_beyond_what_protobuf_reads_are_counted_and_not_touched(tmp_path):
    """Three gigabytes in one initializer; the file is sparse, and a page that is read would be in memory."""
    path = huge(tmp_path)
    report = in_its_own_process(path)
    assert report["parameters"] == GIGABYTES // 4
    assert report["peak"] < PEAK
    assert pages_in_memory(path) * mmap.PAGESIZE < 10e6
    with path.open("rb") as file:
        file.read(20 * 10**6)
    assert pages_in_memory(path) * mmap.PAGESIZE > 10e6  # what is read is seen


def test_a_huge_file_that_is_cut_off_is_refused_at_once(tmp_path):
    path = huge(tmp_path)
    with path.open("r+b") as file:
        file.truncate(GIGABYTES // 2)
    with pytest.raises(neural_cost.ModelError, match=r"model\.onnx.*cut off"):
        neural_cost.analyze(path)
    assert pages_in_memory(path) * mmap.PAGESIZE < 10e6


@pytest.mark.parametrize("length", [2, 2000])
def test_a_long_vector_of_integers_is_not_read_as_if_it_were_a_shape(length, tmp_path, monkeypatch):
    body = "p = Identity(t) q = Cast <to = 6> (p) y = MatMul(x, w)"
    model = plain(body, weight=WEIGHT[:-1] + f", int64[{length}] t = {{{', '.join(['1'] * length)}}}>")
    read = []
    whole = inline_data._read
    monkeypatch.setattr(inline_data, "_read", lambda *data: read.append(data) or whole(*data))
    monkeypatch.setattr(model_file, "KEEP", NONE)
    report = neural_cost.analyze(saved(model, tmp_path))
    assert [node.outputs[0].shape for node in report.nodes[:2]] == [(length,)] * 2
    assert bool(read) == (length == 2)


@pytest.mark.parametrize("there", [True, False])
def test_weights_beside_the_file_are_not_opened(there, tmp_path):
    model = external("weights.bin")
    (weight,) = model.graph.initializer
    weight.dims[:] = [4, GIGABYTES // 16]
    del weight.external_data[1:]
    path = saved(model, tmp_path)
    if there:
        with (tmp_path / "weights.bin").open("wb") as file:
            file.truncate(GIGABYTES // 16 * 16)
    report = in_its_own_process(path)
    assert report["parameters"] == 4 * (GIGABYTES // 16)
    assert report["peak"] < PEAK
    assert not [name for name in report["opened"] if "weights.bin" in name]


@pytest.mark.parametrize(("size", "told"), [(16 + 48, False), (16 + 47, True), (16 + 40, True), (0, True)])
def test_a_file_shorter_than_the_graph_says_is_told_of_with_what_it_lacks(size, told, tmp_path):
    """Two weights of (4, 3) floats, one at byte 0 and one at byte 16, in one file: the graph needs 64 bytes."""
    model = external("weights.bin")
    second = model.graph.initializer.add()
    second.CopyFrom(model.graph.initializer[0])
    second.name = "v"
    second.external_data.add(key="offset", value="16")
    path = saved(model, tmp_path)
    (tmp_path / "weights.bin").write_bytes(bytes(size))
    notes = neural_cost.analyze(path).notes
    expected = f'the weight file "weights.bin" is cut off: it has {size} bytes, and the graph needs 64'
    assert notes == ([expected] if told else [])


def test_there_are_canonical_models():
    assert len(CANONICAL) == 5


def huge(folder):
    """A model of one MatMul by a weight of (4, n) whose data, all zeros, takes no room on disk."""
    columns = GIGABYTES // 16
    node = helper.make_node("MatMul", ["x", "w"], ["y"]).SerializeToString()
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", n]) for name, n in (("x", 4), ("y", columns))
    ]
    weight = scalar(1, 4) + scalar(1, columns) + scalar(2, TensorProto.FLOAT) + field(8, b"w") + varint(9 << 3 | 2)
    weight += varint(GIGABYTES)
    graph = field(1, node) + field(11, ends[0].SerializeToString()) + field(12, ends[1].SerializeToString())
    opset = field(8, helper.make_opsetid("", 20).SerializeToString())
    initializer = varint(5 << 3 | 2) + varint(len(weight) + GIGABYTES) + weight
    head = scalar(1, 9) + opset + varint(7 << 3 | 2) + varint(len(graph) + len(initializer) + GIGABYTES)
    path = folder / "model.onnx"
    with path.open("wb") as file:
        file.write(head + graph + initializer)
        file.truncate(file.tell() + GIGABYTES)
    return path


IN_ITS_OWN_PROCESS = """
import json, sys
from pathlib import Path
opened = []
sys.addaudithook(lambda event, arguments: opened.append(str(arguments[0])) if event == "open" else None)
import neural_cost
from benchmarks.worker import peak_bytes
report = neural_cost.analyze(sys.argv[1])
print(json.dumps({"parameters": report.totals.parameters, "opened": opened, "peak": peak_bytes()}))
"""


def in_its_own_process(path):
    """Parameters, the files that were opened, and the peak memory."""
    done = subprocess.run([sys.executable, "-c", IN_ITS_OWN_PROCESS, path], capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    assert any(str(path) in name for name in report["opened"])  # what opens a file is seen
    return report


def pages_in_memory(path):
    """Pages of a file that the system holds in memory: those that someone has read."""
    if sys.platform != "linux":
        pytest.skip("mincore is asked through the C library of Linux")
    libc = ctypes.CDLL(None, use_errno=True)
    size = path.stat().st_size
    pages = -(-size // mmap.PAGESIZE)
    held = (ctypes.c_ubyte * pages)()
    with path.open("rb") as opened, mmap.mmap(opened.fileno(), 0, flags=mmap.MAP_PRIVATE) as mapped:
        first = ctypes.c_char.from_buffer(mapped)
        answer = libc.mincore(ctypes.c_void_p(ctypes.addressof(first)), ctypes.c_size_t(size), held)
        del first
    assert answer == 0
    return sum(page & 1 for page in bytes(held))
