"""Textbook MACs of each contraction from true shapes: the dense loop nest, zero padding counted as data, no bias.

One function per family, registered in `FORMULAS` by domain and operator. Written from the definitions of the operators,
apart from the analyzer's rules, so that the two can be held against each other.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any


@dataclass(frozen=True)
class TrueTensor:
    """Element type and shape that a tensor had in a run."""

    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Work:
    """One node as it ran: its tensors (None where absent) and its attributes."""

    inputs: list[TrueTensor | None]
    outputs: list[TrueTensor | None]
    attributes: Mapping[str, Any]

    def shape(self, index: int) -> tuple[int, ...]:
        """Shape of an input that must be there."""
        tensor = self.inputs[index]
        assert tensor is not None
        return tensor.shape

    def output(self, index: int = 0) -> tuple[int, ...]:
        """Shape of an output that must be there."""
        tensor = self.outputs[index]
        assert tensor is not None
        return tensor.shape

    def has(self, index: int) -> bool:
        return index < len(self.inputs) and self.inputs[index] is not None


Formula = Callable[[Work], int]


def _convolution(weight: int) -> Formula:
    """Each element of the output is a dot product over C/group channels and all taps: weight (M, C/group, taps...)."""

    def macs(work: Work) -> int:
        batch, channels, *positions = work.output()
        _, channels_in, *taps = work.shape(weight)
        return batch * channels * prod(positions) * channels_in * prod(taps)

    return macs


def _transposed_convolution(work: Work) -> int:
    """Each element of the input is spread over M/group channels and all taps: weight (C, M/group, taps...)."""
    batch, channels, *positions = work.shape(0)
    _, channels_out, *taps = work.shape(1)
    return batch * channels * prod(positions) * channels_out * prod(taps)


def _gemm(left: int, right: int) -> Formula:
    def macs(work: Work) -> int:
        rows, inner = work.shape(left)[:: -1 if work.attributes.get("transA") else 1]
        columns = work.shape(right)[0 if work.attributes.get("transB") else 1]
        return rows * inner * columns

    return macs


def _matmul(left: int, right: int) -> Formula:
    """(..., M, K) x (..., K, N): leading axes broadcast, and a vector on either side is one row or one column."""

    def macs(work: Work) -> int:
        a, b = work.shape(left), work.shape(right)
        rows, inner = ((1, *a) if len(a) == 1 else a)[-2:]
        columns = 1 if len(b) == 1 else b[-1]
        return prod(_broadcast(a[:-2], b[:-2])) * rows * inner * columns

    return macs


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> list[int]:
    longest = max(len(a), len(b))
    pairs = zip((1,) * (longest - len(a)) + a, (1,) * (longest - len(b)) + b, strict=True)
    return [y if x == 1 else x for x, y in pairs]


def _matmul_nbits(work: Work) -> int:
    """Weights of a few bits: (..., K) x (K, N), K and N given as attributes because the weight is packed."""
    return prod(work.shape(0)[:-1]) * work.attributes["K"] * work.attributes["N"]


def _einsum(work: Work) -> int:
    """Pairwise from left to right: the product of all labels that take part in each pair."""
    terms, result = _labels(work)
    sizes: dict[str, int] = {}
    for index, term in enumerate(terms):
        for label, size in zip(term, work.shape(index), strict=True):
            sizes[label] = max(size, sizes.get(label, 1))
    macs, (held, *rest) = 0, terms
    for done, term in enumerate(rest, start=2):
        taking_part = set(held) | set(term)
        macs += prod(sizes[label] for label in taking_part)
        held = "".join(taking_part & set("".join([result, *terms[done:]])))
    return macs


def _labels(work: Work) -> tuple[list[str], str]:
    """Return the labels of each operand and of the result, an ellipsis written out as digits from the right."""
    equation = work.attributes["equation"].decode().replace(" ", "")
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    hidden = [len(work.shape(i)) - len(term.replace("...", "")) for i, term in enumerate(terms) if "..." in term]
    dots = "9876543210"[10 - max(hidden, default=0) :]
    written = []
    for index, term in enumerate(terms):
        count = len(work.shape(index)) - len(term.replace("...", ""))
        written.append(term.replace("...", dots[len(dots) - count :]))
    everything = "".join(terms).replace("...", "")
    once = "".join(sorted(label for label in set(everything) if everything.count(label) == 1))
    return written, (right.replace("...", dots) if arrow else dots + once)


def _recurrent(gates: int) -> Formula:
    """X (steps, batch, input), or batch first; W has one block per direction."""

    def macs(work: Work) -> int:
        steps, batch, size = work.shape(0)
        directions, hidden = work.shape(1)[0], work.attributes["hidden_size"]
        return steps * batch * directions * gates * hidden * (size + hidden)

    return macs


def _attention(work: Work) -> int:
    """Scores (queries x keys x head size) and their use (queries x keys x value size), per query head, masked or not.

    Key heads are shared among query heads, which changes what is read and not what is multiplied.
    """
    query, key, value = (_heads(work, index) for index in range(3))
    batch, heads, queries, size = query
    keys = key[2] + (work.shape(4)[2] if work.has(4) else 0)
    return batch * heads * queries * keys * (size + value[3])


def _heads(work: Work, index: int) -> tuple[int, ...]:
    """Return (batch, heads, sequence, size of a head) of query, key or value."""
    shape = work.shape(index)
    if len(shape) == 4:
        return shape
    batch, sequence, width = shape
    heads = work.attributes["q_num_heads" if index == 0 else "kv_num_heads"]
    return batch, heads, sequence, width // heads


def _packed_attention(work: Work) -> int:
    """com.microsoft Attention: the projection of the input to query, key and value, then attention itself."""
    batch, sequence, size = work.shape(0)
    projected = work.shape(1)[1]
    widths = work.attributes.get("qkv_hidden_sizes") or [projected // 3] * 3
    keys = sequence + (work.shape(4)[3] if work.has(4) else 0)
    return batch * sequence * (size * projected + keys * (widths[0] + widths[2]))


FORMULAS: dict[tuple[str, str], Formula] = {
    ("", "Conv"): _convolution(1),
    ("", "ConvInteger"): _convolution(1),
    ("", "QLinearConv"): _convolution(3),
    ("", "DeformConv"): _convolution(1),
    ("", "ConvTranspose"): _transposed_convolution,
    ("", "Gemm"): _gemm(0, 1),
    ("", "MatMul"): _matmul(0, 1),
    ("", "MatMulInteger"): _matmul(0, 1),
    ("", "QLinearMatMul"): _matmul(0, 3),
    ("", "Einsum"): _einsum,
    ("", "RNN"): _recurrent(1),
    ("", "GRU"): _recurrent(3),
    ("", "LSTM"): _recurrent(4),
    ("", "Attention"): _attention,
    ("com.microsoft", "FusedConv"): _convolution(1),
    ("com.microsoft", "FusedGemm"): _gemm(0, 1),
    ("com.microsoft", "QGemm"): _gemm(0, 3),
    ("com.microsoft", "MatMulNBits"): _matmul_nbits,
    ("com.microsoft", "MatMulIntegerToFloat"): _matmul(0, 1),
    ("com.microsoft", "DynamicQuantizeMatMul"): _matmul(0, 1),
    ("com.microsoft", "DynamicQuantizeLSTM"): _recurrent(4),
    ("com.microsoft", "Attention"): _packed_attention,
}
