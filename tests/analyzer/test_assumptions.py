"""Assumed sizes that something in the graph speaks against."""

import onnx
import onnx.parser
import pytest

import neural_cost
from neural_cost.models import path

HEADER = '<ir_version: 8, opset_import: ["": 17]>'
# scores of 3 x 3 under a mask whose last dimension has a name of its own, as an exporter wrote it
MASKED = f"""{HEADER} g (float[batch, 2, seq, 8] q, float[batch, 1, 1, MASK] mask) => (float[a, b, c, d] y) {{
    t = Transpose <perm = [0, 1, 3, 2]> (q)  s = MatMul(q, t)  y = Add(s, mask) }}"""


@pytest.fixture
def notes_of(tmp_path):
    def notes_of(text, mask, **dims):
        model = onnx.parser.parse_model(text.replace("MASK", "mask_size"))
        model.graph.input[-1].type.tensor_type.shape.dim[-1].dim_param = mask
        onnx.save(model, tmp_path / "model.onnx")
        return neural_cost.analyze(tmp_path / "model.onnx", dims=dims).notes

    return notes_of


def test_a_size_of_one_that_is_repeated_is_doubted(notes_of):
    (note,) = notes_of(MASKED, "mask_size", batch=2, seq=3)
    assert note == ('the dimension "mask_size" is assumed, and its 1 is repeated to 3 in Add node "2": give its size')


def test_a_name_that_computes_with_foreign_names_is_doubted(notes_of):
    (note,) = notes_of(MASKED, "past_seq_len + seq_len", batch=2, seq=3)
    assert "computes with past_seq_len, seq_len, which no input has" in note
    assert "its 1 is repeated to 3" in note
    (note,) = notes_of(MASKED, "past_seq_len + seq_len")  # all of them 1, so nothing is repeated
    assert note.endswith("which no input has: give its size")


@pytest.mark.parametrize(
    ("mask", "said"),
    [
        ("seq - 2", "computes with seq: it would be -1"),
        ("seq // 0", "computes with seq: arithmetic that is not followed here"),
        ("floor(seq/2)", "computes with seq: arithmetic that is not followed here"),
        ("seq/2", "computes with seq: arithmetic that is not followed here"),
    ],
)
def test_a_name_that_says_another_size_is_doubted(mask, said, notes_of):
    (note,) = notes_of(MASKED, mask)
    assert said in note


@pytest.mark.parametrize(
    ("mask", "dims"),
    [
        ("seq", {"batch": 2, "seq": 3}),
        ("mask_size", {"batch": 2, "seq": 3, "mask_size": 1}),  # who gives 1 means it
        ("mask_size", {"batch": 2}),
        ("seq + 0", {"batch": 2, "seq": 3}),
        ("mask.seq", {"batch": 2}),
    ],
)
def test_what_fits_is_not_doubted(mask, dims, notes_of):
    assert notes_of(MASKED, mask, **dims) == []


@pytest.mark.parametrize("name", ["cnn", "dnn", "lstm", "rnn", "transformer"])
def test_the_families_are_not_doubted(name):
    assert neural_cost.analyze(path(name)).notes == []
