"""Figures as people read them."""

from neural_cost.analyzer.tables.figures import clean, count, seconds, size


def test_counts_have_the_unit_that_fits():
    assert [count(value) for value in (0, 999, 416_520, 10**9, None)] == ["0", "999", "416.52 K", "1.00 G", "unknown"]
    assert count(1_200_000, least=True) == ">= 1.20 M"
    assert [size(value) for value in (512, 1_500)] == ["512 B", "1.50 KB"]
    assert [seconds(value) for value in (2.0, 0.0015, 4e-8, None)] == ["2 s", "1.5 ms", "40 ns", "unknown"]


def test_a_figure_that_rounds_up_takes_the_next_unit():
    assert count(999_999) == "1.00 M"
    assert size(999_996_000) == "1.00 GB"


def test_a_name_cannot_command_the_terminal():
    assert "\x1b" not in clean("\x1b[31mred\n")
