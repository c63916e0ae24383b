"""Transformers of any size, written node by node as exporters write them; their weights may be nowhere.

`Weights` says where the data of weights is: zeros in the file, zeros beside it in a sparse file, or not there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from math import prod
from pathlib import Path
from typing import Any


class Weights(Enum):
    """Where the data of the weights is."""

    INLINE = "inside the file"
    EXTERNAL = "in a sparse file beside it"
    MISSING = "in a file that is not there"


@dataclass(frozen=True)
class Llama:
    """A decoder with RMSNorm, SwiGLU, rotary embedding, and a head of its own; by default Llama-2-7B."""

    layers: int = 32
    hidden: int = 4096
    inner: int = 11008
    heads: int = 32
    vocabulary: int = 32000
    past: bool = True  # whether it takes the keys and values of what came before


@dataclass(frozen=True)
class Bert:
    """An encoder with LayerNorm and GELU; by default BERT-base up to its last hidden state, 109 M parameters."""

    layers: int = 12
    hidden: int = 768
    inner: int = 3072
    heads: int = 12
    vocabulary: int = 30522
    positions: int = 512


Sizes = Mapping[str, int]  # of the dimensions that are open otherwise
OPEN: Sizes = {}


class Writer:
    """Collects nodes and weights; a node is named after its output."""

    def __init__(self, data_type: int, weights: Weights, sizes: Sizes) -> None:
        self.data_type = data_type
        self.weights = weights
        self.sizes = sizes
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.size = 0  # bytes of the external data so far

    def node(self, op_type: str, *inputs: str, output: str = "", **attributes: object) -> str:
        from onnx import helper

        output = output or f"{op_type.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, inputs, [output], name=output, **attributes))
        return output

    def weight(self, name: str, *shape: int) -> str:
        from onnx import TensorProto, helper

        size = prod(shape) * helper.tensor_dtype_to_np_dtype(self.data_type).itemsize
        tensor = TensorProto(name=name, data_type=self.data_type, dims=shape)
        if self.weights is Weights.INLINE:
            tensor.raw_data = bytes(size)
        else:
            tensor.data_location = TensorProto.EXTERNAL
            for key, value in (("location", "weights.bin"), ("offset", self.size), ("length", size)):
                tensor.external_data.add(key=key, value=str(value))
            self.size += size
        self.initializers.append(tensor)
        return name

    def constant(self, name: str, values: list[Any], data_type: int = 0, shape: tuple[int, ...] | None = None) -> str:
        """A small constant that is always in the file."""
        from onnx import helper

        shape = (len(values),) if shape is None else shape
        self.initializers.append(helper.make_tensor(name, data_type or self.data_type, shape, values))
        return name

    def input(self, name: str, data_type: int, *shape: int | str) -> str:
        from onnx import helper

        self.inputs.append(helper.make_tensor_value_info(name, data_type, [self.dim(dim) for dim in shape]))
        return name

    def output(self, name: str, *shape: int | str) -> None:
        from onnx import helper

        self.outputs.append(helper.make_tensor_value_info(name, self.data_type, [self.dim(dim) for dim in shape]))

    def dim(self, dim: int | str) -> int | str:
        """The size of a dimension, or of a sum of dimensions, where sizes are given; else its name."""
        return sum(self.sizes[name] for name in dim.split(" + ")) if isinstance(dim, str) and self.sizes else dim

    def linear(self, x: str, name: str, rows: int, columns: int) -> str:
        return self.node("MatMul", x, self.weight(f"{name}.weight", rows, columns), output=name)

    def split(self, x: str) -> str:
        """(batch, sequence, hidden) to (batch, heads, sequence, size of a head)."""
        return self.node("Transpose", self.node("Reshape", x, "to_heads"), perm=[0, 2, 1, 3])

    def attend(self, query: str, key: str, value: str) -> str:
        """Full attention, and its heads joined again."""
        scores = self.node("Mul", self.node("MatMul", query, self.node("Transpose", key, perm=[0, 1, 3, 2])), "scale")
        mixed = self.node("MatMul", self.node("Softmax", scores, axis=-1), value)
        return self.node("Reshape", self.node("Transpose", mixed, perm=[0, 2, 1, 3]), "to_hidden")

    def save(self, path: Path) -> Path:
        from onnx import helper

        graph = helper.make_graph(self.nodes, path.stem, self.inputs, self.outputs, self.initializers)
        opset = helper.make_opsetid("", 20)
        path.write_bytes(helper.make_model(graph, opset_imports=[opset], ir_version=9).SerializeToString())
        if self.weights is Weights.EXTERNAL:
            with path.with_name("weights.bin").open("wb") as data:
                data.truncate(self.size)
        return path


def write_llama(path: Path, weights: Weights, model: Llama = Llama(), sizes: Sizes = OPEN) -> Path:
    """Write a decoder in float16 with `batch`, `sequence` and `past` open or of `sizes`, and return its path."""
    from onnx import TensorProto

    write = Writer(TensorProto.FLOAT16, weights, sizes)
    size = model.hidden // model.heads
    _constants(write, model.heads, size, model.hidden)
    write.constant("two", [2.0], shape=())
    write.constant("epsilon", [1e-5], shape=())
    write.constant("last_axis", [-1], TensorProto.INT64)
    write.constant("inverse_frequencies", [10000 ** (-2 * i / size) for i in range(size // 2)])
    for name, at in (("start", 0), ("middle", size // 2), ("end", size), ("last", 3), ("one", 1), ("two_", 2)):
        write.constant(name, [at], TensorProto.INT64)
    write.input("input_ids", TensorProto.INT64, "batch", "sequence")
    write.input("position_ids", TensorProto.INT64, "batch", "sequence")
    cos, sin = _angles(write)
    x = write.node("Gather", write.weight("embed_tokens.weight", model.vocabulary, model.hidden), "input_ids")
    for layer in range(model.layers):
        x = _decoder_layer(write, f"layers.{layer}", x, model, (cos, sin))
    x = _rms_norm(write, x, "norm", model.hidden)
    write.output(write.linear(x, "lm_head", model.hidden, model.vocabulary), "batch", "sequence", model.vocabulary)
    return write.save(path)


def _constants(write: Writer, heads: int, size: int, hidden: int) -> None:
    from onnx import TensorProto

    write.constant("to_heads", [0, 0, heads, size], TensorProto.INT64)
    write.constant("to_hidden", [0, 0, hidden], TensorProto.INT64)
    write.constant("scale", [size**-0.5], shape=())


def _angles(write: Writer) -> tuple[str, str]:
    """Cosine and sine of the angle of each position and pair: (batch, 1, sequence, size of a head)."""
    positions = write.node("Cast", write.node("Unsqueeze", "position_ids", "two_"), to=write.data_type)
    angles = write.node("Mul", positions, "inverse_frequencies")
    both = write.node("Concat", angles, angles, axis=-1)
    cos, sin = (write.node("Unsqueeze", write.node(op_type, both), "one") for op_type in ("Cos", "Sin"))
    return cos, sin


def _decoder_layer(write: Writer, name: str, x: str, model: Llama, angles: tuple[str, str]) -> str:
    hidden, size = model.hidden, model.hidden // model.heads
    normal = _rms_norm(write, x, f"{name}.input_layernorm", hidden)
    query, key, value = (
        write.split(write.linear(normal, f"{name}.{part}_proj", hidden, hidden)) for part in ("q", "k", "v")
    )
    query, key = _rotate(write, query, angles), _rotate(write, key, angles)
    if model.past:
        past = [
            write.input(f"{name}.past_{part}", write.data_type, "batch", model.heads, "past", size) for part in "kv"
        ]
        key = write.node("Concat", past[0], key, axis=2, output=f"{name}.present_k")
        value = write.node("Concat", past[1], value, axis=2, output=f"{name}.present_v")
        for part in (key, value):
            write.output(part, "batch", model.heads, "past + sequence", size)
    x = write.node("Add", x, write.linear(write.attend(query, key, value), f"{name}.o_proj", hidden, hidden))
    normal = _rms_norm(write, x, f"{name}.post_attention_layernorm", hidden)
    gate = write.linear(normal, f"{name}.gate_proj", hidden, model.inner)
    gate = write.node("Mul", gate, write.node("Sigmoid", gate))
    inner = write.node("Mul", gate, write.linear(normal, f"{name}.up_proj", hidden, model.inner))
    return write.node("Add", x, write.linear(inner, f"{name}.down_proj", model.inner, hidden))


def _rms_norm(write: Writer, x: str, name: str, hidden: int) -> str:
    square = write.node("ReduceMean", write.node("Pow", x, "two"), "last_axis", keepdims=1)
    root = write.node("Sqrt", write.node("Add", square, "epsilon"))
    return write.node("Mul", write.node("Div", x, root), write.weight(f"{name}.weight", hidden))


def _rotate(write: Writer, x: str, angles: tuple[str, str]) -> str:
    """Turn pairs of halves: x * cos + concat(-second half, first half) * sin."""
    first = write.node("Slice", x, "start", "middle", "last")
    second = write.node("Slice", x, "middle", "end", "last")
    turned = write.node("Concat", write.node("Neg", second), first, axis=-1)
    return write.node("Add", write.node("Mul", x, angles[0]), write.node("Mul", turned, angles[1]))


def write_bert(path: Path, weights: Weights, model: Bert = Bert(), sizes: Sizes = OPEN) -> Path:
    """Write an encoder in float32 with `batch` and `sequence` open or of `sizes`, and return its path."""
    from onnx import TensorProto

    write = Writer(TensorProto.FLOAT, weights, sizes)
    _constants(write, model.heads, model.hidden // model.heads, model.hidden)
    write.input("input_ids", TensorProto.INT64, "batch", "sequence")
    write.input("position_ids", TensorProto.INT64, "batch", "sequence")
    tokens = write.node("Gather", write.weight("words.weight", model.vocabulary, model.hidden), "input_ids")
    places = write.node("Gather", write.weight("positions.weight", model.positions, model.hidden), "position_ids")
    x = _layer_norm(write, write.node("Add", tokens, places), "embeddings", model.hidden)
    for layer in range(model.layers):
        x = _encoder_layer(write, f"layers.{layer}", x, model)
    write.output(write.node("Identity", x), "batch", "sequence", model.hidden)
    return write.save(path)


def _encoder_layer(write: Writer, name: str, x: str, model: Bert) -> str:
    hidden = model.hidden
    parts = [write.split(_biased(write, x, f"{name}.{part}", hidden, hidden)) for part in ("query", "key", "value")]
    x = write.node("Add", x, _biased(write, write.attend(*parts), f"{name}.output", hidden, hidden))
    x = _layer_norm(write, x, f"{name}.attention", hidden)
    inner = write.node("Gelu", _biased(write, x, f"{name}.up", hidden, model.inner))
    x = write.node("Add", x, _biased(write, inner, f"{name}.down", model.inner, hidden))
    return _layer_norm(write, x, name, hidden)


def _biased(write: Writer, x: str, name: str, rows: int, columns: int) -> str:
    return write.node("Add", write.linear(x, name, rows, columns), write.weight(f"{name}.bias", columns))


def _layer_norm(write: Writer, x: str, name: str, hidden: int) -> str:
    scale, bias = write.weight(f"{name}.norm.scale", hidden), write.weight(f"{name}.norm.bias", hidden)
    return write.node("LayerNormalization", x, scale, bias, axis=-1)
