import pytest

from neural_cost.analyzer.node import Unknown
from tests.analyzer.rules.make import cost_of, tensor
from tests.analyzer.rules.table import Row, parametrize, untested

N = 2 * 3 * 5
X = (2, 3, 5)

# FLOPs of one element, and how many of them are transcendental.
UNARY = {
    "Abs": (1, 0), "Neg": (1, 0), "Sign": (1, 0), "Floor": (1, 0), "Ceil": (1, 0), "Round": (1, 0),
    "Reciprocal": (1, 1), "Exp": (1, 1), "Log": (1, 1), "Sqrt": (1, 1), "Erf": (1, 1),
    "Sin": (1, 1), "Cos": (1, 1), "Tan": (1, 1), "Asin": (1, 1), "Acos": (1, 1), "Atan": (1, 1),
    "Sinh": (1, 1), "Cosh": (1, 1), "Tanh": (1, 1), "Asinh": (1, 1), "Acosh": (1, 1), "Atanh": (1, 1),
    "IsNaN": (1, 0), "IsInf": (1, 0),
    "Relu": (1, 0),  # a comparison
    "ThresholdedRelu": (1, 0),  # a comparison
    "LeakyRelu": (2, 0),  # compare, multiply
    "Sigmoid": (3, 2),  # EXP, add, DIVIDE
    "HardSigmoid": (2 + 2, 0),  # multiply, add; min, max
    "HardSwish": (2 + 2 + 1, 0),  # a hard sigmoid, multiply
    "Elu": (4, 1),  # compare, EXP, subtract, multiply
    "Selu": (4 + 1, 1),  # an Elu, multiply
    "Celu": (7, 1),  # max, min, add; multiply, EXP, subtract, multiply
    "Softplus": (3, 2),  # EXP, add, LOG
    "Softsign": (3, 1),  # absolute, add, DIVIDE
    "Mish": (3 + 2, 2 + 1),  # a Softplus, TANH, multiply
    "Shrink": (3, 0),  # compare, compare, add
    "Gelu": (5, 1),  # scale, ERF, add, multiply, multiply
    "Swish": (3 + 1, 2),  # a Sigmoid, multiply
}  # fmt: skip

BINARY = {
    "Add": (1, 0), "Sub": (1, 0), "Mul": (1, 0), "Div": (1, 1), "Pow": (1, 1), "Mod": (1, 1),
    "Equal": (1, 0), "Greater": (1, 0), "GreaterOrEqual": (1, 0), "Less": (1, 0), "LessOrEqual": (1, 0),
    "PRelu": (2, 0),  # compare, multiply
    "SwiGLU": (3 + 1 + 1, 2),  # a Swish, multiply
}  # fmt: skip

