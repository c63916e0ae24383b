"""ModelSummary: what a Keras model costs, layer by layer, by the conventions of NNS.

One FLOP of NNS is a multiply-add: it is called a MAC here. FLOPs(backward) = 2 x FLOPs(forward), FLOPs(training) = 3 x;
memory(backward) = memory(forward), memory(training) = 2 x. Biases and elementwise work count nothing. What training
costs by each operator's own derivative is `neural_cost.analyze(...).training()`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neural_cost.analyzer.errors import NeuralCostError
from neural_cost.analyzer.record import Record
from neural_cost.keras_layers import Unsupported, Work, calls, shapes, work

if TYPE_CHECKING:
    import pandas as pd

CONVENTION = "MACs: a multiply-add each, which NNS calls a FLOP; backward 2 x forward, memory of training 2 x forward"
COLUMNS = (
    "layer", "type", "output_shape", "parameters", "forward_macs", "backward_macs", "training_macs",
    "forward_bytes", "training_bytes",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LayerSummary(Record):
    """One call of a layer. Figures are those of one instance, and None where they are not known: `why` says why.

    Attributes:
        parameters: 0 in calls after the first.
        forward_bytes: activations; see `keras_layers`.
    """

    layer: str
    type: str
    output_shape: tuple[int | None, ...]
    parameters: int
    forward_macs: int | None
    forward_bytes: int | None
    why: str = ""

    def row(self, batch: int = 1) -> dict[str, Any]:
        """The figures of a batch, by `COLUMNS`."""
        macs, size = self.forward_macs, self.forward_bytes
        found = {name: getattr(self, name) for name in ("layer", "type", "output_shape", "parameters")}
        return found | {
            "forward_macs": None if macs is None else batch * macs,
            "backward_macs": None if macs is None else 2 * batch * macs,
            "training_macs": None if macs is None else 3 * batch * macs,
            "forward_bytes": None if size is None else batch * size,
            "training_bytes": None if size is None else 2 * batch * size,
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain data of one instance."""
        return self.row() | {"output_shape": list(self.output_shape), "why": self.why}


class ModelSummary(Record):
    """A built Keras model: Sequential or functional, models in it included.

    Attributes:
        layers: each call of a layer, in order.
        unsupported: those of them whose figures are not known; sums leave them out, and `complete` is False.

    Raises:
        NeuralCostError: the model is not built, or of a kind whose layers are not known.
    """

    __slots__ = ("layers", "name")

    def __init__(self, model: Any) -> None:
        self.name: str = str(getattr(model, "name", type(model).__name__))
        seen: set[int] = set()
        self.layers: Sequence[LayerSummary] = list(_layers(model, "", seen))

    @property
    def unsupported(self) -> list[LayerSummary]:
        """Layers whose figures are not known."""
        return [layer for layer in self.layers if layer.why]

    @property
    def complete(self) -> bool:
        """Whether the sums hold all layers."""
        return not self.unsupported

    @property
    def parameters(self) -> int:
        """Elements of all weights, those that are not trained among them."""
        return sum(layer.parameters for layer in self.layers)

    def total(self, batch: int = 1) -> dict[str, int]:
        """Sums of a batch: parameters, MACs forward, backward and in training, bytes forward and in training."""
        rows = [layer.row(batch) for layer in self.layers]
        return {name: sum(row[name] or 0 for row in rows) for name in COLUMNS[3:]}

    def to_dataframe(self, batch: int = 1) -> pd.DataFrame:
        """A row for each layer, and one for the sum, as a table of pandas, which must be installed."""
        import pandas as pd

        rows: list[dict[str, Any]] = [layer.row(batch) for layer in self.layers]
        rows.append({"layer": "total", "type": "", "output_shape": None, **self.total(batch)})
        return pd.DataFrame(rows, columns=list(COLUMNS)).convert_dtypes()

    def to_dict(self, batch: int = 1) -> dict[str, Any]:
        """Plain data: each layer of one instance, and the sums of a batch."""
        layers = [layer.to_dict() for layer in self.layers]
        total = {"batch": batch, **self.total(batch)}
        return {
            "model": self.name, "convention": CONVENTION, "complete": self.complete, "layers": layers, "total": total,
        }  # fmt: skip

    def __str__(self) -> str:
        """A table of one instance."""
        from neural_cost.analyzer.tables.blocks import Grid, Heading, Paragraph
        from neural_cost.analyzer.tables.figures import count, size
        from neural_cost.analyzer.tables.text import to_text

        least = not self.complete
        sums = self.total()
        lines = [
            [
                row["layer"],
                row["type"],
                f"{row['parameters']:,}",
                *(count(row[n]) for n in COLUMNS[4:7]),
                size(row["forward_bytes"]),
            ]
            for row in (layer.row() for layer in self.layers)
        ]
        total = [count(sums[name], least=least) for name in COLUMNS[4:7]]
        lines.append(["total", "", f"{sums['parameters']:,}", *total, size(sums["forward_bytes"], least=least)])
        headings = [Heading("layer", "name"), Heading("type", "name"), Heading("parameters")]
        headings += [Heading(text) for text in ("forward", "backward", "training", "activations")]
        left_out = [Paragraph(f"  not counted: {each.layer}: {each.why}", "warning") for each in self.unsupported]
        return to_text([Grid(f"{self.name}, one instance", headings, lines), Paragraph(CONVENTION), *left_out])


def _layers(model: Any, path: str, seen: set[int]) -> Iterator[LayerSummary]:
    for node in _calls(model):
        layer = node.operation
        name = path + layer.name
        if calls(layer):
            yield from _layers(layer, f"{name}/", seen)
            continue
        reads, gives = shapes(node)
        yield _summary(layer, name, reads, gives, 0 if id(layer) in seen else _parameters(layer))
        seen.add(id(layer))


def _calls(model: Any) -> list[Any]:
    """Calls of a model's layers. Raises NeuralCostError where they are not known."""
    found = calls(model)
    if not found:
        raise NeuralCostError(
            f"the layers of {type(model).__name__} are not known: give a Sequential or functional Keras model that is "
            "built, such as one that begins with keras.Input."
        )
    return found


def _parameters(layer: Any) -> int:
    return int(layer.count_params()) if hasattr(layer, "count_params") else 0


def _summary(layer: Any, name: str, reads: Any, gives: Any, parameters: int) -> LayerSummary:
    kind, shape = type(layer).__name__, (None, *gives[0])
    try:
        found: Work = work(layer, reads, gives)
    except Unsupported as unsupported:
        return LayerSummary(name, kind, shape, parameters, None, None, str(unsupported))
    return LayerSummary(name, kind, shape, parameters, found.macs, found.activations * _width(layer))


def _width(layer: Any) -> int:
    """Bytes of an element of what a layer computes."""
    digits = "".join(each for each in str(getattr(layer, "compute_dtype", "") or "float32") if each.isdigit())
    return int(digits) // 8
