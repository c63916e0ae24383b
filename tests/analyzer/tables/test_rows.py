"""Rows: sums over what runs, as often as it runs, that say what they leave out."""

import onnx
import onnx.parser
import pytest

import neural_cost
from neural_cost.analyzer.tables.rows import columns
from neural_cost.analyzer.tables.view import By, Column
from tests.analyzer.test_functions import NESTED, PRODUCT, ROW

# A Loop whose body doubles a 2 x 3 tensor by a product of 2 x 3 x 3 and an Add; its trip count is a graph input.
LOOP = """<ir_version: 8, opset_import: ["": 17]>
g (float[2, 3] x, int64 n) => (float[2, 3] y) <float[3, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}, bool go = {1}> {
    before = MatMul(x, w)
    [loop] y = Loop(n, go, before) <body = b (int64 i, bool c, float[2, 3] s) => (bool d, float[2, 3] t) {
        d = Identity(c)
        p = MatMul(s, w)
        t = Add(p, s)
    }>
}"""
MODULES = """<ir_version: 8, opset_import: ["": 17, "acme": 1]>
g (float[2, 3] x) => (float[2, 3] y) {
    ["/m/one/a"] a = Add(x, x)
    ["/m/two/b"] b = acme.Unheard(a)
    ["/m/two/c"] c = Add(a, a)
    ["/n/d"] y = Exp(c)
}"""


@pytest.fixture
def report_of(tmp_path):
    def report_of(text, **options):
        file = tmp_path / "model.onnx"
        onnx.save(onnx.parser.parse_model(text), file)
        return neural_cost.analyze(file, **options)

    return report_of


def named(rows):
    return {row["name"]: row for row in rows}


def test_a_body_counts_as_often_as_it_runs(report_of):
    report = report_of(LOOP, trips={"loop": 5})
    operators = named(report.operators())
    assert operators["MatMul"]["macs"] == (1 + 5) * PRODUCT
    assert operators["Add"]["flops"] == 5 * ROW
    assert operators["MatMul"]["parameters"] == 9  # both products read one and the same
    assert sum(row["flops"] for row in operators.values()) == report.totals.flops


def test_a_node_has_one_execution_and_the_total(report_of):
    rows = report_of(LOOP, trips={"loop": 5}).rows(By.NODE, sort=Column.MACS)
    assert [(row["macs"], row["repeats"], row["total_macs"]) for row in rows[:2]] == [
        (PRODUCT, 5, 5 * PRODUCT),  # five small products are more work than one
        (PRODUCT, 1, PRODUCT),
    ]


def test_what_runs_no_one_knows_how_often_has_no_total(report_of):
    report = report_of(LOOP)
    rows = report.rows(By.NODE, sort=Column.MACS)
    assert [(row["macs"], row["total_macs"]) for row in rows[:2]] == [(PRODUCT, PRODUCT), (PRODUCT, None)]
    operators = named(report.operators())
    assert (operators["MatMul"]["macs"], operators["MatMul"]["unknown"]) == (PRODUCT, 1)
    assert (operators["Add"]["flops"], operators["Add"]["unknown"]) == (None, 1)


def test_a_branch_that_is_not_counted_adds_nothing(report_of):
    text = """<ir_version: 8, opset_import: ["": 17]> g (bool c, float[2, 3] x) => (float[2, 3] y) {
        y = If(c) <then_branch = t () => (float[2, 3] a) { a = Add(x, x) },
                   else_branch = e () => (float[2, 3] b) { u = Add(x, x) b = Add(u, x) }> }"""
    assert named(report_of(text).operators())["Add"]["flops"] == 2 * ROW


def test_modules_say_what_they_leave_out(report_of):
    modules = named(report_of(MODULES).modules(1))
    assert (modules["m"]["flops"], modules["m"]["unknown"], modules["m"]["nodes"]) == (2 * ROW, 1, 3)
    assert (modules["n"]["flops"], modules["n"]["unknown"]) == (ROW, 0)
    assert [row["name"] for row in report_of(MODULES).modules()] == ["m/one", "m/two", "n"]


def test_what_is_unknown_comes_last(report_of):
    assert report_of(MODULES).rows(By.OP, sort=Column.FLOPS)[-1]["name"] == "acme::Unheard"


def test_functions_hold_what_they_call(report_of):
    functions = named(report_of(NESTED).functions())
    block, twice = functions["my::block"], functions["my::twice"]
    assert (block["calls"], block["nodes"], block["macs"], block["other_flops"]) == (2, 4, 2 * PRODUCT, 2 * ROW)
    assert (twice["calls"], twice["nodes"], twice["other_flops"]) == (3, 3, 3 * ROW)


def test_each_call_has_a_row(report_of):
    calls = {name: (row["function"], row["flops"]) for name, row in named(report_of(NESTED).calls()).items()}
    assert calls == {
        "first": ("my::block", 2 * PRODUCT + ROW),
        "first > inner": ("my::twice", ROW),
        "second": ("my::block", 2 * PRODUCT + ROW),
        "second > inner": ("my::twice", ROW),
        "twice_2": ("my::twice", ROW),
    }


@pytest.mark.parametrize("by", By)
def test_rows_have_the_columns_of_their_view(by, report_of):
    for row in report_of(NESTED).rows(by):
        assert tuple(row) == columns(by)


@pytest.mark.parametrize("sort", Column)
@pytest.mark.parametrize("by", By)
def test_every_view_can_be_sorted_by_every_column(by, sort, report_of):
    report = report_of(MODULES, device="T4")
    values = [row.get(sort) for row in report.rows(by, sort=sort)]
    known = [value for value in values if value is not None]
    assert values[: len(known)] == known
    assert known == sorted(known, reverse=sort not in (Column.NAME, Column.INDEX))


def test_bounds_of_a_group_add_up(report_of):
    report = report_of(LOOP, trips={"loop": 5}, device="T4")
    assert sum(row["bound_s"] for row in report.operators()) == pytest.approx(report.bounds[0].per_op_s)


def test_a_table_of_pandas_keeps_unknown_apart_from_zero(report_of):
    frame = report_of(LOOP).to_dataframe("op").set_index("name")
    assert frame.flops.isna()["Add"]
    assert frame.macs["MatMul"] == PRODUCT
    assert frame.flops["Loop"] is not None
    assert list(report_of(NESTED).to_dataframe("module", depth=1).columns) == list(columns(By.MODULE))
    assert len(report_of(NESTED).to_dataframe()) == 5
