"""Adapters that export: the model becomes an ONNX file, and the nodes of its analysis become operations."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from neural_cost.adapters.protocol import FrameworkAdapter
from neural_cost.analyzer.errors import ExportError

if TYPE_CHECKING:
    from neural_cost.analyzer.report import Report
    from neural_cost.estimates import Estimate
    from neural_cost.operations.record import Operation

ADAPTERS = {"torch": "torch:TorchAdapter", "keras": "tensorflow:TensorFlowAdapter", "jax": "jax:JaxAdapter"}


class ExportingAdapter(FrameworkAdapter):
    """Reads the models that an exporter recognises."""

    framework: ClassVar[str]
    """The name of the exporter."""

    def report(self, model: Any, example_inputs: Any) -> Report:
        """The analysis of the model's export at the sizes of its example inputs; the export is kept by its content.

        Raises:
            ExportError: the model is of another framework, or cannot be exported.
            BackendError: a package is missing.
        """
        from neural_cost.analyzer.analyze import analyze
        from neural_cost.exporters.registry import exporter_of
        from neural_cost.exporters.sample import sizes_of
        from neural_cost.subjects import native_call, open_axes
        from neural_cost.targets import Source, exported

        found = exporter_of(model, example_inputs).name
        if found != self.framework:
            raise ExportError(f"{type(self).__name__} reads models of {self.framework}, and this is one of {found}.")
        name = getattr(model, "__name__", type(model).__name__)
        file = exported(Source(_file_name(name), model, example_inputs), lambda stage: None)
        example = native_call(model, example_inputs).example
        return analyze(file, sizes_of(example, open_axes(file)))

    def operations(self, model: Any, example_inputs: Any) -> list[Operation]:
        """An operation for each node of the export that computes or moves anything."""
        from neural_cost.operations.from_report import operations_of

        return operations_of(self.report(model, example_inputs))

    def estimate(self, model: Any, example_inputs: Any) -> Estimate:
        """What the export costs, as `analyze` has it."""
        if type(self).operations is not ExportingAdapter.operations:  # a subclass reads models in its own way
            return super().estimate(model, example_inputs)
        from neural_cost.estimates import estimate_report

        return estimate_report(self.report(model, example_inputs))


def adapter_of(model: Any, example_inputs: Any) -> ExportingAdapter:
    """The adapter of a model's framework.

    Raises:
        ExportError: no adapter reads it.
    """
    from neural_cost.exporters.registry import exporter_of

    framework = exporter_of(model, example_inputs).name
    if framework not in ADAPTERS:
        raise ExportError(f"there is no adapter for models of {framework}: export them, and analyze the file.")
    module, _, name = ADAPTERS[framework].partition(":")
    made: ExportingAdapter = getattr(import_module(f"neural_cost.adapters.{module}"), name)()
    return made


def _file_name(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name) or "model"
