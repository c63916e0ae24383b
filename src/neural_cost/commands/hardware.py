"""`neural-cost hardware`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from neural_cost.commands.fitting import check_loudness
from neural_cost.commands.options import (
    DebugOption,
    FormatOption,
    OutputOption,
    QuietOption,
    VerboseOption,
    switch,
)
from neural_cost.render.forms import Format, delimited
from neural_cost.render.output import check, colour_wanted, write
from neural_cost.render.progress import Progress

if TYPE_CHECKING:
    from neural_cost.analyzer.calibration import Calibration
    from neural_cost.analyzer.device import Device
    from neural_cost.runtime.calibrate.place import Place
    from neural_cost.runtime.detect import Detection
    from neural_cost.runtime.gpus import Gpu


def hardware(  # noqa: PLR0917 - typer turns each into an option
    all_: Annotated[bool, switch("--list", "Every device whose datasheet is known.")] = False,
    calibrate: Annotated[
        bool, switch("--calibrate", "Measure this CPU in under 30 s, and a GPU in as many; bounds then use it.")
    ] = False,
    kernels: Annotated[
        bool,
        switch("--kernels", "With --calibrate: time single kernels too, 40 s more; analyze --predict needs it."),
    ] = False,
    force: Annotated[
        bool, switch("--force", "With --calibrate: use it, even if it was disturbed and the last was not.")
    ] = False,
    form: FormatOption = Format.TABLE,
    output: OutputOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    _debug: DebugOption = False,
) -> None:
    """Show this machine, by its datasheet and as it was measured; or all devices of the table."""
    if all_ and calibrate:
        raise typer.BadParameter("--list and --calibrate exclude each other.")
    if kernels and not calibrate:
        raise typer.BadParameter("--kernels needs --calibrate.")
    if force and not calibrate:
        raise typer.BadParameter("--force needs --calibrate.")
    check_loudness(quiet=quiet, verbose=verbose)
    check(output)
    if all_:
        from neural_cost.analyzer.device_table import list_devices

        write(_devices(list_devices(), form, notes=verbose, colour=colour_wanted(output)), output)
        return
    from neural_cost.runtime.detect import detect

    found = detect()
    measured: Calibration | None
    if calibrate:
        measured, gpus = _measured(found.gpus, kernels=kernels, force=force, quiet=quiet)
    else:
        measured, gpus = _stored(), _stored_gpus(found.gpus)
    write(_machine(found, measured, gpus, form, quiet=quiet, colour=colour_wanted(output)), output)


def _measured(gpus: Sequence[Gpu], *, kernels: bool, force: bool, quiet: bool) -> tuple[Calibration, list[Calibration]]:
    """The CPU and the GPUs as they are now; a GPU that cannot be measured is told of."""
    from neural_cost.runtime.calibrate.calibrate import calibrate
    from neural_cost.runtime.calibrate.kernels.measure import kernel_rates
    from neural_cost.runtime.calibrate.place import gpu_places

    with Progress(quiet=quiet) as progress:
        found = calibrate(progress=progress)
        before = _stored()
        known = None if before is None else before.kernels
        found = replace(found, kernels=kernel_rates(progress=progress) if kernels else known)
        places, told = gpu_places(gpus)
        others = [_gpu(place, told, progress) for place in places]
    for line in told:
        typer.echo(f"{line}.", err=True)
    return _kept(found, force=force), [_kept(each, force=force) for each in others if each is not None]


def _gpu(place: Place, told: list[str], progress: Progress) -> Calibration | None:
    from neural_cost.analyzer.errors import BackendError
    from neural_cost.runtime.calibrate.calibrate import GPU_PLAN, calibrate

    try:
        return calibrate(GPU_PLAN, progress=progress, place=place)
    except BackendError as error:
        told.append(f"{place.machine['name']} was not measured: {str(error).rstrip('.')}")
        return None


def _kept(found: Calibration, *, force: bool) -> Calibration:
    """It, as it is kept; what became of it is told where it is not in use."""
    from neural_cost.runtime.calibrate.store import keep

    try:
        kept = keep(found, force=force)
    except OSError as error:
        typer.echo(f"The calibration could not be kept ({error}); bounds go on using what they used.", err=True)
        return found
    if kept.instead is not None:
        typer.echo(
            f"Not kept: {kept.why}. Bounds go on using the calibration of {kept.instead.date}; calibrate again when "
            "nothing else runs, or take this one with --force. Below is what was measured now.",
            err=True,
        )
    return kept.calibration


def _stored() -> Calibration | None:
    from neural_cost.runtime.calibrate.store import stored

    return stored()


def _stored_gpus(gpus: Sequence[Gpu]) -> list[Calibration]:
    from neural_cost.runtime.calibrate.store import stored_gpus

    return stored_gpus(gpus)


def _machine(
    found: Detection,
    measured: Calibration | None,
    gpus: Sequence[Calibration],
    form: Format,
    *,
    quiet: bool,
    colour: bool,
) -> str:
    from neural_cost.analyzer.tables.calibration import COLUMNS, calibration_page, rate_rows
    from neural_cost.analyzer.tables.text import to_text
    from neural_cost.render.devices import device_blocks

    devices = found.devices + ([] if measured is None else [measured.device(1), measured.device()])
    devices += [each.device() for each in gpus]
    if form is Format.JSON:
        used = _stored()  # which one bounds use: what was just measured may not be it
        told = found.to_dict() | {"calibration": None if measured is None else measured.to_dict()}
        told["calibration_in_use"] = None if used is None else used.date
        told["gpu_calibrations"] = [each.to_dict() for each in gpus]
        return json.dumps(told | {"devices": [device.to_dict() for device in devices]}, indent=1)
    if form is Format.TABLE:
        page = [*found.page(), *device_blocks(found.devices, notes=not quiet)]
        pages = [block for each in (measured, *gpus) for block in calibration_page(each, quiet=quiet)]
        return to_text([*page, *pages], colour=colour)
    if measured is not None:
        return delimited(form, [row for each in (measured, *gpus) for row in rate_rows(each)], COLUMNS)
    return _devices(devices, form, notes=False, colour=False)


def _devices(devices: Sequence[Device], form: Format, *, notes: bool, colour: bool) -> str:
    from neural_cost.render.devices import COLUMNS, device_rows, device_table

    if form is Format.JSON:
        return json.dumps([device.to_dict() for device in devices], indent=1)
    if form is Format.TABLE:
        return device_table(devices, notes=notes, colour=colour)
    return delimited(form, device_rows(devices), COLUMNS)
