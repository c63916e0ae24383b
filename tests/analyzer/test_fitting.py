"""Sizes that nobody gave, of graphs that fit few sizes or one: worked out by hand from what the graph wants."""

from math import prod

import onnx
import onnx.parser
import pytest

import neural_cost

HEADER = '<ir_version: 8, opset_import: ["": 17]>'


def weight(name, *shape):
    """A weight of ones in ONNX's text form."""
    return f"float[{', '.join(map(str, shape))}] {name} = {{{', '.join('1' * prod(shape))}}}"


CASES = {
    "an inner dimension": (
        f"g (float[batch, n] x) => (float[a, b] y) <{weight('w', 13, 4)}> {{ y = MatMul(x, w) }}",
        {"batch": 1, "n": 13},
        13 * 4,
    ),
    "two that meet": (
        f"g (float[n, m] x) => (float[a, b] y, float[c, d] z) <{weight('w', 13, 4)}, {weight('v', 2, 29)}> {{"
        " y = MatMul(x, w)  z = MatMul(v, x) }",
        {"n": 29, "m": 13},
        29 * 13 * 4 + 2 * 29 * 13,
    ),
    "a flattened image": (  # (h - 2) (w - 2) = 121, and an image is square
        f"g (float[batch, 1, h, w] x) => (float[a, b] y) <{weight('k', 1, 1, 3, 3)}, {weight('v', 121, 2)}> {{"
        " c = Conv(x, k)  f = Flatten(c)  y = MatMul(f, v) }",
        {"batch": 1, "h": 13, "w": 13},
        121 * 9 + 121 * 2,
    ),
    "halved twice": (  # floor(floor(h / 2) / 2) = 7 from 28 on
        f"g (float[batch, 1, h, w] x) => (float[a, b] y) <{weight('v', 49, 2)}> {{"
        " m = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)"
        " n = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (m)  f = Flatten(n)  y = MatMul(f, v) }",
        {"batch": 1, "h": 28, "w": 28},
        49 * 2,
    ),
    "steps of three": (  # (n - 4) // 3 + 1 = 13
        f"g (float[1, 1, n] x) => (float[a, b, c] y) <{weight('k', 1, 1, 4)}, {weight('w', 13, 4)}> {{"
        " c = Conv <strides = [3]> (x, k)  y = MatMul(c, w) }",
        {"n": 40},
        13 * 4 + 13 * 4,
    ),
    "parts": (
        "g (float[2, n] x) => (float[2, 5] y, float[2, 8] z) <int64[2] s = {5, 8}> { y, z = Split <axis = 1> (x, s) }",
        {"n": 13},
        0,
    ),
    "groups": (
        f"g (float[1, c, 8, 8] x) => (float[a, b, d, e] y) <{weight('w', 4, 3, 3, 3)}> {{"
        " y = Conv <group = 2> (x, w) }",
        {"c": 6},
        4 * 6 * 6 * 27,
    ),
    "elements": (
        "g (float[n, 6] x) => (float[a, b] y) <int64[2] s = {2, 39}> { y = Reshape(x, s) }",
        {"n": 13},
        0,
    ),
    "features": (
        f"g (float[t, b, n] x) => (float[c, d, e, f] y) <{weight('w', 1, 16, 13)}, {weight('r', 1, 16, 4)}> {{"
        " y = LSTM <hidden_size = 4> (x, w, r) }",
        {"t": 1, "b": 1, "n": 13},
        16 * (13 + 4),
    ),
}


@pytest.mark.parametrize(("text", "dims", "macs"), CASES.values(), ids=CASES)
def test_the_size_that_fits_is_found(text, dims, macs, tmp_path):
    onnx.save(onnx.parser.parse_model(f"{HEADER} {text}"), tmp_path / "model.onnx")
    report = neural_cost.analyze(tmp_path / "model.onnx")
    assert report.model.dims == dims
    assert report.model.assumed_dims == list(dims)
    assert (report.totals.macs, report.totals.complete) == (macs, True)


def test_a_graph_that_fits_no_size_stays_unknown(tmp_path):
    text = (
        f"g (float[1, n] x) => (float[a, b] y, float[c, d] z) <{weight('w', 13, 4)}, {weight('v', 14, 4)}> {{"
        " y = MatMul(x, w)  z = MatMul(x, v) }"
    )
    onnx.save(onnx.parser.parse_model(f"{HEADER} {text}"), tmp_path / "model.onnx")
    report = neural_cost.analyze(tmp_path / "model.onnx")
    assert report.model.dims == {"n": 1}
    assert not report.totals.complete


def test_one_size_that_is_given_tells_the_other(tmp_path):
    """A height of 4 that is given leaves 9 for the width."""
    text = f"g (float[b, h, w] x) => (float[a, c] y) <{weight('v', 36, 2)}> {{ f = Flatten(x)  y = MatMul(f, v) }}"
    onnx.save(onnx.parser.parse_model(f"{HEADER} {text}"), tmp_path / "model.onnx")
    assert neural_cost.analyze(tmp_path / "model.onnx", dims={"h": 4}).model.dims == {"b": 1, "h": 4, "w": 9}
