"""TensorFlow: a Keras model called as it is, as a `tf.function`, and compiled by XLA.

Its threads are set by the environment that its process starts with: once a model is there, they cannot be changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from neural_cost.analyzer.errors import BackendError
from neural_cost.runtime.backends.protocol import Job, Ready
from neural_cost.runtime.inputs import Array


@dataclass(frozen=True)
class TensorFlow:
    """TensorFlow in one of its ways: "keras", "tf.function" or "tf.function xla"."""

    name: str
    framework: str = "keras"

    def missing(self) -> str | None:
        """The extra."""
        return None if find_spec("tensorflow") else "pip install 'neural-cost[keras]'"

    def prepare(self, job: Job) -> Callable[[Mapping[str, Array]], Ready]:
        """Make a function of the model, if that is the way; it is traced at its first call."""
        import tensorflow as tf

        assert job.native is not None
        function: Callable[..., Any] = job.native.function
        if self.name != "keras":
            function = tf.function(function, jit_compile=self.name.endswith("xla"))
        names = list(job.native.example)
        on_gpu = job.device.startswith("cuda")
        if on_gpu and not tf.config.list_physical_devices("GPU"):  # it would take the CPU, and not say so
            raise BackendError("this tensorflow has no GPU: install tensorflow[and-cuda], and check the driver")
        device = "/GPU:0" if on_gpu else "/CPU:0"

        def ready(feeds: Mapping[str, Array]) -> Ready:
            with tf.device(device):
                tensors = [tf.convert_to_tensor(feeds[name]) for name in names]

            def run() -> Any:
                with tf.device(device):
                    found = function(*tensors)
                if on_gpu:  # which works by itself
                    tf.test.experimental.sync_devices()
                return found

            return Ready(run, lambda: [np.asarray(each) for each in tf.nest.flatten(run())])

        return ready
