"""The datasheet table, and finding a device in it."""

from __future__ import annotations

import re

import pytest

from neural_cost.analyzer.device_table import COLUMNS, find_device, list_devices, read_table
from neural_cost.analyzer.errors import DeviceError

HARDWARE = read_table("hardware.csv")
CEILINGS = read_table("ceilings.csv")
UARCH = read_table("cpu_uarch.csv")

# What drivers report, and the row that it is.
REPORTED = {
    "NVIDIA GeForce GTX 1080 Ti": "NVIDIA GeForce GTX 1080 Ti",
    "Tesla P100-PCIE-16GB": "NVIDIA Tesla P100-PCIE-16GB",
    "Tesla V100-SXM2-16GB": "NVIDIA Tesla V100-SXM2-16GB",
    "Tesla V100-SXM3-32GB": "NVIDIA Tesla V100-SXM2-32GB",
    "Tesla T4": "NVIDIA T4",
    "NVIDIA GeForce RTX 2080 Ti": "NVIDIA GeForce RTX 2080 Ti",
    "NVIDIA GeForce RTX 3090": "NVIDIA GeForce RTX 3090",
    "NVIDIA GeForce RTX 3090 Ti": "NVIDIA GeForce RTX 3090 Ti",
    "NVIDIA A10": "NVIDIA A10",
    "NVIDIA A10G": "NVIDIA A10G",
    "NVIDIA A100-SXM4-40GB": "NVIDIA A100-SXM4-40GB",
    "NVIDIA A100-SXM4-80GB": "NVIDIA A100-SXM4-80GB",
    "NVIDIA A100 80GB PCIe": "NVIDIA A100 80GB PCIe",
    "NVIDIA A100-PCIE-40GB": "NVIDIA A100-PCIE-40GB",
    "NVIDIA L4": "NVIDIA L4",
    "NVIDIA L40": "NVIDIA L40",
    "NVIDIA L40S": "NVIDIA L40S",
    "NVIDIA RTX A6000": "NVIDIA RTX A6000",
    "NVIDIA RTX 6000 Ada Generation": "NVIDIA RTX 6000 Ada Generation",
    "NVIDIA GeForce RTX 4070": "NVIDIA GeForce RTX 4070",
    "NVIDIA GeForce RTX 4070 Ti SUPER": "NVIDIA GeForce RTX 4070 Ti SUPER",
    "NVIDIA GeForce RTX 4090": "NVIDIA GeForce RTX 4090",
    "NVIDIA GeForce RTX 4090 D": "NVIDIA GeForce RTX 4090 D",
    "NVIDIA GeForce RTX 5090": "NVIDIA GeForce RTX 5090",
    "NVIDIA H100 80GB HBM3": "NVIDIA H100 SXM5 80GB",
    "NVIDIA H100 PCIe": "NVIDIA H100 PCIe",
    "NVIDIA H100 NVL": "NVIDIA H100 NVL",
    "NVIDIA H200": "NVIDIA H200",
    "NVIDIA H200 NVL": "NVIDIA H200 NVL",
    "NVIDIA GH200 480GB": "NVIDIA GH200 96GB HBM3 (nvidia-smi: GH200 480GB)",
    "NVIDIA B200": "NVIDIA B200",
    "NVIDIA GB200": "NVIDIA GB200 (per GPU)",
    "NVIDIA GB10": "NVIDIA GB10 (DGX Spark)",
    "NVIDIA RTX PRO 6000 Blackwell Workstation Edition": "NVIDIA RTX PRO 6000 Blackwell Workstation Edition",
    "AMD Instinct MI210": "AMD Instinct MI210",
    "AMD Instinct MI250X": "AMD Instinct MI250X (one GCD, what a framework sees)",
    "AMD Instinct MI300X": "AMD Instinct MI300X",
    "AMD Radeon RX 7900 XTX": "AMD Radeon RX 7900 XTX",
    "Intel(R) Arc(TM) A770 Graphics": "Intel Arc A770 16GB",
    "Intel(R) Data Center GPU Max 1550": "Intel Data Center GPU Max 1550 (one stack, FLAT mode)",
    "Apple M1": "Apple M1 (8-core GPU)",
    "Apple M2 Max": "Apple M2 Max (38-core GPU)",
    "Apple M4 Pro": "Apple M4 Pro (20-core GPU)",
    "TPU v5 lite": "Google TPU v5e",
    "TPU v5p": "Google TPU v5p",
    "TPU v4": "Google TPU v4",
}

# What users type.
TYPED = {
    "a100": "NVIDIA A100-SXM4-80GB",
    "A100 PCIe": "NVIDIA A100 80GB PCIe",
    "H100": "NVIDIA H100 SXM5 80GB",
    "M2 Max": "Apple M2 Max (38-core GPU)",
    "m2max": "Apple M2 Max (38-core GPU)",
    "4090": "NVIDIA GeForce RTX 4090",
    "4070": "NVIDIA GeForce RTX 4070",
    "RTX4070Ti": "NVIDIA GeForce RTX 4070 Ti",
    "  rtx   4090 ": "NVIDIA GeForce RTX 4090",
    "T4": "NVIDIA T4",
    "V100": "NVIDIA Tesla V100-SXM2-32GB",
    "MI300": "AMD Instinct MI300X",
    "1080 Ti": "NVIDIA GeForce GTX 1080 Ti",
    "9070 XT": "AMD Radeon RX 9070 XT",
    "gaudi2": "Intel Gaudi 2",
    "v5e": "Google TPU v5e",
}


