"""Channels that are filled up to whole blocks: by hand, and against a run in ONNX Runtime, which does so by default."""

import pytest

from benchmarks.memory import LEVELS, Subject, row
from neural_cost.analyzer.memory.record import measure
from tests.memory_models import activations_of, written

PIXELS = 6 * 6
FEW = """g (float[1, 4, 6, 6] x) => (float[1, 16, 6, 6] y)
    <int64[4] first = {20, 4, 1, 1}, int64[4] second = {16, 20, 1, 1}> {
    w = ConstantOfShape(first)  v = ConstantOfShape(second)  a = Conv(x, w)  b = Relu(a)  y = Conv(b, v) }"""


def in_units(size):
    return -(-size // 256) * 256


def test_channels_are_filled_up_to_whole_blocks(tmp_path):
    """Of 20 channels 32 are there, for the second convolution 20 as well; 16 are a block, and the input has none."""
    found = measure(activations_of(written(FEW, tmp_path)), 0)
    of_channel = 4 * PIXELS
    assert found.peak_bytes == (4 + 20 + 20) * of_channel
    assert found.peak_upper_bytes == sum(map(in_units, (4 * of_channel, 32 * of_channel, (32 + 20) * of_channel)))
    assert found.peak_lower_bytes == (4 + 20 + 16) * of_channel


def test_what_others_read_is_there_in_both_layouts(tmp_path):
    text = """g (float[1, 4, 6, 6] x) => (float[1, 2, 6, 6] y) <int64[4] one = {2, 4, 1, 1}> {
        w = ConstantOfShape(one)  a = Conv(x, w)  y = Exp(a) }"""
    found = measure(activations_of(written(text, tmp_path)), 0)
    assert found.peak_bytes == 4 * PIXELS * (4 + 2 + 2)
    assert found.peak_upper_bytes == sum(in_units(4 * PIXELS * channels) for channels in (4, 16 + 2, 2))


def test_a_residual_block_of_few_channels_lies_between(tmp_path):
    text = """g (float[1, 1, 40, 40] x) => (float[1, 14, 10, 10] y)
        <int64[4] first = {14, 1, 3, 3}, int64[4] more = {14, 14, 3, 3}> {
        w = ConstantOfShape(first)  v = ConstantOfShape(more)
        a = Conv <pads = [1, 1, 1, 1]> (x, w)  b = Conv <pads = [1, 1, 1, 1]> (a, v)  c = Relu(b)
        d = Conv <pads = [1, 1, 1, 1]> (c, v)  e = Relu(d)  f = Add(a, e)
        y = MaxPool <kernel_shape = [4, 4], strides = [4, 4]> (f) }"""
    found = row(Subject("residual", written(text, tmp_path), {}))
    assert all(found.within(level) for level in LEVELS)


@pytest.mark.parametrize("middle", ["Relu(a)", "Exp(a)", "Sigmoid(a)", "MaxPool <kernel_shape = [2, 2]> (a)"])
def test_a_run_of_a_net_of_few_channels_lies_between(middle, tmp_path):
    text = f"""g (float[2, 3, 12, 12] x) => (float[2, 4, p, q] y)
        <int64[4] first = {{8, 3, 3, 3}}, int64[4] second = {{4, 8, 1, 1}}> {{
        w = ConstantOfShape(first)  v = ConstantOfShape(second)  a = Conv(x, w)  b = {middle}  y = Conv(b, v) }}"""
    found = row(Subject("few", written(text, tmp_path), {}))
    assert all(found.within(level) for level in LEVELS)
