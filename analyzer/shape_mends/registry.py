"""The list of mends, and how they enter onnx_shape_inference's registry."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import onnx_ir as ir
from onnx_shape_inference import ShapeInferenceContext
from onnx_shape_inference import registry as theirs

from neural_cost.analyzer.shape_mends import broadcast

Infer = Callable[[ShapeInferenceContext, ir.Node], None]
Key = tuple[str, str, int]  # domain, operator, opset version from which the mend holds

FAMILIES = (
    "data_dependent",
    "indexing",
    "sampling",
    "symbolic",
    "old_opsets",
    "classical",
    "contrib_products",
    "contrib_quantized",
    "contrib_attention",
    "contrib_tensors",
    "contrib_blocked",
)

MENDS: dict[Key, Infer] = {}
_UNTIL: dict[Key, int] = {}
_UPSTREAM: dict[Key, Infer | None] = {}


def mend(*op_types: str, domain: str = "", since: int = 1, until: int | None = None) -> Callable[[Infer], Infer]:
    """Register a function as the shape inference of operators.

    It holds up to the next version that upstream has, or up to `until`, from which upstream's own holds again.
    """

    def register(function: Infer) -> Infer:
        for op_type in op_types:
            MENDS[domain, op_type, since] = function
            if until is not None:
                _UNTIL[domain, op_type, since] = until
        return function

    return register


def upstream(domain: str, op_type: str, since: int) -> Infer | None:
    """What onnx_shape_inference itself has in the place of a mend; None where it has nothing."""
    install()
    return _UPSTREAM[domain, op_type, since]


def ask_upstream(context: ShapeInferenceContext, node: ir.Node, since: int) -> None:
    """Run what a mend of that version stands in front of."""
    function = _UPSTREAM[node.domain, node.op_type, since]
    if function is not None:
        function(context, node)


def install() -> None:
    """Put every mend into onnx_shape_inference's registry, once."""
    if _UPSTREAM:
        return
    theirs.collect()
    broadcast.install()
    for family in FAMILIES:
        importlib.import_module(f"neural_cost.analyzer.shape_mends.{family}")
    _UPSTREAM.update({key: theirs.get(*key) for key in MENDS})
    for (domain, op_type, _), version in _UNTIL.items():
        later = theirs.get(domain, op_type, version)
        if later is not None:
            theirs.register(domain, op_type, since_version=version)(later)
    for (domain, op_type, since), function in MENDS.items():
        theirs.register(domain, op_type, since_version=since)(function)