def test_every_row_has_a_source_and_a_confidence():
    for row in [*HARDWARE, *UARCH]:
        assert row["source"]
        assert row["confidence"] in {"high", "medium", "low"}
    assert all(row["source"] and row["reason"] for row in CEILINGS)


def test_names_are_unique():
    names = [device.name.lower() for device in list_devices()]
    assert len(names) == len(set(names)) == len(HARDWARE)


@pytest.mark.parametrize("row", HARDWARE, ids=lambda row: row["name"])
def test_each_row_finds_itself(row):
    re.compile(row["match"])
    assert find_device(row["name"]).name == row["name"]
    assert find_device(row["name"].upper()).name == row["name"]


@pytest.mark.parametrize(("reported", "name"), REPORTED.items())
def test_a_reported_name_matches_one_row(reported, name):
    rows = [row["name"] for row in HARDWARE if re.search(row["match"], reported, re.IGNORECASE)]
    assert rows == [name]
    assert find_device(reported).name == name


@pytest.mark.parametrize(("typed", "name"), TYPED.items())
def test_a_typed_name_finds_a_device(typed, name):
    assert find_device(typed).name == name


def test_an_ambiguous_name_says_what_else_it_fits():
    (note,) = [note for note in find_device("A100").notes if "also fits" in note]
    assert all(name in note for name in ("A100-PCIE-40GB", "A100-SXM4-40GB", "A100 80GB PCIe"))
    assert "SXM4-80GB" not in note
    (note,) = [note for note in find_device("H100").notes if "also fits" in note]
    assert "NVIDIA H100 NVL has more bandwidth" in note
    assert not any("also fits" in note for note in find_device("NVIDIA H100 PCIe").notes)


@pytest.mark.parametrize(
    "name",
    ["RTX 4090 Laptop GPU", "NVIDIA A100X", "NVIDIA A16", "Tesla M40", "AMD Radeon Graphics", "", "toaster", "2024"],
)
def test_what_is_not_in_the_table_is_an_error(name):
    with pytest.raises(DeviceError, match=r"no device .* hardware --list"):
        find_device(name)


@pytest.mark.parametrize("name", ["tpu", "NVIDIA", "orin", "gaudi", "80GB", "40", "Apple 40-core GPU"])
def test_a_name_that_fits_several_models_is_an_error(name):
    with pytest.raises(DeviceError, match="models; name one of them: '"):
        find_device(name)


def test_a_misspelt_name_gets_suggestions():
    with pytest.raises(DeviceError, match="near it are 'NVIDIA GeForce RTX 4090'"):
        find_device("NVIDIA GeFroce RTX 4O90")


@pytest.mark.parametrize("row", HARDWARE, ids=lambda row: row["name"])
def test_ladder_of_dense_figures(row):
    """Narrower is not slower among matrix rates, and no step is the factor of 2:4 sparsity on top of the halving."""
    known = {kind: float(row[column]) for kind, column in COLUMNS.items() if row[column]}
    for narrow, wide in [("float8", "float16"), ("float4", "float8"), ("int8", "float16")]:
        if narrow in known and wide in known:
            assert 0.99 <= known[narrow] / known[wide] <= 4.02, (narrow, wide)
    if {"float64", "float32"} <= known.keys():
        assert known["float64"] <= known["float32"]


@pytest.mark.parametrize("row", CEILINGS, ids=lambda row: f"{row['name_match']}-{row['compute_type']}")
def test_each_ceiling_raises_a_peak(row):
    assert bool(row["tflops"]) != bool(row["factor"])
    rows = [line for line in HARDWARE if re.search(row["name_match"], line["name"])]
    assert rows
    for line in rows:
        stated = line[COLUMNS[row["compute_type"]]]
        raised = find_device(line["name"]).peaks[row["compute_type"]]
        assert raised > float(stated or 0) * 1e12


def test_figures_by_hand():
    a100 = find_device("NVIDIA A100-SXM4-80GB")
    assert a100.peaks == {"float64": 19.5e12, "float32": 19.5e12, "tf32": 156e12, "float16": 312e12,
                          "bfloat16": 312e12, "int8": 624e12}  # fmt: skip
    assert (a100.memory_bandwidth, a100.memory_bytes, a100.type) == (2039e9, 80 * 2**30, "gpu")
    assert any("TF32" in note for note in a100.notes)
    assert find_device("RTX 5090").peak("float8") == 2 * 419e12  # above the 737 that were measured
    assert find_device("RTX 4090").peak("float16") == pytest.approx(330.4e12)  # float16 accumulators
    assert find_device("RTX 4090").peak("bfloat16") == 165.2e12  # float32 accumulators alone
    assert find_device("MI250X").peaks["float16"] == 191.5e12  # one die of the two
    assert find_device("GB10").peaks.keys() == {"float32", "float4"}  # unknown is absent
    assert find_device("Apple M6").peaks == {}
    assert find_device("Apple M6").peak("float32") is None
