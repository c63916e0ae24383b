"""Mends of onnx_shape_inference: each is right, and is needed until upstream has it.

Expected shapes are worked by hand from the operators' specifications.
"""

import onnx
import pytest
from onnx_shape_inference import registry

from neural_cost.analyzer.shape_mends import MENDS, install, upstream
from tests.analyzer.mend_rows import Row, answer
from tests.analyzer.mend_tables import (
    classical,
    contrib_attention,
    contrib_blocked,
    contrib_products,
    contrib_quantized,
    contrib_tensors,
    old_opsets,
)

POOLS = ("MaxPool", "AveragePool", "LpPool")
CEIL = {"kernel_shape": [1], "strides": [3], "ceil_mode": 1}  # ceil((n - 1) / 3) + 1 windows; ceil(n / 3) start inside

STANDARD = [
    Row("Unique", ["float32[4,3]"], ["float32[?,3]", "int64[?]", "int64[4]", "int64[?]"], {"axis": 0}, since=11),
    Row("Unique", ["float32[4,3]"], ["float32[?]", "int64[?]", "int64[12]"], since=11, note="4 * 3 flattened"),
    Row("MelWeightMatrix", [("int64[]", 8), ("int64[]", 16), "int64[]", "float32[]", "float32[]"], ["float32[9,8]"],
        since=17, note="16 // 2 + 1 bins"),
    Row("Slice", ["float32[20,10]", ("int64[1]", [1]), ("int64[1]", [5]), "int64[1]"], ["float32[?,?]"], since=10,
        note="the axes are not known"),
    Row("Slice", ["float32[?,10]", ("int64[1]", [0]), ("int64[1]", [5])], ["float32[Min(5, _d0),10]"], since=10,
        note="an axis may be shorter than the end"),
    Row("Slice", ["float32[6]", ("int64[1]", [-9]), ("int64[1]", [-9]), ("int64[1]", [0]), ("int64[1]", [-1])],
        ["float32[1]"], since=10, note="ONNX clamps a start of -9 to 0 for a step of -1"),
    Row("Slice", ["float32[6]", ("int64[1]", [4]), ("int64[1]", [2**63 - 1]), ("int64[1]", [0]), ("int64[1]", [-2])],
        ["float32[3]"], since=10, note="4, 2, 0: a largest integer means to the end, backwards too"),
    Row("ConvTranspose", ["float32[1,2,6]", "float32[2,3,1]"], ["float32[1,3,11]"],
        {"auto_pad": "SAME_UPPER", "strides": [2]}, note="(6 - 1) * 2 + 1 is below 6 * 2"),
    *(Row(op, ["float32[1,2,n]"], ["float32[1,2,Min(1 - floor(1/3 - n/3), -floor(-n/3))]"], CEIL) for op in POOLS),
    Row("Slice", ["float32[n]", ("int64[1]", [-(2**63)]), ("int64[1]", [2**63 - 1]), ("int64[1]", [0]),
                  ("int64[1]", [-1])], ["float32[?]"], since=10, note="backwards from before the front: not the whole"),
    *(Row("Squeeze", ["float32[1,3,n]"], ["float32"], since=since, note="n may be 1") for since in (1, 13)),
    Row("Squeeze", ["float32[1,3,1]", "int64[1]"], ["float32[?,?]"], since=13),
    Row("Pad", ["float32[2,3]", ("int64[2]", [1, 1]), None, "int64[1]"], ["float32[?,?]"], since=11),
    Row("Pad", ["float32[b,n]", ("int64[4]", [0, 1, 0, "30 - n"])], ["float32[b,31]"], since=11, note="n + 1 + 30 - n"),
    Row("Split", ["float32[6,2]", "int64[2]"], ["float32[?,2]", "float32[?,2]"], since=13),
    Row("Resize", ["float32[1,3,4,6]", ("float32[4]", [1, 1, 2, 0.5])], ["float32[1,3,8,3]"], since=10),
    Row("Resize", ["float32[2,4]", None, None, ("int64[2]", [1, 3])], ["float32[2,3]"],
        {"keep_aspect_ratio_policy": "not_smaller"}, since=11, note="scale max(1/2, 3/4): 2 * 3/4 = 1.5, up to 2"),
    Row("Resize", ["float32[10]", None, ("float32[1]", [0.7])], ["float32[7]"], since=11),
    Row("Upsample", ["float32[1,4]"], ["float32[1,8]"], {"scales": [1.0, 2.0]}, since=7),
    Row("Upsample", ["float32[1,10]", ("float32[2]", [1, 0.7])], ["float32[1,7]"], since=9),
    Row("MaxUnpool", ["float32[1,1,2,3]", "int64[1,1,2,3]"], ["float32[1,1,4,6]"],
        {"kernel_shape": [2, 2], "strides": [2, 2]}, since=9, note="(2 - 1) * 2 + 2, (3 - 1) * 2 + 2"),
    Row("Equal", [("int64[3]", ["batch", 4, "n"]), ("int64[1]", [-1])], [("bool[3]", [0, 0, 0])], since=7,
        note="no size is -1"),
    Row("Equal", [("int64[4]", ["n", "n", 4, "n"]), ("int64[4]", ["n", 1, 4, 0])], [("bool[4]", [1, "?", 1, "?"])],
        since=7),
    Row("Where", [("bool[3]", [0, 1, 0]), ("int64[1]", [1]), ("int64[3]", ["batch", -1, "n"])],
        [("int64[3]", ["batch", 1, "n"])], since=9),
    Row("STFT", ["float32[b,n]", ("int64[]", 160), "float32[400]"], ["float32[b,floor(n/160 - 5/2) + 1,201,2]"],
        since=17, note="(n - 400) / 160; 400 // 2 + 1 bins"),
    Row("STFT", ["float32[b,n,1]", ("int64[]", 10), None, ("int64[]", 16)],
        ["float32[b,floor(n/10 - 8/5) + 1,16,2]"], {"onesided": 0}, since=17),
    Row("ReduceProd", [("int64[3]", ["n", 4, "n"])], [("int64[]", ["4*n**2"])], {"axes": [0], "keepdims": 0}),
    Row("ReduceSum", [("int64[3]", ["n", 4, "n"])], [("int64[1]", ["2*n + 4"])]),
    Row("ReduceMax", [("int64[3]", ["n", 4, "b"])], [("int64[1]", ["Max(4, b, n)"])]),
    Row("ReduceMin", [("int64[3]", ["n", 4, 9])], [("int64[1]", ["Min(4, n)"])]),
    Row("ConstantOfShape", [("int64[3]", [2, "batch", 128])], ["float32[2,batch,128]"], since=9),
]  # fmt: skip

