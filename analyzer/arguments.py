"""What a caller of `analyze` may give in place of what is meant: one sentence instead of a TypeError."""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from neural_cost.analyzer.device import Device
from neural_cost.analyzer.device_table import find_device
from neural_cost.analyzer.errors import DeviceError, DimensionError, ModelError, NeuralCostError, closest

Choice = TypeVar("Choice", bound=StrEnum)
SAVE = 'save it first by onnx.save(model, "model.onnx")'


def path_of(path: object) -> str | os.PathLike[str]:
    """The path of a file. Raises ModelError for a model itself, an open file, and what else is no path."""
    if isinstance(path, str | os.PathLike):
        return path
    home = type(path).__module__.partition(".")[0]
    if home in ("onnx", "onnx_ir", "onnxscript") or isinstance(path, bytes | bytearray):
        advice = SAVE
    elif hasattr(path, "forward") or home in ("torch", "keras", "tensorflow", "jax", "flax", "equinox"):
        advice = "export it first by neural_cost.export"
    else:
        advice = "give the file's name as a string or a Path"
    raise ModelError(f"a model is given as the path of an .onnx file, not as {_kind(path)}: {advice}.")


def device_of(device: object) -> Device | None:
    """The device that is meant. Raises DeviceError where that is none of the table, or no device at all."""
    if device is None or isinstance(device, Device):
        return device
    if isinstance(device, str):
        return find_device(device)
    raise DeviceError(f"a device is one, or the name of one, not {_kind(device)}; analyze once for each of several.")


def sizes_of(argument: str, given: object) -> dict[str, Any]:
    """Sizes by name; integers of other libraries become Python's. Raises DimensionError for what has no names."""
    if given is None:
        return {}
    example = '{"input": (8, 3)}' if argument == "shapes" else '{"name": 8}'
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        what = "names that are no text" if isinstance(given, Mapping) else _kind(given)
        raise DimensionError(f"{argument} are given by name, as {example}, not as {what}.")
    convert = _shape if argument == "shapes" else _size
    return {name: convert(value) for name, value in given.items()}


def choice(kind: type[Choice], name: str, value: str) -> Choice:
    """A member of an enumeration. Raises NeuralCostError with those that there are."""
    try:
        return kind(value)
    except ValueError as error:
        known = [member.value for member in kind]
        meant = closest(str(value), known)
        raise NeuralCostError(f"{name} cannot be {value!r}{meant}: it is one of {', '.join(known)}.") from error


def check_depth(by: str, depth: object) -> None:
    """Refuse a depth that is none, or of what has none."""
    if depth is None:
        return
    if by != "module":
        raise NeuralCostError(f'a depth is one of modules: leave it out, or ask for by="module" in place of "{by}".')
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
        raise NeuralCostError(f"the depth of modules is a whole number from 1 up, not {depth!r}.")


def _shape(value: object) -> Any:
    tolist = getattr(value, "tolist", None)  # an array
    sizes = tolist() if tolist is not None else value
    if isinstance(sizes, str) or not isinstance(sizes, Sequence):
        raise DimensionError(f"the shape of an input is a sequence of sizes, as (8, 3, 224, 224), not {value!r}.")
    return [_size(size) for size in sizes]


def _size(value: Any) -> Any:
    """A Python int for any integer; anything else as it is, for who knows the model to refuse."""
    try:
        return value if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return value


def _kind(value: object) -> str:
    kind = type(value)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
