from tests.analyzer.rules.table import Row, parametrize, untested

X = (2, 3)

ROWS = [
    Row("reshape", "Reshape", [X, ((1,), "int64")], [(6,)], read=0, write=0),
    Row("flatten", "Flatten", [X], [(2, 3)], read=0, write=0),
    Row("squeeze", "Squeeze", [(1, 3), ((1,), "int64")], [(3,)], read=0, write=0),
    Row("unsqueeze", "Unsqueeze", [X, ((1,), "int64")], [(1, 2, 3)], read=0, write=0),
    Row("identity", "Identity", [X], [X], read=0, write=0),
    Row("identity_of_sequence", "Identity", [((), "sequence(float32)")], [((), "sequence(float32)")], read=0, write=0),
    Row("bit_cast", "BitCast", [X], [(X, "int32")], version=26, read=0, write=0),
    Row("optional", "Optional", [X], [X], read=0, write=0),
    Row("optional_get_element", "OptionalGetElement", [X], [X], read=0, write=0),
    Row("constant", "Constant", [], [X], read=0, write=0),
    Row("shape", "Shape", [X], [((2,), "int64")], read=0, write=16),
    Row("size", "Size", [X], [((), "int64")], read=0, write=8),
    Row("optional_has_element", "OptionalHasElement", [X], [((), "bool")], read=0, write=1),
    Row("expand_dims", "ExpandDims", [X, ((), "int32")], [(2, 1, 3)], domain="com.microsoft", read=0, write=0),
    Row("sample_op", "SampleOp", [X], [X], domain="com.microsoft", read=0, write=0),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["views"], ROWS) == set()
