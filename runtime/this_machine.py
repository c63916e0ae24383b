"""Which device a time is bounded on: the one that was named, or this machine."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from neural_cost.analyzer.device_table import find_device
from neural_cost.runtime.gpus import detect_gpus
from neural_cost.runtime.providers import ON_GPUS, PACKAGES, SHORT

if TYPE_CHECKING:
    from neural_cost.analyzer.calibration import Calibration
    from neural_cost.analyzer.device import Device

FAMILIES = {"tensorrt": "cuda"}  # providers of one and the same device


def bounding_device(name: str | None, *, provider: str = "cpu", threads: int | None = None) -> Device | None:
    """The named device, or what of this machine does the work: the CPU, or its GPU; None where nothing is known.

    `threads` are those that the work gets: fewer reach less than the whole machine can do, so its figures stay a bound.

    Raises:
        DeviceError: no device of that name is known.
    """
    if name is not None:
        return find_device(name)
    short = SHORT.get(provider, provider).lower()
    return this_machine(threads) if short == "cpu" else this_gpu(short)


def this_gpu(provider: str) -> Device | None:
    """The GPU that a provider works on, as it was measured, or by its datasheet; None where it is not known which.

    ONNX Runtime multiplies float32 in TF32 where a GPU can: then the peak of that type is the bound.
    """
    from neural_cost.analyzer.errors import DeviceError
    from neural_cost.runtime.calibrate.store import stored_gpus

    if provider not in ON_GPUS:
        return None
    family = FAMILIES.get(provider, provider)
    gpus = detect_gpus()
    measured = next((each for each in stored_gpus(gpus) if each.provider == family), None)
    if measured is not None:
        return _dated(measured, measured.device())
    names = {gpu.name for gpu in gpus}
    if len(names) != 1:
        return None
    try:
        return _as_onnxruntime_computes(find_device(names.pop()))
    except DeviceError:
        return None


def _as_onnxruntime_computes(device: Device) -> Device:
    tf32, float32 = device.peaks.get("tf32"), device.peaks.get("float32")
    if tf32 is None or float32 is None or tf32 <= float32:
        return device
    note = "float32 has the peak of TF32, in which ONNX Runtime multiplies it"
    kept = [each for each in device.notes if not each.startswith("float32 is IEEE")]
    return replace(device, peaks={**device.peaks, "float32": tf32}, notes=(*kept, note))


def this_machine(threads: int | None = None) -> Device | None:
    """This CPU, as it was measured, or else by its datasheet; None where nothing is known of it.

    Raises:
        OptionError: there are less than one thread.
    """
    from neural_cost.analyzer.errors import DeviceError, OptionError
    from neural_cost.runtime.calibrate.store import stored
    from neural_cost.runtime.detect import local_device

    if threads is not None and threads < 1:
        raise OptionError(f"threads cannot be {threads}: at least one works.")
    if (measured := stored()) is not None:
        return _dated(measured, measured.device(threads))
    try:
        return local_device(threads)
    except DeviceError:
        return None


def _dated(measured: Calibration, device: Device) -> Device:
    """The device, with a note where another onnxruntime is installed than the one that was measured."""
    now = _installed()
    if now is None:  # nothing to compare with
        return device
    then = sorted({str(found.versions.get("onnxruntime", "?")) for found in (measured, measured.kernels) if found})
    if then == [now]:
        return device
    note = f"measured with onnxruntime {' and '.join(then)}, and {now} is installed: calibrate again"
    return replace(device, notes=(*device.notes, note))


def _installed() -> str | None:
    """The version of the onnxruntime that is installed: several packages bring it."""
    for package in ("onnxruntime", *dict.fromkeys(PACKAGES.values())):
        try:
            return version(package)
        except PackageNotFoundError:
            continue
    return None
