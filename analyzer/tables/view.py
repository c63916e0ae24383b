"""Which rows of a report are wanted. It imports nothing heavy: the command line asks for these names first."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from neural_cost.analyzer.training.options import TrainingOptions


class By(StrEnum):
    """What a row stands for."""

    NODE = "node"
    OP = "op"
    MODULE = "module"
    FUNCTION = "function"
    CALL = "call"


class ProfileBy(StrEnum):
    """What a row of a profile stands for."""

    KERNEL = "kernel"
    NODE = "node"
    MODULE = "module"
    CAUSE = "cause"
    FINDING = "finding"


class Column(StrEnum):
    """A column to sort by: figures from the largest, names from the first; by index is the order of execution."""

    MACS = "macs"
    FLOPS = "flops"
    OTHER_FLOPS = "other_flops"
    SPECIAL_OPS = "special_ops"
    READ_BYTES = "read_bytes"
    WRITE_BYTES = "write_bytes"
    PARAMETERS = "parameters"
    PARAMETER_BYTES = "parameter_bytes"
    BOUND_S = "bound_s"
    NAME = "name"
    INDEX = "index"


@dataclass(frozen=True, slots=True)
class View:
    """Which rows of a report to show, and how. Without `by`, a table has both the nodes and the operators."""

    by: By | None = None
    depth: int | None = None
    top: int | None = None
    sort: Column = Column.FLOPS
    quiet: bool = False
    verbose: bool = False
    symbolic: bool = False
    memory: bool = False
    best_order: bool = False
    training: TrainingOptions | None = None
    predict: bool = False
