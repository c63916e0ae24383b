"""Models that read a sequence: what a token costs, and what a decoder's cache holds.

What is the sequence is read off the graph's own inputs. A decoder's cache is an input that an output answers to, alike
in type and in all dimensions but one, which has grown by this call's tokens. Without a cache, the sequence is the
second dimension of a matrix of integers, which are tokens, or an open dimension that is called one and has a vector at
each position. Samples and frames that convolutions or pooling take together are no tokens, and where there are two
sequences, as a text and its translation, the cost of a token of either is not told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neural_cost.analyzer.derived_dims import names_in
from neural_cost.analyzer.errors import DimensionError, quoted
from neural_cost.analyzer.node import Tensor, Unknown
from neural_cost.analyzer.record import Record
from neural_cost.analyzer.records import Totals

if TYPE_CHECKING:
    from neural_cost.analyzer.records import NodeRecord

NAMED = re.compile(r"seq|token|time|frame|steps|length", re.IGNORECASE)
NOT_NAMED = re.compile(r"past|cache|total|batch", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Cache:
    """What a decoder keeps of a sequence: an input, the output that it becomes, and the axis along which it grows."""

    past: Tensor
    present: Tensor
    axis: int

    @property
    def tokens(self) -> int:
        """Those of one call."""
        grown: int = self.present.shape[self.axis] - self.past.shape[self.axis]
        return grown


@dataclass(frozen=True, slots=True)
class Tokens(Record):
    """What the report's call means in tokens.

    Attributes:
        dim, past_dim, batch_dim: names of the dimensions that count this call's tokens, those in the cache, and
            sequences; None where the file fixes one, or where there is none.
        batch: sequences at once.
        tokens: of one sequence in this call.
        context: tokens that one sequence has after it, those in the cache among them.
        cache_bytes_per_token: of one sequence; None without a cache.
        cache_bytes: of all sequences, after this call.
        macs_per_token, flops_per_token: this call's, over all its tokens; None where the totals are not complete.
        weight_flops_per_token: those of products with weights, 2 for each MAC: what does not grow with the context.
        prefill, decode: a call that reads the whole context at once, and one that adds its last token to the cache;
            None where nobody gave the size of either dimension, or the graph takes no such call.
        why: the reason why one of those two is None; empty where both are known.
    """

    dim: str | None
    past_dim: str | None
    batch_dim: str | None
    batch: int
    tokens: int
    context: int
    cache_bytes_per_token: int | None
    cache_bytes: int | None
    macs_per_token: float | None
    flops_per_token: float | None
    weight_flops_per_token: float | None
    prefill: Totals | None
    decode: Totals | None
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        calls = {name: None if (each := getattr(self, name)) is None else each.to_dict() for name in CALLS}
        return {name: getattr(self, name) for name in self.__slots__ if name not in CALLS} | calls


CALLS = ("prefill", "decode")


def find_tokens(
    *,
    declared: Mapping[str, Sequence[int | str]],
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    nodes: Sequence[NodeRecord],
    totals: Totals,
    assumed: Sequence[str],
    at: Callable[[Mapping[str, int]], Totals],
) -> Tokens | None:
    """What a call means in tokens; None for a model that reads no sequence.

    `declared` has the names of open dimensions by input, `assumed` those that nobody gave, `at` the totals at other
    sizes.
    """
    caches = find_caches(declared, inputs, outputs)
    owners = {cache.past.name for cache in caches}
    others = [tensor for tensor in inputs if tensor.name not in owners]
    found = _tokens(declared, others, caches[0].tokens if caches else None, joined=any(map(_joins, nodes)))
    if found is None:
        return None
    tensor, axis = found
    tokens, batch = tensor.shape[axis], tensor.shape[0] if axis else 1
    past = caches[0].past.shape[caches[0].axis] if caches else 0
    dim = _name(declared, tensor, axis)
    past_dim = _name(declared, caches[0].past, caches[0].axis) if caches else None
    per_token = sum(_bytes_per_token(cache) for cache in caches) // max(1, batch)
    known = totals.complete and batch * tokens > 0
    why = _why_no_calls(dim, past_dim, assumed, known=known, cached=bool(caches))
    prefill, decode = _calls(dim, past_dim, past + tokens, at) if not why else (why, why)
    return Tokens(
        dim,
        past_dim,
        _name(declared, tensor, 0) if axis else None,
        batch,
        tokens,
        past + tokens,
        per_token if caches else None,
        per_token * batch * (past + tokens) if caches else None,
        totals.macs / (batch * tokens) if known else None,
        totals.flops / (batch * tokens) if known else None,
        2 * _weight_macs(nodes) / (batch * tokens) if known else None,
        prefill if isinstance(prefill, Totals) else None,
        decode if isinstance(decode, Totals) else None,
        "; ".join(dict.fromkeys(each for each in (prefill, decode) if isinstance(each, str))),
    )


def _why_no_calls(dim: str | None, past_dim: str | None, assumed: Sequence[str], *, known: bool, cached: bool) -> str:
    """Why there is no prefill and no decode to tell of; empty where there is."""
    if not cached:
        return "no input holds past keys and values that grow along an open dimension"
    if dim is None:
        return "the file fixes the tokens of a call, so its one call is the one that is counted"
    if not known:
        return "the totals are not complete, or there is no token"
    if {dim, past_dim} <= set(assumed):
        return f"nobody gave the size of {quoted(dim)} or {quoted(past_dim)}"
    return ""


def _joins(node: NodeRecord) -> bool:
    """Whether a node takes neighbours together, so that what comes in is no sequence of tokens."""
    return "Conv" in node.op_type or (node.op_type.endswith("Pool") and not node.op_type.startswith("Global"))


def find_caches(
    declared: Mapping[str, Sequence[int | str]], inputs: Sequence[Tensor], outputs: Sequence[Tensor]
) -> list[Cache]:
    """Inputs with an open dimension, each with the first output left that is the same but for having grown there."""
    left = list(outputs)
    found: list[Cache] = []
    for past in inputs:
        pairs = ((present, _grown_axis(declared.get(past.name, ()), past, present)) for present in left)
        match = next(((present, axis) for present, axis in pairs if axis is not None), None)
        if match is not None:
            left.remove(match[0])
            found.append(Cache(past, *match))
    grown = {cache.tokens for cache in found}
    return found if len(grown) == 1 else []


def _grown_axis(declared: Sequence[int | str], past: Tensor, present: Tensor) -> int | None:
    if past.dims is None or present.dims is None or past.dtype != present.dtype or past.name == present.name:
        return None
    if len(past.dims) < 3 or len(past.dims) != len(present.dims) or None in past.dims or None in present.dims:
        return None
    axes = [axis for axis, (one, other) in enumerate(zip(past.shape, present.shape, strict=True)) if one != other]
    if len(axes) != 1 or axes[0] >= len(declared) or not isinstance(declared[axes[0]], str):
        return None
    return axes[0] if present.shape[axes[0]] > past.shape[axes[0]] else None


def _tokens(
    declared: Mapping[str, Sequence[int | str]], inputs: Sequence[Tensor], grown: int | None, *, joined: bool
) -> tuple[Tensor, int] | None:
    """The input that has this call's tokens along an axis; `grown` is how many there are, where a cache tells.

    `joined` tells that the model takes neighbours together: then only integers are tokens.
    """
    known = [tensor for tensor in inputs if tensor.dims is not None and None not in tensor.dims]
    ids = [tensor for tensor in known if len(tensor.shape) == 2 and (tensor.dtype or "").startswith(("int", "uint"))]
    found = [(each, 1) for each in ids if each.shape[1] == grown or (grown is None and _is_open(declared, each, 1))]
    if not found and (grown is not None or not joined):
        found = [
            (tensor, axis)
            for tensor in known
            for axis in range(len(tensor.shape) - 1)
            if _is_sequence(_name(declared, tensor, axis) or "") and grown in (None, tensor.shape[axis])
        ]
    names = {_name(declared, tensor, axis) for tensor, axis in found}
    return found[0] if found and (grown is not None or len(names) == 1) else None


def _is_sequence(name: str) -> bool:
    return NAMED.search(name) is not None and NOT_NAMED.search(name) is None


def _is_open(declared: Mapping[str, Sequence[int | str]], tensor: Tensor, axis: int) -> bool:
    name = _name(declared, tensor, axis)
    return name is not None and names_in(name) is None


def _name(declared: Mapping[str, Sequence[int | str]], tensor: Tensor, axis: int) -> str | None:
    name = declared.get(tensor.name, ())[axis] if axis < len(declared.get(tensor.name, ())) else None
    return name if isinstance(name, str) else None


def _bytes_per_token(cache: Cache) -> int:
    """Bytes that one more token adds to a cache, for all sequences of the batch."""
    try:
        rest = [dim for axis, dim in enumerate(cache.present.shape) if axis != cache.axis]
        elements = 1
        for dim in rest:
            elements *= dim
        return cache.present.size_in_bytes(elements)
    except Unknown:
        return 0


def _calls(
    dim: str | None, past_dim: str | None, context: int, at: Callable[[Mapping[str, int]], Totals]
) -> tuple[Totals | str, Totals | str]:
    """The context read at once, and its last token added to a cache of the others; or why such a call is not known."""
    assert dim is not None
    assert past_dim is not None
    return _call(at, {dim: context, past_dim: 0}), _call(at, {dim: 1, past_dim: context - 1})


def _call(at: Callable[[Mapping[str, int]], Totals], sizes: Mapping[str, int]) -> Totals | str:
    """The totals of a call; why there are none where they are not known whole, or the graph takes no such call."""
    try:
        totals = at(sizes)
    except DimensionError as error:
        return str(error).rstrip(".")
    taken = ", ".join(f"{name} = {size}" for name, size in sizes.items())
    return totals if totals.complete else f"the totals of the call with {taken} are not complete"


def _weight_macs(nodes: Sequence[NodeRecord]) -> int:
    return sum((node.macs or 0) * (node.repeats or 0) for node in nodes if node.weights)