ROWS = [
    *[
        Row(op.lower(), op, [X], [X], other=N * flops, special=N * special, read=4 * N, write=4 * N)
        for op, (flops, special) in UNARY.items()
    ],
    *[
        # (2, 3, 5) with (3, 1) broadcast: 30 results from 30 + 3 elements
        Row(f"{op.lower()}_broadcast", op, [X, (3, 1)], [X], version=28, other=N * flops, special=N * special,
            read=4 * (N + 3), write=4 * N)
        for op, (flops, special) in BINARY.items()
    ],
    *[
        Row(op.lower(), op, [(X, "bool"), (X, "bool")], [(X, "bool")], other=N, read=2 * N, write=N, other_type="bool")
        for op in ("And", "Or", "Xor")
    ],
    *[
        Row(op.lower(), op, [(X, "int16"), (X, "int16")], [(X, "int16")], other=N, read=4 * N, write=2 * N,
            other_type="int16")
        for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitShift")
    ],
    Row("not", "Not", [(X, "bool")], [(X, "bool")], other=N, read=N, write=N),
    Row("bitwise_not", "BitwiseNot", [(X, "uint8")], [(X, "uint8")], other=N, read=N, write=N),
    Row("add_both_broadcast", "Add", [(4, 1), (1, 6)], [(4, 6)], other=4 * 6, read=4 * (4 + 6), write=4 * 24),
    Row("add_shape_arithmetic", "Add", [((2,), "int64"), ((2,), "int64")], [((2,), "int64")], other=2,
        read=2 * 2 * 8, write=2 * 8, other_type="int64"),
    Row("square_reads_once", "Mul", [tensor("x", X), tensor("x", X)], [X], other=N, read=4 * N, write=4 * N),
    Row("comparison_of_float16", "Less", [(X, "float16"), (X, "float16")], [(X, "bool")], other=N,
        read=2 * 2 * N, write=N, other_type="float16"),
    Row("where", "Where", [(X, "bool"), X, (1,)], [X], read=N + 4 * N + 4, write=4 * N),  # a select: no arithmetic
    Row("sum_of_three", "Sum", [X, X, X], [X], other=2 * N, read=3 * 4 * N),
    Row("sum_of_one", "Sum", [X], [X]),
    Row("max_of_two", "Max", [X, (5,)], [X], other=N, read=4 * (N + 5)),
    Row("min_of_four", "Min", [X, X, X, X], [X], other=3 * N),
    Row("mean_of_three", "Mean", [X, X, X], [X], other=(2 + 1) * N, special=N),  # two adds, a division
    Row("clip_both", "Clip", [X, (), ()], [X], other=2 * N, read=4 * (N + 2)),
    Row("clip_above_only", "Clip", [X, None, ()], [X], other=N),
    Row("clip_attributes", "Clip", [X], [X], {"min": 0.0, "max": 6.0}, version=6, other=2 * N),
    Row("clip_nothing", "Clip", [X], [X]),
    Row("gelu_tanh", "Gelu", [X], [X], {"approximate": "tanh"}, other=8 * N, special=N),
    # x * x, times c, plus d, times x, TANH, add one, times x, times 0.5
    Row("swish_alpha", "Swish", [X], [X], {"alpha": 1.5}, version=24, other=(4 + 1) * N, special=2 * N),
    Row("cast_to_half", "Cast", [X], [(X, "float16")], other=N, read=4 * N, write=2 * N, other_type="float32"),
    Row("cast_int_to_float", "Cast", [(X, "int64")], [X], other=N, read=8 * N, write=4 * N, other_type="float32"),
    Row("cast_widens_int", "Cast", [(X, "int32")], [(X, "int64")], read=4 * N, write=8 * N),
    Row("cast_bool_to_int", "Cast", [(X, "bool")], [(X, "int32")], read=N, write=4 * N),
    Row("cast_int_to_bool", "Cast", [(X, "int32")], [(X, "bool")], other=N, other_type="int32"),  # compare with zero
    Row("cast_to_int4", "Cast", [((3, 3), "int8")], [((3, 3), "int4")], read=9, write=5),  # 9 nibbles in 5 bytes
    Row("cast_to_itself", "Cast", [X], [X], read=4 * N, write=4 * N),
    Row("cast_like", "CastLike", [X, ((7,), "float16")], [(X, "float16")], other=N, read=4 * N, write=2 * N),
    Row("dropout_old_inference", "Dropout", [X], [X], {"is_test": 1}, version=6, read=0, write=0),
    Row("dropout_old_training", "Dropout", [X], [X, X], version=1, other=4 * N, read=4 * N, write=8 * N),
    # draw, compare, multiply by the mask and by the scale
    Row("dropout_7", "Dropout", [X], [X], version=7, read=0, write=0),
    Row("dropout_13", "Dropout", [X, ()], [X], version=13, read=0, write=0),
    Row("dropout_mask", "Dropout", [X], [X, (X, "bool")], version=13, read=0, write=N),
    Row("dropout_training", "Dropout", [X, (), tensor("mode", (), "bool", True)], [X], version=13, other=4 * N),
    Row("dropout_training_off", "Dropout", [X, (), tensor("mode", (), "bool", False)], [X], version=13, read=0),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["elementwise"], ROWS) == set()


def test_dropout_mode_of_unknown_value_is_unknown() -> None:
    with pytest.raises(Unknown, match="not known before a run"):
        cost_of("Dropout", [X, (), ((), "bool")], [X], version=13)
