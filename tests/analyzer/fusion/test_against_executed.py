"""The fusion model beside what ONNX Runtime makes of a file: the same groups, and never less fused than it."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from neural_cost.analyzer.fusion.groups import fusion_graph, fusion_groups
from neural_cost.analyzer.fusion.work import fused_works
from neural_cost.analyzer.kernel_work import kernel_work, needed_outside, read_outside
from neural_cost.models import path
from neural_cost.runtime.calibrate.kernels.measure import nchwc_block
from tests.corpus import practice_models
from tests.runtime.mapping.executed_models import Mapped, mapped
from tests.transformer_models import export, export_by_trace

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
LIGHT_NAMES = ("squeezenet", "shufflenet", "resnet50", "inception_v1")
OTHER_LIGHT = ("densenet121", "inception_v2", "bvlc_alexnet", "zfnet512", "vgg19")


def foreseen(found: Mapped) -> float:
    """Of the groups that ONNX Runtime formed, the part that the model foresees; views do nothing, and are left out."""
    nodes = found.report.nodes

    def told(places) -> frozenset[int]:
        return frozenset(place for place in places if nodes[place].kind != "views")

    mine = {told(group.places) for group in fusion_groups(fusion_graph(found.report, nchwc_block()))}
    real = {told(claim.places) for claim in found.claims if not claim.joined and not claim.inserted} - {frozenset()}
    return len(real & mine) / len(real)


def executed_bytes(found: Mapped) -> int:
    """What the kernels that ONNX Runtime formed move."""
    nodes = found.report.nodes
    readers = needed_outside(nodes, found.report.opened.returned)
    total = 0
    for claim in found.claims:
        members = set(claim.places)
        if members and not claim.joined:
            ran = [nodes[place] for place in claim.places]
            work = kernel_work(ran, read_outside(ran, members, readers))
            total += work.bytes_moved * nodes[claim.places[0]].repeats
    return total


def check(found: Mapped, least: float) -> None:
    assert foreseen(found) >= least
    static = sum(
        work.bytes_moved * work.repeats for work in fused_works(found.report.nodes, found.report.opened.returned)
    )
    assert 0 < static <= 1.001 * executed_bytes(found)
    assert found.report.totals.compulsory_bytes <= found.report.totals.fused_bytes <= found.report.totals.per_op_bytes


@pytest.mark.parametrize(("name", "least"), [("dnn", 1), ("cnn", 1), ("transformer", 1), ("rnn", 0.8), ("lstm", 1)])
def test_families(name, least, tmp_path):
    check(mapped(path(name), tmp_path, dims={"batch": 16}), least)


@pytest.mark.parametrize("name", LIGHT_NAMES)
def test_light_models(name, tmp_path):
    check(mapped(LIGHT / f"light_{name}.onnx", tmp_path), 1)


@pytest.mark.long
@pytest.mark.parametrize("name", OTHER_LIGHT)
def test_other_light_models(name, tmp_path):
    check(mapped(LIGHT / f"light_{name}.onnx", tmp_path), 0.85)


@pytest.mark.long
@pytest.mark.parametrize(("name", "least"), [("bert", 1), ("gpt2", 0.85), ("vit", 0.85)])
def test_transformers(name, least, tmp_path):
    exported = export(name, tmp_path)
    dims = {dim: {"batch": 8, "steps": 32}[dim] for dim in exported.dims}
    check(mapped(exported.file, tmp_path, dims=dims), least)


@pytest.mark.long
def test_a_trace_whose_shapes_are_not_known_before_a_run(tmp_path):
    """ONNX Runtime fuses no SkipLayerNormalization there, as it cannot tell that shapes are the same."""
    found = mapped(export_by_trace("gpt2", tmp_path).file, tmp_path, dims={"batch": 8, "steps": 32})
    groups = fusion_groups(fusion_graph(found.report, nchwc_block()))
    assert "SkipLayerNormalization" not in {group.kernel for group in groups}
    check(found, 0.95)


@pytest.mark.long
@pytest.mark.parametrize("name", ["ch_PP-OCRv4_det_infer", "open-nsfw", "nakdimon", "silero_vad_16k_sequence"])
def test_practice_models(name, tmp_path):
    (model,) = [each for each in practice_models() if each.name == name]
    check(mapped(model.file(), tmp_path, dims=model.dims), 0.95)
