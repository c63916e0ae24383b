"""JAX functions, Flax NNX and Equinox modules: through jax2onnx, or through TensorFlow where JAX is below 0.7."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from neural_cost.analyzer.errors import BackendError, ExportError, ModelError
from neural_cost.exporters import jax2tf_route
from neural_cost.exporters.dims import chosen_dims
from neural_cost.exporters.messages import first_line
from neural_cost.exporters.nested import names_of
from neural_cost.exporters.protocol import Array, Call, Dims, Draft, Native, Request

OPSET = 21
BELOW_JAX2TF = (0, 7)  # the first version whose functions tf2onnx cannot translate
FROM_JAX2ONNX = (0, 8, 1)  # the first version that jax2onnx takes
PACKAGES = {"jax", "jaxlib", "flax", "equinox"}
WAYS_OUT = {
    "TraceContextError": "nnx.RNN cannot be exported: write it as lax.scan over nnx.merge(*nnx.split(cell))",
    "ConcretizationTypeError": "it branches on the value of an array: use jnp.where or lax.cond",
    "TracerBoolConversionError": "it branches on the value of an array: use jnp.where or lax.cond",
    "Reverse scan": "lax.scan(reverse=True) cannot be exported: flip the sequence before and after",
}


class JaxExporter:
    """Exports what JAX can trace."""

    name = "jax"

    def recognises(self, model: object, example_inputs: object) -> bool:
        """Say whether a model is of JAX's world, or a plain function: no other framework has those."""
        del example_inputs
        function = model.func if isinstance(model, partial) else model
        modules = {kind.__module__.partition(".")[0] for kind in type(function).__mro__}
        return bool(modules & PACKAGES) or isinstance(function, types.FunctionType | types.MethodType)

    def reads(self, file: Path) -> bool:
        """JAX saves no models of its own."""
        del file
        return False

    def load(self, file: Path) -> tuple[object, object]:
        """Nothing can be read."""
        raise ModelError(f"{file} is no file of a JAX model.")

    def content(self, model: Any, example_inputs: Any) -> bytes | None:
        """Digest what JAX traces, with the arrays closed over."""
        _require_jax()
        import jax

        from neural_cost.exporters.cache import digest_of

        call = _call(model, example_inputs)
        _run_example(call)
        traced = jax.make_jaxpr(call.function)(*call.example.values())
        inputs = [(name, array.dtype.str, array.shape) for name, array in call.example.items()]
        return digest_of(iter([str(traced.jaxpr), inputs, *(np.asarray(each).tobytes() for each in traced.consts)]))

    def call(self, model: Any, example_inputs: Any) -> Call:
        """How a function is called on arrays."""
        return _call(model, example_inputs)

    def export(self, model: Any, example_inputs: Any, file: Path, request: Request) -> Draft:
        """Write a function."""
        _require_jax()
        call = _call(model, example_inputs)
        outputs = _run_example(call)
        dims, notes = chosen_dims(request.dynamic_dims, {name: array.shape for name, array in call.example.items()})
        notes = (*notes, *_passed(example_inputs))
        if _is_old():
            jax2tf_route.write(call, dims, outputs, request.opset, file)
            return Draft("jax2tf and tf2onnx", jax2tf_route.versions(), call.example, dims, _native(call), notes)
        _write(call, dims, outputs, request.opset or OPSET, file)
        return Draft("jax2onnx", _versions(), call.example, dims, _native(call), notes)


def _call(model: Any, example_inputs: Any) -> Call:
    """Arguments as they are given: one array, a tuple of arguments, or a dict of keywords."""
    import jax

    function = _for_inference(model)
    if isinstance(example_inputs, Mapping):
        leaves, tree = jax.tree.flatten(dict(example_inputs))
        names = names_of(example_inputs, "input")
    else:
        arguments = tuple(example_inputs) if isinstance(example_inputs, tuple | list) else (example_inputs,)
        leaves, tree = jax.tree.flatten(arguments)
        names = names_of(arguments if len(arguments) != 1 else arguments[0], "input")
    if len(names) != len(leaves):
        names = [f"input_{index}" for index in range(len(leaves))]
    arrays = [np.asarray(jax.numpy.asarray(leaf)) for leaf in leaves]  # 64 bits become 32, unless JAX is told

    def flat(*leaves: Any) -> Any:
        value = jax.tree.unflatten(tree, leaves)
        return function(**value) if isinstance(value, dict) else function(*value)

    return Call(flat, dict(zip(names, arrays, strict=True)))


