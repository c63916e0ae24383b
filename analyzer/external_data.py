"""Weights that lie in files beside the model: not read, but looked at.

A path that leads out of the model's folder is refused. A link that does (a download cache has such) is not followed.
A file that is missing is no error: sizes come from the graph. One that is shorter than the graph says is told of.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

import onnx_ir as ir

from neural_cost.analyzer.errors import ModelError, quoted
from neural_cost.analyzer.places import places
from neural_cost.analyzer.values import MAX_ELEMENTS

MAX_BYTES = 8 * MAX_ELEMENTS  # of a tensor whose elements matter: a longer one is a weight, and is never read


def locate_external_data(model: ir.Model, file: Path) -> list[str]:
    """Let every external tensor know its folder; the notes say which files are too short.

    Raises:
        ModelError: a tensor points outside the folder of the model, or to what is no file.
    """
    folder = file.parent.resolve()
    sizes: dict[str, int | None] = {}
    short: dict[str, int] = {}
    for tensor in (place.tensor for place in places(model)):
        if not isinstance(tensor, ir.ExternalTensor):
            continue
        location = str(tensor.location)
        if (tensor.offset or 0) < 0 or tensor.dtype == ir.DataType.STRING:
            raise ModelError(
                f"{file}: the weight {quoted(tensor.name)} cannot lie in a file as it says; export it again."
            )
        if location not in sizes:
            sizes[location] = _size(folder, location, tensor, file)
        tensor.base_dir = str(folder)
        size, end = sizes[location], (tensor.offset or 0) + tensor.nbytes
        if size is None or tensor.nbytes > MAX_BYTES:
            tensor.invalidate()  # whoever asks for its elements is told that there are none
        if size is None:
            continue
        if end > size:
            short[location] = max(short.get(location, 0), end)
    return [
        f"the weight file {quoted(location)} is cut off: it has {sizes[location]:,} bytes, and the graph needs {end:,}"
        for location, end in short.items()
    ]


def _size(folder: Path, location: str, tensor: ir.ExternalTensor, file: Path) -> int | None:
    """Bytes of a weight file; None where it is missing, or a link out of the folder."""
    path = Path(os.path.normpath(folder / location))
    if not location or "\0" in location or os.path.isabs(location) or not path.is_relative_to(folder):
        raise ModelError(
            f"{file}: the weight {quoted(tensor.name)} points outside the folder of the model ({quoted(location)}), "
            "which is unsafe; move its data beside the model."
        )
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode):
        raise ModelError(
            f"{file}: the weight {quoted(tensor.name)} is in {quoted(location)}, which is no file; export it again."
        )
    return found.st_size if path.resolve().is_relative_to(folder) else None
