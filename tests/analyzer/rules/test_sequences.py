from tests.analyzer.rules.table import Row, parametrize, untested

SEQUENCE = ((), "sequence(float32)")

ROWS = [
    Row("at", "SequenceAt", [SEQUENCE, ((), "int64")], [(2, 3)], read=0, write=0),
    Row("construct", "SequenceConstruct", [(2, 3), (4,)], [SEQUENCE], read=0, write=0),
    Row("empty", "SequenceEmpty", [], [SEQUENCE], read=0, write=0),
    Row("erase", "SequenceErase", [SEQUENCE], [SEQUENCE], read=0, write=0),
    Row("insert", "SequenceInsert", [SEQUENCE, (2, 3)], [SEQUENCE], read=0, write=0),
    Row("length", "SequenceLength", [SEQUENCE], [((), "int64")], read=0, write=8),
    Row("split", "SplitToSequence", [(6, 3), ((2,), "int64")], [SEQUENCE], read=4 * 18 + 16, write=4 * 18),
    Row("concat", "ConcatFromSequence", [SEQUENCE], [(6, 3)], {"axis": 0}, read=4 * 18, write=4 * 18),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["sequences"], ROWS) == set()
