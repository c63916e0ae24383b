"""From an analyzed model and the options of a run to what training costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from neural_cost.analyzer.cost import FLOPS_PER_MAC, Dim
from neural_cost.analyzer.expressions import Formula
from neural_cost.analyzer.memory.fits import Fits, fits
from neural_cost.analyzer.parameters import Weight
from neural_cost.analyzer.training.checkpoint import plan_of, trades
from neural_cost.analyzer.training.optimizer import Parameter, state_bytes, step_flops
from neural_cost.analyzer.training.options import Optimizer, TrainingOptions
from neural_cost.analyzer.training.passes import NUMBERS, Part, added_up, backward_pass, total
from neural_cost.analyzer.training.record import Convention, NodeTraining, TrainingCost
from neural_cost.analyzer.training.saved import Saved, Sizes, forward_bytes, saved
from neural_cost.analyzer.training.subject import Graph, Subject, subject
from neural_cost.analyzer.training.symbolic import formulas
from neural_cost.analyzer.training.trained import SHOWN, TRAINABLE, without_gradient

Made: TypeAlias = Callable[[], Mapping[str, Formula]]


@dataclass(frozen=True, slots=True)
class Weights:
    """Bytes that do not depend on a batch."""

    stored: int
    copy: int
    gradients: int
    state: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.stored + self.copy + self.gradients + self.state


def measure(graph: Graph, options: TrainingOptions) -> TrainingCost:
    """Find what training costs.

    Raises:
        OptionError: a pattern of frozen weights fits none.
    """
    found = subject(graph, options.freeze)
    graph = found.graph
    parts = backward_pass(found.flow, found.storage, NUMBERS)
    sizes = Sizes(found.storage, NUMBERS, options.widths.activation, graph.nodes)
    kept = saved(parts, sizes)
    plan = plan_of(found, parts, sizes, options)
    held = kept.total if plan.saved_bytes is None else plan.saved_bytes
    weights = _weights(found, options)
    input_macs, weight_macs = (total(parts, count) for count in (_input_macs, _weight_macs))
    backward = FLOPS_PER_MAC * (input_macs + weight_macs) + total(parts, _other) + added_up(parts, NUMBERS, found.links)
    macs = graph.totals.macs + input_macs + weight_macs + plan.recomputed_macs
    flops = graph.totals.flops + backward + plan.recomputed_flops
    uncounted, unknown = _uncounted(parts), _unknown(parts, kept)
    elements = sum(weight.elements for weight in found.weights.trained)
    complete = not uncounted and not unknown and graph.totals.complete
    made = cache(lambda: formulas(found, options, weights.total, held))
    return TrainingCost(
        options,
        complete,
        graph.totals.macs,
        graph.totals.flops,
        input_macs + weight_macs,
        input_macs,
        weight_macs,
        backward,
        plan.recomputed_macs,
        plan.recomputed_flops,
        macs * options.accumulate,
        _step_flops(flops, found, options),
        elements,
        sum(weight.elements for weight in found.weights.frozen),
        weights.stored,
        weights.copy,
        weights.gradients,
        weights.state,
        held,
        kept.inputs,
        weights.total + held,
        _convention(graph),
        trades(found, parts, sizes),
        _nodes(parts, kept),
        uncounted,
        unknown,
        [*plan.notes, *_notes(found, options)],
        _fits(graph, weights.total, held, made, complete=complete),
        made,
    )


def _fits(graph: Graph, weights: int, held: int, made: Made, *, complete: bool) -> Fits | None:
    """Whether it goes into the device's memory."""
    if graph.device is None:
        return None
    formula = None if graph.device.memory_bytes is None else made().get("saved_bytes")
    return fits(graph.device, weights, held if complete else None, formula, graph.sizes)


def _input_macs(part: Part) -> Dim:
    return part.input_macs


def _weight_macs(part: Part) -> Dim:
    return part.weight_macs


def _other(part: Part) -> Dim:
    return 0 if part.gradient is None else part.gradient.other_flops


