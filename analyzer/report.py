"""Report: what a model costs, as records and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from neural_cost.analyzer.arguments import check_depth, choice, device_of, sizes_of
from neural_cost.analyzer.collector import paused_gc
from neural_cost.analyzer.conditions import Range
from neural_cost.analyzer.cost import FLOPS_PER_MAC
from neural_cost.analyzer.errors import BackendError
from neural_cost.analyzer.expressions import Formula
from neural_cost.analyzer.formulas import Formulas
from neural_cost.analyzer.memory.fits import Fits, fits
from neural_cost.analyzer.memory.record import Best, Memory
from neural_cost.analyzer.opened import Opened
from neural_cost.analyzer.parameters import Weight
from neural_cost.analyzer.record import Record
from neural_cost.analyzer.records import Coverage, ModelInfo, NodeRecord, Totals
from neural_cost.analyzer.roofline import Bound
from neural_cost.analyzer.tables.rows import Row, columns, rows
from neural_cost.analyzer.tables.summary import summary
from neural_cost.analyzer.tables.text import to_text
from neural_cost.analyzer.tables.view import By, Column, View
from neural_cost.analyzer.tokens import Tokens, find_tokens
from neural_cost.analyzer.walk import NodeCost

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

    def fits(self, device: str | Device | None = None) -> Fits | None:
        """Whether weights and activations go into a device's memory, and the largest batch that does.

        The device is by default that of the report; None where it has none.
        """
        memory, opened, on = self.memory, self.opened, device_of(device) or self.opened.device
        return None if on is None else fits(on, memory.weight_bytes, memory.peak_bytes, opened.peak, opened.sizes)

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
        training: TrainingOptions | None = None,
        findings: Sequence[Finding] | None = None,
        prediction: bool = False,
    ) -> dict[str, Any]:
        """JSON of the report; with `memory` also its timeline, and whether it fits the device, or a best order.

        With `training` also what that training run costs, with `prediction` how long a run will take. `findings` are
        by default those that are predicted.
        """
        from importlib.metadata import version

        tokens = self.tokens
        return {
            "schema_version": 1,
            "tool": {"name": "neural-cost", "version": version("neural-cost")},
            "convention": {"flops_per_mac": FLOPS_PER_MAC, "causal_attention": self.causal},
            "model": self.model.to_dict(),
            "totals": self.totals.to_dict(),
            "coverage": self.coverage.to_dict(),
            **({} if tokens is None else {"tokens": tokens.to_dict()}),
            "memory": self._memory(timeline=memory, best=best_order),
            **({} if training is None else {"training": self.training(training).to_dict()}),
            **self._formulas(),
            "nodes": self._nodes(),
            "bounds": [bound.to_dict() for bound in self.bounds],
            "findings": [each.to_dict() for each in (self.findings if findings is None else findings)],
            **({"prediction": self.prediction.to_dict()} if prediction else {}),
            "notes": self.notes,
        }

    def _memory(self, *, timeline: bool, best: bool) -> dict[str, Any]:
        found = self.memory.to_dict()
        if not timeline:
            del found["timeline"]
        elif (fit := self.fits()) is not None:
            found["fits"] = fit.to_dict()
        return found | ({"best": self.best_order().to_dict()} if best else {})

    def _formulas(self) -> dict[str, Any]:
        """The formulas of what is open; nothing where nothing is."""
        if not self.opened.names:
            return {}
        ranges = {name: found.to_dict() for name, found in self.ranges.items()}
        per_token = {name: str(found) for name, found in self.per_token.items()}
        more = {"ranges": ranges} | ({"per_token": per_token} if per_token else {})
        return {"formulas": self.formulas.to_dict() | more}

    def _nodes(self) -> list[dict[str, Any]]:
        """The nodes, with formulas of one execution and of their repeats where dimensions are open."""
        plain = [node.to_dict() for node in self.nodes]
        if not self.opened.names:
            return plain
        texts = [
            None if found is None else {name: str(formula) for name, formula in found.items()}
            for found in self.formulas.nodes
        ]
        return [node | {"formulas": text} for node, text in zip(plain, texts, strict=True)]

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


def total(
    nodes: list[NodeCost],
    weights: Sequence[Weight],
    compulsory: int | None,
    peak: int | None,
    sizes_known: bool = True,
) -> Totals:
    """Sum what is known, as often as it runs; `compulsory` and the activation `peak` are None where not known.

    `sizes_known` tells that no weight is left out because its size is not known.
    """
    macs: dict[str, int] = {}
    flops: dict[str, int] = {}
    kinds: dict[str, int] = {}
    other = special = moved = 0
    complete = sizes_known
    for node in nodes:
        cost, repeats = node.cost, node.repeats
        if cost is None or repeats is None:
            complete = False
            continue
        for kind, count in cost.macs_by_type.items() if cost.macs else ():
            macs[kind] = macs.get(kind, 0) + count * repeats
        for kind, count in cost.flops_by_type.items() if cost.flops else ():
            flops[kind] = flops.get(kind, 0) + count * repeats
        if cost.flops:
            kinds[node.kind] = kinds.get(node.kind, 0) + cost.flops * repeats
        other += cost.other_flops * repeats
        special += cost.special_ops * repeats
        moved += cost.traffic_bytes * repeats
    return Totals(
        complete=complete,
        macs=sum(macs.values()),
        flops=FLOPS_PER_MAC * sum(macs.values()) + other,
        other_flops=other,
        special_ops=special,
        macs_by_type=macs,
        flops_by_type=flops,
        flops_by_kind=kinds,
        parameters=sum(weight.elements for weight in weights),
        parameter_bytes=sum(weight.stored.bytes for weight in weights),
        per_op_bytes=moved,
        compulsory_bytes=compulsory,
        activation_peak_bytes=peak,
    )


def cover(nodes: list[NodeCost]) -> Coverage:
    """List what is left out: operators without a rule, and nodes whose cost is not known."""
    without = [node for node in nodes if node.uncounted]
    counts = Counter((node.node.domain, node.node.op_type, node.why or "") for node in without)
    uncounted = [{"domain": d, "op_type": o, "nodes": n, "why": w} for (d, o, w), n in counts.items()]
    unknown = [
        {"node": node.node.name, "tensor": next((t.name for t in node.node.outputs if t), ""), "why": node.why or ""}
        for node in nodes
        if node.cost is None and not node.uncounted
    ]
    return Coverage(len(nodes), sum(node.cost is not None for node in nodes), uncounted, unknown)
