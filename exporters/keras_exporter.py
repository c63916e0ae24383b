"""Keras 3 models, `tf.function`s and SavedModels, through tf2onnx."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np

from neural_cost.analyzer.errors import BackendError, ExportError, ModelError
from neural_cost.exporters.dims import chosen_dims
from neural_cost.exporters.held import dropped_note
from neural_cost.exporters.keras_file import refuse_branch, write
from neural_cost.exporters.messages import first_line
from neural_cost.exporters.nested import names_of
from neural_cost.exporters.protocol import Array, Call, Draft, Native, Request
from neural_cost.exporters.tensorflow_import import OPSET, check_opset, imported_tensorflow

EXTRA = "keras"
WHY_FEWER = "tf2onnx folds BatchNormalization into convolutions, and drops what nothing reads"
OPEN_SIZE = 8  # of an open axis in an example that is made up


class KerasExporter:
    """Exports models of Keras 3 with the TensorFlow backend, and what TensorFlow itself calls a function."""

    name = "keras"

    def recognises(self, model: object, example_inputs: object) -> bool:
        """Say whether a model is of Keras or TensorFlow, without importing either."""
        del example_inputs
        return any(kind.__module__.partition(".")[0] in {"keras", "tensorflow"} for kind in type(model).__mro__)

    def reads(self, file: Path) -> bool:
        """Say whether a file is a `.keras` archive, or a folder a SavedModel."""
        return file.suffix == ".keras" or (file / "saved_model.pb").is_file()

    def load(self, file: Path) -> tuple[object, object]:
        """Read a model; layers that hold Python code are refused. Example inputs are made up from its inputs."""
        with imported_tensorflow(EXTRA) as tf:
            if not file.is_dir() and not is_zipfile(file):
                raise ModelError(f"{file} is no .keras archive, or a part of one: save the model again.")
            try:
                if file.is_dir():
                    return tf.saved_model.load(file), None
                import keras

                return keras.saving.load_model(file, compile=False, safe_mode=True), None
            except ModuleNotFoundError as error:
                raise BackendError(f"{file} needs {error.name}: pip install 'neural-cost[{EXTRA}]'.") from error
            except Exception as error:
                raise ModelError(f"{file} cannot be read as a saved model: {first_line(error)}") from error

    def content(self, model: Any, example_inputs: Any) -> bytes | None:
        """Digest configuration, weights and sources of a Keras model; a function's variables are out of sight."""
        from neural_cost.exporters.cache import digest_of, user_sources

        with imported_tensorflow(EXTRA):
            if not _is_keras(model):
                return None
            call = _call(model, example_inputs)
            inputs = [(name, array.dtype.str, array.shape) for name, array in call.example.items()]
            weights = (np.ascontiguousarray(weight).tobytes() for weight in model.get_weights())
            return digest_of(iter([_configuration(model), inputs, *weights, *user_sources()]))

    def call(self, model: Any, example_inputs: Any) -> Call:
        """How a model is called on tensors."""
        with imported_tensorflow(EXTRA):
            return _call(model, example_inputs)

    def export(self, model: Any, example_inputs: Any, file: Path, request: Request) -> Draft:
        """Write a model."""
        check_opset(request.opset)
        with imported_tensorflow(EXTRA) as tf:
            call = _call(model, example_inputs)
            outputs = _run_example(tf, call)
            dims, notes = chosen_dims(request.dynamic_dims, {name: a.shape for name, a in call.example.items()})
            write(call.function, call.example, dims, outputs, file, opset=request.opset or OPSET)
            notes = (*notes, *_dropped(model, file))
            return Draft("tf2onnx", _versions(), call.example, dims, _native(tf, call), notes)


def _call(model: Any, example_inputs: Any) -> Call:
    import tensorflow as tf

    if _is_keras(model):
        _require_tensorflow_backend()
        structure = _made_up(model) if example_inputs is None else example_inputs
        return _flat(lambda value: model(value, training=False), structure, _given_names(model))
    if example_inputs is None:
        return _signature(model)
    if isinstance(example_inputs, Mapping):
        return _flat(lambda value: model(**value), dict(example_inputs), ())
    if isinstance(example_inputs, tuple | list):
        return _flat(lambda value: model(*value), tuple(example_inputs), ())
    return _flat(model, tf.convert_to_tensor(example_inputs), ())


