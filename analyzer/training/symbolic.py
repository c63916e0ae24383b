"""What training costs in the dimensions that nobody gave."""

from __future__ import annotations

from neural_cost.analyzer.cost import Dim
from neural_cost.analyzer.expressions import Formula, expanded
from neural_cost.analyzer.node import Unknown
from neural_cost.analyzer.training.options import Checkpoint, TrainingOptions
from neural_cost.analyzer.training.passes import NUMBERS, SYMBOLS, Looks, Part, backward_pass, total
from neural_cost.analyzer.training.saved import Sizes, saved
from neural_cost.analyzer.training.subject import Subject


def formulas(found: Subject, options: TrainingOptions, weights: int, saved_bytes: int) -> dict[str, Formula]:
    """MACs backward, bytes saved and memory as formulas; those that give another number than the report are left out.

    With checkpointing memory has none: what is the most that is held changes with the sizes.
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
    if options.checkpoint is Checkpoint.NONE:
        counts["memory_bytes"], numbers["memory_bytes"] = counts["saved_bytes"] + weights, saved_bytes + weights
    made = {name: Formula(expanded(count), graph.names) for name, count in counts.items()}
    return {name: formula for name, formula in made.items() if formula(graph.sizes) == numbers[name]}


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
