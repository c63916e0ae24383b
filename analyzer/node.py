"""Node and Tensor: the read-only view of a graph that a cost rule gets.

A rule sees shapes, element types, attributes and the values of small integer inputs. It never sees weights.
Asking for a shape that is not known raises `Unknown`: the walk lists the node with the reason, and a rule need
not check.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from neural_cost.analyzer.cached import cached
from neural_cost.analyzer.cost import Cost, Dim, ceil_div, prod

if TYPE_CHECKING:
    import numpy as np

# Bits of one element. A string has no fixed size: asking raises Unknown.
BITS = {
    "float64": 64, "float32": 32, "float16": 16, "bfloat16": 16,
    "float8e4m3fn": 8, "float8e4m3fnuz": 8, "float8e5m2": 8, "float8e5m2fnuz": 8, "float8e8m0": 8,
    "float6e2m3": 6, "float6e3m2": 6, "float4e2m1": 4,
    "int64": 64, "int32": 32, "int16": 16, "int8": 8, "int4": 4, "int2": 2,
    "uint64": 64, "uint32": 32, "uint16": 16, "uint8": 8, "uint4": 4, "uint2": 2,
    "bool": 8, "complex64": 64, "complex128": 128,
}  # fmt: skip

Dims: TypeAlias = "tuple[Dim | None, ...]"  # a shape; None stands for a dimension that is not known


class Unknown(Exception):
    """A figure cannot be known from the graph; `why` is what a user is told, `tensor` the name it is about."""

    def __init__(self, why: str, tensor: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.tensor = tensor


@dataclass(frozen=True, eq=False)
class Tensor:
    """One tensor of the graph.

    Attributes:
        name: as in the file.
        dtype: "float32", "int4"...; a sequence is "sequence(float32)"; None when it is not known.
        dims: the shape, as far as it is known; a rule reads `shape` instead.
        why_unknown: the reason, when the shape is not known whole.
        constant: depends on weights and constants alone.
        value: its elements, for small integer tensors whose values are known.
        symbols: the shape in terms of the dimensions that nobody gave, where it depends on them.
        value_holds: the elements do not depend on those dimensions.
    """

    name: str
    dtype: str | None
    dims: Dims | None
    why_unknown: str = ""
    constant: bool = False
    value: np.ndarray[Any, Any] | None = field(default=None, repr=False)
    symbols: Dims | None = None
    value_holds: bool = True

    @property
    def shape(self) -> tuple[Dim, ...]:
        """Dimensions. Raises Unknown where one of them is not known."""
        dims = self.dims
        if dims is None or None in dims:
            raise Unknown(self.why_unknown or "its shape is not known", self.name)
        return dims  # type: ignore[return-value]  # none of them is None

    @property
    def rank(self) -> int:
        """Number of dimensions, known even where a dimension is not. Raises Unknown where it is not."""
        if self.dims is None:
            raise Unknown(self.why_unknown or "its shape is not known", self.name)
        return len(self.dims)

    @cached
    def size(self) -> Dim:
        """Number of elements."""
        return prod(self.shape)

    @property
    def bits(self) -> int:
        """Bits of one element. Raises Unknown for strings, sequences and types that are not known."""
        if self.dtype not in BITS:
            raise Unknown(f"elements of type {self.dtype or 'unknown'} have no fixed size", self.name)
        return BITS[self.dtype]

    @cached
    def bytes(self) -> Dim:
        """Bytes of the elements; types below a byte are packed."""
        return self.size_in_bytes(self.size)

    def size_in_bytes(self, elements: Dim) -> Dim:
        """Bytes of so many elements of this tensor's type."""
        bits = self.bits
        return elements * (bits // 8) if bits % 8 == 0 else ceil_div(elements * bits, 8)

    @cached
    def opened(self) -> Tensor:
        """The same tensor with its open dimensions as symbols: a rule then gives a formula."""
        if self.symbols is None and self.value_holds:
            return self
        value = self.value if self.value_holds else None
        return replace(self, dims=self.symbols or self.dims, value=value, symbols=None)

    def ints(self) -> list[int]:
        """Its elements as a flat list of ints. Raises Unknown where the values are not known."""
        if self.value is None:
            raise Unknown("its values are not known before a run", self.name)
        return [int(element) for element in self.value.flatten()]


@dataclass(frozen=True, eq=False)
class Node:
    """One node, with the tensors that it reads and writes.

    `inputs` and `outputs` keep their positions: an optional one that is absent is None, and trailing absent ones
    are dropped, as if never written. `input(i)` and `output(i)` answer None beyond the end.
    `causal_half` asks for the part of a causal product that is needed, instead of all that is under its mask.
    """

    op_type: str
    inputs: Sequence[Tensor | None]
    outputs: Sequence[Tensor | None]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    domain: str = ""
    version: int = 1
    causal_half: bool = False

    @property
    def opened(self) -> Node:
        """The same node with the open dimensions of its tensors as symbols."""
        inputs = [tensor and tensor.opened for tensor in self.inputs]
        return replace(self, inputs=inputs, outputs=[tensor and tensor.opened for tensor in self.outputs])

    def attr(self, name: str, default: Any = None) -> Any:
        """Attribute by name as a plain Python value (int, float, str, list), or the default."""
        value = self.attributes.get(name)
        return default if value is None else value

    def required_attr(self, name: str) -> Any:
        """Attribute that the operator requires. Raises Unknown where the node lacks it."""
        value = self.attributes.get(name)
        if value is None:
            raise Unknown(f"{self.op_type} lacks its attribute {name}, which is required")
        return value

    def input(self, index: int) -> Tensor | None:
        """Input at a position, None where it is absent."""
        return self.inputs[index] if index < len(self.inputs) else None

    def output(self, index: int) -> Tensor | None:
        """Output at a position, None where it is absent."""
        return self.outputs[index] if index < len(self.outputs) else None

    @property
    def x(self) -> Tensor:
        """The first input, which the operator requires. Raises Unknown where the node lacks it."""
        return self.required(0)

    @property
    def y(self) -> Tensor:
        """The first output that is written. Raises Unknown where the node has none."""
        for tensor in self.outputs:
            if tensor is not None:
                return tensor
        raise Unknown(f"{self.op_type} has no output")

    def required(self, index: int) -> Tensor:
        """Input at a position that the operator requires. Raises Unknown where the node lacks it."""
        tensor = self.input(index)
        if tensor is None:
            raise Unknown(f"{self.op_type} lacks its input {index}, which is required")
        return tensor

    @property
    def read_bytes(self) -> Dim:
        """Every input once: a tensor that is used twice is read once."""
        total: Dim = 0
        seen = set()
        for tensor in self.inputs:
            if tensor is not None and tensor.name not in seen:
                seen.add(tensor.name)
                total = total + tensor.bytes
        return total

    @property
    def write_bytes(self) -> Dim:
        """Every output once."""
        total: Dim = 0
        for tensor in self.outputs:
            if tensor is not None:
                total = total + tensor.bytes
        return total

    def cost(
        self,
        *,
        macs: Dim = 0,
        other_flops: Dim = 0,
        special_ops: Dim = 0,
        read_bytes: Dim | None = None,
        write_bytes: Dim | None = None,
        compute_type: str | None = None,
        other_type: str | None = None,
        mixed_macs: tuple[tuple[str, Dim], ...] = (),
    ) -> Cost:
        """Cost of this node: the counts a rule gives, with traffic and types filled in where it gives none.

        Special operations are FLOPs too: pass them in both. `compute_type` is by default the type of the first
        input, `other_type` the same. Unsigned integers compute as signed ones: what multiplies uint8 by int8, and
        which of the two comes first, is one type.
        """
        kind = compute_type or next((tensor.dtype for tensor in self.inputs if tensor is not None), None)
        kind = kind or self.y.dtype
        return Cost(
            macs=macs,
            other_flops=other_flops,
            special_ops=special_ops,
            read_bytes=self.read_bytes if read_bytes is None else read_bytes,
            write_bytes=self.write_bytes if write_bytes is None else write_bytes,
            compute_type=_signed(kind),
            other_type=_signed(other_type or kind),
            mixed_macs=mixed_macs,
        )


def _signed(dtype: str | None) -> str | None:
    return None if dtype is None else dtype.removeprefix("u")


def text_of(value: object) -> str:
    """What an attribute holds, to tell whether two are alike; a tensor that cannot be read is like no other."""
    try:
        return repr(value)
    except (ValueError, AssertionError):  # its data has another size than its shape, or is of another type
        return str(id(value))
