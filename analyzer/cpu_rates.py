"""FLOPs per cycle of a CPU core, by microarchitecture and by the instruction sets it reports."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from neural_cost.analyzer.cost import ceil_div
from neural_cost.analyzer.cpu_clocks import Clock, clock_of, in_ranges
from neural_cost.analyzer.cpu_info import CoreGroup, CpuInfo
from neural_cost.analyzer.device_table import Row, read_table

# Column of cpu_uarch.csv and the flags that its instructions need, the fastest first.
INSTRUCTIONS = (
    ("fp32_avx512", {"avx512f"}),
    ("fp32_avx2_fma", {"avx2", "fma"}),
    ("fp32_avx", {"avx"}),
    ("fp32_sse", {"sse2"}),
    ("fp32_sve", {"sve"}),
    ("fp32_neon", {"asimd"}),
)

APPLE = 0x61  # implementer id
APPLE_CORES_PER_AMX = 4  # a cluster has 4 to 6 cores and one matrix block: 4 counts no block too few

AMX_NOTE = "Apple's matrix blocks are counted, which only Accelerate and SME reach"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRates:
    """Rates of one kind of core.

    Attributes:
        uarch: the microarchitecture.
        cores: how many.
        clock: cycles/s, and where they come from.
        per_cycle: FLOPs per cycle of one core, by compute type.
        shared_per_cycle: FLOPs per cycle of units that the group has beside its cores.
        source: where the rates come from.
        confidence: "high", "medium" or "low".
        notes: what is assumed.
    """

    uarch: str
    cores: int
    clock: Clock
    per_cycle: Mapping[str, float]
    shared_per_cycle: Mapping[str, float] = field(default_factory=dict)
    source: str
    confidence: str
    notes: tuple[str, ...] = ()

    def per_second(self, kind: str) -> float:
        """FLOP/s of one core."""
        return self.per_cycle[kind] * self.clock.hertz

    def shared_per_second(self, kind: str) -> float:
        """FLOP/s of the group's units outside its cores."""
        return self.shared_per_cycle.get(kind, 0.0) * self.clock.hertz


def group_rates(info: CpuInfo, group: CoreGroup) -> GroupRates | None:
    """Find the rates of a group of cores; None when its clock or its instruction sets are not known.

    A core that the table lacks gets the highest figure that the table has for its instruction sets, and says so.
    """
    clock = clock_of(info, group)
    if clock is None:
        return None
    column = next((column for column, needs in INSTRUCTIONS if needs <= info.flags), None)
    if column is None:
        return None
    row = _row(info, group)
    fp32 = _fp32(row, column) if row else None
    notes: tuple[str, ...] = ()
    if fp32 is None:
        fp32 = max(float(other[column]) for other in _table() if other[column])
        known = f"'{row['uarch']}' has no figure" if row else "this microarchitecture is not in the table"
        notes = (f"{known}: taken is {fp32:g} FLOPs per cycle and core, the highest known for its instruction sets",)
    amx = _apple_amx(info, group)
    return GroupRates(
        uarch=row["uarch"] if row else "",
        cores=group.cores,
        clock=clock,
        per_cycle=_by_type(fp32, info.flags, row),
        shared_per_cycle=amx,
        source=f"cpu_uarch.csv: {row['source']}" if row else "cpu_uarch.csv",
        confidence="low" if notes or not row else row["confidence"],
        notes=(*notes, *([clock.note] if clock.note else []), *([AMX_NOTE] if amx else [])),
    )


def _fp32(row: Row, column: str) -> float | None:
    """FLOPs per cycle of a row: SVE or Neon, whichever is faster; the widest x86 set that the CPU reports."""
    columns = ("fp32_sve", "fp32_neon") if column == "fp32_sve" else (column,)
    return max((float(row[name]) for name in columns if row[name]), default=None)


def _by_type(fp32: float, flags: frozenset[str], row: Row | None) -> dict[str, float]:
    """FLOPs per cycle of each type, as multiples of float32 that the flags allow.

    float64: half. float16 and bfloat16: as float32, where they are converted; twice with their own instructions,
    four times with Arm's bfmmla. int8: four times float32, with dot-product instructions, and also without: a pair
    of vpmaddubsw and adds comes near it. Arm's smmla doubles that. A tile unit (AMX) has its own figure.
    """
    return {
        "float64": fp32 / 2,
        "float32": fp32,
        "float16": max(fp32 * (2 if flags & {"avx512_fp16", "asimdhp"} else 1), _tile(flags, "amx_fp16", row)),
        "bfloat16": max(fp32 * _bfloat16(flags), _tile(flags, "amx_bf16", row)),
        "int8": max(fp32 * (8 if "i8mm" in flags else 4), _tile(flags, "amx_int8", row)),
    }


def _bfloat16(flags: frozenset[str]) -> int:
    if "bf16" in flags:
        return 4
    return 2 if "avx512_bf16" in flags else 1


def _tile(flags: frozenset[str], flag: str, row: Row | None) -> float:
    """Operations per cycle of the tile unit: 16-bit types share a rate. Without a row, the highest known."""
    if flag not in flags:
        return 0.0
    column = "amx_int8" if flag == "amx_int8" else "amx_bf16"
    known = [float(other[column]) for other in ([row] if row and row[column] else _table()) if other[column]]
    return max(known)


def _apple_amx(info: CpuInfo, group: CoreGroup) -> dict[str, float]:
    """Operations per cycle of the matrix blocks that a cluster of Apple's cores shares."""
    if int_or_none(info.vendor) != APPLE:
        return {}
    blocks = ceil_div(group.cores, APPLE_CORES_PER_AMX)
    per_block = next(float(row["best_fp32_flops_per_cycle"]) for row in _table() if row["role"] == "amx")
    # 512 for float32; the narrower types at most double with each halving, the wider one halves.
    scale = {"float64": 0.5, "float32": 1, "float16": 2, "bfloat16": 2, "int8": 4}
    return {kind: blocks * per_block * factor for kind, factor in scale.items()}


def _row(info: CpuInfo, group: CoreGroup) -> Row | None:
    """The row of a core. One that tells models apart by name comes before one that does not."""
    model = info.model if group.part is None else group.part
    rows = [row for row in _table() if row["role"] != "amx" and _is(row, info, model)]
    named = [row for row in rows if row["name_match"] and re.search(row["name_match"], info.name)]
    fits = named + [row for row in rows if not row["name_match"]]
    return next((row for row in fits if row["role"] == group.role), fits[0] if fits else None)


def _is(row: Row, info: CpuInfo, model: int | None) -> bool:
    """Whether a row is about this vendor, family and model; an Arm vendor is a number, and it is the row's family."""
    implementer = int_or_none(info.vendor)
    family = info.family if implementer is None else implementer
    is_x86 = row["vendor"] in ("GenuineIntel", "AuthenticAMD")
    if is_x86 != (implementer is None) or (is_x86 and row["vendor"] != info.vendor) or int(row["family"], 16) != family:
        return False
    return not row["models"] or in_ranges(model, row["models"])


def int_or_none(text: str) -> int | None:
    """Read "0x41"; None for what is no number."""
    try:
        return int(text, 0)
    except ValueError:
        return None


@cache
def _table() -> tuple[Row, ...]:
    return tuple(read_table("cpu_uarch.csv"))
