"""JAX: functions of arrays, those of Flax and Equinox among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from neural_cost.adapters.exporting import ExportingAdapter
from neural_cost.adapters.trace import Trace, check_runs


class JaxAdapter(ExportingAdapter):
    """Reads functions of arrays, and calls them as they are: give one that `jax.jit` made to time compiled code."""

    framework: ClassVar[str] = "jax"

    def run(self, model: Any, inputs: Sequence[Any]) -> Callable[[], object]:
        """One call, and its result."""
        import jax

        return lambda: jax.block_until_ready(model(*inputs))

    def trace(self, model: Any, *inputs: Any, runs: int = 1) -> Trace:
        """Run the function, and ask the allocator of the first device what it holds.

        Raises:
            OptionError: fewer runs than one.
        """
        import jax

        check_runs(runs)
        run = self.run(model, inputs)
        for _ in range(runs):
            run()
        told = jax.devices()[0].memory_stats()
        return Trace(
            framework=f"jax {jax.__version__}",
            runs=runs,
            events=(),
            allocator={name: int(value) for name, value in told.items()} if told else None,
            notes=("events of single operators are traced of PyTorch alone",),
        )
