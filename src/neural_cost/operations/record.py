"""Operation: one step of a model, by its kind and shapes alone."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from math import inf
from numbers import Real
from typing import Any, Literal, TypeAlias, get_args

from neural_cost.analyzer.cost import FLOPS_PER_MAC
from neural_cost.analyzer.errors import OptionError, closest
from neural_cost.analyzer.node import BITS
from neural_cost.analyzer.record import Record

Kind: TypeAlias = Literal[
    "linear", "matmul", "conv2d", "embedding", "attention", "rnn", "lstm", "gru", "elementwise", "softmax",
    "layernorm", "batchnorm", "rmsnorm", "pooling", "custom",
]  # fmt: skip
KINDS: tuple[str, ...] = get_args(Kind)
Shape: TypeAlias = "tuple[int, ...]"

DTYPES = {8: "float64", 4: "float32", 2: "float16", 1: "int8", 0.5: "int4"}  # of so many bytes, where none is named

USES: dict[str, tuple[str, ...]] = {
    "conv2d": ("groups", "strides", "dilations"),
    "embedding": ("index_bytes",),
    "attention": ("heads", "kv_heads", "causal"),
    "rnn": ("op",),
    "gru": ("reset_after",),
    "matmul": ("weights",),
    "elementwise": ("op", "weights"),
    "layernorm": ("axis",),
    "rmsnorm": ("axis",),
    "pooling": ("op", "kernel", "strides", "dilations"),
    "custom": ("op", "weights", "macs", "flops", "special_ops", "why"),
}
"""Keywords that only some kinds have."""


@dataclass(frozen=True, slots=True, repr=False)
class Operation(Record):
    """One step of a model. It costs what the ONNX operator costs that it stands for; see `operations.kinds`.

    Shapes of inputs, in order:

        linear      x (..., in), weight (in, out) or (out, in), [bias (out,)]
        matmul      a, b: both activations, with batches that broadcast
        conv2d      x (batch, in, height, width), weight (out, in / groups, height, width), [bias (out,)]
        embedding   positions (...), table (rows, width)
        attention   query, key, value: (batch, tokens, heads * width) with `heads`, or (batch, heads, tokens, width);
                    [mask]. The products and the softmax: projections are operations of their own
        rnn, lstm, gru
                    x (steps, batch, in), weight (gates * hidden, in), weight of the state (gates * hidden, hidden),
                    [both biases (2 * gates * hidden,)]; with a first axis of 2 for two directions
        elementwise any that broadcast
        softmax     x
        layernorm   x, [scale, [bias]];   rmsnorm   x, [scale]
        batchnorm   x (batch, channels, ...), scale, bias, mean, variance, (channels,) each
        pooling     x (batch, channels, ...)
        custom      any

    Attributes:
        name: as reports show it.
        kind: what it does.
        output_shape: of what it makes; None, of a custom one, where it is not known.
        bytes_per_element: of all its tensors.
        dtype: element type, where the bytes do not tell: "bfloat16". By default float64, float32, float16, int8, int4.
        repeats: how often it runs in one run of the model; None where that is not known.
        op: the ONNX operator of an elementwise ("Gelu") or pooling ("AveragePool") operation, and the activation of an
            rnn. By default Relu, or a sum; MaxPool, or GlobalMaxPool; Tanh. Of a custom one, what it is called.
        heads, kv_heads, causal: of attention; as many heads of keys as of queries by default.
        groups, strides, dilations: of convolutions and pooling. By default the groups that the weight tells, the least
            stride that fits the output, and no dilation.
        kernel: window of a pooling operation. Without it, an output of one pixel is taken for the pool of them all,
            and the cost of any other is not known.
        reset_after: the reset gate of a gru stands after the product, as in PyTorch and Keras.
        axis: first axis of what a norm normalizes; by default it is as many as its scale has.
        index_bytes: of one position of an embedding.
        weights: places of the inputs that are weights, where the kind does not tell: of an elementwise operation, a
            matmul or a custom one.
        macs, flops: of a custom operation; flops are all, 2 for each MAC among them. One that is not given is unknown.
        special_ops: those of its flops that are transcendental.
        read_bytes, write_bytes: where it does not read each input and write its output once.
        why: the reason why the cost of a custom operation is not known.

    Raises:
        OptionError: shapes that do not fit each other, a kind that does not exist, a keyword that the kind has not.
    """

    name: str
    kind: str
    input_shapes: Sequence[Sequence[int]]
    output_shape: Sequence[int] | None
    bytes_per_element: float
    _: KW_ONLY
    dtype: str | None = None
    repeats: int | None = 1
    op: str | None = None
    heads: int | None = None
    kv_heads: int | None = None
    causal: bool = False
    groups: int | None = None
    strides: Sequence[int] | None = None
    dilations: Sequence[int] | None = None
    kernel: Sequence[int] | None = None
    reset_after: bool = False
    axis: int | None = None
    index_bytes: int = 8
    weights: Sequence[int] = ()
    macs: int | None = None
    flops: int | None = None
    special_ops: int = 0
    read_bytes: int | None = None
    write_bytes: int | None = None
    why: str = ""

    def __post_init__(self) -> None:
        """Make shapes tuples of ints, and refuse what does not fit."""
        from neural_cost.operations.kinds import stands_for

        if self.kind not in KINDS:
            meant = closest(str(self.kind), KINDS)
            raise self.refused(f"there is no kind {self.kind!r}{meant}: it is one of {', '.join(KINDS)}")
        self._set("input_shapes", tuple(self._shape(shape) for shape in self.input_shapes))
        if self.output_shape is not None:
            self._set("output_shape", self._shape(self.output_shape))
        for name, least in (("strides", 1), ("dilations", 1), ("kernel", 1), ("weights", 0)):
            if getattr(self, name) is not None:
                self._set(name, self._shape(getattr(self, name), least))
        self._check_type()
        self._check_keywords()
        stands_for(self)

    @property
    def element_type(self) -> str:
        """Type of its elements."""
        return self.dtype or DTYPES[self.bytes_per_element]

    def refused(self, why: str) -> OptionError:
        """The error for what does not fit."""
        return OptionError(f'operation "{self.name}": {why}.')

    def to_dict(self) -> dict[str, Any]:
        """Plain data: what every operation has, and those keywords that were given."""
        fields = type(self).__dataclass_fields__
        shapes = {
            "input_shapes": [list(shape) for shape in self.input_shapes],
            "output_shape": None if self.output_shape is None else list(self.output_shape),
        }
        plain = {name: getattr(self, name) for name in ("name", "kind", "bytes_per_element")}
        rest = {name: getattr(self, name) for name, each in fields.items() if each.kw_only}
        given = {name: value for name, value in rest.items() if value != fields[name].default}
        return plain | shapes | {k: list(v) if isinstance(v, tuple) else v for k, v in given.items()}

    def __repr__(self) -> str:
        """What every operation has, and those keywords that were given."""
        return f"Operation({', '.join(f'{name}={value!r}' for name, value in self.to_dict().items())})"

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _shape(self, shape: Any, least: int = 0) -> Shape:
        try:
            sizes = tuple(operator.index(size) for size in shape)
        except TypeError as error:
            raise self.refused(f"a shape is a sequence of whole numbers, not {shape!r}") from error
        if any(size < least for size in sizes):
            raise self.refused(f"{list(sizes)} has a size below {least}")
        return sizes

    def _check_type(self) -> None:
        if self.dtype is None and self.bytes_per_element not in DTYPES:
            raise self.refused(f"bytes_per_element cannot be {self.bytes_per_element!r}: it is one of 8, 4, 2, 1, 0.5")
        if self.element_type not in BITS:
            raise self.refused(f"there is no element type {self.dtype!r}; give one as ONNX calls it, as bfloat16")
        if BITS[self.element_type] != 8 * self.bytes_per_element:
            bits = BITS[self.element_type]
            raise self.refused(f"{self.element_type} has {bits} bits, not {self.bytes_per_element:g} bytes")

    def _check_keywords(self) -> None:
        fields, own = type(self).__dataclass_fields__, USES.get(self.kind, ())
        special = {name for names in USES.values() for name in names}
        for name in sorted(special - set(own)):
            if getattr(self, name) != fields[name].default:
                kinds = ", ".join(kind for kind, names in USES.items() if name in names)
                raise self.refused(f"{self.kind} has no {name}; it is of {kinds}")
        for name in ("repeats", "macs", "flops", "special_ops", "read_bytes", "write_bytes"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, Real) and 0 <= float(value) < inf):
                raise self.refused(f"{name} cannot be {value}: it is a count")
        if (
            self.macs is not None
            and self.flops is not None
            and self.flops < FLOPS_PER_MAC * self.macs + self.special_ops
        ):
            raise self.refused(f"{self.flops} flops are fewer than 2 for each of {self.macs} MACs and its special_ops")
        if any(place >= len(self.input_shapes) for place in self.weights):
            raise self.refused(f"weights are places of inputs, and {list(self.weights)} has one that is not there")
        if self.output_shape is None and self.kind != "custom":
            raise self.refused(f"{self.kind} needs the shape of its output")
