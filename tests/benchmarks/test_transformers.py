"""The transformers of the benchmark, small: they are valid, ONNX Runtime runs them, and the shapes are those it has."""

import onnx
import pytest

import neural_cost
from benchmarks.transformers import Bert, Llama, Weights, write_bert, write_llama

SMALL = {"layers": 2, "hidden": 32, "inner": 48, "heads": 4, "vocabulary": 50}
WRITERS = {
    "llama": (write_llama, Llama(**SMALL), {"batch": 2, "sequence": 3, "past": 5}),
    "llama without past": (write_llama, Llama(**SMALL, past=False), {"batch": 2, "sequence": 3}),
    "bert": (write_bert, Bert(**SMALL), {"batch": 2, "sequence": 3}),
}


@pytest.mark.parametrize(("write", "model", "dims"), WRITERS.values(), ids=WRITERS)
def test_a_run_has_the_shapes_of_the_analysis(write, model, dims, tmp_path):
    path = write(tmp_path / "small.onnx", Weights.EXTERNAL, model)
    onnx.checker.check_model(path, full_check=True)
    verified = neural_cost.verify(neural_cost.analyze(path, dims=dims))
    assert verified.differences == []
    assert verified.unknown == verified.unseen == 0


@pytest.mark.parametrize(("write", "model", "dims"), WRITERS.values(), ids=WRITERS)
def test_sizes_that_the_file_gives_are_those_that_one_would_give(write, model, dims, tmp_path):
    opened = neural_cost.analyze(write(tmp_path / "open.onnx", Weights.MISSING, model), dims=dims)
    fixed = neural_cost.analyze(write(tmp_path / "fixed.onnx", Weights.INLINE, model, dims))
    onnx.checker.check_model(fixed.model.path, full_check=True)
    assert fixed.totals == opened.totals
    assert not fixed.model.dims


@pytest.mark.parametrize("weights", Weights)
def test_where_the_weights_are_changes_no_count(weights, tmp_path):
    write, model, dims = WRITERS["bert"]
    report = neural_cost.analyze(write(tmp_path / "small.onnx", weights, model), dims=dims)
    products = 4 * 32 * 32 + 2 * 32 * 48  # of a token and layer
    assert report.totals.macs == 2 * (2 * 3 * products + 2 * 2 * 3 * 3 * 32)  # layers, tokens, attention
    layer = products + 4 * 32 + 48 + 32 + 2 * 2 * 32  # with biases and two norms
    expected = 50 * 32 + 512 * 32 + 2 * 32 + 2 * layer
    assert report.totals.parameters == expected
    there = (tmp_path / "weights.bin").exists()
    assert there == (weights is Weights.EXTERNAL)
    assert not there or (tmp_path / "weights.bin").stat().st_size == 4 * expected
