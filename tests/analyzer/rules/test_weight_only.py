from tests.analyzer.rules.table import Row, parametrize, untested

MS, F16, U8 = "com.microsoft", "float16", "uint8"
K, N = 64, 10
ATTRIBUTES = {"K": K, "N": N, "bits": 4, "block_size": 32}
PACKED = ((N, 2, 16), U8)  # 2 blocks of 32 weights, 16 bytes each
SCALES = ((N, 2), F16)
A, Y = ((2, 3, K), F16), ((2, 3, N), F16)
DECODE = 3 * K * N  # convert, subtract the zero point, multiply, once for each weight

ROWS = [
    Row(
        "nbits", "MatMulNBits", [A, PACKED, SCALES, ((N, 1), U8), None, ((N,), F16)], [Y], ATTRIBUTES, MS,
        macs=2 * 3 * N * K, other=DECODE + 2 * 3 * N, compute_type=F16,
        read=2 * (6 * K) + N * 2 * 16 + 2 * (N * 2) + N + 2 * N, write=2 * (6 * N),  # packed bytes
    ),
    Row("nbits_default_zero_point", "MatMulNBits", [A, PACKED, SCALES], [Y], ATTRIBUTES, MS,
        macs=2 * 3 * N * K, other=DECODE),
    Row("nbits_left_out", "MatMulNBits", [A, ((0, 2, 16), U8), SCALES], [Y], ATTRIBUTES, MS),
    Row(
        "mlp", "MatMulNBitsMlp",
        [A, A, ((K,), F16), PACKED, SCALES, ((N,), F16), PACKED, SCALES, None], [Y, A],
        {**ATTRIBUTES, "activation": "silu"}, MS,
        macs=2 * (6 * N * K),
        other=6 * K  # skip
        + 6 * K * 3 + 6 * 3 + 6 * K  # RMS: square, add, divide; mean, epsilon, root; scale
        + 2 * DECODE + 6 * N * (1 + 4 + 1),  # one bias, silu, multiply
        special=6 * K + 6 * 2 + 6 * N * 2,
    ),
    Row("mlp_bare", "MatMulNBitsMlp", [A, None, None, PACKED, SCALES, None, PACKED, SCALES], [Y],
        {**ATTRIBUTES, "activation": "relu"}, MS, macs=2 * (6 * N * K), other=2 * DECODE + 6 * N * 2),
    Row(
        "qkv", "MatMulNBitsQkv",
        [A, None, ((K,), F16), PACKED, SCALES, ((N,), F16), ((4, 2, 16), U8), ((4, 2), F16), ((4,), F16),
         ((4, 2, 16), U8), ((4, 2), F16), None],
        [Y, ((2, 3, 4), F16), ((2, 3, 4), F16)], {"K": K, "Nq": N, "Nkv": 4, "bits": 4, "block_size": 32}, MS,
        macs=6 * K * (N + 4 + 4),
        other=6 * K * 3 + 6 * 3 + 6 * K + 3 * K * (N + 4 + 4) + 6 * N + 6 * 4,
        special=6 * K + 6 * 2,
    ),
    Row(
        "qlora", "MatMulNBitsQLoRA",
        [A, PACKED, SCALES, ((5, 2, 16), U8), ((5, 2), F16), ((N, 1, 16), U8), ((N, 1), F16)], [Y], ATTRIBUTES, MS,
        macs=6 * K * N + 6 * K * 5 + 6 * 5 * N,
        other=3 * (K * N + K * 5 + 5 * N) + 6 * N,  # decode all three, add
    ),
    Row("qlora_empty_up", "MatMulNBitsQLoRA",
        [A, PACKED, SCALES, ((5, 2, 16), U8), ((5, 2), F16), ((N, 0, 16), U8), ((N, 1), F16)], [Y], ATTRIBUTES, MS,
        macs=6 * K * N, other=DECODE),
    Row("qlora_empty_down", "MatMulNBitsQLoRA",
        [A, PACKED, SCALES, ((0, 2, 16), U8), ((5, 2), F16), ((N, 1, 16), U8), ((N, 1), F16)], [Y], ATTRIBUTES, MS,
        macs=6 * K * N + 6 * 5 * N, other=3 * (K * N + 5 * N) + 6 * N),
    Row("bnb4", "MatMulBnb4", [(2, K), ((K * N // 2,), U8), (K * N // 32,)], [(2, N)], {"K": K, "N": N}, MS,
        macs=2 * N * K, other=K * N,  # looked up, multiplied
        read=4 * 2 * K + K * N // 2 + 4 * K * N // 32),
    Row("bnb4_backward", "MatMulBnb4", [(2, N), ((K * N // 2,), U8), (K * N // 32,)], [(2, K)],
        {"K": K, "N": N, "transB": 0}, MS, macs=2 * K * N, other=K * N),
    Row("fp_q4", "MatMulFpQ4", [(2, K), ((400,), U8), ((2,), "int64")], [(2, N)], {"blk_quant_type": 1}, MS,
        macs=2 * N * K, other=3 * K * N),
    Row("fp_q4_without_offset", "MatMulFpQ4", [(2, K), ((400,), U8), ((2,), "int64")], [(2, N)],
        {"blk_quant_type": 0}, MS, macs=2 * N * K, other=2 * K * N),
    Row("fp4_weight", "MatMulBlockQuantizedFp4Weight",
        [((2, K), F16), ((N, K // 2), U8), ((N, 4), U8), (), None, ((N,), F16)], [((2, N), F16)], {}, MS,
        macs=2 * N * K, other=2 * K * N + 2 * 4 * N + 2 * N, compute_type=F16),  # weights, scales, bias
    Row("fp8_weight", "MatMulBlockQuantizedFp8Weight",
        [((2, K), F16), ((N, K), "float8e4m3fn"), (N, 1)], [((2, N), F16)], {}, MS, macs=2 * N * K, other=2 * K * N),
    Row("fp8_weight_and_activation", "MatMulBlockQuantizedFp8Weight",
        [((2, K), F16), ((N, K), "float8e4m3fn"), (N, 1), (), ((N,), F16)], [((2, N), F16)], {}, MS,
        macs=2 * N * K, other=2 * K * N + 2 * K * 6 + 2 * N, special=2 * K),
    Row("packed", "MatMulPacked", [((2, K), F16), ((N, 36), U8), ()], [((2, N), F16)],
        {"K": K, "N": N, "packed_type": 40, "activation_type": "relu2"}, MS,
        macs=2 * N * K, other=2 * K * N + 2 * N * (1 + 2)),  # global scale; max, square
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["weight_only"], ROWS) == set()
