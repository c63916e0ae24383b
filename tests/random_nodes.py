"""Random nodes of the operators whose attributes decide the output's size, to compare with what ONNX Runtime makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import onnx
from onnx import helper

Array = np.ndarray[Any, Any]
OPSETS = (11, 13, 18, 21)


@dataclass(frozen=True, slots=True)
class RandomNode:
    """One node, its inputs (integers are made constants), and how many outputs are asked for."""

    op_type: str
    inputs: list[Array | None]
    attributes: dict[str, Any] = field(default_factory=dict)
    outputs: int = 1
    opset: int = 18

    def __str__(self) -> str:
        inputs = [x if x is None else x.tolist() if _is_constant(x) else x.shape for x in self.inputs]
        return f"{self.op_type}-{self.opset} {self.attributes} {inputs}"

    def model(self) -> onnx.ModelProto:
        names = ["" if x is None else f"in{i}" for i, x in enumerate(self.inputs)]
        outs = [f"out{i}" for i in range(self.outputs)]
        node = helper.make_node(self.op_type, names, outs, **self.attributes)
        given = [(name, x) for name, x in zip(names, self.inputs, strict=True) if x is not None]
        graph = helper.make_graph(
            [node],
            "g",
            [
                helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
                for name, x in given
                if not _is_constant(x)
            ],
            [onnx.ValueInfoProto(name=name) for name in outs],
            [onnx.numpy_helper.from_array(x, name) for name, x in given if _is_constant(x)],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=9)

    def feeds(self) -> dict[str, Array]:
        return {f"in{i}": x for i, x in enumerate(self.inputs) if x is not None and not _is_constant(x)}


def _is_constant(x: Array) -> bool:
    return x.dtype.kind in "iub" or x.ndim < 2


def floats(*dims: int) -> Array:
    return np.zeros(dims, np.float32)


def ints(*values: int) -> Array:
    return np.array(values, np.int64)


def some(rng: Random, low: int, high: int, count: int) -> list[int]:
    return [rng.randint(low, high) for _ in range(count)]


def _windows(rng: Random, rank: int) -> dict[str, Any]:
    """Strides, dilations and padding of a window."""
    attributes: dict[str, Any] = {}
    if rng.random() < 0.6:
        attributes["strides"] = some(rng, 1, 3, rank)
    if rng.random() < 0.4:
        attributes["dilations"] = some(rng, 1, 2, rank)
    match rng.choice(["pads", "SAME_UPPER", "SAME_LOWER", "VALID", ""]):
        case "pads":
            attributes["pads"] = some(rng, 0, 1, 2 * rank)
        case "":
            pass
        case auto_pad:
            attributes["auto_pad"] = auto_pad
    return attributes


def conv(rng: Random) -> RandomNode:
    rank, group = rng.randint(1, 3), rng.randint(1, 2)
    x = floats(rng.randint(1, 2), 2 * group, *some(rng, 6, 12, rank))
    weight = floats(3 * group, 2, *some(rng, 1, 3, rank))
    attributes = _windows(rng, rank) | {"group": group}
    if rng.random() < 0.5:
        attributes["kernel_shape"] = list(weight.shape[2:])
    return RandomNode("Conv", [x, weight], attributes)


def pool(rng: Random) -> RandomNode:
    rank, op_type, opset = rng.randint(1, 3), rng.choice(["MaxPool", "AveragePool", "LpPool"]), rng.choice((12, 19, 22))
    attributes = _windows(rng, rank) | {"kernel_shape": some(rng, 2, 3, rank)}
    if (op_type != "MaxPool" and opset == 12) or attributes.get("auto_pad", "").startswith("SAME"):
        attributes.pop("dilations", None)  # ONNX Runtime leaves them out of the padding that ONNX defines for SAME
    if op_type != "LpPool" or opset > 12:
        attributes["ceil_mode"] = rng.randint(0, 1)
    return RandomNode(op_type, [floats(1, 2, *some(rng, 5, 11, rank))], attributes, opset=opset)


def conv_transpose(rng: Random) -> RandomNode:
    rank, group = rng.randint(1, 2), rng.randint(1, 2)
    x = floats(1, 2 * group, *some(rng, 3, 6, rank))
    weight = floats(2 * group, 3, *some(rng, 1, 3, rank))
    attributes = _windows(rng, rank) | {"group": group}
    strides = attributes.get("strides", [1] * rank)
    if rng.random() < 0.4:
        attributes["output_padding"] = [rng.randint(0, stride - 1) for stride in strides]
    if rng.random() < 0.2 and "pads" not in attributes:
        attributes["output_shape"] = [n * s + 1 for n, s in zip(x.shape[2:], strides, strict=True)]
    return RandomNode("ConvTranspose", [x, weight], attributes)


def pad(rng: Random) -> RandomNode:
    x = floats(*some(rng, 4, 6, 3))
    if rng.random() < 0.5:
        axes = rng.sample([-3, 1, 2], 2)
        return RandomNode("Pad", [x, ints(*some(rng, -1, 3, 4)), None, ints(*axes)])
    return RandomNode("Pad", [x, ints(*some(rng, -1, 3, 6))], opset=13)


def slice_(rng: Random) -> RandomNode:
    x = floats(*some(rng, 1, 8, 3))
    axes = rng.sample([0, 1, -1], rng.randint(1, 3))
    far = [2**63 - 1, -(2**63), 2**31 - 1, *range(-10, 11)]
    starts, ends = ([rng.choice(far) for _ in axes] for _ in range(2))
    steps = [rng.choice([-3, -2, -1, 1, 2, 3]) for _ in axes]
    return RandomNode("Slice", [x, ints(*starts), ints(*ends), ints(*axes), ints(*steps)], opset=rng.choice(OPSETS))


def resize(rng: Random) -> RandomNode:
    x = floats(*some(rng, 3, 10, 2))
    attributes: dict[str, Any] = {"mode": "nearest"}
    if rng.random() < 0.5:
        scales = np.array([rng.choice([0.3, 0.5, 0.6, 0.7, 1.0, 1.1, 1.3, 2.0, 1 / 3]) for _ in range(2)], np.float32)
        return RandomNode("Resize", [x, None, scales], attributes, opset=rng.choice(OPSETS))
    attributes["keep_aspect_ratio_policy"] = rng.choice(["stretch", "not_larger", "not_smaller"])
    if rng.random() < 0.5:
        attributes["axes"] = rng.choice([[0, 1], [1, 0]])  # ONNX Runtime resizes the wrong ones of negative axes
    return RandomNode("Resize", [x, None, None, ints(*some(rng, 1, 12, 2))], attributes)


def reshape(rng: Random) -> RandomNode:
    x = floats(2, 3, 4)
    targets = [(0, -1), (-1,), (4, -1, 3), (0, 0, 2, 2), (2, 12), (1, 0, 8), (0, 0, 0), (24, 1, -1), (6, 4, 1)]
    attributes = {}
    if rng.random() < 0.3:
        x, attributes, targets = floats(0, 3), {"allowzero": 1}, [(0, 5), (3, 0), (0,), (0, 0)]
    return RandomNode("Reshape", [x, ints(*rng.choice(targets))], attributes)


def split(rng: Random) -> RandomNode:
    axis, count = rng.choice([0, 1, -1]), rng.randint(1, 4)
    x = floats(*some(rng, count, 9, 3))
    if rng.random() < 0.5:
        return RandomNode("Split", [x], {"axis": axis, "num_outputs": count}, count)
    first = rng.randint(0, x.shape[axis])
    return RandomNode("Split", [x, ints(first, x.shape[axis] - first)], {"axis": axis}, 2, opset=13)


def gather(rng: Random) -> RandomNode:
    x, axis = floats(3, 4, 5), rng.choice([0, 1, 2, -1])
    match rng.choice(["Gather", "GatherElements", "GatherND", "ScatterND"]):
        case "Gather":
            return RandomNode("Gather", [x, np.zeros(some(rng, 1, 3, rng.randint(0, 2)), np.int64)], {"axis": axis})
        case "GatherElements":
            return RandomNode("GatherElements", [x, np.zeros(some(rng, 1, 3, 3), np.int64)], {"axis": axis})
        case "GatherND":
            batch = rng.randint(0, 1)
            indices = np.zeros((3, 2, rng.randint(1, 3 - batch)), np.int64)
            return RandomNode("GatherND", [x, indices], {"batch_dims": batch})
        case _:
            return RandomNode("ScatterND", [x, np.zeros((2, 1), np.int64), floats(2, 4, 5)])


def small(rng: Random) -> RandomNode:
    x = floats(3, 1, 4)
    axes = rng.choice([(1,), (-2,)])
    return rng.choice(
        [
            RandomNode("TopK", [x, ints(rng.randint(0, 3))], {"axis": rng.choice([0, 2, -1])}, 2),
            RandomNode("Squeeze", [x, ints(*axes)]),
            RandomNode("Squeeze", [x]),
            RandomNode("Unsqueeze", [x, ints(*rng.choice([(0,), (-1, 0), (1, 3), (4, 0)]))]),
            RandomNode("Tile", [x, ints(*some(rng, 0, 3, 3))]),
            RandomNode("Expand", [x, ints(*rng.choice([(3, 5, 4), (5, 1), (2, 3, 1, 4), (1,)]))]),
            RandomNode("Flatten", [x], {"axis": rng.randint(-3, 3)}),
            RandomNode("Transpose", [x], {"perm": rng.sample(range(3), 3)}),
            RandomNode("Concat", [x, floats(3, 2, 4)], {"axis": rng.choice([1, -2])}),
            RandomNode("ReduceSum", [x, ints(*axes)], {"keepdims": rng.randint(0, 1)}),
            RandomNode("ReduceMax", [x], {"keepdims": rng.randint(0, 1), "axes": list(axes)}, opset=13),
            RandomNode("ReduceSum", [x, ints()], {"noop_with_empty_axes": rng.randint(0, 1)}),
            RandomNode("ArgMax", [x], {"axis": rng.choice([0, -1]), "keepdims": rng.randint(0, 1)}),
            RandomNode("DepthToSpace", [floats(1, 8, 2, 3)], {"blocksize": 2}),
            RandomNode("SpaceToDepth", [floats(1, 2, 4, 6)], {"blocksize": 2}),
            RandomNode("CenterCropPad", [x, ints(5, 2)], {"axes": rng.choice([[0, 2], [-1, 0]])}),
            RandomNode("OneHot", [np.zeros((2, 3), np.int64), ints(5), ints(0, 1)], {"axis": rng.choice([-1, 0, 1])}),
            RandomNode("Range", [ints(rng.randint(-5, 5)).reshape(()), ints(7).reshape(()), ints(3).reshape(())]),
            RandomNode("EyeLike", [floats(3, 4)], {"dtype": 7}),
            RandomNode("NonZero", [np.array([[1, 0, 1]], np.int64)]),
            RandomNode("Unique", [np.array([[1, 1], [1, 1], [2, 2]], np.int64)], {"axis": rng.choice([0, 1])}, 4),
            RandomNode("Compress", [x, np.array([True, False, True])], {"axis": 0}),
            RandomNode("Col2Im", [floats(1, 5, 5), ints(5, 5), ints(1, 5)]),
            RandomNode("HannWindow", [np.array(10, np.int64)], opset=17),
            RandomNode("ConstantOfShape", [ints(2, 0, 3)]),
            RandomNode("Shape", [x], {"start": rng.randint(-3, 2)}),
            RandomNode("GlobalAveragePool", [floats(1, 2, 3, 4)]),
        ]
    )


def einsum(rng: Random) -> RandomNode:
    equation, shapes = rng.choice(
        [
            ("ij,jk->ik", [(2, 3), (3, 4)]),
            ("bij,bjk", [(5, 2, 3), (5, 3, 4)]),
            ("...ij,...jk->...ik", [(6, 5, 2, 3), (5, 3, 4)]),
            ("ii->i", [(3, 3)]),
            ("ij->", [(2, 3)]),
            ("b a, a c -> c b", [(2, 3), (3, 4)]),
            ("i,j->ij", [(2,), (3,)]),
            ("...i->...", [(4, 2, 3)]),
            ("bhid,bhjd->bhij", [(2, 3, 4, 5), (2, 3, 6, 5)]),
        ]
    )
    return RandomNode("Einsum", [np.zeros(shape, np.float64) for shape in shapes], {"equation": equation})


def signal(rng: Random) -> RandomNode:
    if rng.random() < 0.5:
        length = rng.choice([None, np.array(rng.randint(4, 12), np.int64)])
        onesided, inverse = rng.choice([(0, 0), (1, 0), (0, 1)])
        x = floats(2, 10, 7, 1 if onesided else rng.randint(1, 2))
        if rng.random() < 0.5:
            attributes = {"axis": rng.choice([1, 2]), "onesided": onesided, "inverse": inverse}
            return RandomNode("DFT", [x, length], attributes, opset=17)
        axis = np.array(rng.choice([1, 2, -2]), np.int64)
        return RandomNode("DFT", [x, length, axis], {"onesided": onesided, "inverse": inverse}, opset=20)
    step = np.array(rng.randint(1, 4), np.int64)
    frame = rng.randint(4, 9)
    window = np.ones(frame, np.float32) if rng.random() < 0.5 else None
    length = np.array(frame, np.int64) if window is None or rng.random() < 0.5 else None
    return RandomNode("STFT", [floats(1, 32, 1), step, window, length], {"onesided": rng.randint(0, 1)}, opset=17)


def recurrent(rng: Random) -> RandomNode:
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}
    op_type = rng.choice(list(gates))
    direction = rng.choice(["forward", "reverse", "bidirectional"])
    ways, hidden, layout = 2 if direction == "bidirectional" else 1, 4, rng.choice([0, 0, 1])
    attributes = {"hidden_size": hidden, "direction": direction, "layout": layout}
    inputs: list[Array | None] = [floats(5, 2, 3), floats(ways, gates[op_type] * hidden, 3)]
    inputs.append(floats(ways, gates[op_type] * hidden, hidden))
    return RandomNode(op_type, inputs, attributes, 3 if op_type == "LSTM" else 2, opset=14)


FAMILIES: Mapping[str, Callable[[Random], RandomNode]] = {
    function.__name__: function
    for function in (
        conv, pool, conv_transpose, pad, slice_, resize, reshape, split, gather, small, einsum, signal, recurrent,
    )
}  # fmt: skip
