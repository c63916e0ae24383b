"""Calibrations are kept per machine, as JSON in the user's cache folder."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from neural_cost.analyzer.calibration import Calibration
from neural_cost.analyzer.recalibration import disagreement, worse
from neural_cost.analyzer.user_folder import user_folder
from neural_cost.runtime.calibrate.place import gpu_places, identity
from neural_cost.runtime.detect import detect_cpu
from neural_cost.runtime.gpus import Gpu

FOLDER: Path | None = None  # in place of the user's own


def stored(machine: Mapping[str, Any] | None = None) -> Calibration | None:
    """The calibration of a machine, by default this one; None where there is none.

    One that cannot be used is none either, and a warning says so: bounds would fall back to the datasheet unseen.
    """
    wanted = machine or identity(detect_cpu())
    file = file_of(wanted)
    try:
        found = Calibration.from_dict(json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        why = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        return _unused(file, why)
    return found if dict(found.machine) == dict(wanted) else _unused(file, "it is of another machine")


@cache  # a command asks more than once
def _unused(file: Path, why: str) -> None:
    again = "`neural-cost hardware --calibrate` makes another"
    logging.getLogger(__name__).warning("%s: this calibration is not used (%s); %s.", file, why, again)


def stored_gpus(gpus: Sequence[Gpu] | None = None) -> list[Calibration]:
    """Calibrations of this machine's GPUs, by default those that are detected, by the providers that are installed."""
    places, _ = gpu_places(gpus)
    return [found for place in places if (found := stored(place.machine)) is not None]


def store(calibration: Calibration) -> Path:
    """Keep a calibration, in place of the one before; the file is whole or not there.

    Raises:
        OSError: it cannot be written.
    """
    file = file_of(calibration.machine)
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=file.parent, suffix=".json")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            json.dump(calibration.to_dict(), stream, indent=1)
        Path(temporary).replace(file)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return file


class Kept(NamedTuple):
    """What became of a calibration.

    Attributes:
        calibration: it, with a note where it does not agree with the one before.
        instead: the one before where that stays in use; `why` says why.
    """

    calibration: Calibration
    instead: Calibration | None
    why: str | None


def keep(found: Calibration, *, force: bool = False) -> Kept:
    """Keep a calibration, unless it was disturbed and the one before is better; `force` keeps it all the same.

    Raises:
        OSError: it cannot be written.
    """
    before = stored(found.machine)
    if before is None:
        store(found)
        return Kept(found, None, None)
    said = disagreement(found, before)
    noted = found if said is None else replace(found, notes=(*found.notes, said))
    why = None if force else worse(found, before)
    if why is not None:
        if found.kernels is not None and not found.kernels.notes:  # they were timed after it, and in peace
            store(replace(before, kernels=found.kernels))
        return Kept(noted, before, why)
    store(noted)
    return Kept(noted, None, None)


def file_of(machine: Mapping[str, Any]) -> Path:
    """Where the calibration of a machine is kept."""
    key = hashlib.sha256(json.dumps(dict(machine), sort_keys=True).encode()).hexdigest()[:16]
    return (FOLDER or user_folder() / "calibrations") / f"{key}.json"
