"""TensorFlow: Keras models and functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from neural_cost.adapters.exporting import ExportingAdapter
from neural_cost.adapters.trace import Trace, check_runs


class TensorFlowAdapter(ExportingAdapter):
    """Reads Keras models, `tf.function` and what else its exporter reads, and calls them as they are."""

    framework: ClassVar[str] = "keras"

    def run(self, model: Any, inputs: Sequence[Any]) -> Callable[[], object]:
        """One call, and the end of what it started on a device."""
        import tensorflow as tf

        def run() -> None:
            model(*inputs)
            tf.test.experimental.sync_devices()

        return run

    def trace(self, model: Any, *inputs: Any, runs: int = 1) -> Trace:
        """Run the model, and ask the allocator of the first GPU what that took.

        Raises:
            OptionError: fewer runs than one.
        """
        import tensorflow as tf

        check_runs(runs)
        run, gpus = self.run(model, inputs), tf.config.list_physical_devices("GPU")
        if gpus:
            tf.config.experimental.reset_memory_stats("GPU:0")
        for _ in range(runs):
            run()
        told = tf.config.experimental.get_memory_info("GPU:0") if gpus else None
        return Trace(
            framework=f"tensorflow {tf.__version__}",
            runs=runs,
            events=(),
            allocator=None if told is None else {f"{name}_bytes": int(size) for name, size in told.items()},
            notes=("events of single operators are traced of PyTorch alone",),
        )
