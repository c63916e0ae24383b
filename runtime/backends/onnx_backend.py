"""ONNX Runtime at each of its levels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from neural_cost.runtime.backends.protocol import ONNX, Job, Ready
from neural_cost.runtime.inputs import Array
from neural_cost.runtime.session import SessionOptions, open_session


@dataclass(frozen=True)
class OnnxRuntime:
    """ONNX Runtime, whose graph is rewritten up to a level."""

    level: str
    framework: str = ONNX

    @property
    def name(self) -> str:
        """The level is part of it."""
        return f"onnxruntime {self.level}"

    def missing(self) -> str | None:
        """It is always there."""
        return None

    def prepare(self, job: Job) -> Callable[[Mapping[str, Array]], Ready]:
        """Load the file."""
        assert job.file is not None
        session = open_session(job.file, SessionOptions(provider=job.device, threads=job.threads, level=self.level))

        def ready(feeds: Mapping[str, Array]) -> Ready:
            return Ready(session.runner(feeds), lambda: list(session.outputs(feeds).values()), notes=session.notes)

        return ready
