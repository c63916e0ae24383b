"""What training costs in the dimensions that nobody gave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from neural_cost.analyzer.cost import Dim
from neural_cost.analyzer.expressions import Formula, expanded
from neural_cost.analyzer.memory.symbolic import MOST_CANDIDATES, Largest, Polynomials
from neural_cost.analyzer.node import Unknown
from neural_cost.analyzer.training.checkpoint import block_sums, sqrt_sums
from neural_cost.analyzer.training.options import Checkpoint, TrainingOptions
from neural_cost.analyzer.training.passes import NUMBERS, SYMBOLS, Looks, Part, backward_pass, total
from neural_cost.analyzer.training.saved import Sizes, saved
from neural_cost.analyzer.training.subject import Subject


def formulas(found: Subject, options: TrainingOptions, weights: int, saved_bytes: int) -> dict[str, Formula]:
    """MACs backward, bytes saved and memory as formulas; those that give another number than the report are left out.

    `saved_bytes` are those of the report. Segments of about as many bytes may be others at other sizes; where they may,
    bytes have no formula.
    """
    graph = found.graph
    if not graph.names:
        return {}
    try:
        counts = _counts(found, options, SYMBOLS)
        numbers = _counts(found, options, NUMBERS)
    except (Unknown, TypeError, ValueError, AttributeError):  # a rule needs what no symbol tells
        return {}
    if counts is None or numbers is None:
        return {}
    numbers |= {"saved_bytes": saved_bytes, "memory_bytes": saved_bytes + weights}
    made = {name: Formula(expanded(count), graph.names) for name, count in counts.items()}
    if options.checkpoint is Checkpoint.NONE:
        made["memory_bytes"] = Formula(expanded(counts["saved_bytes"] + weights), graph.names)
    else:
        del made["saved_bytes"]
        made |= _segments(found, options, weights)
    return {name: formula for name, formula in made.items() if formula(graph.sizes) == numbers[name]}


def _segments(found: Subject, options: TrainingOptions, weights: int) -> dict[str, Formula]:
    """Bytes with checkpoints: the largest of the sums while each segment runs backward."""
    parts = backward_pass(found.flow, found.storage, SYMBOLS)
    numbers, symbols = (
        Sizes(found.storage, looks, options.widths.activation, found.graph.nodes) for looks in (NUMBERS, SYMBOLS)
    )
    if options.checkpoint is Checkpoint.BLOCK:
        sums = block_sums(found, parts, symbols)
    else:
        sums = sqrt_sums(found, parts, numbers, symbols)
    polynomials = Polynomials(dict(enumerate(sums)))
    most = [polynomials.expression(each) for each in polynomials.undominated(polynomials.sizes.values())]
    if not most or len(most) > MOST_CANDIDATES:
        return {}
    return {
        name: _largest(most, more, found.graph.names) for name, more in (("saved_bytes", 0), ("memory_bytes", weights))
    }


def _largest(expressions: Sequence[Any], more: int, names: Sequence[str]) -> Formula:
    parts = [Formula(expanded(each + more), names) for each in expressions]
    return parts[0] if len(parts) == 1 else Largest(parts, names)


def _counts(found: Subject, options: TrainingOptions, looks: Looks) -> dict[str, Dim] | None:
    """The figures; None where one is not known."""
    parts = backward_pass(found.flow, found.storage, looks)
    sizes = Sizes(found.storage, looks, options.widths.activation, found.graph.nodes)
    kept = saved(parts, sizes)
    if kept.unknown or not all(part.known for part in parts):
        return None
    return {
        "backward_macs": total(parts, _macs),
        "input_macs": total(parts, _input_macs),
        "weight_macs": total(parts, _weight_macs),
        "saved_bytes": kept.total,
    }


def _macs(part: Part) -> Dim:
    return part.input_macs + part.weight_macs


def _input_macs(part: Part) -> Dim:
    return part.input_macs


def _weight_macs(part: Part) -> Dim:
    return part.weight_macs