def _flat(function: Callable[[Any], Any], structure: Any, given: Sequence[str]) -> Call:
    import tensorflow as tf

    leaves = [np.asarray(leaf) for leaf in tf.nest.flatten(structure)]
    names = list(given) if len(given) == len(leaves) else names_of(structure, "input")
    return Call(
        lambda *flat: function(tf.nest.pack_sequence_as(structure, flat)), dict(zip(names, leaves, strict=True))
    )


def _signature(model: Any) -> Call:
    """The serving signature of a SavedModel, which takes keywords."""
    signatures = getattr(model, "signatures", {})
    if "serving_default" not in signatures:
        raise ExportError("the SavedModel has no signature serving_default: save it with one, or give example inputs.")
    function = signatures["serving_default"]
    specifications = function.structured_input_signature[1]
    example = {name: _array(spec.shape, spec.dtype.as_numpy_dtype) for name, spec in specifications.items()}
    return _flat(lambda value: function(**value), example, ())


def _made_up(model: Any) -> Any:
    """An example for the inputs that a Keras model declares."""
    if getattr(model, "inputs", None) is None:
        raise ExportError(
            "the Keras model has not declared its inputs: give example inputs, or build it of Input layers."
        )
    from keras import tree

    try:
        declared = model.input
    except AttributeError:  # a Sequential that was never called, as one that was just read
        declared = model.inputs[0] if len(model.inputs) == 1 else model.inputs
    return tree.map_structure(lambda each: _array(each.shape, np.dtype(each.dtype)), declared)


def _array(shape: Sequence[int | None], dtype: Any) -> Array:
    """A batch of 2; small integers, as they may be indices."""
    sizes = [(OPEN_SIZE if axis else 2) if size is None else int(size) for axis, size in enumerate(shape)]
    random = np.random.default_rng(0)
    if np.dtype(dtype).kind in "iub":
        return random.integers(0, 2, sizes).astype(dtype)
    return random.standard_normal(sizes).astype(dtype)


def _given_names(model: Any) -> list[str]:
    """Names that a user gave to inputs; those that Keras makes up differ from run to run."""
    names = [each.name for each in getattr(model, "inputs", None) or ()]
    return [] if any(name.startswith(("keras_tensor", "input_layer")) for name in names) else names


def _run_example(tf: Any, call: Call) -> list[str]:
    try:
        outputs = call.function(*map(tf.convert_to_tensor, call.example.values()))
    except Exception as error:
        refuse_branch(error)
        shapes = ", ".join(f"{name} {list(array.shape)}" for name, array in call.example.items())
        raise ExportError(
            f"the model cannot run on its example inputs ({shapes}): {first_line(error)} "
            "Give inputs of the shapes and types that it takes."
        ) from error
    taken = set(call.example)
    return [f"output_{name}" if name in taken else name for name in names_of(outputs, "output")]


def _dropped(model: Any, file: Path) -> Sequence[str]:
    if not _is_keras(model):
        return ()
    return dropped_note(sum(int(np.prod(weight.shape)) for weight in model.trainable_weights), file, WHY_FEWER)


def _native(tf: Any, call: Call) -> Native:
    def run(feeds: Mapping[str, Array]) -> Sequence[Array]:
        outputs = call.function(*(tf.convert_to_tensor(feeds[name]) for name in call.example))
        return [np.asarray(output) for output in tf.nest.flatten(outputs)]

    return run


def _is_keras(model: Any) -> bool:
    return any(kind.__module__.startswith("keras.") for kind in type(model).__mro__)


def _configuration(model: Any) -> str:
    try:
        return str(model.to_json())
    except (NotImplementedError, TypeError, ValueError):  # a subclass need not tell how it was made
        return repr([(weight.path, weight.shape) for weight in model.weights])


def _require_tensorflow_backend() -> None:
    import keras

    if keras.backend.backend() != "tensorflow":
        raise ExportError(
            f"Keras runs on {keras.backend.backend()} here, and can be exported on TensorFlow alone: "
            "set KERAS_BACKEND=tensorflow."
        )


def _versions() -> dict[str, str]:
    import keras
    import tensorflow as tf
    import tf2onnx

    return {"tensorflow": tf.__version__, "keras": keras.__version__, "tf2onnx": tf2onnx.__version__}
