"""What a kernel costs that does nothing: the slope of time over the number of nodes in a chain."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper

from neural_cost.runtime.calibrate.models import model_of
from neural_cost.runtime.calibrate.samples import best
from neural_cost.runtime.session import SessionOptions, open_session

SHORT, LONG = 50, 250


def dispatch_seconds(budget_s: float, provider: str = "cpu") -> float:
    """Seconds for a kernel on one element."""
    short, long = (_seconds(length, budget_s / 2, provider) for length in (SHORT, LONG))
    return max(0.0, (long - short) / (LONG - SHORT))


def _seconds(length: int, budget_s: float, provider: str) -> float:
    options = SessionOptions(provider=provider, threads=1, level="disable", alone=True)
    session = open_session(chain(length), options)
    return best(session.runner({"x0": np.ones(1, np.float32)}), budget_s).seconds


def chain(length: int) -> bytes:
    """Negations one after the other."""
    nodes = [helper.make_node("Neg", [f"x{place}"], [f"x{place + 1}"]) for place in range(length)]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (1,)) for name in ("x0", f"x{length}")]
    return model_of(nodes, ends[:1], ends[1:])
