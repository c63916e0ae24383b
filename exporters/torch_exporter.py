"""PyTorch: modules and `torch.export` programs, by the dynamo exporter; vanilla RNNs by the older one.

Dynamo unrolls `nn.RNN` into a MatMul and a Tanh for each step; the older exporter writes the RNN operator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neural_cost.analyzer.errors import BackendError, ExportError
from neural_cost.exporters.dims import chosen_dims
from neural_cost.exporters.held import dropped_note
from neural_cost.exporters.messages import first_line
from neural_cost.exporters.protocol import Array, Draft, Native, Request
from neural_cost.exporters.protocol import Call as FlatCall
from neural_cost.exporters.torch_file import OPSET, opset_of
from neural_cost.exporters.torch_inputs import Call, call_of, device_of, from_numpy, tensors_of, to_numpy
from neural_cost.exporters.torch_state import as_for_inference

if TYPE_CHECKING:
    from torch import nn

WHY_FEWER = "the exporter merges equal tensors, folds BatchNorm into convolutions, and drops rows that nothing reads"


class TorchExporter:
    """Exports `torch.nn.Module` and `torch.export.ExportedProgram`."""

    name = "torch"

    def recognises(self, model: object, example_inputs: object) -> bool:
        """Say whether a model is a module or a program, without importing torch."""
        del example_inputs
        kinds = {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(model).__mro__}
        return bool(kinds & {("torch", "Module"), ("torch", "ExportedProgram")})

    def reads(self, file: Path) -> bool:
        """Say whether a file is a saved program, by its suffix."""
        return file.suffix == ".pt2"

    def load(self, file: Path) -> tuple[object, object]:
        """Read a program with the example inputs that it carries."""
        from neural_cost.exporters.torch_program import load

        _require_torch()
        return load(file)

    def content(self, model: Any, example_inputs: Any) -> bytes | None:
        """Digest weights, structure and sources."""
        from neural_cost.exporters.torch_content import content_of

        _require_torch()
        return content_of(model, example_inputs)

    def call(self, model: Any, example_inputs: Any) -> FlatCall:
        """How a module is called on tensors."""
        _require_torch()
        return _flat(model, example_inputs)

    def export(self, model: Any, example_inputs: Any, file: Path, request: Request) -> Draft:
        """Write a module, or the program of one."""
        _require_torch()
        import torch

        if isinstance(model, torch.export.ExportedProgram):
            from neural_cost.exporters.torch_program import export_program

            return export_program(model, example_inputs, file, request)
        with as_for_inference(model):
            return _Export(model, example_inputs, file, request).draft()


def _flat(module: nn.Module, example_inputs: Any) -> FlatCall:
    """A module in eval mode as a function of its tensors."""
    import torch

    if isinstance(module, torch.export.ExportedProgram):
        from neural_cost.exporters.torch_program import call_of_program

        module, call = call_of_program(module, example_inputs)
    else:
        module.eval()
        call = _example_call(module, example_inputs)

    def function(*tensors: Any) -> Any:
        this = call.with_tensors(dict(zip(call.tensors, tensors, strict=True)))
        return module(*this.args, **this.kwargs)

    plain = len(call.args) == len(call.tensors) and not call.kwargs
    arrays = {name: to_numpy(tensor) for name, tensor in call.tensors.items()}
    return FlatCall(module if plain else function, arrays)


class _Export:
    """One export of a module, which is in eval mode."""

    def __init__(self, module: nn.Module, example_inputs: Any, file: Path, request: Request) -> None:
        self.module, self.file, self.request = module, file, request
        self.opset = request.opset or opset_of(module)
        self.call = _example_call(module, example_inputs)
        shapes = {name: tuple(tensor.shape) for name, tensor in self.call.tensors.items()}
        self.dims, self.notes = chosen_dims(request.dynamic_dims, shapes)
        self.output_names = run_example(module, self.call)
        self.widen_ones()

    def draft(self) -> Draft:
        """Write the file, and refuse axes that should be open and that the model fixes."""
        exporter = self._write_open() if self.dims else self._write()
        parameters = sum(parameter.numel() for parameter in self.module.parameters())
        return Draft(
            exporter,
            versions(),
            {name: to_numpy(tensor) for name, tensor in self.call.tensors.items()},
            self.dims,
            native_of(self.module, self.call),
            (*self.notes, *dropped_note(parameters, self.file, WHY_FEWER)),
        )

    def widen_ones(self) -> None:
        """Give open axes of one element a second one: exporters take a 1 for a constant."""
        tensors = {name: _without_ones(tensor, self.dims.get(name, ())) for name, tensor in self.call.tensors.items()}
        wide = self.call.with_tensors(tensors)
        try:
            run_example(self.module, wide)
        except ExportError:
            return
        self.call = wide

    def _write_open(self) -> str:
        from neural_cost.exporters.torch_file import closed_axes

        exporter = self._write()
        closed = closed_axes(self.file, self.dims)
        if closed:
            raise ExportError(f"{closed} cannot be open: the model fixes its size; leave it out of dynamic_dims.")
        return exporter

    def _write(self) -> str:
        from neural_cost.exporters import torch_file

        if has_vanilla_rnn(self.module) and self.opset <= OPSET:
            if torch_file.write_traced(self):
                return "torch.onnx (traced)"
            self.notes = (*self.notes, "an RNN is unrolled: what surrounds it depends on data, and cannot be traced")
        elif has_vanilla_rnn(self.module):
            self.notes = (*self.notes, f"an RNN is unrolled: only opsets up to {OPSET} have it traced")
        torch_file.write_dynamo(self)
        return "torch.onnx (dynamo)"


def _example_call(module: nn.Module, example_inputs: Any) -> Call:
    if device_of(module).type == "meta":
        raise ExportError("the module is on the meta device, without weights: create it on a device that holds them.")
    if example_inputs is None:
        raise ExportError(f"{type(module).__name__} needs example inputs: give those that its forward takes.")
    try:
        return call_of(module.forward, example_inputs, device_of(module))
    except TypeError as error:
        raise ExportError(
            f"the example inputs do not fit {type(module).__name__}.forward: {first_line(error)}"
        ) from error


def run_example(module: Callable[..., Any], call: Call) -> list[str]:
    """Run the module once, and name its outputs.

    Raises:
        ExportError: it fails on its own example.
    """
    try:
        found = tensors_of(module(*call.args, **call.kwargs))
    except Exception as error:
        shapes = ", ".join(f"{name} {list(tensor.shape)}" for name, tensor in call.tensors.items())
        raise ExportError(
            f"the model cannot run on its example inputs ({shapes}): {first_line(error)} "
            "Give inputs of the shapes and types that it takes."
        ) from error
    if not found:
        raise ExportError("the model returns no tensor for its example inputs: a graph needs an output.")
    taken = set(call.tensors)
    return [f"output_{path}" if path.isdigit() or path in taken else path or "output" for path, _ in found]


def native_of(module: nn.Module, call: Call) -> Native:
    """Run the module on arrays, in eval mode, and leave it as it was."""

    def run(feeds: Mapping[str, Array]) -> Sequence[Array]:
        tensors = {name: from_numpy(feeds[name], tensor.device) for name, tensor in call.tensors.items()}
        this = call.with_tensors(tensors)
        with as_for_inference(module):
            return [to_numpy(tensor) for _, tensor in tensors_of(module(*this.args, **this.kwargs))]

    return run


def has_vanilla_rnn(module: nn.Module) -> bool:
    """Say whether a module has `nn.RNN` anywhere in it."""
    from torch import nn

    return any(type(each) is nn.RNN for each in module.modules())


def versions() -> dict[str, str]:
    """Versions of what decides the file."""
    import onnxscript
    import torch

    return {"torch": torch.__version__, "onnxscript": onnxscript.__version__}


def _without_ones(tensor: Any, axes: Sequence[int] | Mapping[int, str]) -> Any:
    for axis in axes:
        if tensor.shape[axis] == 1:
            tensor = tensor.repeat_interleave(2, dim=axis)
    return tensor


def _require_torch() -> None:
    try:
        import onnxscript  # noqa: F401
        import torch  # noqa: F401
    except ImportError as error:
        raise BackendError(f"{error.name} is missing: pip install 'neural-cost[torch]'.") from error
