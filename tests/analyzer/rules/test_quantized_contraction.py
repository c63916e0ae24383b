from tests.analyzer.rules.table import Row, parametrize, untested

U8, I8, I32 = "uint8", "int8", "int32"
SCALAR = ()
ZERO8 = (SCALAR, U8)
ROWS = [
    Row(
        "matmul_integer", "MatMulInteger", [((2, 3), U8), ((3, 5), I8), ZERO8, ((5,), I8)], [((2, 5), I32)],
        macs=2 * 5 * 3, other=2 * 3 + 3 * 5, compute_type=U8, other_type=I32,  # zero points of both
        read=2 * 3 + 3 * 5 + 1 + 5, write=4 * 10,
    ),
    Row("matmul_integer_vector", "MatMulInteger", [((3,), I8), ((3, 5), I8)], [((5,), I32)], macs=5 * 3),
    Row(
        "conv_integer", "ConvInteger", [((1, 2, 5, 5), U8), ((4, 2, 3, 3), U8), ZERO8], [((1, 4, 3, 3), I32)],
        macs=(4 * 3 * 3) * (2 * 3 * 3), other=2 * 5 * 5, compute_type=U8, other_type=I32,
    ),
    Row(
        "conv_integer_both_zero_points", "ConvInteger", [((1, 2, 5), I8), ((4, 1, 3), I8), ZERO8, ((4,), I8)],
        [((1, 4, 3), I32)], {"group": 2},
        macs=(4 * 3) * (1 * 3), other=2 * 5 + 4 * 3, compute_type=I8,
    ),
    Row(
        "qlinear_matmul", "QLinearMatMul",
        [((2, 3), U8), SCALAR, ZERO8, ((3, 5), U8), (5,), ((5,), U8), SCALAR, ZERO8], [((2, 5), U8)],
        macs=2 * 5 * 3,
        other=2 * 3 + 3 * 5 + 2 * 5 + 10 * 7,  # centre both, combine 5 scales, requantize
        special=5, compute_type=U8, other_type="float32",
        read=6 + 4 + 1 + 15 + 4 * 5 + 5 + 4 + 1, write=10,
    ),
    Row(
        "qlinear_matmul_rows_and_columns", "QLinearMatMul",
        [((2, 3), I8), (2,), ((2,), I8), ((3, 5), I8), (5,), ((5,), I8), SCALAR, (SCALAR, I8)], [((2, 5), I8)],
        macs=2 * 5 * 3,
        other=2 * 3 + 3 * 5 + 2 + 10 * 8,  # 2 row scales over y_scale, then two multiplies an element
        special=2, compute_type=I8,
    ),
    Row(
        "qlinear_conv", "QLinearConv",
        [((1, 2, 5, 5), U8), SCALAR, ZERO8, ((4, 2, 3, 3), I8), (4,), ((4,), I8), SCALAR, ZERO8, ((4,), I32)],
        [((1, 4, 3, 3), U8)],
        macs=(4 * 3 * 3) * (2 * 3 * 3),
        other=2 * 25 + 4 * 18 + 4 * 9 + 2 * 4 + 36 * 7,  # centre x and w, bias, 4 scales, requantize
        special=4, compute_type=U8, other_type="float32",
        read=50 + 4 + 1 + 72 + 16 + 4 + 4 + 1 + 16, write=36,
    ),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["quantized_contraction"], ROWS) == set()
