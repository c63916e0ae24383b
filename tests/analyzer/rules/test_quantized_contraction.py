from tests.analyzer.rules.table import Row, parametrize, untested

U8, I8, I32 = "uint8", "int8", "int32"
SCALAR = ()
MS, NHWC = "com.microsoft", "com.ms.internal.nhwc"
ZERO8 = (SCALAR, U8)
ROWS = [
    Row(
        "matmul_integer", "MatMulInteger", [((2, 3), U8), ((3, 5), I8), ZERO8, ((5,), I8)], [((2, 5), I32)],
        macs=2 * 5 * 3, other=2 * 3 + 3 * 5, compute_type=I8, other_type=I32,  # zero points of both
        read=2 * 3 + 3 * 5 + 1 + 5, write=4 * 10,
    ),
    Row("matmul_integer_vector", "MatMulInteger", [((3,), I8), ((3, 5), I8)], [((5,), I32)], macs=5 * 3),
    Row(
        "conv_integer", "ConvInteger", [((1, 2, 5, 5), U8), ((4, 2, 3, 3), U8), ZERO8], [((1, 4, 3, 3), I32)],
        macs=(4 * 3 * 3) * (2 * 3 * 3), other=2 * 5 * 5, compute_type=I8, other_type=I32,
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
        special=5, compute_type=I8, other_type="float32",
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
        special=4, compute_type=I8, other_type="float32",
        read=50 + 4 + 1 + 72 + 16 + 4 + 4 + 1 + 16, write=36,
    ),
    Row(
        "qlinear_conv_ms", "QLinearConv",
        [((1, 5, 5, 2), U8), SCALAR, ZERO8, ((4, 2, 3, 3), I8), SCALAR, (SCALAR, I8), SCALAR, ZERO8],
        [((1, 3, 3, 4), U8)],
        {"channels_last": 1}, MS,
        macs=36 * 18, other=50 + 72 + 2 + 36 * 7, special=1,
    ),
    Row(
        "qlinear_conv_nhwc", "QLinearConv",
        [((1, 5, 5, 2), U8), SCALAR, ZERO8, ((4, 2, 3, 3), I8), SCALAR, (SCALAR, I8), SCALAR, ZERO8],
        [((1, 3, 3, 4), U8)],
        domain=NHWC, macs=36 * 18, other=50 + 72 + 2 + 36 * 7, special=1,
    ),
    Row(
        "qlinear_conv_transpose", "QLinearConvTranspose",
        [((1, 5, 5, 4), U8), SCALAR, ZERO8, ((4, 6, 3, 3), I8), SCALAR, (SCALAR, I8), SCALAR, ZERO8, ((6,), I32)],
        [((1, 7, 7, 6), U8)], domain=NHWC,
        macs=100 * (6 * 9), other=100 + 4 * 54 + 294 + 2 + 294 * 7, special=1,  # centre both, bias, scale, requantize
    ),
    Row(
        "dynamic_quantize_matmul", "DynamicQuantizeMatMul", [(2, 3), ((3, 5), I8), (5,), ((5,), I8), (5,)], [(2, 5)],
        {}, MS,
        macs=2 * 5 * 3,
        other=6 * 8 + 10 + 6 + 15 + 5 + 10 * 3,  # quantize A; centre both; scales; convert, scale, bias
        special=6 + 2, compute_type=I8, other_type="float32",
    ),
    Row("dynamic_quantize_matmul_bare", "DynamicQuantizeMatMul", [(2, 3), ((3, 5), I8), SCALAR], [(2, 5)], {}, MS,
        macs=30, other=6 * 8 + 10 + 6 + 1 + 10 * 2, special=6 + 2),
    Row(
        "matmul_integer_to_float", "MatMulIntegerToFloat",
        [((2, 3), U8), ((3, 5), I8), SCALAR, (5,), ZERO8, ((5,), I8), (5,)], [(2, 5)], {}, MS,
        macs=30, other=6 + 15 + 5 + 10 * (2 + 1), compute_type=I8, other_type="float32",
    ),
    Row("matmul_integer_to_float_many_scales", "MatMulIntegerToFloat", [((2, 3), I8), ((3, 5), I8), (2,), (5,)],
        [(2, 5)], {}, MS, macs=30, other=10 * 3),
    Row(
        "qgemm", "QGemm",
        [((2, 3), U8), SCALAR, ZERO8, ((5, 3), I8), (5,), ((5,), I8), ((5,), I32), SCALAR, ZERO8], [((2, 5), U8)],
        {"transB": 1, "alpha": 2.0}, MS,
        macs=30, other=6 + 15 + 5 * 3 + 10 * (7 + 1), special=5,  # centre; alpha, a_scale, y_scale; C, requantize
        compute_type=I8, other_type="float32",
    ),
    Row("qgemm_to_float", "QGemm", [((3, 2), I8), SCALAR, ZERO8, ((3, 5), I8), SCALAR, ZERO8], [(2, 5)],
        {"transA": 1}, MS, macs=30, other=6 + 15 + 1 + 10 * 2),
    Row(
        "qordered_matmul", "QOrderedMatMul",
        [((1, 2, 3), I8), SCALAR, ((3, 5), I8), (5,), SCALAR, (5,), ((1, 2, 5), I8), SCALAR], [((1, 2, 5), I8)], {}, MS,
        macs=30,
        other=5 * 2 + 5 + 1 + 10 * (6 + 1 + 3),  # scales; bias and C over the scale of Y; requantize, bias, C
        special=5 + 5 + 1, compute_type=I8, other_type="float32",
    ),
    Row("qordered_matmul_bare", "QOrderedMatMul", [((1, 2, 3), I8), SCALAR, ((3, 5), I8), SCALAR, SCALAR],
        [((1, 2, 5), I8)], {}, MS, macs=30, other=2 + 10 * 6, special=1),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["quantized_contraction"], ROWS) == set()
