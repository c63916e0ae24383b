"""Groups around a convolution, a product or a normalization, as ONNX Runtime 1.20 and later fuses them on a CPU.

Each function looks from one node and gives the group that it is the anchor of, or None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from neural_cost.analyzer.fusion.graph import FusionGraph, Group, is_scalar, same_shape
from neural_cost.analyzer.node import Tensor

ACTIVATIONS = ("Relu", "LeakyRelu", "Sigmoid", "Tanh", "Clip", "HardSigmoid")
GEMM_ACTIVATIONS = ("Relu", "LeakyRelu", "Sigmoid", "Tanh")
SCALES = ("Mul", "Div")
RANK_2D = 4  # of the weights of a convolution over two axes
CHANNELS = 4  # ONNX Runtime packs channels only where their number is a multiple of this, or is less than a block
Pattern = Callable[[FusionGraph, int], Group | None]


def convolution(graph: FusionGraph, place: int) -> Group | None:
    """A Conv with a Pad before it, per-channel constants and a BatchNormalization, a sum and an activation after it."""
    members = [place, *_padding(graph, place)]
    last, steps = place, True
    while steps:
        after = graph.next(last)
        steps = after is not None and _scales_channels(graph, last, after)
        if after is not None and steps:
            members.append(after)
            last = after
    after = graph.next(last)
    if after is not None and _adds_to(graph, after, last) and is_packed(graph, place) is not False:
        members.append(after)
        after = graph.next(after)
    if after is not None and graph.op(after) in ACTIVATIONS:
        members.append(after)
    return _group(members, place, "FusedConv")


def _padding(graph: FusionGraph, place: int) -> list[int]:
    """A Pad by constants, which becomes part of the convolution's own."""
    before = graph.before_alone(place, 0)
    if before is None or graph.op(before) != "Pad" or len(graph.activations(before)) != 1:
        return []
    return [before] if graph.node(before).attr("mode", "constant") == "constant" else []


def _scales_channels(graph: FusionGraph, last: int, after: int) -> bool:
    """Whether the node only multiplies or adds one constant for each channel, which goes into the weights."""
    if graph.op(after) == "BatchNormalization":
        return True
    if graph.op(after) not in ("Mul", "Add") or len(graph.activations(after)) != 1:
        return False
    made = graph.node(last).output(0)
    constant = next((t for t in graph.node(after).inputs if t is not None and t.constant), None)
    return constant is not None and made is not None and _is_per_channel(constant, made, graph.op(after) == "Mul")


def _is_per_channel(constant: Tensor, made: Tensor, multiplies: bool) -> bool:
    """Whether a constant has one element for each channel, written with an axis for each that follows the channels."""
    dims, rank = constant.dims, len(made.dims or ())
    if dims is None or (len(dims) < rank - 1 and not (multiplies and not dims)):
        return False
    padded = (1,) * (rank - len(dims)) + tuple(dims)
    return len(padded) == rank and all(dim == 1 for axis, dim in enumerate(padded) if axis != 1)


def _adds_to(graph: FusionGraph, place: int, last: int) -> bool:
    """Whether a node adds a tensor of the same shape to what one makes; of two that could take it, the first does."""
    if graph.op(place) not in ("Add", "Sum") or not _adds_same(graph, place):
        return False
    first = graph.before_alone(place, 0)
    return first == last or first is None or not _ends_convolution(graph, first)


def _ends_convolution(graph: FusionGraph, place: int) -> bool:
    """Whether a node is a packed convolution, or the last of what goes into its weights."""
    while graph.op(place) in ("BatchNormalization", "Mul", "Add"):
        before = graph.before_alone(place, 0)
        if before is None or not _scales_channels(graph, before, place):
            return False
        place = before
    return graph.op(place) == "Conv" and is_packed(graph, place) is not False


