"""Kernels without products to be timed: elementwise, normalizing, moving, pooling, quantizing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from onnx import GraphProto, TensorProto, helper

from neural_cost.runtime.calibrate.kernels.spec import MICROSOFT, NCHWC, Operand, Spec, scalar, whole

ELEMENTS = (1, 1 << 10, 1 << 15, 1 << 18, 1 << 21)
UNARY = (
    "Relu", "LeakyRelu", "Sigmoid", "Tanh", "Erf", "Exp", "Log", "Sqrt", "Reciprocal", "Neg", "Abs", "HardSigmoid",
    "HardSwish", "Softplus", "Floor", "Sin", "Elu", "Round", "Sign", "IsNaN",
)  # fmt: skip
CONTRIB_UNARY = ("Gelu", "QuickGelu", "FastGelu")
BINARY = ("Add", "Mul", "Div", "Pow", "Min", "Equal", "Less")
RUNS, LENGTHS = (16, 512, 8192), (1, 32, 512)


def elementwise() -> Iterator[Spec]:
    """By elements; where an operand is repeated, by the number and length of what is not."""
    for op_type, count in product(UNARY, ELEMENTS):
        yield Spec(op_type, (count,), op_type, [Operand((count,))])
    for op_type, count in product(CONTRIB_UNARY, ELEMENTS):
        yield Spec(op_type, (count,), op_type, [Operand((count,))], domain=MICROSOFT)
    for op_type, count in product(BINARY, ELEMENTS):
        yield Spec(op_type, (count,), op_type, [Operand((count,)), Operand((count,))])
    for count in ELEMENTS:
        scalar = Operand((), constant=True)
        yield Spec("Add scalar", (count,), "Add", [Operand((count,)), scalar])
        square = Operand((), constant=True, values=(2,))
        yield Spec("Pow scalar", (count,), "Pow", [Operand((count,)), square])
        yield Spec("Clip", (count,), "Clip", [Operand((count,)), scalar, scalar])
        yield Spec("Cast", (count,), "Cast", [Operand((count,), TensorProto.INT64)], {"to": TensorProto.FLOAT})
        flags = Operand((count,), TensorProto.BOOL)
        yield Spec("Not", (count,), "Not", [flags])
        yield Spec("And", (count,), "And", [flags, flags])
        yield Spec("Where", (count,), "Where", [flags, Operand((count,)), Operand((count,))])
        yield Spec("BatchNormalization", (count,), "BatchNormalization", _batch_norm(count))
    for runs, length in product(RUNS, LENGTHS):
        mask, wide, row = (Operand((runs, length), TensorProto.BOOL), Operand((runs, length)), Operand((length,)))
        yield Spec("Add broadcast", (runs, length), "Add", [wide, row])
        yield Spec("Where scalar", (runs, length), "Where", [mask, Operand((), constant=True), wide])
        yield Spec("Where broadcast", (runs, length), "Where", [Operand((length,), TensorProto.BOOL), wide, row])
        yield Spec("BiasGelu", (runs, length), "BiasGelu", [wide, row], domain=MICROSOFT)


def _batch_norm(count: int) -> list[Operand]:
    channels = 1 if count < ELEMENTS[1] else 16
    return [Operand((1, channels, count // channels)), *[Operand((channels,), constant=True)] * 4]


def normalizing() -> Iterator[Spec]:
    """By rows and their length: each row is normalized, or reduced."""
    for rows, columns in product((1, 64, 1024), (8, 128, 1024)):
        wide, scale = Operand((rows, columns)), Operand((columns,), constant=True)
        sizes = (rows, columns)
        yield Spec("Softmax", sizes, "Softmax", [wide], {"axis": -1})
        yield Spec("LayerNormalization", sizes, "LayerNormalization", [wide, scale, scale])
        yield Spec("SimplifiedLayerNormalization", sizes, "SimplifiedLayerNormalization", [wide, scale])
        residual = [Operand((1, rows, columns)), Operand((1, rows, columns)), scale, scale]
        yield Spec("SkipLayerNormalization", sizes, "SkipLayerNormalization", residual, domain=MICROSOFT)
        yield Spec("ReduceMean", sizes, "ReduceMean", [wide], {"axes": [1]})
        yield Spec("ReduceMean first", sizes, "ReduceMean", [wide], {"axes": [0]})
        yield Spec("ArgMax", sizes, "ArgMax", [wide], {"axis": 1})
        yield Spec("InstanceNormalization", sizes, "InstanceNormalization",
                   [Operand((1, rows, columns)), *[Operand((rows,), constant=True)] * 2])  # fmt: skip
    for side, channels in product((7, 56), (16, 128)):
        yield Spec("LRN", (side**2 * channels,), "LRN", [Operand((1, channels, side, side))], {"size": 5})


def moving() -> Iterator[Spec]:
    """By the runs of elements that stay together, and how long they are."""
    for runs, length in product(RUNS, LENGTHS):
        sizes, half = (runs, length), runs // 4
        yield Spec("Transpose", sizes, "Transpose", [Operand((4, half, length))], {"perm": [1, 0, 2]})
        index = Operand((runs,), TensorProto.INT64)
        yield Spec("Gather", sizes, "Gather", [Operand((2, length), constant=True), index])
        pair = Operand((runs, length))
        yield Spec("Concat", (2 * runs, length), "Concat", [pair, pair], {"axis": 1})
        ends = [whole(value) for value in (0, length, 1)]
        yield Spec("Slice", sizes, "Slice", [Operand((runs, 2 * length)), *ends[:2], ends[2]])
        yield Spec("Split", sizes, "Split", [Operand((runs // 2, 2 * length))], {"axis": 1}, outputs=2)
        yield Spec("Expand", sizes, "Expand", [Operand((length,)), whole(runs, length)])
        yield Spec("Pad", sizes, "Pad", [pair, whole(0, 1, 0, 1)])
    for rows, columns in product((8, 128, 1024), (8, 128, 1024)):
        yield Spec("Transpose 2d", (rows, columns), "Transpose", [Operand((rows, columns))], {"perm": [1, 0]})
    for side, channels in product((14, 56), (8, 64)):
        scales = Operand((4,), constant=True, values=(1, 1, 2, 2))
        for mode in ("nearest", "linear"):
            kind, elements = f"Resize {mode}", 4 * side**2 * channels
            image = Operand((1, channels, side, side))
            yield Spec(kind, (elements,), "Resize", [image, None, scales], {"mode": mode})
    small = Operand((4, 4))
    yield Spec("Shape", (1,), "Shape", [small])
    yield Spec("Reshape", (1,), "Reshape", [small, whole(16)])
    number = Operand((1,), TensorProto.INT64)
    yield Spec("whole numbers", (1,), "Add", [number, number])


def transforming() -> Iterator[Spec]:
    """Fourier transforms by how many there are and their length: a power of two goes another way."""
    for kind, lengths in (("STFT", (60, 400)), ("STFT power of two", (64, 512))):
        for frames, length in product((2, 64), lengths):
            step = scalar(length // 2)
            signal = Operand((1, length // 2 * (frames - 1) + length))
            operands = [signal, step, Operand((length,), constant=True)]
            yield Spec(kind, (frames, length), "STFT", operands, work=frames * length * 100)
    for kind, lengths in (("DFT", (60, 400)), ("DFT power of two", (64, 512))):
        for many, length in product((1, 64), lengths):
            operands = [Operand((many, length, 1))]
            yield Spec(kind, (many, length), "DFT", operands, {"axis": 1}, work=many * length * 100)


def controlling() -> Iterator[Spec]:
    """Loops by their iterations, and one branch of two; bodies of next to nothing."""
    for trips in (1, 32):
        operands = [scalar(trips), Operand((), TensorProto.BOOL, constant=True, values=(1,)), Operand((1,))]
        yield Spec("Loop", (trips,), "Loop", operands, {"body": _body()})
    branches = {"then_branch": _branch("then"), "else_branch": _branch("else")}
    yield Spec("If", (1,), "If", [Operand((), TensorProto.BOOL)], branches)


def _body() -> GraphProto:
    inputs = [("i", TensorProto.INT64, ()), ("more", TensorProto.BOOL, ()), ("x", TensorProto.FLOAT, (1,))]
    outputs = [("goes_on", TensorProto.BOOL, ()), ("y", TensorProto.FLOAT, (1,))]
    nodes = [helper.make_node("Identity", ["more"], ["goes_on"]), helper.make_node("Neg", ["x"], ["y"])]
    values = [[helper.make_tensor_value_info(*each) for each in ends] for ends in (inputs, outputs)]
    return helper.make_graph(nodes, "body", *values)


def _branch(name: str) -> GraphProto:
    output = helper.make_tensor_value_info(name, TensorProto.FLOAT, (1,))
    return helper.make_graph([helper.make_node("Neg", ["d"], [name])], name, [], [output])


def pooling(block: int) -> Iterator[Spec]:
    """By outputs and the elements of a window."""
    layouts = [("", "")] + ([("packed ", NCHWC)] if block else [])
    for (prefix, domain), side, channels in product(layouts, (7, 28), (16, 128)):
        for op_type, taps in product(("MaxPool", "AveragePool"), (2, 3)):
            operands = [Operand((1, channels, 2 * side + taps - 2, 2 * side + taps - 2))]
            sizes, window = (side**2 * channels, taps**2), {"kernel_shape": [taps] * 2, "strides": [2, 2]}
            yield Spec(prefix + op_type, sizes, op_type, operands, window, domain)
        image = [Operand((1, channels, side, side))]
        yield Spec(f"{prefix}GlobalAveragePool", (channels, side**2), "GlobalAveragePool", image, domain=domain)
    if block:
        for side, channels in product((7, 28, 112), (16, 128)):
            image, sizes = [Operand((1, channels, side, side))], (channels, side**2)
            yield Spec("ReorderInput", sizes, "ReorderInput", image, domain=NCHWC)
            yield Spec("ReorderOutput", sizes, "ReorderOutput", image, {"channels": channels}, NCHWC)


def quantizing() -> Iterator[Spec]:
    """By elements."""
    scale, zero = Operand((), constant=True), Operand((), TensorProto.UINT8, constant=True, values=(0,))
    for count in ELEMENTS:
        yield Spec("DynamicQuantizeLinear", (count,), "DynamicQuantizeLinear", [Operand((count,))], outputs=3)
        yield Spec("QuantizeLinear", (count,), "QuantizeLinear", [Operand((count,)), scale, zero])
        bytes_ = Operand((count,), TensorProto.UINT8)
        yield Spec("DequantizeLinear", (count,), "DequantizeLinear", [bytes_, scale, zero])
