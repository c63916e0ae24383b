"""TensorFlow and tf2onnx, imported without what their libraries write past Python's streams."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from neural_cost.analyzer.environment import environment
from neural_cost.analyzer.errors import BackendError, ExportError

OPSET = 18  # the newest that tf2onnx writes
LOG_LEVEL = "TF_CPP_MIN_LOG_LEVEL"
_SET_BEFORE: set[str] = set()


def set_log_level() -> None:
    """Have TensorFlow log errors alone from its start, unless the user says otherwise: in a process that is ours.

    Its first lines heed no level: whoever imports it, they are dropped, unless the user wants to see everything.
    """
    if "tensorflow" in sys.modules or _SET_BEFORE:
        return
    _SET_BEFORE.add(LOG_LEVEL)
    if os.environ.setdefault(LOG_LEVEL, "3") != "0":
        sys.meta_path.insert(0, _QuietFinder())


class _QuietFinder(MetaPathFinder):
    """Finds TensorFlow once, as others do, and has it start quietly."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The specification that others find; None of any other module."""
        del path, target
        if fullname != "tensorflow":
            return None
        sys.meta_path.remove(self)
        found = find_spec(fullname)
        if found is not None and found.loader is not None:
            found.loader = _QuietLoader(found.loader)
        return found


class _QuietLoader(Loader):
    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As the loader does."""
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        """As the loader does, quietly."""
        with _quiet_stderr():
            self._loader.exec_module(module)


def import_tensorflow() -> Any:
    """The module. What it writes while it starts is dropped; an error is raised as ever."""
    if "tensorflow" not in sys.modules:
        with _quiet_stderr():
            import tensorflow  # noqa: F401
    import tensorflow as tf

    return tf


@contextmanager
def imported_tensorflow(extra: str) -> Iterator[Any]:
    """TensorFlow, with tf2onnx at hand, without its log on the terminal.

    Raises:
        BackendError: one of them is missing; the message names the extra that has them.
    """
    try:
        with environment({LOG_LEVEL: os.environ.get(LOG_LEVEL, "3")}):
            tf = import_tensorflow()
            import tf2onnx  # noqa: F401
    except ImportError as error:
        raise BackendError(f"{error.name} is missing: pip install 'neural-cost[{extra}]'.") from error
    with nullcontext() if _SET_BEFORE else _quiet_stderr():  # a level that is set later, by whomever, is not read
        yield tf


@contextmanager
def _quiet_stderr() -> Iterator[None]:
    """Drop what is written to the file behind stderr: libraries in C++ know nothing of Python's streams."""
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def check_opset(opset: int | None) -> None:
    """Raise ExportError where an opset is newer than tf2onnx writes."""
    if opset is not None and opset > OPSET:
        raise ExportError(f"tf2onnx writes opset {OPSET} at most: ask for that, not for {opset}.")
