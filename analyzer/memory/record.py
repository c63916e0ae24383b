"""The record of activation memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from itertools import accumulate
from typing import Any

from neural_cost.analyzer.memory.best import best_order
from neural_cost.analyzer.memory.blocked import padded
from neural_cost.analyzer.memory.liveness import Level, Method, Policy, levels
from neural_cost.analyzer.memory.lives import lives
from neural_cost.analyzer.memory.orders import file_order, runtime_order
from neural_cost.analyzer.memory.reading import Activations
from neural_cost.analyzer.memory.scope import Key
from neural_cost.analyzer.record import Record


@dataclass(frozen=True, slots=True)
class Alive:
    """A tensor that is alive at the peak, or all that is alive in the bodies that its node runs."""

    name: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Moment:
    """Bytes alive while a node runs: by the three figures, in the order of the timeline."""

    index: int
    node: str
    op_type: str
    lower_bytes: int
    bytes: int
    upper_bytes: int


@dataclass(frozen=True, slots=True)
class Best(Record):
    """An order of the nodes of the main graph in which less is alive at once, by `Memory.peak_bytes`.

    It is found by a beam search, so there may be a better one; it is never worse than the order of the file.

    Attributes:
        order: indices of the nodes; those that depend on constants alone are not among them.
        why: why the peak is None.
    """

    peak_bytes: int | None
    order: list[int]
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Memory(Record):
    """Bytes of activations that are alive together, graph inputs and outputs among them, and weights apart.

    The peak is given three times. `peak_bytes` is liveness as the words say: each tensor has memory of its own from
    the node that makes it to the last that reads it, in the order of the file; views share. `peak_lower_bytes` lets
    elementwise operators write over their inputs and fused kernels leave tensors out. `peak_upper_bytes` does
    neither, keeps free memory for the next tensor of its shape, in units of 256 bytes, and fills channels of images up
    to whole blocks, as ONNX Runtime does. Those two hold for the file's order and for the one in which ONNX Runtime
    runs the nodes of the file, unless it rewrites them: a scale folded into a product can need less than the lower.

    `planned_bytes` is what ONNX Runtime's planner comes to on the graph of the file, run in its order: its kernels
    write over their first input where they can, and free memory is kept. Fusions change the graph, and mostly need
    less.

    What kernels need for themselves is in none of them.

    Attributes:
        why: why the peaks are None.
        peak_node: the node at which `peak_bytes` are alive.
        alive: what is alive then, the largest first.
        timeline: bytes at each node of the main graph that runs, in the order of the file.
        cache_bytes: of the inputs and outputs, those of keys and values: inputs that an output has grown from.
        workspace_bytes: what kernels need for themselves: not known from a graph.
    """

    peak_lower_bytes: int | None
    peak_bytes: int | None
    peak_upper_bytes: int | None
    planned_bytes: int | None
    why: str
    peak_node: str | None
    alive: list[Alive]
    timeline: list[Moment]
    input_bytes: int | None
    output_bytes: int | None
    cache_bytes: int | None
    weight_bytes: int
    workspace_bytes: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    def __str__(self) -> str:
        """The figures, what is alive at the peak, and the chart."""
        from neural_cost.analyzer.tables.memory import memory
        from neural_cost.analyzer.tables.text import to_text

        return to_text(memory(self, None, None))


def measure(found: Activations, weight_bytes: int, cache_bytes: int = 0) -> Memory:
    """Find what is alive when; `cache_bytes` are those of keys and values among inputs and outputs."""
    if found.unknown:
        return Memory(None, None, None, None, found.unknown, None, [], [], None, None, None, weight_bytes)
    sizes, scope = found.sizes(), found.scope
    method = partial(Method, sizes, forms=found.forms())
    filled = replace(method(file_order, Policy.UPPER), sizes=sizes | padded(scope, sizes, found.tensors))
    order = cache(runtime_order)
    lower, plain = (levels(scope, method(file_order, policy)) for policy in (Policy.LOWER, Policy.PLAIN))
    least, planned = (levels(scope, method(order, policy)) for policy in (Policy.LOWER, Policy.PLANNED))
    upper, most = (levels(scope, replace(filled, order=each)) for each in (file_order, order))
    held = sum(sizes[key] for key in scope.inputs)  # the peak of a graph in which nothing runs
    moment = max(range(len(plain)), key=lambda at: max(plain[at].sums), default=None)
    return Memory(
        min(_peak(lower, held), _peak(least, held)),
        _peak(plain, held),
        max(_peak(upper, held), _peak(most, held)),
        _peak(planned, held),
        "",
        None if moment is None else plain[moment].step.name,
        [] if moment is None else _alive(found, sizes, moment, _peak(plain, held)),
        [_moment(*each) for each in zip(lower, plain, upper, strict=True)],
        held,
        sum(sizes[key] for key in scope.outputs),
        cache_bytes,
        weight_bytes,
    )


def plain_peak(found: Activations) -> int | None:
    """The peak by liveness as the words say, alone; None where it is not known."""
    if found.unknown:
        return None
    sizes, scope = found.sizes(), found.scope
    if any(step.bodies for step in scope.steps):
        return _peak(levels(scope, Method(sizes, file_order)), sum(sizes[key] for key in scope.inputs))
    changes = [0] * (
        len(scope.steps) + 3
    )  # at each step and before: bytes that come, less those that went with the last
    for life in lives(scope, scope.steps):
        changes[life.birth + 1] += sizes[life.key]
        changes[life.death + 2] -= sizes[life.key]
    return max(accumulate(changes))


def _peak(found: Sequence[Level], held: int) -> int:
    return max((each for level in found for each in level.sums), default=held)


def _moment(lower: Level, plain: Level, upper: Level) -> Moment:
    step = plain.step
    return Moment(step.index, step.name, step.op_type, *(max(level.sums) for level in (lower, plain, upper)))


def _alive(found: Activations, sizes: Mapping[Key, int], at: int, peak: int) -> list[Alive]:
    """The tensors alive at a step, the largest first; what its bodies need beside them is one entry."""
    steps = found.scope.steps
    keys = [life.key for life in lives(found.scope, steps) if life.birth <= at <= life.death]
    inside = peak - sum(sizes[key] for key in keys)
    alive = [Alive(found.tensors[key].name, sizes[key]) for key in keys]
    alive += [Alive(f"in the bodies of {steps[at].name}", inside)] if inside else []
    return sorted(alive, key=lambda each: -each.bytes)


def best(found: Activations) -> Best:
    """Look for an order that needs less."""
    if found.unknown:
        return Best(None, [], found.unknown)
    scope, method = found.scope, Method(found.sizes(), file_order)
    order = best_order(scope, method)
    again = levels(scope, replace(method, order=lambda each: order if each is scope else each.steps))
    held = sum(method.sizes[key] for key in scope.inputs)
    return Best(_peak(again, held), [step.index for step in order])
