"""Errors that a user can act on.

NeuralCostError
├── ModelError          the file cannot be read, is invalid, or points outside its folder
├── DimensionError      a dimension that the model lacks, or a value that does not fit
├── ExportError         a framework's model could not be turned into ONNX
│   └── ParityError     the file that was exported does not compute what the model does
├── BackendError        an extra is missing, or a provider is not available
│   ├── ProviderError   ONNX Runtime's provider is not there, or does not start
│   └── InputError      what a model is to be run on cannot be read or does not fit it
├── RuleError           a cost rule whose place is taken, or that names no operator
├── OptionError         an option that does not exist, or names what the model lacks
├── DeviceError         no such device in the table, or a device without the figure asked for
└── BudgetExceeded      a model costs more than it may

Each message is one sentence that names the file, node or tensor and says what to do. Anything else that
escapes is a fault of this program.
"""

from __future__ import annotations

from collections.abc import Iterable

MAX_NAME = 60  # characters of a name in a sentence
MAX_LISTED = 8


class NeuralCostError(Exception):
    """Base of every error that this package raises on purpose."""

    exit_code = 3


class ModelError(NeuralCostError):
    """The model cannot be read or is not valid ONNX."""


class DimensionError(NeuralCostError):
    """A dimension was named that the model lacks, or given a value that does not fit."""

    exit_code = 2


class OptionError(NeuralCostError):
    """An option has a value that does not exist, or that the model has nothing for."""

    exit_code = 2


class ExportError(NeuralCostError):
    """A framework's model could not be exported."""


class ParityError(ExportError):
    """An exported file gives other results than its model."""

    exit_code = 1


class BackendError(NeuralCostError):
    """A backend is missing or cannot run the model."""


class ProviderError(BackendError):
    """A provider of ONNX Runtime is not there, or is installed and does not start."""


class InputError(BackendError):
    """Inputs that were given for a run cannot be read, or do not fit the model."""

    exit_code = 2


class RuleError(NeuralCostError, ValueError):
    """A cost rule cannot be registered."""

    exit_code = 2


class DeviceError(NeuralCostError):
    """A device is unknown, or lacks a figure that is needed."""

    exit_code = 2


class BudgetExceeded(NeuralCostError):
    """A model costs more than the budget allows."""

    exit_code = 1


def quoted(name: object, longest: int = MAX_NAME) -> str:
    """A name from a file as it stands in a sentence: on one line, and short."""
    text = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in str(name))
    return f'"{text}"' if len(text) <= longest else f'"{text[:longest]}..."'


def listed(names: Iterable[object]) -> str:
    """Names as a sentence lists them: the first ones, and how many more there are."""
    texts = [quoted(name)[1:-1] for name in names]
    more = f" and {len(texts) - MAX_LISTED:,} more" if len(texts) > MAX_LISTED else ""
    return (", ".join(texts[:MAX_LISTED]) or "none") + more


def closest(name: str, known: Iterable[object]) -> str:
    """A question for the name that was meant; empty where none is like it."""
    from difflib import get_close_matches

    found = get_close_matches(name, [str(each) for each in known], n=1)
    return f" (did you mean {quoted(found[0])}?)" if found else ""
