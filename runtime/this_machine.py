"""Which device a time is bounded on: the one that was named, or this machine."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neural_cost.analyzer.calibration import Calibration
    from neural_cost.analyzer.device import Device


def bounding_device(name: str | None, *, provider: str = "cpu", threads: int | None = None) -> Device | None:
    """The named device, or this CPU where the work runs there; None where nothing is known.

    `threads` are those that the work gets: fewer reach less than the whole machine can do, so its figures stay a bound.

    Raises:
        DeviceError: no device of that name is known.
    """
    from neural_cost.analyzer.device_table import find_device

    if name is not None:
        return find_device(name)
    return this_machine(threads) if provider.lower() in ("cpu", "cpuexecutionprovider") else None


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
    try:
        now = version("onnxruntime")
    except PackageNotFoundError:  # nothing to compare with
        return device
    then = sorted({str(found.versions.get("onnxruntime", "?")) for found in (measured, measured.kernels) if found})
    if then == [now]:
        return device
    note = f"measured with onnxruntime {' and '.join(then)}, and {now} is installed: calibrate again"
    return replace(device, notes=(*device.notes, note))
