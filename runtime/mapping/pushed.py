"""Transposes and casts of the file that the runtime does elsewhere than the file says: before or after other nodes.

Between the tensors of the file, the kernel past which such a node was pushed seems to do it, and the one that does it
to have none. It belongs to the one that does it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from neural_cost.runtime.mapping.claim import Claim
from neural_cost.runtime.mapping.executed import Moves
from neural_cost.runtime.mapping.source import SourceNode

NEAR = 16  # kernels around it among which a node is looked for
# They can read or write what is transposed: what they are said to do, they do.
TRANSPOSE = frozenset({"FusedMatMul", "Gemm", "FusedGemm", "QGemm", "Einsum", "ReorderInput", "ReorderOutput"})


def find_pushed(claims: Sequence[Claim], nodes: Mapping[str, Sequence[SourceNode]]) -> None:
    """Give inserted kernels the node that they do, where it is with a kernel nearby that cannot do it."""
    told = {node.place: node.moves for each in nodes.values() for node in each if node.moves is not None}
    for claim in claims:
        moves = claim.node.moves
        if claim.inserted and moves is not None:
            owner, place = _pushed(claim, moves, told)
            if owner is not None:
                owner.places.remove(place)
                claim.places.append(place)
                claim.inserted = False


def _pushed(claim: Claim, moves: Moves, told: Mapping[int, Moves]) -> tuple[Claim | None, int]:
    """The kernel that seems to do what this one does, and the place of the node; mostly it runs before this one."""
    for near in (_makers, _readers):
        waiting, seen = list(near(claim)), {claim}
        for each in waiting:
            if each in seen:
                continue
            if len(seen) > NEAR:
                break
            seen.add(each)
            place = next((place for place in each.places if told.get(place) == moves), None)
            if place is not None and len(each.places) > 1 and not (_does(each, moves) or place in each.twins):
                return each, place
            waiting += near(each)
    return None, -1


def _does(claim: Claim, moves: Moves) -> bool:
    """Whether a kernel may do itself what its node says."""
    return claim.joined or claim.node.moves == moves or claim.node.op_type in TRANSPOSE or bool(claim.node.bodies)


def _makers(claim: Claim) -> Iterable[Claim]:
    """Who makes what it reads, in its own graph."""
    return [claim.level.makers[name] for name in claim.node.inputs if name in claim.level.makers]


def _readers(claim: Claim) -> Iterable[Claim]:
    """Who reads what it makes, in its own graph."""
    readers = (reader for name in claim.node.outputs for reader in claim.level.readers(name))
    return [reader for reader in readers if reader.level is claim.level]
