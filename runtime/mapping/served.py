"""On whose behalf a kernel runs that the file does not ask for: of one kernel, so its time is of that one's nodes.

That is the kernel that makes the tensor which it moves or converts. Where nobody makes it (an input, an initializer),
it is the first that reads the result. Between the two may stand others that are inserted, and views.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from neural_cost.runtime.mapping.claim import Claim

VIEWS = frozenset({"Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Dropout"})


def find_served(claims: Sequence[Claim]) -> None:
    """Say of every inserted kernel which nodes it serves."""
    for claim in claims:
        if claim.inserted:
            served = claim.doubles or _served(claim)
            claim.serves = [] if served is None else list((served.joins or served).places)


def _served(claim: Claim) -> Claim | None:
    """The kernel that it serves; one that only views the data serves nobody, unless there is no other."""
    for passed in (True, False):
        for near in (_makers, _readers):
            found = _nearest(claim, near, pass_views=passed)
            if found is not None:
                return found
    return None


def _makers(claim: Claim) -> Iterable[Claim]:
    """Who makes what it moves: its first input."""
    maker = claim.level.maker(claim.node.inputs[0]) if claim.node.inputs else None
    return [] if maker is None else [maker]


def _readers(claim: Claim) -> Iterable[Claim]:
    return (reader for name in claim.node.outputs for reader in claim.level.readers(name))


def _nearest(claim: Claim, near: Callable[[Claim], Iterable[Claim]], *, pass_views: bool) -> Claim | None:
    """The first kernel with nodes, by steps from one to those near it."""
    waiting, seen = list(near(claim)), {claim}
    for each in waiting:
        if each in seen:
            continue
        seen.add(each)
        view = each.node.op_type in VIEWS
        if each.places and not (view and pass_views):
            return each
        if each.inserted or view:
            waiting += near(each)
    return None
