"""What training costs as blocks: work, memory, the rule of thumb beside them, and the nodes that cost most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from neural_cost.analyzer.tables.blocks import Block, Grid, Heading, Paragraph
from neural_cost.analyzer.tables.figures import count, size
from neural_cost.analyzer.tables.memory import fitting

if TYPE_CHECKING:
    from neural_cost.analyzer.training.record import NodeTraining, TrainingCost

SHOWN = 10


def training(
    found: TrainingCost, top: int | None = None, *, quiet: bool = False, symbolic: bool = False
) -> list[Block]:
    """All that a table shows of a training run."""
    parts: list[Block] = [Paragraph(""), _work(found), Paragraph(""), _memory(found), *fitting(found.fits)]
    if not quiet:
        parts += [_nodes(found, top or SHOWN), *_checkpoints(found)]
    if symbolic:
        parts += [Paragraph(f"{name} = {formula}") for name, formula in found.formulas.items()]
    parts += _left_out(found)
    return [*parts, *(Paragraph(note) for note in found.notes)]


def _plain(lines: Sequence[tuple[str, str, str]], title: str) -> Grid:
    return Grid("", [Heading(title, "name"), Heading(""), Heading("", "remark")], lines, headed=False)


def _work(found: TrainingCost) -> Grid:
    least = not found.complete
    options, rule = found.options, found.convention
    again = [("  computed again", count(found.recomputed_macs), f"checkpoints: {options.checkpoint}")]
    return _plain(
        [
            ("Training MACs, forward", count(found.forward_macs, least=least), "one pass over one batch"),
            (
                "  backward",
                count(found.backward_macs, least=least),
                f"{count(rule.backward_macs, least=least)} as 2 x forward",
            ),
            ("    of inputs", count(found.input_macs, least=least), "gradients that go on to other nodes"),
            (
                "    of weights",
                count(found.weight_macs, least=least),
                f"of {'>= ' * least}{found.parameters:,} parameters",
            ),
            *(again if found.recomputed_macs else []),
            (
                "FLOPs backward",
                count(found.backward_flops, least=least),
                f"{count(found.forward_flops, least=least)} forward",
            ),
            ("FLOPs of a step", count(found.step_flops, least=least), _step(found)),
        ],
        "Work",
    )


def _step(found: TrainingCost) -> str:
    passes = found.options.accumulate
    return f"{passes} pass{'es' if passes > 1 else ''} forward and backward, {found.options.optimizer}"


def _memory(found: TrainingCost) -> Grid:
    least = not found.complete
    options, rule = found.options, found.convention
    copy = "master copy in float32" if options.precision == "mixed" else "copy in 16 bits"
    frozen = f"{found.frozen_parameters:,} frozen" if found.frozen_parameters else ""
    return _plain(
        [
            ("Training memory", size(found.memory_bytes, least=least), "workspace and gradients on their way apart"),
            ("  weights", size(found.weight_bytes, least=least), frozen),
            *([("  weights again", size(found.copy_bytes, least=least), copy)] if found.copy_bytes else []),
            ("  gradients", size(found.gradient_bytes, least=least), "of weights"),
            ("  optimizer", size(found.optimizer_bytes, least=least), f"state of {options.optimizer}"),
            (
                "  saved",
                size(found.saved_bytes, least=least),
                f"activations, inputs among them {size(found.saved_input_bytes, least=least)}",
            ),
            (
                "2 x forward",
                size(rule.memory_training_bytes, least=least),
                "rule of thumb: all that nodes write, twice",
            ),
        ],
        "Memory",
    )


def _nodes(found: TrainingCost, top: int) -> Grid:
    ordered = sorted(
        found.nodes, key=lambda node: -((node.input_macs or 0) + (node.weight_macs or 0)) * (node.repeats or 0)
    )
    shown = ordered[:top]
    of = "" if len(shown) == len(found.nodes) else f", {len(shown)} of {len(found.nodes)}"
    headings = [
        Heading("node", "name"), Heading("operator", "name"), Heading("MACs"), Heading("of inputs"),
        Heading("of weights"), Heading("FLOPs back"), Heading("saved"),
    ]  # fmt: skip
    return Grid(f"Nodes by MACs backward{of}", headings, [_line(node) for node in shown])


def _line(node: NodeTraining) -> list[str]:
    figures = (node.macs, node.input_macs, node.weight_macs, node.backward_flops)
    name = f"{node.domain}::{node.op_type}" if node.domain else node.op_type
    return [node.name, name, *map(count, figures), size(node.saved_bytes)]


def _checkpoints(found: TrainingCost) -> list[Block]:
    if len(found.checkpoints) < 2:
        return []
    lines = [
        (f"{each.segments}", size(each.saved_bytes), count(each.recomputed_macs), count(each.recomputed_flops))
        for each in found.checkpoints
    ]
    headings = [Heading("segments"), Heading("saved"), Heading("MACs again"), Heading("FLOPs again")]
    return [Grid("Checkpoints: what is kept against what is computed again", headings, lines)]


def _left_out(found: TrainingCost) -> list[Paragraph]:
    lines = ["INCOMPLETE: what follows is left out"] if not found.complete else []
    for each in found.uncounted:
        name = f"{each['domain']}::{each['op_type']}" if each["domain"] else each["op_type"]
        lines.append(f"  uncounted backward: {name} x {each['nodes']}: {each['why']}")
    for each in found.unknown[:SHOWN]:
        place = f'tensor "{each["tensor"]}"' if each["tensor"] else f'node "{each["node"]}"'
        lines += [f"  unknown backward: {place}: {each['why']}"]
    hidden = len(found.unknown) - SHOWN
    lines += [f"  unknown backward: {hidden} more, in JSON"] if hidden > 0 else []
    return [Paragraph(line, "warning") for line in lines]
