"""Compute types: the element types that a device has a rate for, and which rate is a ceiling for which type.

A device's table names a rate for a few types. Work comes in any element type of ONNX, so a question needs an answer
for each: a rate that arithmetic of that type cannot exceed. Too high a rate makes a bound loose; too low a rate makes
it false. Every rule here errs on the high side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from neural_cost.analyzer.node import BITS

# Names that share one rate. A complex operation is counted as one FLOP and takes more than one real one, so the rate
# of the real type is a ceiling for it.
CANONICAL = {
    **{name: "float8" for name in BITS if name.startswith("float8")},
    "float6e2m3": "float6", "float6e3m2": "float6", "float4e2m1": "float4",
    "uint64": "int64", "uint32": "int32", "uint16": "int16", "uint8": "int8", "uint4": "int4", "uint2": "int2",
    "complex64": "float32", "complex128": "float64",
}  # fmt: skip

WIDTHS = {
    "float64": 64, "float32": 32, "tf32": 32, "float16": 16, "bfloat16": 16, "float8": 8, "float6": 6, "float4": 4,
    "int64": 64, "int32": 32, "int16": 16, "int8": 8, "int4": 4, "int2": 2, "bool": 8,
}  # fmt: skip
"""Bits of one element of each compute type; tf32 is stored as 32."""

# Wider types whose values include all of this one: its arithmetic may run there instead.
HOSTS = {
    "float32": ("float64",),
    "tf32": ("float32", "float64"),
    "float16": ("tf32", "float32", "float64"),
    "bfloat16": ("tf32", "float32", "float64"),
    "float8": ("float16", "bfloat16", "tf32", "float32", "float64"),
    "float4": ("float8", "int8", "float16", "bfloat16", "tf32", "float32", "float64"),
    "int8": ("float16", "bfloat16", "tf32", "float32", "float64"),
    "int4": ("int8", "float8", "float16", "bfloat16", "tf32", "float32", "float64"),
}


def canonical(compute_type: str) -> str | None:
    """Name the compute type of an ONNX element type: "uint8" is "int8"; None where it has no arithmetic (a string)."""
    name = CANONICAL.get(compute_type, compute_type)
    return name if name in WIDTHS else None


class Rate(NamedTuple):
    """A rate that a type cannot exceed: FLOP/s, of which type's figure it is made, and how many times that."""

    flops: float
    of: str
    times: float = 1.0


def ceiling(peaks: Mapping[str, float], compute_type: str) -> Rate | None:
    """The rate that arithmetic of this type cannot exceed on a device with these peaks; None when nothing is known.

    - A type with a figure: the highest of it and of the wider types that hold all its values, since a kernel may
      convert and compute there (float16 on a GPU whose float16 is slow runs in float32).
    - float64 without one: that of float32, which could compute there too.
    - Another type without one (int64, bool, float16 on a device that lists float32 alone): the highest figure of the
      device, times the ratio of widths where the type is narrower, because one unit does at most twice the
      operations on half the bits. A floating-point type looks at floating-point figures alone, where there are any.

    What stays outside: emulation of a wide type by several products of a narrow one, TF32 in place of float32 (ask
    for "tf32"), and structured sparsity. A run that uses one of these can beat the bound, and it is reported as such.
    """
    name = canonical(compute_type)
    if name is None or not peaks:
        return None
    if name in peaks:
        return max((Rate(peaks[known], known) for known in (name, *HOSTS.get(name, ())) if known in peaks), key=_flops)
    if name == "float64" and "float32" in peaks:
        return Rate(peaks["float32"], "float32")
    return max((_scaled(peaks, known, name) for known in _comparable(peaks, name)), key=_flops)


def substitution(peaks: Mapping[str, float], compute_type: str) -> str | None:
    """How a type is bounded that has no figure of its own, or a faster type to run in, as a sentence lists it.

    None where its own figure is taken, or where nothing is known.
    """
    name, rate = canonical(compute_type), ceiling(peaks, compute_type)
    if rate is None or rate.of == name:
        return None
    times = f"{rate.times:g} times " if rate.times != 1 else ""
    why = "in which it can run" if name in peaks else "having no figure"
    return f"{name} at {times}the rate of {rate.of}, {why}"


def _flops(rate: Rate) -> float:
    return rate.flops


def _scaled(peaks: Mapping[str, float], known: str, name: str) -> Rate:
    times = max(1.0, WIDTHS[known] / WIDTHS[name])
    return Rate(peaks[known] * times, known, times)


def _comparable(peaks: Iterable[str], name: str) -> list[str]:
    """The known types whose rates say something about this one."""
    floats = [known for known in peaks if not known.startswith("int")]
    is_float = not name.startswith(("int", "bool"))
    return floats if is_float and floats else list(peaks)
