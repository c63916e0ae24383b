"""What an export made, and how far it is from the model it was made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from neural_cost.exporters.protocol import Array, Dims, Native

SHOWN = 8  # inputs or outputs that a summary names; a decoder has one for each layer's cache


@dataclass(frozen=True, slots=True)
class OutputParity:
    """Differences of one output between the model and its file, at one set of sizes.

    Attributes:
        max_abs_diff: largest absolute difference of an element.
        max_rel_diff: largest difference over the absolute value in the model, of elements that are not 0 there.
        tolerance: what `max_abs_diff` may be: that of the type, times the largest absolute value of the output.
    """

    output: str
    dtype: str
    shape: tuple[int, ...]
    sizes: Mapping[str, int]
    max_abs_diff: float
    max_rel_diff: float
    tolerance: float

    @property
    def within(self) -> bool:
        """Whether the output agrees; a NaN on one side alone never does."""
        return self.max_abs_diff <= self.tolerance

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {name: getattr(self, name) for name in self.__slots__} | {
            "shape": list(self.shape),
            "sizes": dict(self.sizes),
        }


@dataclass(frozen=True, slots=True)
class Parity:
    """The comparison of a file with its model on random inputs.

    Attributes:
        outputs: one record for each output and set of sizes.
        notes: sizes that the model itself refused, and how types were run that ONNX Runtime lacks.
    """

    outputs: Sequence[OutputParity]
    notes: Sequence[str] = ()

    @property
    def max_abs_diff(self) -> float:
        """Largest absolute difference of all."""
        return max((output.max_abs_diff for output in self.outputs), default=0.0)

    @property
    def max_rel_diff(self) -> float:
        """Largest relative difference of all."""
        return max((output.max_rel_diff for output in self.outputs), default=0.0)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "max_abs_diff": self.max_abs_diff,
            "max_rel_diff": self.max_rel_diff,
            "outputs": [output.to_dict() for output in self.outputs],
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Exported:
    """An ONNX file made of a framework's model.

    Attributes:
        path: the file.
        inputs: names in the file, in its order; `outputs` the same.
        dims: open axes of inputs by name, `{"x": {0: "batch"}}`.
        opset: version of the default domain.
        exporter: what wrote the file; `versions` of the packages that decide what is in it.
        example: an array for each input.
        native: runs the model in its framework: arrays by input name to arrays of the outputs;
            None for a file without weights.
        warnings: what the exporter said while it worked, each once.
        notes: what a user should know of the file.
        parity: the comparison with the model; None where nothing was compared.
    """

    path: Path
    inputs: Sequence[str]
    outputs: Sequence[str]
    dims: Dims
    opset: int
    exporter: str
    versions: Mapping[str, str]
    example: Mapping[str, Array]
    native: Native | None
    warnings: Sequence[str]
    notes: Sequence[str]
    parity: Parity | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without the arrays and the callable."""
        return {
            "path": str(self.path),
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
            "dims": {name: {str(axis): dim for axis, dim in axes.items()} for name, axes in self.dims.items()},
            "opset": self.opset,
            "exporter": self.exporter,
            "versions": dict(self.versions),
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "parity": None if self.parity is None else self.parity.to_dict(),
        }

    def __str__(self) -> str:
        """A few lines: the file, its inputs and outputs, and how far it is from the model."""
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        lines = [
            f"{self.path}: opset {self.opset}, by {self.exporter} ({versions})",
            f"inputs  {_listed([self._described(name) for name in self.inputs])}",
            f"outputs {_listed(self.outputs)}",
            self._compared(),
            *(f"note: {note}" for note in (*self.notes, *(self.parity.notes if self.parity else ()))),
        ]
        return "\n".join(lines)

    def _described(self, name: str) -> str:
        axes = self.dims.get(name, {})
        if name not in self.example:
            return name
        sizes = (axes.get(axis, str(size)) for axis, size in enumerate(self.example[name].shape))
        return f"{name} ({', '.join(sizes)})"

    def _compared(self) -> str:
        if self.parity is None:
            return "not compared with the model"
        sizes = {tuple(sorted(output.sizes.items())) for output in self.parity.outputs}
        at = "; ".join(", ".join(f"{name} = {size}" for name, size in each) for each in sorted(sizes) if each)
        return (
            f"differs from the model by at most {self.parity.max_abs_diff:.1e} absolute, "
            f"{self.parity.max_rel_diff:.1e} relative" + (f" (at {at})" if at else "")
        )

    def _repr_html_(self) -> str:
        """The lines for a notebook."""
        return f"<pre>{escape(str(self))}</pre>"


def _listed(names: Sequence[str]) -> str:
    """The names, or the first of many."""
    rest = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")
