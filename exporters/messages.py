"""What exporters say: their warnings and logs are collected, their errors cut to a sentence."""

from __future__ import annotations

import io
import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

LOGGERS = (
    "torch",
    "onnxscript",
    "onnx_ir",
    "tensorflow",
    "tf2onnx",
    "jax",
    "jax2onnx",
    "absl",
    "mobius",
    "transformers",
)
COUNTED = re.compile(r"\d+ validation errors? for ")
SAID_BY_VALIDATORS = re.compile(
    r"\b(Value|Assertion|Type) ?[Ee]rror[:,] |\[type=.*\]$|\[ONNXRuntimeError\] : \d+ : \w+ : "
)
GOES_ON = "Exception encountered when calling "  # Keras's first line, before what happened
ESCAPES = re.compile(r"\x1b\[\d*m")
LONGEST = 300  # characters of an error that one sentence can carry


class _Collector(logging.Handler):
    def __init__(self, found: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._found = found

    def emit(self, record: logging.LogRecord) -> None:
        self._found.append(record.getMessage())


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect what frameworks warn of, log and print, each once, in place of the user's terminal."""
    found: list[str] = []
    printed = io.StringIO()
    with (
        _logs_into(_Collector(found)),
        redirect_stdout(printed),
        redirect_stderr(printed),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        try:
            yield found
        finally:
            found += [str(warning.message) for warning in caught]
            found[:] = dict.fromkeys(text.strip() for text in found if text.strip())


@contextmanager
def _logs_into(handler: logging.Handler) -> Iterator[None]:
    """Hand the frameworks' logs to one handler alone, whatever handlers they or the user have set."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in LOGGERS]
    loggers = [logging.getLogger(name) for name in sorted({*LOGGERS, *names})]
    before = [(logger.handlers[:], logger.propagate) for logger in loggers]
    for logger in loggers:
        is_top = logger.name in LOGGERS
        logger.handlers[:] = [handler] if is_top else []
        logger.propagate = not is_top
    try:
        yield
    finally:
        for logger, (handlers, propagate) in zip(loggers, before, strict=True):
            logger.handlers[:] = handlers
            logger.propagate = propagate


def first_line(error: BaseException) -> str:
    """The first line of an error that says something, or its type; ends with a full stop.

    A line that ends with a colon, or counts validation errors, goes on in the next; words that validators put before
    and after what they have to say are left out.
    """
    lines = [line.strip() for line in ESCAPES.sub("", str(error)).splitlines() if line.strip()] or [
        type(error).__name__
    ]
    if len(lines) > 1 and lines[0].startswith(GOES_ON):
        del lines[0]
    text = lines.pop(0)
    if COUNTED.match(text) and len(lines) > 1:
        text = f"{lines[0]}: {lines[1]}"
    while text.endswith(":") and lines:
        text = f"{text} {lines.pop(0)}"
    text = SAID_BY_VALIDATORS.sub("", text).strip()
    cut = text if len(text) <= LONGEST else text[:LONGEST].rstrip() + " ..."
    return cut if cut.endswith((".", "...", "!", "?")) else cut + "."
