"""What is behind the formulas of a report: found when somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from neural_cost.analyzer.collector import paused_gc
from neural_cost.analyzer.conditions import Condition, Range, broken, conditions, ranges
from neural_cost.analyzer.device import Device
from neural_cost.analyzer.errors import DimensionError
from neural_cost.analyzer.expressions import Formula, divided
from neural_cost.analyzer.formulas import Ends, Formulas, formulas
from neural_cost.analyzer.memory.reading import Activations
from neural_cost.analyzer.memory.record import Best, Memory, best, measure, plain_peak
from neural_cost.analyzer.memory.symbolic import peak_formula
from neural_cost.analyzer.records import Totals
from neural_cost.analyzer.shapes import Inference, graphs_of
from neural_cost.analyzer.tokens import find_caches
from neural_cost.analyzer.walk import NodeCost, Walk

if TYPE_CHECKING:
    from neural_cost.analyzer.report import Report
    from neural_cost.analyzer.training.options import TrainingOptions
    from neural_cost.analyzer.training.record import TrainingCost

COMPLETE = {"macs", "compulsory_bytes", "activation_peak_bytes"}  # with these, all totals have formulas
PER = ("macs", "flops", "per_op_bytes")


@dataclass(frozen=True, eq=False)
class Opened:
    """The dimensions that a report leaves open, and what can be asked about them.

    Attributes:
        walk: how nodes and bodies of control flow were seen.
        again: analyzes the same file with more sizes given.
        device: what the report was made for.
    """

    inference: Inference
    walk: Walk
    nodes: Sequence[NodeCost]
    ends: Ends
    activations: Activations
    again: Callable[[Mapping[str, int]], Report]
    device: Device | None = None

    @property
    def names(self) -> list[str]:
        """Dimensions that nobody gave."""
        return self.inference.binding.assumed

    @property
    def returned(self) -> list[str]:
        """Tensors that the model returns, or a body of control flow hands on to its node."""
        handed = [value.name for _, bodies in self.walk.bodies for body in bodies for value in body.graph.outputs]
        return [tensor.name for tensor in self.ends.outputs] + [name for name in handed if name]

    @property
    def sizes(self) -> dict[str, int]:
        """What they are taken as in the numbers."""
        return {name: self.inference.binding.dims[name] for name in self.names}

    @cached_property
    def formulas(self) -> Formulas:
        """Every count as a formula of them."""
        return formulas(self.nodes, self.names, self.sizes, self.ends, self.peak)

    @cached_property
    def peak(self) -> Formula | None:
        """The activation peak as a formula; None where there is none, or it gives another number than the report."""
        formula = peak_formula(self.activations, self.names)
        return formula if formula is not None and formula(self.sizes) == self._peak_bytes else None

    @cached_property
    def _peak_bytes(self) -> int | None:
        return plain_peak(self.activations)

    @cached_property
    def memory(self) -> Memory:
        """What is alive when."""
        with paused_gc():
            return self._memory()

    def _memory(self) -> Memory:
        caches = find_caches(self.inference.binding.declared, self.ends.inputs, self.ends.outputs)
        return measure(
            self.activations,
            sum(weight.stored.bytes for weight in self.ends.weights),
            sum(cache.past.bytes + cache.present.bytes for cache in caches),
        )

    @cached_property
    def best_order(self) -> Best:
        """An order in which less is alive at once."""
        return best(self.activations)

    def training(self, options: TrainingOptions, path: str, totals: Totals) -> TrainingCost:
        """What training costs."""
        from neural_cost.analyzer.training.measure import measure as measure_training
        from neural_cost.analyzer.training.subject import Graph

        ends = self.ends
        with paused_gc():
            graph = Graph(
                path, self.walk, self.nodes, ends.inputs, ends.outputs, totals, self.names, self.sizes, self.device
            )
            return measure_training(graph, options)

    def per(self, dims: Sequence[str | None], times: int) -> dict[str, Formula]:
        """MACs, FLOPs and bytes moved for one of so many of each of these dimensions; empty if none of them is open."""
        among = [name for name in dims if name in self.names]
        totals = self.formulas.totals
        return {name: divided(totals[name], among, times) for name in PER if name in totals} if among else {}

    @cached_property
    def ranges(self) -> dict[str, Range]:
        """Where the formulas hold: for each dimension, the others as they are."""
        found = ranges(self._conditions, self._by_symbol(self.sizes))
        return {name: found[symbol] for name, symbol in self._symbols.items() if symbol in found}

    def at(self, sizes: Mapping[str, int]) -> Totals:
        """The totals at other sizes: from the formulas where there are any, otherwise from another analysis.

        Raises:
            DimensionError: a dimension that the model lacks, or sizes that contradict the graph.
        """
        evaluable = all(name in self._symbols and _is_size(size) for name, size in sizes.items())
        if not evaluable or not set(self.formulas.totals) >= COMPLETE:
            return self.again(sizes).totals
        full = {**self.sizes, **sizes}
        if self._conditions and (wrong := broken(self._conditions, self._by_symbol(full))) is not None:
            path = self.inference.engine.model.path
            raise DimensionError(f"{path}: the sizes given contradict the graph at {wrong}; give others.")
        return self.formulas.at(full)

    @cached_property
    def _conditions(self) -> list[Condition]:
        return conditions(graphs_of(self.inference.engine.model.ir.graph), self.inference.symbols)

    @cached_property
    def _symbols(self) -> dict[str, str]:
        """The symbol of each open dimension in the expressions of shapes."""
        return {name: str(self.inference.binding.symbolic_dims[name]) for name in self.names}

    def _by_symbol(self, sizes: Mapping[str, int]) -> dict[str, int]:
        return {symbol: sizes[name] for name, symbol in self._symbols.items()}


def _is_size(size: object) -> bool:
    """Whether formulas hold for a size at all: symbols stand for 1 and more."""
    return isinstance(size, int) and not isinstance(size, bool) and size > 0
