"""JAX below 0.7: to TensorFlow by jax2tf, and from there to ONNX by tf2onnx.

Later versions of JAX put their whole function into one operator, which tf2onnx cannot translate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from neural_cost.analyzer.errors import ExportError
from neural_cost.exporters.dim_names import SYMBOL
from neural_cost.exporters.keras_file import write as write_tensorflow
from neural_cost.exporters.protocol import Array, Call, Dims
from neural_cost.exporters.tensorflow_import import OPSET, check_opset, imported_tensorflow

EXTRA = "jax2tf"


def write(call: Call, dims: Dims, outputs: Sequence[str], opset: int | None, file: Path) -> None:
    """Write a function of arrays.

    Raises:
        ExportError: a dimension has a name that JAX does not read, the opset is too new, or a converter fails.
    """
    check_opset(opset)
    with imported_tensorflow(EXTRA):
        function = _in_tensorflow(call.function, _shapes(call.example, dims))
        write_tensorflow(function, call.example, dims, outputs, file, opset=opset or OPSET)


def require() -> None:
    """Raise BackendError where TensorFlow or tf2onnx is missing."""
    with imported_tensorflow(EXTRA):
        return


def versions() -> dict[str, str]:
    """Versions of what decides the file."""
    import jax
    import tensorflow as tf
    import tf2onnx

    return {"jax": jax.__version__, "tensorflow": tf.__version__, "tf2onnx": tf2onnx.__version__}


def _in_tensorflow(function: Callable[..., Any], shapes: Sequence[str]) -> Callable[..., Any]:
    """A function of TensorFlow made of its own operators, which is what these options are for."""
    import tensorflow as tf
    from jax.experimental import jax2tf

    converted = jax2tf.convert(
        function, polymorphic_shapes=shapes, native_serialization=False, enable_xla=False, with_gradient=True
    )
    traced: Callable[..., Any] = tf.autograph.experimental.do_not_convert(converted)  # it is JAX's own code
    return traced


def _shapes(example: Mapping[str, Array], dims: Dims) -> list[str]:
    """Shapes as JAX reads them: `(batch, 784)`."""
    for name in {name for axes in dims.values() for name in axes.values()}:
        if not SYMBOL.fullmatch(name):
            raise ExportError(
                f'"{name}" cannot be the name of an open axis here: take letters, digits and underscores.'
            )
    return [
        f"({', '.join(dims.get(name, {}).get(axis, str(size)) for axis, size in enumerate(array.shape))})"
        for name, array in example.items()
    ]
