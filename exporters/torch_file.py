"""The two exporters of PyTorch, and what is mended in their files."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neural_cost.exporters.dim_names import name_dims, name_inputs
from neural_cost.exporters.messages import first_line
from neural_cost.exporters.torch_errors import explained

if TYPE_CHECKING:
    from neural_cost.exporters.torch_exporter import _Export

STACK_TRACE = "pkg.torch.onnx.stack_trace"  # paths of the machine that exported
BAKED_IN = "might cause the trace to be incorrect"
OPSET = 20
OPSET_BFLOAT16 = 22  # the first in which convolutions and recurrent layers take bfloat16
LARGEST_INSIDE = 1 << 30  # bytes of weights in the file itself; protobuf ends at 2 GiB


def opset_of(model: Any) -> int:
    """The opset that does a module or program best."""
    import torch

    tensors = (*model.parameters(), *model.buffers())
    return OPSET_BFLOAT16 if any(tensor.dtype == torch.bfloat16 for tensor in tensors) else OPSET


def write_dynamo(job: _Export) -> None:
    """Write by dynamo.

    Raises:
        ExportError: the module cannot be captured or translated.
    """
    import torch

    try:
        program = torch.onnx.export(
            job.module,
            job.call.args,
            kwargs=job.call.kwargs,
            dynamo=True,
            opset_version=job.opset,
            dynamic_shapes=_dynamic_shapes(job),
            output_names=job.output_names,
            verbose=False,
        )
    except Exception as error:
        raise explained(error, job.dims) from error
    name_inputs(program.model, list(job.call.tensors))
    name_dims(program.model, job.dims)
    save_program(program, job.file)


def save_program(program: Any, file: Path) -> None:
    """Save without stack traces, large weights beside the file."""
    import onnx_ir as ir

    model = program.model
    for graph in (*model.graphs(), *model.functions.values()):
        for node in graph:
            node.metadata_props.pop(STACK_TRACE, None)
    _narrow_folded(model)
    size = sum(
        weight.const_value.nbytes for weight in model.graph.initializers.values() if weight.const_value is not None
    )
    ir.save(model, file, external_data=f"{file.name}.data" if size > LARGEST_INSIDE else None)


def _narrow_folded(model: Any) -> None:
    """Give weights the type of what they multiply: where torch folds a BatchNorm, bfloat16 becomes float32."""
    import ml_dtypes
    import onnx_ir as ir

    for node in model.graph:
        if node.op_type not in {"Conv", "ConvTranspose", "Gemm"} or node.inputs[0].dtype != ir.DataType.BFLOAT16:
            continue
        for value in node.inputs[1:]:
            if value is not None and value.const_value is not None and value.dtype == ir.DataType.FLOAT:
                value.const_value = ir.tensor(value.const_value.numpy().astype(ml_dtypes.bfloat16), name=value.name)
                value.dtype = ir.DataType.BFLOAT16


def write_traced(job: _Export) -> bool:
    """Write by the older exporter; False where it warns that it would bake data into the graph, or fails."""
    import torch

    axes: dict[str, Mapping[int, str]] = {name: dict(each) for name, each in job.dims.items()}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            torch.onnx.export(
                job.module,
                (*job.call.args, job.call.kwargs) if job.call.kwargs else job.call.args,
                str(job.file),
                dynamo=False,
                opset_version=job.opset,
                input_names=list(job.call.tensors),
                output_names=job.output_names,
                dynamic_axes=axes,
                verbose=False,
            )
        except Exception as error:
            warnings.warn(f"the older exporter failed: {first_line(error)}", stacklevel=1)
            return False
        finally:
            job.module.eval()
    doubts = [each for each in caught if BAKED_IN in str(each.message) and not _of_torch(each.filename)]
    for each in caught:
        warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    return not doubts


def closed_axes(file: Path, dims: Mapping[str, Mapping[int, str]]) -> str:
    """Axes that should be open and have a fixed size in the file, in words; empty where there are none."""
    import onnx_ir as ir

    found = {value.name: value.shape for value in ir.load(file).graph.inputs}
    closed = [
        f'axis {axis} of the input "{name}"'
        for name, axes in dims.items()
        for axis in axes
        if (shape := found.get(name)) is not None and isinstance(shape[axis], int)
    ]
    return ", ".join(closed)


def _dynamic_shapes(job: _Export) -> dict[str, Any] | None:
    import torch

    if not job.dims:
        return None
    made = {dim: torch.export.Dim(dim, min=1) for axes in job.dims.values() for dim in axes.values()}
    of = {name: {axis: made[dim] for axis, dim in axes.items()} for name, axes in job.dims.items()}
    return job.call.specification(job.module.forward, of)


def _of_torch(filename: str) -> bool:
    """Whether a line is of torch's own: its layers check shapes with Python, which tracing may bake in."""
    return "torch" in Path(filename).parts
