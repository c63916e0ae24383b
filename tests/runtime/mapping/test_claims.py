"""Every MAC of the file is in exactly one kernel, and the tensors between kernels are those of the file."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from neural_cost.models import NAMES, path
from neural_cost.runtime.mapping.aliases import aliases
from neural_cost.runtime.mapping.executed import executed_graph
from neural_cost.runtime.mapping.source import SourceGraph, source_nodes
from neural_cost.runtime.session import LEVELS
from tests.runtime.mapping.executed_models import Mapped, mapped, same_elements, values

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
LIGHT_NAMES = ("squeezenet", "shufflenet", "densenet121", "resnet50", "inception_v1", "inception_v2", "bvlc_alexnet",
               "zfnet512", "vgg19")  # fmt: skip


def check(found: Mapped) -> None:
    """Each node has one kernel, each MAC and each kernel is accounted for."""
    places = [place for claim in found.claims if not claim.joined for place in claim.places]
    assert len(places) == len(set(places))
    assert found.macs() == found.report.totals.macs > 0
    left = set(range(len(found.report.nodes))) - set(places)
    assert all(found.report.nodes[place].constant for place in left)
    assert [claim.node.name for claim in found.claims if not claim.places and not claim.inserted] == []


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", NAMES)
def test_families(name, level, tmp_path):
    check(mapped(path(name), tmp_path, level))


@pytest.mark.parametrize("name", LIGHT_NAMES[:3])
def test_light_models(name, tmp_path):
    check(mapped(LIGHT / f"light_{name}.onnx", tmp_path))


@pytest.mark.long
@pytest.mark.parametrize("name", LIGHT_NAMES[3:])
def test_large_light_models(name, tmp_path):
    check(mapped(LIGHT / f"light_{name}.onnx", tmp_path))


@pytest.mark.parametrize("name", ["squeezenet", "shufflenet", "densenet121"])
def test_a_convolution_is_one_convolution(name, tmp_path):
    """A blocked convolution has as many MACs as its weights and its result say; those made of other nodes have none."""
    found = mapped(LIGHT / f"light_{name}.onnx", tmp_path)
    for claim in found.claims:
        if claim.node.op_type in ("Conv", "FusedConv", "Gemm", "FusedGemm", "MatMul", "FusedMatMul"):
            products = [op for op in found.operators(claim) if op in ("Conv", "Gemm", "MatMul")]
            assert len(products) == (0 if claim.node.name.endswith(("_bn_nchwc", "_mul_nchwc")) else 1)
        else:
            assert not {"Conv", "Gemm", "MatMul"} & set(found.operators(claim))


@pytest.mark.parametrize("name", ["squeezenet", "shufflenet", "densenet121"])
def test_aliases_hold_what_they_are_said_to(name, tmp_path):
    """Both graphs are run with every tensor shown: what has another name holds the same elements."""
    found = mapped(LIGHT / f"light_{name}.onnx", tmp_path)
    graph = executed_graph(onnx.load(found.optimized, load_external_data=False).graph)
    source = SourceGraph(source_nodes(found.report.nodes)["main"], graph.tensors)
    said = aliases(graph, source, {})
    true, run = values(LIGHT / f"light_{name}.onnx", found.report), values(found.optimized, found.report)
    renamed = [(mine, its) for mine, its in said.items() if mine != its and mine in run and its in true]
    assert len(renamed) > 20
    assert [(mine, its) for mine, its in renamed if not same_elements(run[mine], true[its])] == []


def written(text: str, folder: Path) -> Path:
    file = folder / "model.onnx"
    onnx.save(onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]>\n{text}'), file)
    return file


def test_a_sum_that_a_convolution_draws_in(tmp_path):
    """The second convolution adds what the first read, and rectifies the sum: one kernel of three nodes."""
    text = """g (float[1, 16, 8, 8] x) => (float[1, 16, 8, 8] y)
        <float[16, 16, 3, 3] w, float[16, 16, 3, 3] v> {
        a = Conv <pads = [1, 1, 1, 1]> (x, w)  b = Relu(a)
        c = Conv <pads = [1, 1, 1, 1]> (b, v)  d = Add(c, b)  y = Relu(d) }"""
    file = written(text, tmp_path)
    model = onnx.load(file)
    weights = [onnx.helper.make_tensor(n, 1, (16, 16, 3, 3), [0.01 * k for k in range(2304)]) for n in "wv"]
    del model.graph.initializer[:]
    model.graph.initializer.extend(weights)
    onnx.save(model, file)
    found = mapped(file, tmp_path)
    check(found)
    kernels = [found.operators(claim) for claim in found.claims if claim.places]
    assert kernels == [["Conv", "Relu"], ["Conv", "Add", "Relu"]]


def test_branches_with_equal_weights_run_once(tmp_path):
    """Both products are the same: one kernel has the nodes of both, and computes them once."""
    text = """g (float[2, 3] x) => (float[2, 8] y)
        <int64[2] s = {3, 4}> {
        w = ConstantOfShape <value = float[1] {2}> (s)  v = ConstantOfShape <value = float[1] {2}> (s)
        a = MatMul(x, w)  b = MatMul(x, v)  c = Relu(a)  d = Relu(b)  y = Concat <axis = 1> (c, d) }"""
    found = mapped(written(text, tmp_path), tmp_path)
    check(found)
    (product,) = [claim for claim in found.claims if claim.node.op_type == "MatMul"]
    assert found.operators(product) == ["MatMul", "MatMul"]
    assert len(product.twins) == 1


def test_bodies_have_kernels_of_their_own(tmp_path):
    text = """g (int64 n, float[2, 2] x) => (float[2, 2] y) <float[2, 2] w = {1, 0, 0, 1}> {
        go = Constant <value = bool {1}> ()
        y = Loop (n, go, x) <body = b (int64 i, bool c, float[2, 2] s) => (bool more, float[2, 2] t) {
            more = Identity(c)  p = MatMul(s, w)  t = Relu(p) }> }"""
    found = mapped(written(text, tmp_path), tmp_path)
    inside = [claim for claim in found.claims if claim.graph != "main"]
    assert ["MatMul"] in [found.operators(claim) for claim in inside]
