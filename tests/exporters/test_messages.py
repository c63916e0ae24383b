"""Errors of frameworks, cut to the sentence that says something."""

import pytest

from neural_cost.exporters.messages import first_line

PYDANTIC = """1 validation error for Config
hidden_size
  Value error, hidden_size must be a multiple of 8 [type=value_error, input_value=7, input_type=int]
    For further information visit a page"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("it broke", "it broke."),
        ("\n\n  it broke!\nmore", "it broke!"),
        ("Invalid config:\n- layers must be positive", "Invalid config: - layers must be positive."),
        ("Only a colon:", "Only a colon:."),
        (PYDANTIC, "hidden_size: hidden_size must be a multiple of 8."),
        (
            "Exception encountered when calling Dense.call().\n\n\x1b[1mInvalid shape\x1b[0m\n\nArguments",
            "Invalid shape.",
        ),
        ("", "ValueError."),
    ],
)
def test_first_line(text, said):
    assert first_line(ValueError(text)) == said
