"""What a user can name in place of an .onnx file, and how it becomes one.

model.onnx                 itself
package.module:factory     a callable that returns (model, example_inputs)
path/to/file.py:factory    the same, in a file
model.pt2                  a saved model of a framework
zoo:NAME[@FRAMEWORK]       a built-in family
hf:PATH[#COMPONENT]        a Hugging Face config, without weights
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from neural_cost.analyzer.errors import BackendError, ExportError, ModelError, NeuralCostError
from neural_cost.exporters.messages import first_line
from neural_cost.exporters.tensorflow_import import import_tensorflow, set_log_level

ZOO, HF = "zoo:", "hf:"
FACTORY = re.compile(r"(?P<where>.+):(?P<name>[^\W\d]\w*)")
EXTRAS = {"tensorflow": "keras", "keras": "keras", "tf2onnx": "keras", "flax": "jax", "jax": "jax", "torch": "torch"}

Stage = Callable[[str], object]


@dataclass(frozen=True)
class Source:
    """A model of a framework, its example inputs, and a name for its file."""

    name: str
    model: Any
    example_inputs: Any


def is_onnx(target: str) -> bool:
    """Whether a target is the path of a file that is not to be exported."""
    return not target.startswith((ZOO, HF)) and _reader(target) is None and _factory(target) is None


def onnx_file(target: str, progress: Stage | None = None) -> Path:
    """The ONNX file of a target: itself, or its export, which is kept for the next time.

    Raises:
        ExportError: the target does not exist, fails, or cannot be exported.
        BackendError: a framework is missing.
    """
    if not target:
        raise ModelError("the target is empty: give the path of an .onnx file, or what can be exported to one.")
    if is_onnx(target):
        return Path(target)
    tell = progress or (lambda stage: None)
    with named(target):
        return exported(load(target, tell), tell)


def exported(source: Source, tell: Stage) -> Path:
    """The ONNX file of a model: its export, which is kept for the next time.

    Raises:
        ExportError: it cannot be exported.
        BackendError: a framework is missing.
    """
    from neural_cost.exporters.cache import cached
    from neural_cost.exporters.export import export
    from neural_cost.exporters.protocol import Request
    from neural_cost.exporters.registry import exporter_of

    exporter = exporter_of(source.model, source.example_inputs)
    content = exporter.content(source.model, source.example_inputs)

    def write(file: Path) -> object:
        return export(source.model, source.example_inputs, file, progress=tell)

    return cached(source.name, content or _once(), Request(), write)


@contextmanager
def named(target: str) -> Iterator[None]:
    """Put the target before what an exporter says of a model: it does not know where the model came from."""
    try:
        yield
    except ExportError as error:
        if target in str(error):
            raise
        raise type(error)(f"{target}: {error}") from error


def load(target: str, progress: Stage) -> Source:
    """Make the model that a target names.

    Raises:
        ExportError: there is no such target, or its code fails.
        BackendError: a framework is missing.
    """
    progress(f"loading {target}")
    set_log_level()
    if target.startswith(ZOO):
        return _family(target.removeprefix(ZOO))
    if target.startswith(HF):
        return _config(target.removeprefix(HF))
    found = _factory(target)
    if found is not None:
        return _made(target, found["where"], found["name"])
    file = Path(target)
    exporter = _reader(target)
    if exporter is None:
        raise ExportError(f"{target} is no model of a framework: give module:factory, file.py:factory or zoo:NAME.")
    if not file.exists():
        raise ExportError(f"{file} does not exist; give the path of a saved model.")
    return Source(file.stem, *exporter.load(file))


def _reader(target: str) -> Any:
    """The exporter that reads a saved file; most targets end in `.onnx`, and need none."""
    if target.endswith(".onnx"):
        return None
    from neural_cost.exporters.registry import exporter_of_file

    return exporter_of_file(Path(target))


def _factory(target: str) -> re.Match[str] | None:
    return None if target.endswith(".onnx") or Path(target).exists() else FACTORY.fullmatch(target)


def _family(text: str) -> Source:
    from neural_cost.models.zoo import family

    name, _, framework = text.partition("@")
    try:
        if framework == "keras":
            import_tensorflow()
        model, inputs = family(name, framework or "torch")
    except KeyError as error:
        raise ExportError(f"zoo:{text}: {error.args[0]}.") from error
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        extra = EXTRAS.get(package, framework or "torch")
        raise BackendError(f"zoo:{text} needs {package}: pip install 'neural-cost[{extra}]'.") from error
    return Source(f"{name}_{framework or 'torch'}", model, inputs)


def _config(text: str) -> Source:
    from neural_cost.exporters.hf_exporter import HfConfig

    where, _, component = text.partition("#")
    config = HfConfig(Path(where), component or None)
    return Source(config.file.resolve().parent.name + (f"_{component}" if component else ""), config, None)


def _made(target: str, where: str, name: str) -> Source:
    with _importable(where):
        module = _run(target, lambda: _module(where))
        factory = getattr(module, name, None)
        if not callable(factory):
            has = "is no callable" if hasattr(module, name) else "does not exist"
            raise ExportError(
                f"{target}: {name} {has} in {where}; give a callable that returns (model, example_inputs)."
            )
        made = _run(target, factory)
    if not isinstance(made, tuple) or len(made) != 2:
        raise ExportError(f"{target} returned a {type(made).__name__}: it must return a pair (model, example_inputs).")
    return Source(name, *made)


def _module(where: str) -> ModuleType:
    if not where.endswith(".py"):
        return importlib.import_module(where)
    file = Path(where)
    if not file.is_file():
        raise ExportError(f"{where} does not exist; give a Python file with a factory.")
    specification = importlib.util.spec_from_file_location(file.stem, file)
    if specification is None or specification.loader is None:
        raise ExportError(f"{where} cannot be imported.")
    module = importlib.util.module_from_spec(specification)
    sys.modules[file.stem] = module  # classes look for their module here
    specification.loader.exec_module(module)
    return module


def _run(target: str, code: Callable[[], Any]) -> Any:
    try:
        return code()
    except NeuralCostError:
        raise
    except ModuleNotFoundError as error:
        if error.name in EXTRAS:
            extra = EXTRAS[error.name]
            raise BackendError(f"{target} needs {error.name}: pip install 'neural-cost[{extra}]'.") from error
        raise ExportError(
            f"{target} cannot be imported: {error}; install what is missing, or mend the name."
        ) from error
    except SystemExit as error:
        raise ExportError(f"{target} ended the program: code that makes a model may not call sys.exit.") from error
    except Exception as error:
        said = first_line(error).rstrip(".")
        raise ExportError(f"{target} failed: {type(error).__name__}: {said}; --debug shows where.") from error


@contextmanager
def _importable(where: str) -> Iterator[None]:
    """Modules are looked for in the working directory, or beside the file, as Python itself does for a script."""
    folder = str(Path(where).resolve().parent if where.endswith(".py") else Path.cwd())
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _once() -> bytes:
    """A content that nothing else has: the export is not found again."""
    return os.urandom(16)