def _passed(example_inputs: Any) -> Sequence[str]:
    """A note where parameters are arguments: the file has them as inputs, and no counter can tell them from data."""
    arguments = example_inputs if isinstance(example_inputs, tuple | list) else ()
    if not any(isinstance(each, Mapping) for each in arguments):
        return ()
    return ("arrays that are passed in a dict are inputs of the file, and count as no parameters: close over those",)


def _for_inference(model: Any) -> Callable[..., Any]:
    """A module's copy in inference mode, which shares its arrays: the module itself is left alone."""
    modules = {kind.__module__.partition(".")[0] for kind in type(model).__mro__}
    nnx = sys.modules.get("flax.nnx")  # there is no such module of a user's without it
    if nnx is not None and isinstance(model, nnx.Module):
        copy = nnx.merge(*nnx.split(model))
        copy.eval()
        return copy  # type: ignore[no-any-return]
    if "equinox" in modules:
        import equinox

        return equinox.nn.inference_mode(model)  # type: ignore[no-any-return]
    if not callable(model):
        raise ExportError(
            f"the model is of the type {type(model).__name__}, which cannot be called: give a function of arrays."
        )
    return model  # type: ignore[no-any-return]


def _run_example(call: Call) -> list[str]:
    import jax

    try:
        outputs = call.function(*map(jax.numpy.asarray, call.example.values()))
    except Exception as error:
        shapes = ", ".join(f"{name} {list(array.shape)}" for name, array in call.example.items())
        raise ExportError(
            f"the model cannot run on its example inputs ({shapes}): {first_line(error)} "
            "Give inputs of the shapes and types that it takes."
        ) from error
    leaves = jax.tree.leaves(outputs)
    names = names_of(outputs, "output")
    if len(names) != len(leaves):
        names = [f"output_{index}" for index in range(len(leaves))]
    return [f"output_{name}" if name in call.example else name for name in names]


def _write(call: Call, dims: Dims, outputs: Sequence[str], opset: int, file: Path) -> None:
    import jax
    import jax2onnx
    import onnx

    specifications = [
        jax.ShapeDtypeStruct(
            tuple(dims.get(name, {}).get(axis, size) for axis, size in enumerate(array.shape)), array.dtype
        )
        for name, array in call.example.items()
    ]
    try:
        proto = jax2onnx.to_onnx(
            call.function,
            specifications,
            opset=opset,
            return_mode="proto",
            normalization_mode="prefer_native",
            enable_double_precision=any(array.dtype == np.float64 for array in call.example.values()),
            input_names=list(call.example),
            output_names=list(outputs),
        )
    except Exception as error:
        raise _explained(error) from error
    del proto.graph.value_info[:]  # it can be wrong; shapes are inferred anew by whoever needs them
    onnx.save(proto, file)


def _explained(error: Exception) -> ExportError:
    text = f"{type(error).__name__} {error}"
    way_out = next((way for sign, way in WAYS_OUT.items() if sign in text), None)
    if way_out is not None:
        return ExportError(f"jax2onnx cannot export the model: {way_out}.")
    return ExportError(f"jax2onnx cannot export the model ({type(error).__name__}): {first_line(error)}")


def _native(call: Call) -> Native:
    import jax

    compiled = jax.jit(call.function)

    def run(feeds: Mapping[str, Array]) -> Sequence[Array]:
        outputs = compiled(*(jax.numpy.asarray(feeds[name]) for name in call.example))
        return [np.asarray(output) for output in jax.tree.leaves(outputs)]

    return run


def _versions() -> dict[str, str]:
    from importlib import metadata

    import jax

    return {"jax": jax.__version__, "jax2onnx": metadata.version("jax2onnx")}


def _is_old() -> bool:
    import jax

    return bool(jax.__version_info__ < BELOW_JAX2TF)


def _require_jax() -> None:
    """Raise BackendError where JAX is missing or of a version that nothing exports, or what exports it is missing."""
    try:
        import jax

        if _is_old():
            jax2tf_route.require()
            return
        if jax.__version_info__ < FROM_JAX2ONNX:
            raise BackendError(
                f"JAX {jax.__version__} cannot be exported: jax2onnx takes 0.8.1 or later (pip install "
                "'neural-cost[jax]'), and jax2tf a version below 0.7 (pip install 'neural-cost[jax2tf]')."
            )
        import jax2onnx  # noqa: F401
    except ImportError as error:
        raise BackendError(f"{error.name} is missing: pip install 'neural-cost[jax]'.") from error