def is_packed(graph: FusionGraph, place: int) -> bool | None:
    """Whether the runtime computes a convolution on packed channels; None where it is not known how many it packs."""
    weight = graph.node(place).input(1)
    if graph.block == 0 or weight is None or not weight.constant or weight.dims is None or len(weight.dims) != RANK_2D:
        return False
    if graph.block is None:
        return None
    cout, cin, groups = weight.dims[0], weight.dims[1], graph.node(place).attr("group", 1)
    if not isinstance(cout, int) or not isinstance(cin, int) or not isinstance(groups, int) or groups < 1:
        return False
    if groups == 1:
        return cin < graph.block or cin % CHANNELS == 0
    if cin == 1 and cout == groups:
        return cout % CHANNELS == 0
    return cout % CHANNELS == 0 and cin % graph.block == 0 and (cout // groups) % graph.block == 0


def _adds_same(graph: FusionGraph, place: int, *, before_a_run: bool = False) -> bool:
    inputs = [tensor for tensor in graph.node(place).inputs if tensor is not None]
    alike = graph.same_before_a_run if before_a_run else same_shape
    return len(inputs) == 2 and alike(*inputs) and not any(tensor.constant for tensor in inputs)


def gemm(graph: FusionGraph, place: int) -> Group | None:
    """A Gemm with its activation."""
    return _group([place, *_after(graph, place, GEMM_ACTIVATIONS)], place, "FusedGemm")


def matmul(graph: FusionGraph, place: int) -> Group | None:
    """A MatMul with its bias, or with transposes and scales around it."""
    weight = graph.node(place).input(1)
    if weight is not None and weight.constant:
        bias = graph.next(place)
        if bias is None or not _is_bias(graph, bias) or (graph.is_open and len(graph.node(place).x.dims or ()) != 2):
            return None
        return _group([place, bias, *_after(graph, bias, GEMM_ACTIVATIONS)], place, "Gemm")
    members = [place]
    for index in (0, 1):
        members += _scales_and_transposes(graph, place, index)
    after = graph.next(place)
    if after is not None and graph.op(after) in SCALES and _scales(graph, after):
        members.append(after)
    return _group(members, place, "FusedMatMul")


def _scales_and_transposes(graph: FusionGraph, place: int, index: int) -> list[int]:
    """What before an operand of a product can be a part of it: a scale, and a swap of the last two axes."""
    found: list[int] = []
    before = graph.before_alone(place, index)
    while before is not None:
        swaps, scales = _swaps_last(graph, before), graph.op(before) in SCALES and _scales(graph, before)
        if not (swaps or scales) or len(found) == 2:
            break
        found.append(before)
        before = graph.before_alone(before, 0)
    return found


def _swaps_last(graph: FusionGraph, place: int) -> bool:
    if graph.op(place) != "Transpose":
        return False
    perm = graph.node(place).attr("perm")
    rank = len(perm or ())
    return rank >= 2 and list(perm) == [*range(rank - 2), rank - 1, rank - 2]


def _scales(graph: FusionGraph, place: int) -> bool:
    one, other = graph.node(place).input(0), graph.node(place).input(1)
    return is_scalar(other) or (graph.op(place) == "Mul" and is_scalar(one))


def _is_bias(graph: FusionGraph, place: int) -> bool:
    """Whether it adds a constant row."""
    if graph.op(place) != "Add" or len(graph.activations(place)) != 1:
        return False
    constant = next((t for t in graph.node(place).inputs if t is not None and t.constant), None)
    return constant is not None and constant.dims is not None and len(constant.dims) == 1


def skip_normalization(graph: FusionGraph, place: int) -> Group | None:
    """A LayerNormalization of a sum of two tensors, and of a bias before it."""
    add = graph.before(place, 0)
    if add is None or graph.op(add) != "Add" or not _adds_same(graph, add, before_a_run=True):
        return None
    bias = next(
        (b for index in (0, 1) if (b := graph.before_alone(add, index)) is not None and _is_bias(graph, b)), None
    )
    name = f"Skip{graph.op(place)}"
    return _group([place, add, *([] if bias is None else [bias])], place, name)


def gelu(graph: FusionGraph, place: int) -> Group | None:
    """A Gelu with the bias before it."""
    bias = graph.before_alone(place, 0)
    if bias is None or not _is_bias(graph, bias):
        return None
    fast = "Fast" in graph.op(place) or graph.node(place).attr("approximate") == "tanh"
    return _group([place, bias], place, "FastGelu" if fast else "BiasGelu")


def quick_gelu(graph: FusionGraph, place: int) -> Group | None:
    """A tensor times the sigmoid of it, or of it times a constant."""
    for index in (0, 1):
        sigmoid, other = graph.before_alone(place, index), graph.node(place).input(1 - index)
        if sigmoid is None or graph.op(sigmoid) != "Sigmoid" or other is None:
            continue
        scale = graph.before_alone(sigmoid, 0)
        source = scale if scale is not None and graph.op(scale) == "Mul" and _scales(graph, scale) else sigmoid
        if other.name in {tensor.name for tensor in graph.activations(source)}:
            return _group([place, *{sigmoid, source}], place, "QuickGelu")
    return None


def dynamic_quantized(graph: FusionGraph, place: int) -> Group | None:
    """A product of quantized activations and weights, which are made floats again."""
    cast = graph.next(place)
    scaled = None if cast is None or graph.op(cast) != "Cast" else graph.next(cast)
    if cast is None or scaled is None or graph.op(scaled) != "Mul":
        return None
    members = [place, cast, scaled]
    other = next((w for i in (0, 1) if (w := graph.before_alone(scaled, i)) not in (None, cast)), None)
    quantize = graph.before(place, 0)
    members += [] if other is None or graph.op(other) != "Mul" else [other]
    if quantize is not None and graph.op(quantize) == "DynamicQuantizeLinear" and _readers_of(graph, quantize) <= {
        place, *members
    }:  # fmt: skip
        members.append(quantize)
    bias = graph.next(scaled)
    if bias is not None and _is_bias(graph, bias):
        members.append(bias)
    return _group(members, place, "DynamicQuantizeMatMul" if quantize in members else "MatMulIntegerToFloat")


def _readers_of(graph: FusionGraph, place: int) -> set[int]:
    return {reader for t in graph.node(place).outputs if t is not None for reader in graph.readers.get(t.name, ())}


def _after(graph: FusionGraph, place: int, operators: Iterable[str]) -> list[int]:
    after = graph.next(place)
    return [after] if after is not None and graph.op(after) in operators else []


def _group(members: Iterable[int], anchor: int, kernel: str) -> Group | None:
    places = tuple(sorted(set(members)))
    return Group(places, anchor, kernel) if len(places) > 1 else None


# By the operator that a group is found from.
PATTERNS: Mapping[str, Sequence[Pattern]] = {
    **dict.fromkeys(("Conv", "com.microsoft::FusedConv"), (convolution,)),
    "MatMulInteger": (dynamic_quantized,),
    **dict.fromkeys(("LayerNormalization", "SimplifiedLayerNormalization"), (skip_normalization,)),
    **dict.fromkeys(("Gelu", "com.microsoft::Gelu", "com.microsoft::FastGelu"), (gelu,)),
    "Mul": (quick_gelu,),
    "Gemm": (gemm,),
    "MatMul": (matmul,),
}
