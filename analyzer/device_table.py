"""The table of datasheets, and finding a device in it by the name that a user or a driver gives it.

`data/README.md` says what its columns mean and which figures are in doubt.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from importlib.resources import files

from neural_cost.analyzer.device import Device
from neural_cost.analyzer.errors import DeviceError

Row = dict[str, str]

COLUMNS = {
    "float64": "fp64_tflops", "float32": "fp32_tflops", "tf32": "tf32_tflops", "float16": "fp16_tflops",
    "bfloat16": "bf16_tflops", "float8": "fp8_tflops", "int8": "int8_tops", "float4": "fp4_tflops",
}  # fmt: skip

# What users leave out of a name: "4090" means the RTX 4090, not one of the cards whose name goes on after it.
PREFIXES = (
    "NVIDIA ", "NVIDIA GeForce RTX ", "NVIDIA GeForce GTX ", "NVIDIA Jetson ", "AMD Radeon RX ", "AMD Instinct ",
    "Intel Arc ", "Intel Data Center ", "Apple ", "Google ", "TPU ",
)  # fmt: skip

CONSUMER_NOTE = "figures are at the rated boost clock, which this card can exceed by several percent"
CONSUMER_CAVEAT = "at the rated boost clock, and this card can beat it by several percent"
APPLE_NOTE = "the figures are those of the GPU: the CPU and the Neural Engine are not counted"


@dataclass(frozen=True, slots=True)
class Entry:
    """A row: the device, and the pattern that finds the names drivers give it."""

    device: Device
    match: re.Pattern[str]


def read_table(name: str) -> list[Row]:
    """Read the rows of one of the tables in `analyzer/data`."""
    text = (files("neural_cost.analyzer.data") / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def list_devices() -> list[Device]:
    """List the devices of the table, in its order."""
    return [entry.device for entry in _entries()]


def find_device(name: str) -> Device:
    """Find a device by name, whatever its case: the exact name, what a driver calls it, or a part of it.

    Where a part such as "A100" fits several rows of one model, the one with the highest peak is taken (then
    bandwidth, then memory), and the device's notes say which others there are.

    Raises:
        DeviceError: no device fits, or the name fits different models.
    """
    wanted = " ".join(name.split())
    found = next((found for found in _candidates(wanted) if found), []) if wanted else []
    if not found:
        raise DeviceError(_unknown(wanted))
    if len(found) > 1 and not any(_MODEL.fullmatch(token) for token in _tokens(_spaced(wanted))):
        fits = ", ".join(f"'{device.name}'" for device in found[:8])
        raise DeviceError(f"device '{wanted}' fits {len(found)} models; name one of them: {fits}{_HOW_TO_LIST}")
    return _pick(found, wanted)


# A word that tells one model: "a100", "m2", "4090"; neither a brand nor a size ("80gb", "40").
_MODEL = re.compile(r"(?!\d+gb$)([a-z]+\d\w*|\d+[a-z]\w*|\d{4})")
_HOW_TO_LIST = "; `neural-cost hardware --list` shows all"


def _candidates(wanted: str) -> Iterator[list[Device]]:
    """What fits the name, by one rule after another, the strictest first."""
    entries = _entries()
    yield [entry.device for entry in entries if entry.device.name.lower() == wanted.lower()]
    spaced = _spaced(wanted)
    yield [entry.device for entry in entries if entry.match.search(wanted) or entry.match.search(spaced)]
    full = [prefix + spaced for prefix in PREFIXES]
    yield [entry.device for entry in entries if any(entry.match.search(candidate) for candidate in full)]
    tokens = _tokens(spaced)
    yield [entry.device for entry in entries if tokens and tokens <= _tokens(entry.device.name)]
    yield [entry.device for entry in entries if _contains(_squash(entry.device.name), _squash(wanted))]


def _pick(found: list[Device], wanted: str) -> Device:
    """The fastest of several, saying so in its notes."""
    best = max(found, key=lambda device: (_top_peak(device), device.memory_bandwidth or 0, device.memory_bytes or 0))
    others = [device for device in found if device is not best]
    if not others:
        return best
    names = ", ".join(f"'{device.name}'" for device in others)
    note = f"'{wanted}' also fits {names}: taken is the one with the highest peak"
    if faster := [d.name for d in others if (d.memory_bandwidth or 0) > (best.memory_bandwidth or 0)]:
        note += f", though {', '.join(faster)} has more bandwidth"
    return replace(best, notes=(*best.notes, note))


def _top_peak(device: Device) -> float:
    return max(device.peaks.values(), default=0.0)


def _unknown(wanted: str) -> str:
    """The sentence about a name that nothing fits."""
    if not wanted:
        return f"no device is named: give a name, or leave the device out{_HOW_TO_LIST}"
    names = {device.name.lower(): device.name for device in list_devices()}
    close = [names[key] for key in get_close_matches(wanted.lower(), names, n=3, cutoff=0.5)]
    suggestion = f"; near it are {', '.join(repr(name) for name in close)}" if close else ""
    return f"no device '{wanted}' in the table{suggestion}{_HOW_TO_LIST}"


def _spaced(name: str) -> str:
    """ "RTX4070Ti" as "RTX 4070 Ti", "M2Max" as "M2 Max"."""
    name = re.sub(r"(?<=[A-Za-z])(?=\d{4})|(?<=\d{4})(?=[A-Za-z])", " ", name)
    return re.sub(r"(?<=M\d)(?=(Pro|Max|Ultra)\b)", " ", name, flags=re.IGNORECASE)


def _tokens(name: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", name.lower()))


def _squash(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _contains(name: str, part: str) -> bool:
    """Whether a name holds this part, whole numbers only: "a10" is not in "a100", and "40" names nothing."""
    if len(part) < 4 or part.isdigit():
        return False
    after = r"(?!\d)" if part[-1].isdigit() else ""
    before = r"(?<!\d)" if part[0].isdigit() else ""
    return re.search(before + re.escape(part) + after, name) is not None


@cache
def _entries() -> tuple[Entry, ...]:
    ceilings = read_table("ceilings.csv")
    return tuple(_entry(row, ceilings) for row in read_table("hardware.csv"))


def _entry(row: Row, ceilings: list[Row]) -> Entry:
    peaks, raised = _peaks(row, [c for c in ceilings if re.search(c["name_match"], row["name"])])
    device = Device(
        name=row["name"],
        kind="datasheet",
        vendor=row["vendor"],
        type="gpu" if row["kind"] == "apple_soc" else row["kind"],
        peaks=peaks,
        bandwidth_curve=((0, float(row["memory_bandwidth_gbs"]) * 1e9),) if row["memory_bandwidth_gbs"] else (),
        memory_bytes=round(float(row["memory_gb"]) * 2**30) if row["memory_gb"] else None,
        source=row["source"],
        confidence=row["confidence"],
        notes=(*raised, *_general_notes(row)),
        caveat=CONSUMER_CAVEAT if _is_consumer(row) else "",
    )
    return Entry(device, re.compile(row["match"], re.IGNORECASE))


def _peaks(row: Row, ceilings: list[Row]) -> tuple[dict[str, float], list[str]]:
    """FLOP/s by type, and a note for each figure that the hardware can exceed in another mode."""
    tabulated = {kind: float(row[column]) for kind, column in COLUMNS.items() if row[column]}
    peaks, notes = dict(tabulated), []
    for line in ceilings:
        kind, stated = line["compute_type"], tabulated.get(line["compute_type"])
        if line["factor"] and stated is None:
            continue
        peaks[kind] = float(line["tflops"]) if stated is None or line["tflops"] else stated * float(line["factor"])
        was = f" (table: {stated:g})" if stated is not None else ""
        notes.append(f"{kind} at {peaks[kind]:g} TFLOP/s{was}: {line['reason']}")
    return {kind: peaks[kind] * 1e12 for kind in COLUMNS if kind in peaks}, notes


def _is_consumer(row: Row) -> bool:
    return row["name"].startswith(("NVIDIA GeForce", "AMD Radeon", "Intel Arc"))


def _general_notes(row: Row) -> list[str]:
    tf32 = f"float32 is IEEE float32: with TF32 on, matrix work can reach {row['tf32_tflops']} TFLOP/s"
    checks = (
        (bool(row["tf32_tflops"]) and row["tf32_tflops"] != row["fp32_tflops"], tf32),
        (_is_consumer(row), CONSUMER_NOTE),
        (row["kind"] == "apple_soc", APPLE_NOTE),
    )
    return [note for holds, note in checks if holds]
