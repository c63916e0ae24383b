"""Export a model: find its exporter, let it write into a folder of its own, check, compare, move into place."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from neural_cost.analyzer.errors import ExportError, NeuralCostError
from neural_cost.exporters.messages import collected, first_line
from neural_cost.exporters.parity import check_file, compare
from neural_cost.exporters.protocol import Draft, Request
from neural_cost.exporters.record import Exported, Parity
from neural_cost.exporters.registry import exporter_of

Stage = Callable[[str], object]


def export(
    model: Any,
    example_inputs: Any,
    path: str | os.PathLike[str],
    *,
    dynamic_dims: Mapping[Any, Any] | None = None,
    opset: int | None = None,
    verify: bool = True,
    progress: Stage | None = None,
) -> Exported:
    """Write a framework's model to an ONNX file that computes the same, and say how it was made and how far it differs.

    The file is compared with the model on random inputs in ONNX Runtime before it takes its name, so `path` is either
    whole and right or as it was. The model is left as it was.

    Args:
        model: of PyTorch, or of any framework whose exporter is registered.
        example_inputs: as the model takes them: one array or tensor, a tuple, or a dict of keyword arguments.
        path: the .onnx file to write.
        dynamic_dims: names of open axes by input, `{"x": {0: "batch"}}`, or `{0: "batch"}` for the only input. By
            default the first axis is open as `batch` where all inputs share its size; `{}` leaves nothing open.
        opset: version of the default domain; by default what the exporter does best.
        verify: False skips the comparison, not the checker.
        progress: called with each stage.

    Raises:
        ExportError: the model cannot be exported, or the file does not compute what the model does.
        BackendError: a package is missing.
    """
    if not isinstance(path, str | os.PathLike):
        raise ExportError(f"an export goes to a file: give its path, not a {type(path).__name__}.")
    exporter, target, tell = exporter_of(model, example_inputs), Path(path), progress or (lambda _: None)
    with _folder_beside(target) as folder, collected() as said:
        tell(f"exporting with {exporter.name}")
        write = partial(_drafted, exporter.export, model, example_inputs, folder / target.name)
        check = partial(_checked, folder, target=target, tell=tell if verify else None)
        exported = _open_or_closed(write, check, Request(dynamic_dims, opset))
        if opset is not None and exported.opset != opset:
            raise ExportError(f"{exporter.name} wrote opset {exported.opset}, not {opset}: ask for that, or for none.")
        _move(folder, target)
    return replace(exported, warnings=tuple(said))


def _drafted(run: Callable[..., Draft], *arguments: Any) -> Draft:
    """What fails in a framework is the framework's to say, in one sentence."""
    try:
        return run(*arguments)
    except NeuralCostError:
        raise
    except Exception as error:
        raise ExportError(f"the exporter failed ({type(error).__name__}): {first_line(error)}") from error


def _open_or_closed(
    write: Callable[[Request], Draft], check: Callable[[Draft], Exported], request: Request
) -> Exported:
    """Export; where that fails with the open batch that nobody asked for, without it."""
    if request.dynamic_dims is not None:
        return check(write(request))
    closed = replace(request, dynamic_dims={})
    try:
        exported = check(write(request))
    except ExportError as error:
        try:
            return check(_closed(write(closed), str(error)))
        except ExportError:
            raise error from error.__cause__
    if _runs_at_one_size(exported):
        return check(_closed(write(closed), "the model runs at the size of its example alone"))
    return exported


def _runs_at_one_size(exported: Exported) -> bool:
    """Whether the model itself refused every size of its open dimensions but that of its example."""
    parity = exported.parity
    if parity is None or not exported.dims:
        return False
    return bool(parity.notes) and len({str(each.sizes) for each in parity.outputs}) == 1


def _closed(draft: Draft, why: str) -> Draft:
    """A batch that nobody asked to be open may be closed, and is said to be."""
    return replace(draft, notes=(*draft.notes, f"no axis is open: {why}"))


def _checked(folder: Path, draft: Draft, target: Path, tell: Stage | None) -> Exported:
    import onnx

    file = folder / target.name
    check_file(file, has_weights=draft.native is not None)
    parity: Parity | None = None
    if tell is not None and draft.native is not None:
        tell("comparing with ONNX Runtime")
        parity = compare(file, draft.native, draft.example, draft.dims)
    proto = onnx.load(file, load_external_data=False)
    weights = {tensor.name for tensor in proto.graph.initializer}
    return Exported(
        target,
        tuple(value.name for value in proto.graph.input if value.name not in weights),
        tuple(value.name for value in proto.graph.output),
        draft.dims,
        next((entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")), 0),
        draft.exporter,
        draft.versions,
        draft.example,
        draft.native,
        (),
        tuple(draft.notes),
        parity,
    )


@contextmanager
def _folder_beside(target: Path) -> Iterator[Path]:
    """A folder on the file system of the target, gone afterwards whatever happens."""
    if target.is_dir():
        raise ExportError(f"{target} is a directory; give a file.")
    try:
        folder = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    except OSError as error:
        raise ExportError(f"{target} cannot be written ({error.strerror}); give another file.") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _move(folder: Path, target: Path) -> None:
    """Move external data first: a model without its weights must never be seen."""
    for file in sorted(folder.iterdir(), key=lambda file: file.name == target.name):
        file.replace(target.parent / file.name)
