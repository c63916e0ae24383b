"""Errors of torch's exporters in one sentence: what in the model is in the way, and the way out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from neural_cost.analyzer.errors import ExportError
from neural_cost.exporters.messages import first_line

DATA_DEPENDENT = ("data-dependent", "Could not guard on", "GuardOnDataDependentSymNode", "u0")
FIXED = ("Constraints violated", "marked as dynamic", "specialized", "not in range")
UNSUPPORTED = re.compile(
    r"No ONNX function found for <OpOverload\(op='([^']+)'|No decompositions? registered for.*?'([^']+)'"
)
USER_CODE = re.compile(r'File "([^"]+)", line (\d+), in (\w+)')


def explained(error: BaseException, dims: Mapping[str, Mapping[int, str]]) -> ExportError:
    """Say what torch's exporter meant."""
    text = "\n".join(str(each) for each in _chain(error))
    unsupported = UNSUPPORTED.search(text)
    if unsupported:
        operator = unsupported[1] or unsupported[2]
        return ExportError(f"PyTorch's operator {operator} has no ONNX translation: build it in the model from others.")
    if any(word in text for word in DATA_DEPENDENT[:3]):
        return ExportError(
            f"the model branches on the value of a tensor{_where(text)}, or counts with it, which a graph cannot hold: "
            "use torch.where or torch.cond in place of Python."
        )
    if dims and any(word in text for word in FIXED):
        names = ", ".join(dict.fromkeys(name for axes in dims.values() for name in axes.values()))
        return ExportError(
            f"the model does not run at every size of {names} ({_reason(text)}): drop those from dynamic_dims."
        )
    inner = list(_chain(error))[-1]
    return ExportError(f"torch.onnx cannot export the model ({type(inner).__name__}): {first_line(inner)}")


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error, and what it came from."""
    seen: set[int] = set()
    each: BaseException | None = error
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        yield each
        each = each.__cause__ or each.__context__


def _where(text: str) -> str:
    """The innermost line of the user's own code that torch names."""
    lines = [found for found in USER_CODE.findall(text) if "/torch/" not in found[0]]
    return f" ({lines[-1][0]}, line {lines[-1][1]}, in {lines[-1][2]})" if lines else ""


def _reason(text: str) -> str:
    """The line of a violated constraint that says which."""
    lines = [line.strip(" -") for line in text.splitlines()]
    found = next((line for line in lines if any(word in line for word in FIXED[1:])), lines[0])
    return found[:200].rstrip(". ")