def _weights(found: Subject, options: TrainingOptions) -> Weights:
    widths, trained = options.widths, found.weights.trained
    return Weights(
        _bytes([*trained, *found.weights.frozen], widths.weight),
        sum(weight.elements for weight in trained) * widths.copy,
        _bytes(trained, widths.gradient),
        state_bytes(Optimizer(options.optimizer), _parameters(found, options)),
    )


def _parameters(found: Subject, options: TrainingOptions) -> list[Parameter]:
    width = options.widths.state
    return [Parameter(weight.stored.shape, width or weight.stored.bits // 8) for weight in found.weights.trained]


def _bytes(weights: Iterable[Weight], width: int | None) -> int:
    """Bytes of weights, of so many each where they are of real numbers and that is not None."""
    return sum(
        weight.stored.bytes if width is None or "float" not in (weight.stored.dtype or "") else weight.elements * width
        for weight in weights
    )


def _step_flops(passes: int, found: Subject, options: TrainingOptions) -> Dim:
    """FLOPs of a step: its passes, a sum of gradients after each but the first, and the optimizer."""
    trained = found.weights.trained
    more = (options.accumulate - 1) * sum(weight.elements for weight in trained)
    return passes * options.accumulate + more + step_flops(Optimizer(options.optimizer), _parameters(found, options))


def _convention(graph: Graph) -> Convention:
    macs, memory = graph.totals.macs, forward_bytes(graph.nodes)
    return Convention(2 * macs, 3 * macs, memory, 2 * memory)


def _nodes(parts: Sequence[Part], kept: Saved) -> list[NodeTraining]:
    return [_node(part, kept.by_node[at]) for at, part in enumerate(parts)]


def _node(part: Part, saved_bytes: int) -> NodeTraining:
    each, node, known = part.node, part.node.node, part.gradient is not None
    backward = FLOPS_PER_MAC * (part.input_macs + part.weight_macs) + _other(part)
    return NodeTraining(
        each.index,
        node.name,
        node.op_type,
        node.domain,
        each.scope,
        each.graph,
        part.repeats,
        None if each.cost is None else each.cost.macs,
        part.input_macs if known else None,
        part.weight_macs if known else None,
        backward if known else None,
        saved_bytes if part.known else None,
        part.why,
    )


def _uncounted(parts: Iterable[Part]) -> list[dict[str, Any]]:
    counts = Counter((part.node.node.domain, part.node.node.op_type, part.why) for part in parts if part.uncounted)
    return [{"domain": d, "op_type": o, "nodes": n, "why": why} for (d, o, why), n in counts.items()]


def _unknown(parts: Iterable[Part], kept: Saved) -> list[dict[str, str]]:
    nodes = [{"node": p.node.node.name, "tensor": "", "why": p.why} for p in parts if not p.known and not p.uncounted]
    return nodes + [{"node": "", "tensor": name, "why": why} for name, why in kept.unknown.items()]


def _some(weights: Sequence[Weight]) -> str:
    names = ", ".join(f'"{weight.stored.name}"' for weight in weights[:SHOWN])
    return names if len(weights) <= SHOWN else f"{names} and {len(weights) - SHOWN} more weights"


def _notes(found: Subject, options: TrainingOptions) -> list[str]:
    notes = []
    if not found.weights.trained:
        notes.append("nothing is trained: no weight of real numbers is left")
    if found.run:
        made = "1 node makes" if len(found.run) == 1 else f"{len(found.run)} nodes make"
        notes.append(f"{made} weights of weights, or of a part of one: once for inference, in each pass of training")
    idle = without_gradient(found.weights, found.flow, found.storage)
    if idle:
        notes.append(
            f"no gradient reaches {_some(idle)}: gradient and state are counted, as a framework may keep them; "
            "--freeze leaves them out"
        )
    inner = any(cost.graph != "main" for cost, _ in found.graph.walk.bodies)
    if inner and any(link.kind == "carried" for link in found.links):
        notes.append("a loop in a loop: the gradient of its state is counted in its first run too, which may need none")
    quantized = [weight for weight in found.weights.frozen if weight.stored.dtype not in TRAINABLE]
    if quantized:
        notes.append(f"{len(quantized)} weights are integers, or of fewer than 16 bits, and are not trained")
    return notes
