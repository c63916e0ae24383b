"""Report: what a model costs, as records and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from neural_cost.analyzer.arguments import check_depth, choice, device_of, sizes_of
from neural_cost.analyzer.collector import paused_gc
from neural_cost.analyzer.conditions import Range
from neural_cost.analyzer.errors import BackendError, OptionError
from neural_cost.analyzer.expressions import Formula
from neural_cost.analyzer.formulas import Formulas
from neural_cost.analyzer.memory.fits import Fits, InPlace, fits
from neural_cost.analyzer.memory.record import Best, Memory
from neural_cost.analyzer.opened import Opened
from neural_cost.analyzer.record import Record
from neural_cost.analyzer.records import Coverage, ModelInfo, NodeRecord, Totals
from neural_cost.analyzer.report_data import report_data
from neural_cost.analyzer.roofline import Bound
from neural_cost.analyzer.tables.rows import Row, columns, rows
from neural_cost.analyzer.tables.summary import summary
from neural_cost.analyzer.tables.text import to_text
from neural_cost.analyzer.tables.view import By, Column, View
from neural_cost.analyzer.tokens import Tokens, find_tokens

if TYPE_CHECKING:
    import pandas as pd

    from neural_cost.analyzer.device import Device
    from neural_cost.analyzer.findings.record import Finding
    from neural_cost.analyzer.prediction.record import Prediction
    from neural_cost.analyzer.training.options import TrainingOptions
    from neural_cost.analyzer.training.record import TrainingCost

Causal: TypeAlias = Literal["full", "half"]  # what of causal attention is counted


@dataclass(frozen=True, slots=True)
class Report(Record):
    """What a model costs.

    Attributes:
        bounds: lower bounds of its time, one for each device; empty without one.
        notes: what else a reader must know.
        causal: what of causal attention is counted.
        opened: what is behind its formulas.
    """

    model: ModelInfo
    totals: Totals
    coverage: Coverage
    nodes: list[NodeRecord]
    bounds: list[Bound]
    notes: list[str]
    causal: Causal
    opened: Opened = field(repr=False, compare=False)

    def at(self, sizes: Mapping[str, int] | None = None, /, **named: int) -> Totals:
        """The totals at other sizes of open dimensions, in microseconds where they have formulas.

        `report.at(batch=8)`, or `report.at({"input:0": 8})` for a name that is no Python name.

        Raises:
            DimensionError: a dimension that the model lacks, or sizes that contradict the graph.
        """
        return self.opened.at({**sizes_of("sizes", sizes), **sizes_of("sizes", named)})

    @property
    def formulas(self) -> Formulas:
        """Totals and nodes as formulas of the dimensions that nobody gave, and how they grow."""
        return self.opened.formulas

    @property
    def ranges(self) -> dict[str, Range]:
        """Where the formulas hold, by dimension."""
        return self.opened.ranges

    @property
    def memory(self) -> Memory:
        """Activation memory: what is alive when, and the most that is."""
        return self.opened.memory

    def training(self, options: TrainingOptions | None = None, /, **named: Any) -> TrainingCost:
        """What training costs: `report.training(optimizer="adamw", precision="amp", freeze=["embed*"])`.

        Raises:
            OptionError: an option that does not exist, or a pattern of frozen weights that fits none.
        """
        from neural_cost.analyzer.training.options import TrainingOptions

        run = replace(options or TrainingOptions(), **named)
        return self.opened.training(run, self.model.path, self.totals)

    def best_order(self) -> Best:
        """An order of the nodes in which less is alive at once: a heuristic, never worse than the file's order."""
        return self.opened.best_order

    def fits(self, device: str | Device | None = None, in_place: InPlace | str = InPlace.BOTH) -> Fits | None:
        """Whether weights and activations go into a device's memory, and the largest batch that does.

        The device is by default that of the report; None where it has none. `in_place` takes the peak by plain
        liveness ("both": between the two figures), "with" tensors written over others, or "without": the lower and the
        upper figure, for which no largest batch is told.

        Raises:
            OptionError: `in_place` is none of these.
        """
        memory, opened, on = self.memory, self.opened, device_of(device) or self.opened.device
        peaks = {"both": memory.peak_bytes, "with": memory.peak_lower_bytes, "without": memory.peak_upper_bytes}
        if in_place not in peaks:
            raise OptionError(f"in_place cannot be {in_place!r}: it is one of {', '.join(InPlace)}.")
        formula = opened.peak if in_place == InPlace.BOTH else None
        return None if on is None else fits(on, memory.weight_bytes, peaks[in_place], formula, opened.sizes)

    @property
    def findings(self) -> list[Finding]:
        """What makes it slow, as far as the graph tells: predicted, on the report's device where it has one."""
        from neural_cost.analyzer.findings.find import find

        return find(self)

    @property
    def prediction(self) -> Prediction:
        """How long a run will take on the report's device, without running: needs a machine whose kernels were timed.

        Raises:
            DeviceError: there is no device, or its kernels were not timed.
        """
        from neural_cost.analyzer.prediction.predict import predict

        return predict(self)

    @property
    def tokens(self) -> Tokens | None:
        """What this call means in tokens, for a model that reads a sequence."""
        opened = self.opened
        return find_tokens(
            declared=opened.inference.binding.declared,
            inputs=opened.ends.inputs,
            outputs=opened.ends.outputs,
            nodes=self.nodes,
            totals=self.totals,
            assumed=opened.names,
            at=opened.at,
        )

    @property
    def per_token(self) -> dict[str, Formula]:
        """MACs, FLOPs and bytes moved for one token, as formulas, where the number of tokens is open."""
        tokens = self.tokens
        if tokens is None or tokens.dim is None:
            return {}
        given = 1 if tokens.batch_dim in self.opened.names else tokens.batch
        return self.opened.per([tokens.dim, tokens.batch_dim], given)

    @paused_gc()
    def to_dict(
        self,
        *,
        memory: bool = False,
        best_order: bool = False,
        in_place: InPlace = InPlace.BOTH,
        training: TrainingOptions | None = None,
        findings: Sequence[Finding] | None = None,
        prediction: bool = False,
    ) -> dict[str, Any]:
        """JSON of the report; with `memory` also its timeline, and whether it fits the device, or a best order.

        With `training` also what that training run costs, with `prediction` how long a run will take. `findings` are
        by default those that are predicted.
        """
        return report_data(
            self,
            memory=memory,
            best_order=best_order,
            in_place=in_place,
            training=training,
            findings=findings,
            prediction=prediction,
        )

    def rows(self, by: By | str = By.NODE, depth: int | None = None, sort: Column | str = Column.INDEX) -> list[Row]:
        """Rows of a view: a node each, or sums over the nodes of an operator, module, function or call.

        `depth` cuts modules short. See `tables.rows.rows` for what a row holds.

        Raises:
            NeuralCostError: no such view, column or depth.
        """
        view, column = choice(By, "by", by), choice(Column, "sort", sort)
        check_depth(view, depth)
        return rows(self.nodes, view, depth, column)

    def operators(self) -> list[Row]:
        """Sums by operator."""
        return self.rows(By.OP)

    def modules(self, depth: int | None = None) -> list[Row]:
        """Sums by module: of each node's innermost one, or of those at a depth with all that is inside."""
        return self.rows(By.MODULE, depth)

    def functions(self) -> list[Row]:
        """Sums by function, over all its calls; those of a function that calls others hold theirs."""
        return self.rows(By.FUNCTION)

    def calls(self) -> list[Row]:
        """Sums by call of a function, each under the call that it is inside."""
        return self.rows(By.CALL)

    def to_dataframe(self, by: By | str = By.NODE, depth: int | None = None) -> pd.DataFrame:
        """The rows of a view as a table of pandas, which must be installed; an unknown figure is missing there.

        Raises:
            BackendError: pandas is not installed.
        """
        found = self.rows(by, depth)
        try:
            import pandas as pd
        except ImportError as error:
            raise BackendError("a table of pandas needs pandas: pip install pandas.") from error
        return pd.DataFrame(found, columns=columns(By(by))).convert_dtypes()

    def __str__(self) -> str:
        """The table that the command shows."""
        return to_text(summary(self, View()))

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        from neural_cost.analyzer.tables.html import to_html

        return to_html(summary(self, View()))
