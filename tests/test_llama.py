"""Llama-2-7B from its shape figures, without its 13 GB of weights: each figure beside the arithmetic that gives it."""

from math import isclose

import pytest

import neural_cost
from benchmarks.transformers import Llama, Weights, write_llama

LAYERS, HIDDEN, INNER, HEADS, VOCABULARY = 32, 4096, 11008, 32, 32000
ATTENTION = 4 * HIDDEN * HIDDEN  # query, key, value and output projections
FEED_FORWARD = 3 * HIDDEN * INNER  # gate, up and down
NORMS = 2 * HIDDEN  # one before attention, one before the feed-forward
HEAD = VOCABULARY * HIDDEN  # a matrix of its own, as large as the embedding
EMBEDDING = VOCABULARY * HIDDEN
PARAMETERS = EMBEDDING + LAYERS * (ATTENTION + FEED_FORWARD + NORMS) + HIDDEN + HEAD
MACS_A_TOKEN = LAYERS * (ATTENTION + FEED_FORWARD) + HEAD  # the embedding is looked up, and norms are no contraction


def attention_macs(queries: int, keys: int) -> int:
    """Scores, and values weighted by them: each query meets each key once in all dimensions, in each layer."""
    return LAYERS * 2 * queries * keys * HIDDEN


@pytest.fixture(scope="module")
def decoder(tmp_path_factory):
    return write_llama(tmp_path_factory.mktemp("llama") / "decoder.onnx", Weights.MISSING)


@pytest.fixture(scope="module")
def prefill(tmp_path_factory):
    path = write_llama(tmp_path_factory.mktemp("llama") / "prefill.onnx", Weights.MISSING, Llama(past=False))
    return neural_cost.analyze(path, dims={"batch": 1, "sequence": 128})


@pytest.fixture(scope="module")
def decode(decoder):
    return neural_cost.analyze(decoder, dims={"batch": 1, "sequence": 1, "past": 2047})


def test_no_weights_are_there_and_all_is_known(decoder, decode):
    assert [path.name for path in decoder.parent.iterdir()] == ["decoder.onnx"]
    assert decode.totals.complete
    assert decode.notes == []


def test_parameters(prefill, decode):
    """The 64 frequencies of the rotary embedding are none, nor are shapes and the epsilon."""
    assert prefill.totals.parameters == decode.totals.parameters == PARAMETERS == 6_738_415_616
    assert decode.totals.parameter_bytes == 2 * PARAMETERS  # float16


def test_macs_of_a_prompt_of_128_tokens(prefill):
    expected = 128 * MACS_A_TOKEN + attention_macs(128, 128)
    assert prefill.totals.macs == expected
    assert isclose(expected, 850.0009e9, abs_tol=5e4)
    assert prefill.totals.macs_by_type == {"float16": expected}


def test_flops_of_a_token_from_weights(prefill, decode):
    """What products with weights take: 2 FLOPs a MAC. Products of activations are the rest."""
    expected = 2 * MACS_A_TOKEN
    assert isclose(expected, 13.214e9, abs_tol=5e5)
    for report, tokens in ((prefill, 128), (decode, 1)):
        by_weights = sum(node.macs for node in report.nodes if node.op_type == "MatMul" and node.inputs[1].constant)
        assert 2 * by_weights == tokens * expected


def test_flops_of_decoding_one_token_at_a_context_of_2048(decode):
    expected = 2 * (MACS_A_TOKEN + attention_macs(1, 2047 + 1))
    assert 2 * decode.totals.macs == expected
    assert isclose(expected, 14.29e9, abs_tol=5e6)


def test_bytes_of_keys_and_values_a_token(decode):
    """Two tensors a layer, of a head's size for each head, in float16: the bytes of the past by its length."""
    past = {tensor.name: tensor for node in decode.nodes for tensor in node.inputs if "past_" in tensor.name}
    assert len(past) == 2 * LAYERS
    assert all(tensor.shape == (1, HEADS, 2047, HIDDEN // HEADS) for tensor in past.values())
    expected = 2 * LAYERS * HIDDEN * 2
    assert sum(tensor.bytes for tensor in past.values()) == 2047 * expected
    assert isclose(expected, 0.524e6, abs_tol=500)