TABLES = (
    old_opsets,
    classical,
    contrib_products,
    contrib_quantized,
    contrib_attention,
    contrib_tensors,
    contrib_blocked,
)
ROWS = STANDARD + [row for table in TABLES for row in table.ROWS]

install()


def name_of(row):
    return f"{row.domain}:{row.op_type}-{row.since}"


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_a_mend_is_right(row):
    assert answer(MENDS[row.key], row) == list(row.outputs), row.note


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_upstream_still_needs_it(row):
    try:
        theirs = answer(upstream(*row.key), row)
    except Exception:
        return
    assert theirs != list(row.outputs), "mended upstream: drop the mend"


def test_every_mend_has_a_row():
    assert {row.key for row in ROWS} == set(MENDS)


# Operators whose shapes stay unknown.
NOT_INFERRED = {
    "ai.onnx.ml": {"ZipMap"},
    "com.microsoft": {
        "ConvTransposeWithDynamicPads", "DequantizeBFP", "EPContext", "Mamba2Verify", "MoEGroupRouter",
        "PackedSparseAttentionIndexerMerge", "QuantizeBFP", "Snpe", "SpeculativePrefixCommit", "WordConvEmbedding",
    },
}  # fmt: skip


@pytest.mark.parametrize("domain", ["ai.onnx.ml", "com.microsoft"])
def test_every_operator_of_onnx_runtime_has_inference(domain):
    from onnxruntime.capi.onnxruntime_pybind11_state import get_all_operator_schema

    names = {schema.name for schema in get_all_operator_schema() if schema.domain == domain}
    assert {name for name in names if not registry.has(domain, name)} == NOT_INFERRED[domain]


def test_every_version_of_every_operator_of_onnx_has_inference():
    schemas = onnx.defs.get_all_schemas_with_history()
    keys = {(schema.domain, schema.name, schema.since_version) for schema in schemas}
    lacking = {(domain, name) for domain, name, version in keys if registry.get(domain, name, version) is None}
    assert lacking == {("ai.onnx.ml", "ZipMap"), ("ai.onnx.preview.training", "Gradient")}
