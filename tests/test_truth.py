"""The independent truth itself, against counts worked by hand and against the recorded runs of the practice models."""

import numpy as np
import onnx
import pytest

from tests.corpus import PracticeModel, practice_models
from tests.true_macs import FORMULAS, TrueTensor, Work
from tests.truth import truth_of

QUANTIZED_CONV = [(2, 3, 8, 8), (), (), (4, 3, 3, 3), (), (), (), ()]
DOTS = {"equation": b"...ij,...jk->...ik"}
CHAIN = {"equation": b"ij,jk,kl->il"}
LENGTHS = {"waveforms_lens": [16000], "length": [20]}

# id, domain, operator, shapes of inputs (None: absent), shape of the output, attributes, MACs as arithmetic
HAND_WORKED = [
    ("conv", "", "Conv", [(2, 3, 8, 8), (4, 3, 3, 3)], (2, 4, 6, 6), {}, 2 * 4 * 6 * 6 * 3 * 3 * 3),
    ("grouped", "", "Conv", [(1, 6, 9), (6, 2, 5)], (1, 6, 5), {"group": 3}, 6 * 5 * 2 * 5),  # C/group = 2
    ("3-D", "", "Conv", [(1, 1, 4, 4, 4), (2, 1, 2, 2, 2)], (1, 2, 3, 3, 3), {}, 2 * 27 * 8),
    ("integer", "", "ConvInteger", [(1, 2, 4, 4), (3, 2, 1, 1)], (1, 3, 4, 4), {}, 3 * 16 * 2),
    ("quantized", "", "QLinearConv", QUANTIZED_CONV, (2, 4, 6, 6), {}, 2 * 4 * 6 * 6 * 27),
    # input volume, cropped products included
    ("transposed", "", "ConvTranspose", [(1, 3, 5, 5), (3, 2, 2, 2)], (1, 2, 10, 10), {}, 3 * 25 * 2 * 4),
    ("gemm", "", "Gemm", [(2, 3), (3, 5)], (2, 5), {}, 2 * 3 * 5),
    ("gemm, both transposed", "", "Gemm", [(3, 2), (5, 3)], (2, 5), {"transA": 1, "transB": 1}, 2 * 3 * 5),
    ("matmul", "", "MatMul", [(7, 1, 2, 3), (4, 3, 5)], (7, 4, 2, 5), {}, 7 * 4 * 2 * 3 * 5),
    ("dot product", "", "MatMul", [(3,), (3,)], (), {}, 3),
    ("vector by matrices", "", "MatMul", [(3,), (4, 3, 5)], (4, 5), {}, 4 * 3 * 5),
    ("matrix by vector", "", "MatMul", [(2, 3), (3,)], (2,), {}, 2 * 3),
    ("integer matmul", "", "MatMulInteger", [(2, 3), (3, 5)], (2, 5), {}, 2 * 3 * 5),
    ("quantized matmul", "", "QLinearMatMul", [(2, 3), (), (), (3, 5), (), (), (), ()], (2, 5), {}, 2 * 3 * 5),
    ("4-bit", "com.microsoft", "MatMulNBits", [(2, 7, 64), (16, 2, 16)], (2, 7, 16), {"K": 64, "N": 16}, 14 * 64 * 16),
    ("einsum", "", "Einsum", [(2, 3), (3, 5)], (2, 5), {"equation": b"ij, jk -> ik"}, 2 * 3 * 5),
    ("einsum, implicit", "", "Einsum", [(2, 3), (3, 5)], (2, 5), {"equation": b"ij,jk"}, 2 * 3 * 5),
    ("einsum, one operand", "", "Einsum", [(2, 3)], (3, 2), {"equation": b"ij->ji"}, 0),
    # ... is 7x4 here, one operand broadcasts
    ("einsum, dots", "", "Einsum", [(7, 4, 2, 3), (1, 3, 5)], (7, 4, 2, 5), DOTS, 28 * 30),
    # ij,jk: 2*3*4; then the held ik by kl: 2*4*5
    ("einsum, three", "", "Einsum", [(2, 3), (3, 4), (4, 5)], (2, 5), CHAIN, 2 * 3 * 4 + 2 * 4 * 5),
    # steps x batch x gates x hidden x (input + hidden)
    ("rnn", "", "RNN", [(5, 2, 3), (1, 4, 3), (1, 4, 4)], (5, 1, 2, 4), {"hidden_size": 4}, 5 * 2 * 4 * (3 + 4)),
    ("lstm", "", "LSTM", [(5, 2, 3), (2, 16, 3), (2, 16, 4)], (5, 2, 2, 4), {"hidden_size": 4}, 2 * 5 * 2 * 16 * 7),
    ("gru, batch first", "", "GRU", [(2, 5, 3), (1, 12, 3), (1, 12, 4)], (2, 5, 1, 4), {"hidden_size": 4}, 10 * 12 * 7),
    # 2 query heads of 4, 6 keys, value heads of 5
    ("attention", "", "Attention", [(1, 2, 3, 4), (1, 2, 6, 4), (1, 2, 6, 5)], (1, 2, 3, 5), {}, 2 * 3 * 6 * (4 + 5)),
    (
        "attention in 3-D, 10 past keys, shared key head",
        "",
        "Attention",
        [(1, 3, 8), (1, 6, 4), (1, 6, 4), None, (1, 1, 10, 4), (1, 1, 10, 4)],
        (1, 3, 8),
        {"q_num_heads": 2, "kv_num_heads": 1},
        2 * 3 * (6 + 10) * (4 + 4),
    ),
    # projection 3*8 x 24, then 3 queries x 3 keys x (8 + 8)
    ("packed", "com.microsoft", "Attention", [(1, 3, 8), (8, 24), (24,)], (1, 3, 8), {}, 3 * 8 * 24 + 3 * 3 * 16),
]


