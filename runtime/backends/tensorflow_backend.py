"""TensorFlow: a Keras model called as it is, as a `tf.function`, and compiled by XLA.

Its threads are set by the environment that its process starts with: once a model is there, they cannot be changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

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

        def ready(feeds: Mapping[str, Array]) -> Ready:
            with tf.device("/GPU:0" if job.device.startswith("cuda") else "/CPU:0"):
                tensors = [tf.convert_to_tensor(feeds[name]) for name in names]

            def outputs() -> list[Array]:
                return [np.asarray(each) for each in tf.nest.flatten(function(*tensors))]

            return Ready(lambda: function(*tensors), outputs)

        return ready
