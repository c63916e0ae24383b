"""Spec: one kernel to be timed, and the model of copies of it that nothing reads.

The copies read the same inputs and have weights of their own; their results go nowhere, so that no memory is asked of
the system for outputs. ONNX Runtime runs them all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple

import numpy as np
from onnx import TensorProto, helper

from neural_cost.runtime.calibrate.models import model_of

MICROSOFT, NCHWC = "com.microsoft", "com.microsoft.nchwc"
MANY = 8  # copies of a kernel that takes microseconds
HELD = 2 << 20  # bytes of weights of all copies, beyond which there are fewer


class Operand(NamedTuple):
    """An input: its shape and type; constant ones are weights. `values` stand for what must have a meaning."""

    shape: tuple[int, ...]
    type: int = TensorProto.FLOAT
    constant: bool = False
    values: tuple[int, ...] | None = None

    def array(self, seed: int) -> np.ndarray[Any, Any]:
        """What it holds."""
        dtype = helper.tensor_dtype_to_np_dtype(self.type)
        if self.values is not None:
            return np.array(self.values, dtype).reshape(self.shape)
        rng = np.random.default_rng(seed)
        if dtype.kind == "b":  # as masks are: one stretch of each, so that no branch is hard to foresee
            return np.arange(prod(self.shape)).reshape(self.shape) * 2 < prod(self.shape)
        if dtype.kind in "iu":
            return rng.integers(0, 2, self.shape).astype(dtype)
        return (rng.random(self.shape, np.float32) + 0.5).astype(dtype)


def whole(*values: int) -> Operand:
    """A line of whole numbers that are constant, as shapes and axes are."""
    return Operand((len(values),), TensorProto.INT64, constant=True, values=values)


def scalar(value: int) -> Operand:
    """One of them."""
    return Operand((), TensorProto.INT64, constant=True, values=(value,))


@dataclass(frozen=True, eq=False)
class Spec:
    """One kernel.

    Attributes:
        kind, sizes: under which its time is kept.
        work: about what it does, in elements or MACs: small ones are timed as many copies.
    """

    kind: str
    sizes: tuple[int, ...]
    op_type: str
    operands: Sequence[Operand | None]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    domain: str = ""
    outputs: int = 1
    work: int = 0

    @property
    def copies(self) -> int:
        """How many of it are timed at once."""
        weights = sum(4 * prod(each.shape) for each in self.operands if each is not None and each.constant)
        return MANY if (self.work or prod(self.sizes)) <= 1 << 19 and MANY * weights <= HELD else 1

    def model(self, copies: int | None = None) -> bytes:
        """A model of all copies, or of so many, and of one node that makes its output."""
        numbers = range(copies or self.copies)
        end = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (1,)) for name in ("d", "done")]
        inputs = [
            helper.make_tensor_value_info(f"x{place}", each.type, each.shape)
            for place, each in enumerate(self.operands)
            if each is not None and not each.constant
        ]
        nodes = [helper.make_node("Neg", ["d"], ["done"]), *map(self._node, numbers)]
        weights = [tensor for copy in numbers for tensor in self._weights(copy)]
        return model_of(nodes, [end[0], *inputs], [end[1]], weights, domains=[self.domain] if self.domain else [])

    def feeds(self) -> dict[str, np.ndarray[Any, Any]]:
        """Its inputs."""
        given = {
            f"x{place}": each.array(place)
            for place, each in enumerate(self.operands)
            if each is not None and not each.constant
        }
        return {"d": np.ones(1, np.float32)} | given

    def _node(self, copy: int) -> Any:
        names = [
            "" if each is None else f"w{copy}_{place}" if each.constant else f"x{place}"
            for place, each in enumerate(self.operands)
        ]
        outputs = [f"y{copy}_{place}" for place in range(self.outputs)]
        node = helper.make_node(self.op_type, names, outputs, domain=self.domain)
        node.attribute.extend(helper.make_attribute(name, value) for name, value in self.attributes.items())
        return node

    def _weights(self, copy: int) -> list[TensorProto]:
        return [
            helper.make_tensor(f"w{copy}_{place}", each.type, each.shape, each.array(copy).tobytes(), raw=True)
            for place, each in enumerate(self.operands)
            if each is not None and each.constant
        ]