@pytest.mark.parametrize(("domain", "op", "inputs", "output", "attributes", "macs"), [row[1:] for row in HAND_WORKED],
                         ids=[row[0] for row in HAND_WORKED])  # fmt: skip
def test_formula_equals_the_hand_worked_count(domain, op, inputs, output, attributes, macs):
    tensors = [None if shape is None else TrueTensor("float32", shape) for shape in inputs]
    work = Work(tensors, [TrueTensor("float32", output)], attributes)
    assert FORMULAS[domain, op](work) == macs


def test_shapes_and_macs_of_a_run():
    model = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["": 17]>
        g (float[batch, 4] x, int64[1] repeats) => (float[n, m] z)
        <float[4, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}>
        {
            wt = Transpose(w)
            folded = MatMul(w, wt)
            y = MatMul(x, w)
            steps = Concat <axis = 0> (repeats, repeats)
            z = Tile(y, steps)
        }""")
    truth = truth_of(model, dims={"batch": 2}, feeds={"repeats": np.array([3])})
    assert truth.tensors["y"] == TrueTensor("float32", (2, 3))
    assert truth.tensors["z"] == TrueTensor("float32", (6, 9))
    assert truth.tensors["w"] == TrueTensor("float32", (4, 3))
    assert truth.macs == {2: 2 * 4 * 3}  # the MatMul of constants never runs
    assert truth.unseen == ()


def test_sequences_and_bodies_do_not_break_it():
    model = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["": 17]>
        g (float[2, 4] x, bool c) => (float[2, 4] z)
        {
            parts = SplitToSequence <axis = 0> (x)
            joined = ConcatFromSequence <axis = 0> (parts)
            z = If (c) <
                then_branch = yes () => (float[2, 4] a) { a = Identity(joined) },
                else_branch = no () => (float[2, 4] b) { b = Neg(joined) }>
        }""")
    truth = truth_of(model)
    assert "parts" not in truth.tensors
    assert truth.tensors["z"].shape == (2, 4)
    assert truth.unseen == (2,)


@pytest.mark.long
@pytest.mark.parametrize("model", practice_models(), ids=lambda model: model.name)
def test_truth_equals_the_recorded_run(model: PracticeModel):
    feeds = {name: np.array(LENGTHS[name]) for name in LENGTHS if name in _input_names(model)}
    truth = truth_of(model.file(), dims=model.dims, feeds=feeds)
    recorded = {name: TrueTensor(*output) for node in model.nodes for name, output in node.outputs.items()}
    assert {name: truth.tensors.get(name) for name in recorded} == recorded
    assert {index: macs for index, macs in truth.macs.items() if macs} == {
        n.index: n.macs for n in model.nodes if n.macs
    }
    assert truth.total_macs == model.macs_main


def _input_names(model: PracticeModel) -> set[str]:
    return {value.name for value in onnx.load(model.file()).graph.input}
