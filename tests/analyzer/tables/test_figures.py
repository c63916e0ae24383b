"""Figures as people read them."""

from neural_cost.analyzer.tables.figures import clean, count, plain, seconds, size


def test_counts_have_the_unit_that_fits():
    assert [count(value) for value in (0, 999, 416_520, 10**9, None)] == ["0", "999", "416.52 K", "1.00 G", "unknown"]
    assert count(1_200_000, least=True) == ">= 1.20 M"
    assert [size(value) for value in (512, 1_500)] == ["512 B", "1.50 KB"]
    assert [seconds(value) for value in (2.0, 0.0015, 4e-8, None)] == ["2 s", "1.5 ms", "40 ns", "unknown"]


def test_a_figure_that_rounds_up_takes_the_next_unit():
    assert count(999_999) == "1.00 M"
    assert size(999_996_000) == "1.00 GB"


def test_figures_have_no_exponent_and_no_endless_digits():
    assert [plain(value) for value in (13_118.4, 2307, 0.354, 1.5, 1e-6)] == [
        "13120",
        "2307",
        "0.354",
        "1.5",
        "0.000001",
    ]
    assert seconds(12_345.6) == "12350 s"  # four digits count
    assert [count(value) for value in (2_064_512 * 10**21, 10**15, 3 * 10**18)] == ["2.06 R", "1.00 P", "3.00 E"]
    assert size(5 * 10**15) == "5.00 PB"


def test_a_name_cannot_command_the_terminal():
    assert "\x1b" not in clean("\x1b[31mred\n")
