import pytest

from neural_cost.analyzer.node import Unknown
from tests.analyzer.rules.make import cost_of
from tests.analyzer.rules.table import Row, parametrize, untested

U8, I8, I32, F16 = "uint8", "int8", "int32", "float16"
SCALAR = ()
UNDEFINED = ["QuantizeBFP", "DequantizeBFP"]
ROWS = [
    Row(
        "quantize_per_tensor", "QuantizeLinear", [(2, 3, 4), SCALAR, (SCALAR, U8)], [((2, 3, 4), U8)],
        other=24 * 6, special=24,  # divide, round, add zero point, 2 to clamp, convert
        read=4 * 24 + 4 + 1, write=24, other_type="float32",
    ),
    Row("quantize_without_zero_point", "QuantizeLinear", [(2, 3), SCALAR], [((2, 3), U8)], other=6 * 5, special=6),
    Row(
        "quantize_blocked_int4", "QuantizeLinear", [((8, 32), F16), ((8, 2), "float32")], [((8, 32), "int4")],
        {"block_size": 16}, version=25,
        other=8 * 32 * 5, special=8 * 32, read=2 * 256 + 4 * 16, write=256 // 2, other_type="float32",
    ),
    Row(
        "quantize_float8", "QuantizeLinear", [(4, 4), SCALAR, (SCALAR, "float8e4m3fn")], [((4, 4), "float8e4m3fn")],
        other=16 * (1 + 1 + 2 + 1), special=16,  # divide, add, clamp, convert
    ),
    Row(
        "quantize_float8_wrapping", "QuantizeLinear", [(4, 4), SCALAR], [((4, 4), "float8e5m2")],
        {"saturate": 0, "precision": 10}, version=23,
        other=16 * 2, special=16, other_type=F16,  # divide, convert
    ),
    Row(
        "dequantize_per_axis", "DequantizeLinear", [((6, 4), I8), (6,), ((6,), I8)], [(6, 4)],
        other=24 * 3,  # convert, subtract, multiply
        read=24 + 4 * 6 + 6, write=4 * 24, other_type="float32",
    ),
    Row(
        "dequantize_blocked_int4", "DequantizeLinear", [((32, 5), "int4"), ((2, 5), F16)], [((32, 5), F16)],
        {"block_size": 16, "axis": 0},
        other=160 * 2, read=160 // 2 + 2 * 10, write=2 * 160, other_type=F16,
    ),
    Row(
        "dynamic_quantize", "DynamicQuantizeLinear", [(3, 4)], [((3, 4), U8), SCALAR, (SCALAR, U8)],
        other=12 * (2 + 6) + (2 + 2 + 6),  # elements: range, quantize; once: reach zero, width, zero point
        special=12 + 2, read=4 * 12, write=12 + 4 + 1,
    ),
    Row("quantize_ms", "QuantizeLinear", [(2, 3), SCALAR, (SCALAR, U8)], [((2, 3), U8)], domain="com.microsoft",
        other=6 * 6, special=6),
    Row("quantize_with_order", "QuantizeWithOrder", [((2, 3), F16), SCALAR], [((2, 3), I8)], {"order_output": 2},
        "com.microsoft", other=6 * 5, special=6),
    Row("dequantize_ms", "DequantizeLinear", [((2, 3), I32), SCALAR], [(2, 3)], domain="com.microsoft", other=6 * 2),
    Row("dequantize_with_order", "DequantizeWithOrder", [((2, 3), I8), SCALAR], [((2, 3), F16)], {"to": 10},
        "com.microsoft", other=6 * 2, other_type=F16),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["quantization"], ROWS) == {("com.microsoft", name) for name in UNDEFINED}


@pytest.mark.parametrize("name", UNDEFINED)
def test_formats_that_no_definition_gives_are_unknown(name: str) -> None:
    with pytest.raises(Unknown, match="formats"):
        cost_of(name, [(4, 4)], [((20,), U8)], "com.microsoft")
