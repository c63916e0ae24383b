"""Tables fit the width that there is, without cutting a figure."""

import re

import onnx
import onnx.parser
import pytest

import neural_cost
from neural_cost.analyzer.tables.blocks import Grid, Heading, Paragraph
from neural_cost.analyzer.tables.html import to_html
from neural_cost.analyzer.tables.summary import summary
from neural_cost.analyzer.tables.text import cells, shorten, to_text
from neural_cost.analyzer.tables.view import By, View
from neural_cost.models import path
from tests.analyzer.tables.test_rows import LOOP

FIGURE = r"(?:\d+(?:\.\d\d)?(?: [KMGT]?B?)?|\d+\.\d%)"


@pytest.fixture(scope="module")
def report():
    return neural_cost.analyze(path("transformer"), dims={"batch": 16}, device="A100")


@pytest.mark.parametrize("width", range(60, 201, 10))
@pytest.mark.parametrize("by", By)
def test_every_view_fits(by, width, report):
    lines = to_text(summary(report, View(by)), width=width).splitlines()
    assert max(map(cells, lines)) <= width


@pytest.mark.parametrize("width", range(60, 201, 20))
def test_no_figure_is_cut_or_wrapped(width, report):
    lines = to_text(summary(report, View(By.OP)), width=width).splitlines()
    (row,) = (line for line in lines if line.startswith("MatMul"))
    assert re.fullmatch(rf"MatMul(\s+{FIGURE})+", row)
    assert "385.88 M" in row


def test_columns_that_do_not_fit_are_named(report):
    text = to_text(summary(report, View(By.OP)), width=60)
    assert re.search(r"too narrow for: [^)]*written", " ".join(text.split()))
    assert "too narrow" not in to_text(summary(report, View(By.OP)), width=200)


@pytest.mark.parametrize(
    ("name", "width", "short"),
    [
        ("encoder", 7, "encoder"),
        ("encoder/layer", 7, "enc…yer"),
        ("encoder/layer", 8, "enco…yer"),
        ("编码器/层/注意力", 9, "编码…意力"),  # each but the strokes takes two columns
    ],
)
def test_names_lose_their_middle(name, width, short):
    assert shorten(name, width) == short
    assert cells(short) <= width


def test_remarks_are_wrapped_under_themselves():
    grid = Grid(
        "", [Heading("", "name"), Heading(""), Heading("", "remark")], [("a", "1", "b c d e f g")], headed=False
    )
    assert to_text([grid], width=13).splitlines() == ["a  1  b c d e", "      f g"]


def test_colour_only_when_asked_for():
    page = [Paragraph("red", "alarm"), Paragraph("plain")]
    assert to_text(page, width=60) == "red\nplain"
    assert to_text(page, width=60, colour=True) == "\x1b[1;31mred\x1b[0m\nplain"


def test_loops_show_one_iteration_and_say_how_often(tmp_path):
    onnx.save(onnx.parser.parse_model(LOOP), tmp_path / "model.onnx")
    report = neural_cost.analyze(tmp_path / "model.onnx")
    text = to_text(summary(report, View(By.NODE)), width=120)
    assert "figures of one execution" in text
    (row,) = (line.split() for line in text.splitlines() if line.startswith("loop/body/1 "))
    assert row[:5] == ["loop/body/1", "MatMul", "?", "18", "unknown"]
    assert "INCOMPLETE" in text
    assert '--trips "loop=N"' in " ".join(text.split())
    known = neural_cost.analyze(tmp_path / "model.onnx", trips={"loop": 5})
    (row,) = (
        line.split() for line in to_text(summary(known, View(By.NODE)), width=120).splitlines() if "dy/1 " in line
    )
    assert row[2:5] == ["5", "18", "83.3%"]  # five of six products


def test_html_is_a_table_and_escapes_names():
    text = to_html([Grid("<b>", [Heading("node", "name"), Heading("FLOPs")], [("<script>", "1")]), Paragraph("a & b")])
    assert "<script>" not in text
    assert "<b>" not in text
    assert "&lt;script&gt;" in text
    assert "a &amp; b" in text
    assert text.count("<tr>") == 2
    assert text.count("<td") == 2


def test_a_report_shows_itself(report, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    text = str(report)
    assert text.startswith(report.model.path)
    assert "Operators by flops" in text
    assert max(map(len, text.splitlines())) <= 100
    assert report._repr_html_().count("<table>") == 3  # totals, nodes, operators
