"""What becomes of a piece where elements are of another type than the float32 that kernels were timed in."""

from __future__ import annotations

from neural_cost.analyzer.node import Tensor
from neural_cost.analyzer.prediction.piece import Job, Piece, count

# Kinds that were timed in a type of their own, or that have no elements.
OWN = frozenset({
    "Reshape", "If", "Loop", "And", "Not", "MatMulInteger", "DynamicQuantizeMatMul", "DynamicQuantizeLinear",
    "QuantizeLinear", "DequantizeLinear", "NonZero", "Range",
})  # fmt: skip
# The input that has the elements, where that is not the first; that of none where an operator makes them.
ELEMENTS = {"Where": 1, "OneHot": 2, "ConstantOfShape": 1, "EyeLike": 1}
TIMED_BITS = 32
FEW = 64  # integers, as shapes are: starting the kernel is all that it takes


def of_type(job: Job, piece: Piece) -> Piece:
    """A piece as it is in float32; in wider elements so much longer; a guess in all others.

    Raises Unknown for elements that have no fixed size, as strings.
    """
    tensor = _elements(job)
    if piece.kind in OWN or tensor.dtype == "float32" or (piece.kind == "Cast" and _was_timed(job)):
        return piece
    wide = max(1.0, tensor.bits / TIMED_BITS)
    whole = tensor.dtype is not None and "int" in tensor.dtype
    few = whole and max(count(tensor), count(job.made)) <= FEW
    return piece._replace(times=piece.times * wide, guess=piece.guess or not few)


def _elements(job: Job) -> Tensor:
    """The tensor whose type it works in."""
    return job.node.input(ELEMENTS.get(job.node.op_type, 0)) or job.made


def _was_timed(job: Job) -> bool:
    return job.node.x.dtype == "int64" and job.made.dtype == "float32"
