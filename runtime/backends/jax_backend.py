"""JAX: a function compiled by `jax.jit`."""

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
class Jax:
    """`jax.jit`; each run waits for its result."""

    name: str = "jax.jit"
    framework: str = "jax"

    def missing(self) -> str | None:
        """The extra."""
        return None if find_spec("jax") else "pip install 'neural-cost[jax]'"

    def prepare(self, job: Job) -> Callable[[Mapping[str, Array]], Ready]:
        """Wrap the function; it is compiled at its first call, anew for each shape."""
        import jax

        assert job.native is not None
        compiled = jax.jit(job.native.function)
        names = list(job.native.example)
        try:
            device = jax.devices("gpu" if job.device.startswith("cuda") else job.device)[0]
        except RuntimeError as error:
            raise BackendError(f"this jax has no {job.device}: install jax[cuda13], and check the driver") from error

        def ready(feeds: Mapping[str, Array]) -> Ready:
            arrays = [jax.device_put(feeds[name], device) for name in names]

            def run() -> Any:
                return jax.block_until_ready(compiled(*arrays))

            return Ready(run, lambda: [np.asarray(each) for each in jax.tree.leaves(run())])

        return ready
