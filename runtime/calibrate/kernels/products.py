"""Products of matrices, convolutions and recurrent cells to be timed, over their sizes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from onnx import TensorProto

from neural_cost.runtime.calibrate.kernels.spec import MICROSOFT, NCHWC, Operand, Spec

ROWS, SIDES = (1, 4, 16, 64, 256), (16, 128, 512, 2048)
INT8_ROWS, INT8_SIDES = (1, 16, 128), (32, 256, 1024)
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def products() -> Iterator[Spec]:
    """Of activations with weights; of activations with each other, as attention has them; of integers."""
    for m, k, n in product(ROWS, SIDES, SIDES):
        yield Spec("MatMul weight", (m, k, n), "MatMul", [Operand((m, k)), _weight(k, n)])
    for count, m, k, n in product((1, 16), (1, 32, 256), (16, 64, 256), (16, 64, 256)):
        operands = [Operand((count, m, k)), Operand((count, k, n))]
        yield Spec("MatMul", (count, m, k, n), "MatMul", operands)
    for m, k, n in product(INT8_ROWS, INT8_SIDES, INT8_SIDES):
        operands = [Operand((m, k), TensorProto.UINT8), Operand((k, n), TensorProto.INT8, constant=True)]
        yield Spec("MatMulInteger", (m, k, n), "MatMulInteger", operands)
        scale, zero = Operand((), constant=True), Operand((), TensorProto.INT8, constant=True, values=(0,))
        dynamic = [Operand((m, k)), operands[1], scale, zero]
        yield Spec("DynamicQuantizeMatMul", (m, k, n), "DynamicQuantizeMatMul", dynamic, domain=MICROSOFT)


def packed_convolutions(block: int) -> Iterator[Spec]:
    """Convolutions in ONNX Runtime's layout of packed channels, which it takes where channels allow."""
    if not block:
        return
    for side, cin, cout in product((4, 14, 40), (16, 96, 512), (16, 96, 512)):
        yield _packed("conv 1x1", side, 1, cin, cout)
    for side, cin, cout in product((4, 14, 40), (16, 64, 256), (16, 64, 256)):
        yield _packed("conv 3x3", side, 3, cin, cout)
    for side, cin, cout in product((7, 28), (16, 64), (16, 96)):
        yield _packed("conv 5x5", side, 5, cin, cout)
    for side, cin, cout in product((28, 112), (1, 3), (16, 64)):
        yield _packed("first conv 3x3", side, 3, cin, cout)
        yield _packed("first conv 7x7", side, 7, cin, cout, stride=2)
    for side, channels in product((7, 28, 112), (16, 128, 512)):
        yield _depthwise("depthwise 3x3", side, 3, channels)
        yield _depthwise("depthwise 3x3 strided", side, 3, channels, stride=2)
        yield _depthwise("depthwise 5x5", side, 5, channels)


def _packed(kind: str, side: int, taps: int, cin: int, cout: int, *, stride: int = 1) -> Spec:
    operands = [_image(cin, side * stride, taps, stride), _filter(cout, cin, taps), Operand((cout,), constant=True)]
    work = side**2 * taps**2 * cin * cout
    return Spec(kind, (side**2, cin, cout), "Conv", operands, _window(taps, stride), NCHWC, work=work)


def _depthwise(kind: str, side: int, taps: int, channels: int, *, stride: int = 1) -> Spec:
    operands = [_image(channels, side * stride, taps, stride), _filter(channels, 1, taps)]
    attributes = _window(taps, stride) | {"group": channels}
    operands.append(Operand((channels,), constant=True))
    return Spec(kind, (side**2, channels), "Conv", operands, attributes, NCHWC, work=side**2 * taps**2 * channels)


def plain_convolutions() -> Iterator[Spec]:
    """Convolutions in the file's own layout: one-dimensional ones, and those whose channels cannot be packed."""
    for groups, side, cin, cout in product((1, 8), (2, 6, 24), (4, 24, 120), (4, 24, 120)):
        for kind, taps in (("plain conv 1x1", 1), ("plain conv 3x3", 3)):
            yield _plain(kind, groups, side, taps, (cin, cout))
    for side, channels in product((7, 28), (10, 110)):
        spec = _plain("plain depthwise", channels, side, 3, (1, 1))
        yield Spec(spec.kind, (side**2, channels), "Conv", spec.operands, spec.attributes, work=spec.work)
    for side, cin, cout in product((14, 56), (8, 64), (8, 64)):
        operands = [Operand((1, cin, side, side)), Operand((cin, cout, 2, 2), constant=True)]
        attributes = {"kernel_shape": [2, 2], "strides": [2, 2]}
        work = side**2 * cin * cout * 4
        yield Spec("ConvTranspose", (side**2, cin, cout), "ConvTranspose", operands, attributes, work=work)


def _plain(kind: str, groups: int, side: int, taps: int, channels: tuple[int, int]) -> Spec:
    cin, cout = channels
    operands = [Operand((1, groups * cin, side, side)), _filter(groups * cout, cin, taps)]
    attributes = _window(taps, 1) | {"pads": [taps // 2] * 4, "group": groups}
    work = groups * side**2 * taps**2 * cin * cout
    return Spec(kind, (groups, side**2, cin, cout), "Conv", operands, attributes, work=work)


def cells() -> Iterator[Spec]:
    """Recurrent operators on one feature, so that the product with the input is next to nothing."""
    for op_type, gates in GATES.items():
        for steps, batch, hidden in product((1, 16), (1, 16), (32, 128, 384)):
            operands = [
                Operand((steps, batch, 1)),
                Operand((1, gates * hidden, 1), constant=True),
                Operand((1, gates * hidden, hidden), constant=True),
                Operand((1, 2 * gates * hidden), constant=True),
            ]
            attributes = {"hidden_size": hidden} | ({"linear_before_reset": 1} if op_type == "GRU" else {})
            work = steps * batch * gates * hidden**2
            yield Spec(op_type, (steps, batch, hidden), op_type, operands, attributes, outputs=2, work=work)


def _image(channels: int, side: int, taps: int, stride: int) -> Operand:
    """So large that no padding is needed."""
    grown = side + taps - stride
    return Operand((1, channels, grown, grown))


def _filter(cout: int, cin: int, taps: int) -> Operand:
    return Operand((cout, cin, taps, taps), constant=True)


def _window(taps: int, stride: int) -> dict[str, list[int]]:
    return {"kernel_shape": [taps, taps], "strides": [stride, stride]}


def _weight(k: int, n: int) -> Operand:
    return Operand((k, n), constant=True)
