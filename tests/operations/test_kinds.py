"""What each kind of operation costs, worked by hand from its definition."""

from __future__ import annotations

import pytest

from neural_cost import Operation, OptionError, estimate_operations

HIDDEN = 5 * 2 * 4  # steps x batch x hidden, of the recurrent rows: x is (5, 2, 3), hidden 4

# operation, MACs, other FLOPs, of them transcendental, bytes read, bytes written, parameters
ROWS = {
    "linear": (
        Operation("classifier", "linear", ((32, 768), (768, 1000)), (32, 1000), 2),
        32 * 768 * 1000, 0, 0, 2 * (32 * 768 + 768 * 1000), 2 * 32 * 1000, 768 * 1000,
    ),
    "linear with bias, as torch stores it": (
        Operation("fc", "linear", ((4, 8, 16), (32, 16), (32,)), (4, 8, 32), 4),
        4 * 8 * 16 * 32, 4 * 8 * 32, 0, 4 * (4 * 8 * 16 + 32 * 16 + 32), 4 * 4 * 8 * 32, 32 * 16 + 32,
    ),
    "matmul that broadcasts": (
        Operation("qk", "matmul", ((2, 4, 3, 5), (5, 7)), (2, 4, 3, 7), 4),
        2 * 4 * 3 * 7 * 5, 0, 0, 4 * (120 + 35), 4 * 168, 0,
    ),
    "matmul with a weight": (
        Operation("qk", "matmul", ((3, 5), (5, 7)), (3, 7), 4, weights=(1,)),
        3 * 7 * 5, 0, 0, 4 * (15 + 35), 4 * 21, 35,
    ),
    "conv2d": (
        Operation("conv", "conv2d", ((1, 3, 8, 8), (16, 3, 3, 3), (16,)), (1, 16, 8, 8), 4),
        16 * 8 * 8 * 27, 16 * 8 * 8, 0, 4 * (3 * 64 + 16 * 27 + 16), 4 * 16 * 64, 16 * 27 + 16,
    ),
    "conv2d, depthwise, of which a stride of 2 skips three quarters": (
        Operation("conv", "conv2d", ((1, 4, 8, 8), (4, 1, 1, 1)), (1, 4, 4, 4), 4),
        4 * 16, 0, 0, 4 * (4 * 4 * 4 + 4), 4 * 64, 4,
    ),
    "embedding": (
        Operation("tokens", "embedding", ((2, 5), (100, 8)), (2, 5, 8), 4),
        0, 0, 0, 8 * 10 + 4 * 10 * 8, 4 * 80, 800,  # positions, and the rows that they take
    ),
    "attention": (  # 2 x 2 x 6 x 6 scores of 4 MACs, and as many for their sums; queries and keys are scaled
        Operation("attend", "attention", ((2, 6, 8),) * 3, (2, 6, 8), 4, heads=2),
        2 * (2 * 2 * 6 * 6) * 4, 5 * 144 + 96 + 96, 2 * 144, 4 * 3 * 96, 4 * 96, 0,
    ),
    "attention, causal": (  # one add for the mask of each score
        Operation("attend", "attention", ((2, 2, 6, 4),) * 3, (2, 2, 6, 4), 4, causal=True),
        2 * (2 * 2 * 6 * 6) * 4, 6 * 144 + 96 + 96, 2 * 144, 4 * 3 * 96, 4 * 96, 0,
    ),
    "attention, grouped": (  # 4 heads of 3 queries and 5 keys, 2 wide; the keys' heads are shared by two
        Operation("attend", "attention", ((1, 3, 8), (1, 5, 4), (1, 5, 4)), (1, 3, 8), 4, heads=4, kv_heads=2),
        2 * (4 * 3 * 5) * 2, 5 * 60 + 24 + 20, 2 * 60, 4 * (24 + 20 + 20), 4 * 24, 0,
    ),
    "rnn": (  # both biases, tanh
        Operation("rnn", "rnn", ((5, 2, 3), (4, 3), (4, 4), (8,)), (5, 2, 4), 4),
        HIDDEN * (3 + 4), HIDDEN * 3, HIDDEN, 4 * (30 + 12 + 16 + 8), 4 * HIDDEN, 12 + 16 + 8,
    ),
    "rnn with relu, last state": (
        Operation("rnn", "rnn", ((5, 2, 3), (4, 3), (4, 4)), (2, 4), 4, op="Relu"),
        HIDDEN * (3 + 4), HIDDEN, 0, 4 * (30 + 12 + 16), 4 * 8, 12 + 16,
    ),
    "lstm": (  # 8 biases, 3 sigmoids of 3, 2 tanh, f * C + i * c, o * h
        Operation("lstm", "lstm", ((5, 2, 3), (16, 3), (16, 4), (32,)), (5, 2, 4), 4),
        HIDDEN * 4 * (3 + 4), HIDDEN * (8 + 9 + 2 + 3 + 1), HIDDEN * (3 * 2 + 2),
        4 * (30 + 48 + 64 + 32), 4 * HIDDEN, 48 + 64 + 32,
    ),
    "gru, both directions, reset after the product": (  # 6 biases, 2 sigmoids, multiply and add, tanh, (1 - z) h + z H
        Operation("gru", "gru", ((5, 2, 3), (2, 12, 3), (2, 12, 4), (2, 24)), (5, 2, 8), 4, reset_after=True),
        2 * HIDDEN * 3 * (3 + 4), 2 * HIDDEN * (6 + 6 + 2 + 1 + 4), 2 * HIDDEN * (2 * 2 + 1),
        4 * (30 + 72 + 96 + 48), 4 * 2 * HIDDEN, 72 + 96 + 48,
    ),
    "gru": (  # one FLOP less for each unit
        Operation("gru", "gru", ((5, 2, 3), (12, 3), (12, 4), (24,)), (5, 2, 4), 4),
        HIDDEN * 3 * (3 + 4), HIDDEN * (6 + 6 + 1 + 1 + 4), HIDDEN * (2 * 2 + 1),
        4 * (30 + 36 + 48 + 24), 4 * HIDDEN, 36 + 48 + 24,
    ),
    "elementwise": (Operation("relu", "elementwise", ((10, 3),), (10, 3), 4), 0, 30, 0, 120, 120, 0),
    "elementwise of two": (Operation("add", "elementwise", ((3, 4), (4,)), (3, 4), 2), 0, 12, 0, 2 * 16, 2 * 12, 0),
    "elementwise with a weight": (
        Operation("bias", "elementwise", ((3, 4), (4,)), (3, 4), 4, op="Add", weights=(1,)),
        0, 12, 0, 4 * 16, 4 * 12, 4,
    ),
    "elementwise, named": (  # 0.5 * x * (1 + erf(x / sqrt 2)): three products, an add, an erf
        Operation("gelu", "elementwise", ((10,),), (10,), 4, op="Gelu"), 0, 50, 10, 40, 40, 0,
    ),
    "softmax": (Operation("softmax", "softmax", ((2, 3),), (2, 3), 4), 0, 5 * 6, 2 * 6, 24, 24, 0),
    "layernorm": (  # mean n + 1, variance 3n + 1, 1 / std 3, times n; scale and bias 2n, for 4 rows of 8
        Operation("norm", "layernorm", ((4, 8), (8,), (8,)), (4, 8), 4),
        0, 4 * (8 + 1 + 24 + 1 + 3 + 8 + 16), 4 * 4, 4 * (32 + 16), 4 * 32, 16,
    ),
    "layernorm without scale": (
        Operation("norm", "layernorm", ((4, 8),), (4, 8), 4), 0, 4 * (8 + 1 + 24 + 1 + 3 + 8), 4 * 4, 128, 128, 0,
    ),
    "rmsnorm": (  # square, sum, divide, scale: 4n; mean, epsilon, root: 3, for 4 rows of 8
        Operation("norm", "rmsnorm", ((4, 8), (8,)), (4, 8), 4), 0, 4 * (32 + 3), 32 + 2 * 4, 4 * 40, 4 * 32, 8,
    ),
    "batchnorm": (  # multiply and add; for a channel add, root, divide, multiply, subtract. Statistics are no weights
        Operation("norm", "batchnorm", ((2, 3, 4, 4), (3,), (3,), (3,), (3,)), (2, 3, 4, 4), 4),
        0, 2 * 96 + 5 * 3, 2 * 3, 4 * (96 + 12), 4 * 96, 6,
    ),
    "pooling": (
        Operation("pool", "pooling", ((1, 3, 8, 8),), (1, 3, 4, 4), 4, kernel=(2, 2)),
        0, 48 * 4, 0, 4 * 192, 4 * 48, 0,
    ),
    "pooling of all": (  # an add for each pixel, a division for each channel
        Operation("pool", "pooling", ((1, 3, 8, 8),), (1, 3, 1, 1), 4, op="AveragePool"),
        0, 192 + 3, 3, 4 * 192, 4 * 3, 0,
    ),
    "custom": (
        Operation("fft", "custom", ((8,), (2,)), (8,), 4, macs=10, flops=25, special_ops=2, weights=[1]),
        10, 5, 2, 4 * 10, 4 * 8, 2,
    ),
    "custom that states its bytes": (
        Operation("own", "custom", ((8,),), (8,), 4, macs=0, flops=0, read_bytes=1, write_bytes=0),
        0, 0, 0, 1, 0, 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_cost_by_hand(name):
    operation, macs, other, special, read, written, parameters = ROWS[name]
    found = estimate_operations([operation])
    assert found.complete
    assert (found.macs, found.totals.other_flops, found.totals.special_ops) == (macs, other, special)
    assert found.flops == 2 * macs + other
    assert (found.read_bytes, found.write_bytes, found.parameters) == (read, written, parameters)


def test_every_kind_has_a_row():
    from neural_cost.operations.record import KINDS

    assert {operation.kind for operation, *_ in ROWS.values()} == set(KINDS)


@pytest.mark.parametrize("name", ROWS)
def test_an_operation_is_made_again_from_its_dict(name):
    operation = ROWS[name][0]
    assert Operation(**operation.to_dict()) == operation
    assert eval(repr(operation)) == operation


WRONG = {
    "there is no kind 'liner' (did you mean \"linear\"?)": {"kind": "liner"},
    "its weight is [4, 5] and should be [3, 7] or [7, 3]": {"input_shapes": ((2, 3), (4, 5)), "output_shape": (2, 7)},
    "linear has 2 to 3 input shapes, not 1": {"input_shapes": ((2, 3),)},
    "linear needs the shape of its output": {"output_shape": None},
    "[2, -3] has a size below 0": {"input_shapes": ((2, -3), (3, 7))},
    "a shape is a sequence of whole numbers, not (2.5, 3)": {"input_shapes": ((2.5, 3), (3, 7))},
    "bytes_per_element cannot be 3": {"bytes_per_element": 3},
    "bfloat16 has 16 bits, not 4 bytes": {"dtype": "bfloat16"},
    "there is no element type 'half'": {"dtype": "half"},
    "linear has no heads; it is of attention": {"heads": 2},
    "linear has no weights; it is of matmul, elementwise, custom": {"weights": (1,)},
    "repeats cannot be -1": {"repeats": -1},
    "its output is [2, 8] and should be [2, 7]": {
        "kind": "matmul", "input_shapes": ((2, 3), (3, 7)), "output_shape": (2, 8),
    },
    "should be [8, 1, 3, 3]": {
        "kind": "conv2d", "input_shapes": ((1, 8, 4, 4), (8, 3, 3, 3)), "output_shape": (1, 8, 4, 4), "groups": 8,
    },
    "with strides of [1, 1] the output would be larger than [4, 4]": {
        "kind": "conv2d", "input_shapes": ((1, 1, 8, 8), (1, 1, 1, 1)), "output_shape": (1, 1, 4, 4), "strides": (1, 1),
    },
    # Windows of 3 that touch 4 elements start at one of -2 to 3.
    "[4, 4] has at most [6, 6] windows of [3, 3], not [7, 6]": {
        "kind": "conv2d", "input_shapes": ((1, 1, 4, 4), (1, 1, 3, 3)), "output_shape": (1, 1, 7, 6),
    },
    "[8, 8] has at most [5, 5] windows of [2, 2], not [8, 8]": {
        "kind": "pooling", "input_shapes": ((1, 1, 8, 8),), "output_shape": (1, 1, 8, 8), "kernel": (2, 2),
        "strides": (2, 2),
    },
    "attention over (batch, tokens, width) needs heads": {
        "kind": "attention", "input_shapes": ((1, 2, 4),) * 3, "output_shape": (1, 2, 4),
    },
    "[1, 2, 4] cannot be in 3 heads": {
        "kind": "attention", "input_shapes": ((1, 2, 4),) * 3, "output_shape": (1, 2, 4), "heads": 3,
    },
    "query, key and value should share their batch": {
        "kind": "attention", "input_shapes": ((1, 2, 4), (1, 3, 4), (1, 2, 4)), "output_shape": (1, 2, 4), "heads": 2,
    },
    "its weight is [1, 8, 3] and should be [1, 16, 3]": {
        "kind": "lstm", "input_shapes": ((5, 2, 3), (8, 3), (16, 4)), "output_shape": (5, 2, 4),
    },
    "holds neither the states of all steps nor the last one": {
        "kind": "rnn", "input_shapes": ((5, 2, 3), (4, 3), (4, 4)), "output_shape": (5, 2, 5),
    },
    "'MatMul' is no elementwise operator": {
        "kind": "elementwise", "input_shapes": ((3,),), "output_shape": (3,), "op": "MatMul",
    },
    "[3], [4] do not broadcast": {"kind": "elementwise", "input_shapes": ((3,), (4,)), "output_shape": (3,)},
    "its scale or bias is [4] and should be [3]": {
        "kind": "layernorm", "input_shapes": ((2, 3), (4,)), "output_shape": (2, 3),
    },
    "batchnorm has 5 input shapes, not 1": {"kind": "batchnorm", "input_shapes": ((1, 2),), "output_shape": (1, 2)},
    "'MinPool' is no pooling operator": {
        "kind": "pooling", "input_shapes": ((1, 1, 4),), "output_shape": (1, 1, 2), "op": "MinPool",
    },
    "19 flops are fewer than 2 for each of 10 MACs": {"kind": "custom", "macs": 10, "flops": 19},
    "has one that is not there": {"kind": "custom", "weights": (2,)},
}  # fmt: skip


@pytest.mark.parametrize("message", WRONG)
def test_what_does_not_fit_is_told(message):
    right = {
        "name": "fc", "kind": "linear", "input_shapes": ((2, 3), (3, 7)), "output_shape": (2, 7),
        "bytes_per_element": 4,
    }  # fmt: skip
    Operation(**right)
    with pytest.raises(OptionError) as error:
        Operation(**right | WRONG[message])
    assert message in str(error.value)
    assert str(error.value).startswith('operation "fc": ')
