"""Programs of `torch.export`: read from `.pt2` without unpickling, and exported with the axes that they leave open."""

from __future__ import annotations

import json
import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neural_cost.analyzer.errors import ExportError, ModelError
from neural_cost.exporters.dims import BATCH
from neural_cost.exporters.messages import first_line
from neural_cost.exporters.protocol import Draft, Request

if TYPE_CHECKING:
    from neural_cost.exporters.torch_inputs import Call

WEIGHTS_ONLY = "TORCH_FORCE_WEIGHTS_ONLY_LOAD"
# What torch writes for a size: its symbols, numbers, operators, and functions of sympy, which have capital letters.
EXPRESSION = re.compile(
    r"(?:\s|Symbol\('[su]\d+'(?:, [a-z]+=(?:True|False))*\)|[su]\d+|\b[A-Z][A-Za-z]*\b"
    r"|\d+(?:\.\d+)?|[-+*/(),<>=&|~!%])*"
)


def load(file: Path) -> tuple[Any, Any]:
    """Read a program and its example inputs.

    Raises:
        ModelError: the file is no such program, carries pickled objects, or no example inputs.
    """
    import torch

    if not zipfile.is_zipfile(file):
        raise ModelError(f"{file} is no torch.export program, or a part of one: save it again by torch.export.save.")
    try:
        _refuse_code(file)
        with _weights_only():
            program = torch.export.load(file)
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"{file} cannot be read as a torch.export program: {first_line(error)}") from error
    if program.example_inputs is None:
        raise ModelError(f"{file} carries no example inputs: save it from torch.export.export as it is.")
    return program, _example(program)


def call_of_program(program: Any, example_inputs: Any) -> tuple[Any, Call]:
    """A program's module, and its call: what it was captured with by name goes by name, as it takes it in no other way.

    Raises:
        ExportError: example inputs are missing, or do not fit it.
    """
    from neural_cost.exporters.torch_inputs import call_of, device_of

    if example_inputs is None and program.example_inputs is None:
        raise ExportError("the program carries no example inputs: give them.")
    module = program.module(check_guards=False)
    inputs = _example(program) if example_inputs is None else example_inputs
    keywords = None if program.example_inputs is None else list(program.example_inputs[1])
    try:
        return module, call_of(module.forward, inputs, device_of(module), keywords)
    except TypeError as error:
        raise ExportError(f"the example inputs do not fit the program: {first_line(error)}") from error


def _example(program: Any) -> Any:
    """The example inputs that a program was captured with."""
    args, kwargs = program.example_inputs
    return (*args, dict(kwargs)) if kwargs else tuple(args)


def export_program(program: Any, example_inputs: Any, file: Path, request: Request) -> Draft:
    """Write a program; its open axes are what it was captured with."""
    import torch

    from neural_cost.exporters import torch_exporter, torch_file
    from neural_cost.exporters.dim_names import name_dims, name_inputs, open_axes
    from neural_cost.exporters.torch_errors import explained
    from neural_cost.exporters.torch_inputs import to_numpy

    if request.dynamic_dims is not None:
        raise ExportError("a program's open axes are fixed when it is captured: give them to torch.export.export.")
    module, call = call_of_program(program, example_inputs)
    names = torch_exporter.run_example(module, call)
    try:
        made = torch.onnx.export(
            program,
            dynamo=True,
            opset_version=request.opset or torch_file.opset_of(program),
            output_names=names,
            verbose=False,
        )
    except Exception as error:
        raise explained(error, {}) from error
    name_inputs(made.model, list(call.tensors))
    name_dims(made.model, _batch(made.model))
    torch_file.save_program(made, file)
    example = {name: to_numpy(tensor) for name, tensor in call.tensors.items()}
    native = torch_exporter.native_of(module, call)
    return Draft("torch.onnx (dynamo)", torch_exporter.versions(), example, open_axes(made.model), native)


def _batch(model: Any) -> dict[str, dict[int, str]]:
    """The first axis of all inputs as `batch` where they share its symbol: torch forgets the names of dimensions."""
    firsts = {str(value.shape[0]) for value in model.graph.inputs if value.shape}
    if len(firsts) != 1 or not re.fullmatch(r"s\d+", next(iter(firsts))):
        return {}
    return {value.name: {0: BATCH} for value in model.graph.inputs if value.shape}


def _refuse_code(file: Path) -> None:
    """Refuse what `torch.export.load` would unpickle or evaluate: objects, and expressions that are no sizes."""
    with zipfile.ZipFile(file) as archive:
        for name in archive.namelist():
            if "custom_obj_" in name or "opaque_obj_" in name:
                raise ModelError(
                    f"{file} holds a pickled object ({name}), which is not read: save a program of tensors alone."
                )
            if name.endswith(".json"):
                for text in _expressions(json.loads(archive.read(name))):
                    if not EXPRESSION.fullmatch(text):
                        raise ModelError(f'{file} holds "{text[:60]}" in place of a size, which is not evaluated.')


def _expressions(data: Any) -> Iterator[str]:
    """Every `expr_str` of a program, however deep."""
    rest = [data]
    while rest:
        match rest.pop():
            case Mapping() as each:
                yield from (value for key, value in each.items() if key == "expr_str" and isinstance(value, str))
                rest += each.values()
            case list() as each:
                rest += each


@contextmanager
def _weights_only() -> Iterator[None]:
    """Let `torch.load` read tensors alone, also where torch would fall back to unpickling."""
    before = os.environ.get(WEIGHTS_ONLY)
    os.environ[WEIGHTS_ONLY] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[WEIGHTS_ONLY]
        else:
            os.environ[WEIGHTS_ONLY] = before
