"""Products with zero padding: in MACs, and in no bound. Each case is counted by going through all pairs."""

from itertools import product

import onnx.parser
import pytest

from neural_cost.analyzer.analyze import analyze
from neural_cost.analyzer.device import Device
from neural_cost.analyzer.kernel_work import kernel_work
from neural_cost.analyzer.padding import CHANNELS_FIRST, MANY, Axis, needed_macs
from neural_cost.analyzer.roofline import kernel_bound
from tests.analyzer.gap.made import NS, ROUND, analyzed
from tests.analyzer.rules.make import node

SLOW = Device(**ROUND, peaks={"float32": 1e9}, bandwidth_curve=((0, 1e15),))
HEAD = "g (float[{x}] x, float[{w}] w) => (float[{y}] y)"


def bound_macs(tmp_path, x, w, y, text):
    """MACs that the floor is made of, at 2 FLOPs a MAC and 1 FLOP a ns; and those that are counted."""
    report = analyzed(HEAD.format(x=x, w=w, y=y) + "{ y = " + text + "}", tmp_path, SLOW)
    work = kernel_work(report.nodes, {"y"})
    assert work.flops == report.totals.flops
    assert kernel_bound(work, SLOW).compute_s == report.bounds[0].compute_s
    return round(report.bounds[0].compute_s / NS / 2), report.totals.macs


def test_a_3x3_over_14x14(tmp_path):
    """Along an axis 14 windows of 3 taps: the first and the last have one outside. So 40 of 42, for 2 x 5 channels."""
    found = bound_macs(tmp_path, "1,2,14,14", "5,2,3,3", "1,5,14,14", "Conv<pads=[1,1,1,1]>(x, w)")
    assert found == (10 * 40 * 40, 10 * 42 * 42)


@pytest.mark.parametrize(
    ("x", "w", "y", "node", "needed"),
    [
        ("1,1,5", "1,1,3", "1,1,3", "Conv(x, w)", 9),
        # strides: windows at -1, 1, 3, each 3 long over 0..4: 2 + 3 + 2
        ("1,1,5", "1,1,3", "1,1,3", "Conv<pads=[1,1], strides=[2]>(x, w)", 7),
        # dilated: taps at -2, 0, 2 from each of 0..4: 2, 2, 3, 2, 2
        ("1,1,5", "1,1,3", "1,1,5", "Conv<pads=[2,2], dilations=[2]>(x, w)", 11),
        # 2 taps, one padded element: at the end for UPPER, 4 x 2 and 1; before for LOWER, the same number
        ("1,1,5", "1,1,2", "1,1,5", 'Conv<auto_pad="SAME_UPPER">(x, w)', 9),
        ("1,1,5", "1,1,2", "1,1,5", 'Conv<auto_pad="SAME_LOWER">(x, w)', 9),
        ("1,1,5", "1,1,3", "1,1,3", 'Conv<auto_pad="VALID">(x, w)', 9),
        # groups: 2 filters of one channel each, 2 windows of 2 taps with a zero before: (1 + 2) each
        ("1,2,2", "2,1,2", "1,2,2", "Conv<pads=[1,0], group=2>(x, w)", 6),
        # transposed: 3 elements spread 3 taps at 0, 2, 4; the output begins at 1 and ends at 5: 2, 3, 2
        ("1,1,3", "1,1,3", "1,1,5", "ConvTranspose<pads=[1,1], strides=[2]>(x, w)", 7),
        ("1,1,3", "1,1,3", "1,1,7", "ConvTranspose<strides=[2]>(x, w)", 9),
        # 6 wanted of 7: one is cropped, before the first with NOTSET: 2, 3, 3
        ("1,1,3", "1,1,3", "1,1,6", "ConvTranspose<strides=[2], output_shape=[6]>(x, w)", 8),
        # 2 elements spread 2 taps over 5 places with the added one, and 4 are wanted: UPPER crops behind, where nothing
        # is, LOWER before
        ("1,1,2", "1,1,2", "1,1,4", 'ConvTranspose<auto_pad="SAME_UPPER", strides=[2], output_padding=[1]>(x, w)', 4),
        ("1,1,2", "1,1,2", "1,1,4", 'ConvTranspose<auto_pad="SAME_LOWER", strides=[2], output_padding=[1]>(x, w)', 3),
    ],
)  # fmt: skip
def test_by_hand(x, w, y, node, needed, tmp_path):
    assert bound_macs(tmp_path, x, w, y, node)[0] == needed


def test_every_axis_by_going_through_it():
    for windows, taps, length, stride, dilation, start in product(
        (1, 2, 5), (1, 3, 6), (1, 4, 9), (1, 2), (1, 3), (0, 1, 7)
    ):
        pairs = product(range(windows), range(taps))
        by_hand = sum(0 <= window * stride + tap * dilation - start < length for window, tap in pairs)
        assert Axis(windows, taps, length, stride, dilation, start).products == by_hand


def test_a_huge_axis_takes_no_time():
    many = 10**9
    assert Axis(many, 3, many, 1, 1, 1).products == 3 * many - 2
    assert Axis(many, MANY + 1, many, 1, 1, 1).products == many * (MANY + 1)  # nothing is taken off


def test_quantized_convolutions(tmp_path):
    """3 windows of 3 taps, one outside at each end: 7 of 9 MACs, in int8."""
    text = """<ir_version: 8, opset_import: ["": 13]> g (uint8[1,1,3] x, uint8[1,1,3] w) => (int32[1,1,3] y) {
        y = ConvInteger<pads=[1,1]>(x, w) }"""
    file = tmp_path / "q.onnx"
    onnx.save(onnx.parser.parse_model(text), file)
    (node,) = analyze(file).nodes
    assert (node.macs, node.source.padding_flops(integers=False)) == (9, {"int8": 4})


FILTERS_ONE, FILTERS_THREE = ((1, 1, 5), (1, 1, 3), (1,)), ((1, 1, 5), (), (), (1, 1, 3), (), (), (), (), (1,))


@pytest.mark.parametrize(
    ("domain", "op_type", "inputs"),
    [
        ("", "Conv", FILTERS_ONE),
        ("", "ConvInteger", FILTERS_ONE[:2]),
        ("", "QLinearConv", FILTERS_THREE),
        ("", "ConvTranspose", FILTERS_ONE),
        ("com.microsoft", "FusedConv", FILTERS_ONE),
        ("com.microsoft", "QLinearConv", FILTERS_THREE),
        ("com.microsoft.nchwc", "Conv", FILTERS_ONE),
    ],
)
def test_every_convolution_has_its_filters_where_they_are(domain, op_type, inputs):
    """Three taps on five elements, with a zero at each end: 2 + 3 + 3 + 3 + 2 of 15; transposed, the same pairs."""
    made = node(op_type, inputs, [(1, 1, 5)], domain, pads=[1, 1])
    assert needed_macs(made, 15) == 13


def test_no_convolution_is_left_out():
    marks = test_every_convolution_has_its_filters_where_they_are.pytestmark
    assert {(domain, op_type) for domain, op_type, _ in marks[0].args[1]} == set(CHANNELS_FIRST)
