"""A device by two figures, as a user has them from a datasheet."""

from __future__ import annotations

from typing import SupportsFloat

from neural_cost.analyzer.compute_type import WIDTHS
from neural_cost.analyzer.device import Device
from neural_cost.analyzer.errors import DeviceError


def HardwareSpec(  # the name that the seed's users write
    device_name: str, peak_flops: float | None = None, memory_bandwidth: float | None = None
) -> Device:
    """Make a device of kind "datasheet" from its name, one peak and the bandwidth of its memory.

    Args:
        device_name: as bounds will name it.
        peak_flops: FLOP/s that arithmetic of no type exceeds, taken for all of them; None where it is not known.
            A device with a peak for each type is a `Device`, or one of the table: `device="A100"`.
        memory_bandwidth: bytes/s of its memory; None where it is not known.

    Raises:
        DeviceError: a figure is no number above 0.
    """
    for name, figure in (("peak_flops", peak_flops), ("memory_bandwidth", memory_bandwidth)):
        if figure is not None and (isinstance(figure, bool) or not isinstance(figure, SupportsFloat)):
            raise DeviceError(
                f"device '{device_name}': {name} is a number, or None where it is not known, not {figure!r}"
            )
    return Device(
        name=device_name,
        kind="datasheet",
        vendor="",
        type="given",
        peaks={} if peak_flops is None else dict.fromkeys(WIDTHS, float(peak_flops)),
        bandwidth_curve=() if memory_bandwidth is None else ((0, float(memory_bandwidth)),),
        source="given by hand",
        notes=() if peak_flops is None else ("one peak was given: it is taken for every type",),
    )
