"""FrameworkAdapter: what a framework of one's own brings, so that its models can be estimated and timed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neural_cost.estimates import Estimate
    from neural_cost.operations.record import Operation
    from neural_cost.runtime.timing import Timing


class FrameworkAdapter(ABC):
    """Reads the models of a framework. Subclass it and write `operations`; the rest follows from that."""

    @abstractmethod
    def operations(self, model: Any, example_inputs: Any) -> Sequence[Operation]:
        """What a model does to its example inputs, in order."""

    def estimate(self, model: Any, example_inputs: Any) -> Estimate:
        """What those operations cost."""
        from neural_cost.estimates import estimate_operations

        return estimate_operations(self.operations(model, example_inputs))

    def run(self, model: Any, inputs: Sequence[Any]) -> Callable[[], object]:
        """One run of the model, as it is timed: what returns before its result is there must wait for it."""
        return lambda: model(*inputs)

    def benchmark(self, model: Any, *inputs: Any, **options: Any) -> Timing:
        """Time the model on inputs; options are those of `neural_cost.benchmark`, such as repeats and budget_s."""
        from neural_cost.runtime.timing import benchmark

        return benchmark(self.run(model, inputs), **options)
