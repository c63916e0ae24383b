import pytest

from neural_cost.analyzer.node import Unknown
from tests.analyzer.rules.make import cost_of, tensor
from tests.analyzer.rules.table import Row, parametrize, untested

I64 = ((), "int64")
LENGTH_16 = tensor("length", (), "int64", 16)

ROWS = [
    # 2 x 3 lines of 16 real points: half of 5 * 16 * log2(16)
    Row("dft_real", "DFT", [(2, 16, 3, 1)], [(2, 16, 3, 2)], version=17, other=(2 * 3) * (5 * 16 * 4 // 2),
        read=4 * 96, write=4 * 192),
    Row("dft_complex", "DFT", [(2, 16, 2)], [(2, 16, 2)], version=20, other=2 * (5 * 16 * 4)),
    Row("dft_axis_input", "DFT", [(2, 16, 3, 1), None, tensor("axis", (), "int64", 1)], [(2, 16, 3, 2)], version=20,
        other=(2 * 3) * (5 * 16 * 4 // 2)),
    Row("dft_padded", "DFT", [(2, 10, 1), LENGTH_16], [(2, 9, 2)], {"onesided": 1}, version=20,
        other=2 * (5 * 16 * 4 // 2)),
    Row("dft_inverse", "DFT", [(2, 16, 2)], [(2, 16, 2)], {"inverse": 1}, version=20,
        other=2 * (5 * 16 * 4) + 2 * 16 * 2),  # and 1 / n for each part
    Row("dft_inverse_onesided", "DFT", [(2, 9, 2), LENGTH_16], [(2, 16, 1)], {"inverse": 1, "onesided": 1},
        version=20, other=2 * (5 * 16 * 4 // 2) + 2 * 16),
    # 7 frames of 16 real points in each of 2 signals, each multiplied by the window
    Row("stft", "STFT", [(2, 64, 1), I64, (16,)], [(2, 7, 9, 2)], other=14 * (16 + 5 * 16 * 4 // 2)),
    Row("stft_bare", "STFT", [(2, 64), I64, None, LENGTH_16], [(2, 7, 9, 2)], other=14 * (5 * 16 * 4 // 2)),
    Row("stft_complex", "STFT", [(2, 64, 2), I64, (16,), I64], [(2, 7, 16, 2)], {"onesided": 0},
        other=14 * (2 * 16 + 5 * 16 * 4)),
    Row("stft_length_from_output", "STFT", [(2, 64, 2), I64, None, None], [(2, 7, 16, 2)], {"onesided": 0},
        other=14 * (5 * 16 * 4)),
    # scale, COS, multiply, subtract
    Row("hann", "HannWindow", [I64], [(10,)], other=4 * 10, special=10, read=8, write=40, other_type="float32"),
    Row("hamming", "HammingWindow", [I64], [(10,)], other=4 * 10, special=10),
    Row("blackman", "BlackmanWindow", [I64], [(10,)], other=8 * 10, special=2 * 10),
    # 9 bins x 5 bands: subtract, DIVIDE; 7 edges: multiply, add; DIVIDE, POW, subtract, multiply; multiply, DIVIDE
    Row("mel", "MelWeightMatrix", [I64, I64, I64, (), ()], [(9, 5)], other=2 * 45 + 8 * 7, special=45 + 3 * 7,
        write=4 * 45, other_type="float32"),
    Row("rfft", "Rfft", [(3, 16)], [(3, 9, 2)], {"signal_ndim": 1}, domain="com.microsoft",
        other=3 * (5 * 16 * 4 // 2)),
    Row("rfft_2d", "Rfft", [(3, 8, 16)], [(3, 8, 9, 2)], {"signal_ndim": 2}, domain="com.microsoft",
        other=3 * (5 * 128 * (3 + 4) // 2)),
    Row("irfft", "Irfft", [(3, 9, 2)], [(3, 16)], {"signal_ndim": 1}, domain="com.microsoft",
        other=3 * (5 * 16 * 4 // 2)),
    # 6 products of 4 multiplies and 2 adds
    Row("complex_mul", "ComplexMul", [(2, 3, 2), (3, 2)], [(2, 3, 2)], domain="com.microsoft", other=6 * (4 + 2)),
    Row("complex_mul_conj", "ComplexMulConj", [(6, 2), (6, 2)], [(6, 2)], domain="com.microsoft", other=6 * (4 + 2)),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["signal"], ROWS) == set()


def test_length_that_only_a_run_knows_is_unknown() -> None:
    with pytest.raises(Unknown, match="not known before a run"):
        cost_of("STFT", [(2, 64, 1), I64, None, I64], [(2, 7, 9, 2)])
