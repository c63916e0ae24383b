"""Which exporter a model belongs to: those of the package, and those that other packages register.

A package registers one class under the entry point group `neural_cost.exporters`:

    [project.entry-points."neural_cost.exporters"]
    mine = "my_package:MyExporter"
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from neural_cost.analyzer.errors import BackendError, ExportError
from neural_cost.exporters.messages import first_line
from neural_cost.exporters.protocol import Exporter

GROUP = "neural_cost.exporters"
BUILT_IN = (
    "torch_exporter:TorchExporter",
    "keras_exporter:KerasExporter",
    "jax_exporter:JaxExporter",
    "hf_exporter:HfExporter",
)


@cache
def exporters() -> Sequence[Exporter]:
    """All exporters: those of other packages first, so that they can take over a framework.

    Raises:
        BackendError: a registered exporter cannot be imported.
    """
    return (*map(_registered, entry_points(group=GROUP)), *map(_built_in, BUILT_IN))


def exporter_of(model: object, example_inputs: object) -> Exporter:
    """Find the exporter of a model.

    Raises:
        ExportError: none knows it.
    """
    for exporter in exporters():
        if exporter.recognises(model, example_inputs):
            return exporter
    kind = f"{type(model).__module__}.{type(model).__qualname__}"
    names = ", ".join(exporter.name for exporter in exporters())
    raise ExportError(
        f"no exporter knows a {kind}; there are exporters of {names} models, and you can register your own."
    )


def exporter_of_file(file: Path) -> Exporter | None:
    """Find the exporter that reads a saved model, by its name; None where none does."""
    return next((exporter for exporter in exporters() if exporter.reads(file)), None)


def _built_in(where: str) -> Exporter:
    module, _, name = where.partition(":")
    return _made(getattr(import_module(f"neural_cost.exporters.{module}"), name))


def _registered(entry: EntryPoint) -> Exporter:
    try:
        return _made(entry.load())
    except Exception as error:
        package = entry.dist.name if entry.dist else entry.value
        raise BackendError(
            f'the exporter "{entry.name}" of the package {package} cannot be loaded ({first_line(error)}); '
            "mend or uninstall that package."
        ) from error


def _made(found: type[Exporter] | Exporter) -> Exporter:
    return found() if isinstance(found, type) else found
