"""A GPU is calibrated as the CPU is, by another place: here the CPU stands for the GPU, and copies really run."""

import json
from dataclasses import replace
from functools import partial
from importlib.resources import files

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from neural_cost.analyzer.calibration import Calibration, Rate
from neural_cost.analyzer.errors import BackendError, ProviderError
from neural_cost.analyzer.recalibration import disagreement
from neural_cost.analyzer.tables.calibration import calibration_page
from neural_cost.analyzer.tables.text import to_text
from neural_cost.cli import main
from neural_cost.runtime import detect, this_machine
from neural_cost.runtime.calibrate import copies, device_bandwidth, place, store
from neural_cost.runtime.calibrate.calibrate import Plan, calibrate
from neural_cost.runtime.calibrate.compute import compute_rates, device_feeds, device_product, why_not
from neural_cost.runtime.calibrate.device_bandwidth import chain_of_sums, device_bandwidth_rates, sums_of
from neural_cost.runtime.calibrate.place import Place, gpu_places
from neural_cost.runtime.calibrate.samples import Best
from neural_cost.runtime.gpus import Gpu
from neural_cost.runtime.session import SessionOptions, open_session

SCHEMA = json.loads((files("neural_cost") / "hardware.schema.json").read_text())
STAND_IN = "CPUExecutionProvider"  # by its long name: the path of a device, on the CPU
A100 = Gpu(name="NVIDIA A100-SXM4-80GB", vendor="NVIDIA", memory_bytes=80 << 30, driver="580.1")
RADEON = Gpu(name="AMD Radeon RX 7900 XTX", vendor="AMD", memory_bytes=24 << 30, driver="6.0")
MADE_UP = Gpu(name="Fake 9000", vendor="Nobody", memory_bytes=1 << 30, driver="")
GPU = Place(
    machine={"name": "Stand-in", "vendor": "us", "provider": "cuda", "host": "here"},
    provider=STAND_IN,
    memory="cpu",
    counts=(1,),
    sizes=(64, 128),
    working_sets=(1 << 20, 4 << 20),
    bandwidth=partial(device_bandwidth_rates, STAND_IN),
    copies=(1 << 20, 2 << 20),
    memory_bytes=1 << 30,
    versions={"driver": "1.2"},
    notes=("a stand-in",),
)
QUICK = Plan(budget_s=0.3, passes=2, types=("float32", "int8"))


@pytest.fixture(scope="module")
def found():
    stages = []
    yield calibrate(QUICK, stages.append, GPU)
    assert "pass 1 of 2: copies to the device and back" in stages
    assert "pass 2 of 2: bandwidth, Stand-in" in stages


def test_every_curve_is_there(found):
    assert sorted({(rate.what, rate.size) for rate in found.rates}) == sorted([
        ("float32", 64), ("float32", 128), ("int8", 64), ("int8", 128), ("bandwidth", 1 << 20), ("bandwidth", 4 << 20),
        ("to device", 1 << 20), ("to device", 2 << 20), ("from device", 1 << 20), ("from device", 2 << 20),
    ])  # fmt: skip
    assert all(rate.per_s > 0 and rate.threads == 1 for rate in found.rates)
    assert found.versions["driver"] == "1.2"
    assert Calibration.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_the_device_that_it_makes(found):
    """Copies are neither a type nor the bandwidth of its memory."""
    device = found.device()
    assert (device.name, device.type, device.kind) == ("Stand-in", "gpu", "measured")
    assert set(device.peaks) == {"float32", "int8"}
    assert [size for size, _ in device.bandwidth_curve] == [1 << 20, 4 << 20]
    assert "a stand-in" in device.notes


def test_the_page_has_copies_and_their_curves(found):
    text = to_text(calibration_page(found))
    assert "Measured by cuda" in text
    assert "to device, GB/s by size of the copy" in text
    assert "1 thread" not in text


def test_copies_of_a_run_by_hand(monkeypatch):
    """1 MiB in 1 ms is 1.048576 GB/s, each way."""
    monkeypatch.setattr(copies, "best", lambda call, budget_s: Best(1e-3, 0.0, False))
    rates = list(copies.copy_rates("cpu", [1 << 20], 1.0))
    assert [(rate.what, rate.size, rate.per_s) for rate in rates] == [
        ("to device", 1 << 20, 1048576e3), ("from device", 1 << 20, 1048576e3),
    ]  # fmt: skip


def test_each_copy_moves_all_of_it():
    there, back = copies._copies("cpu", 4096)
    there()
    assert np.array_equal(back(), np.arange(1024, dtype=np.int32))


def test_a_copy_that_loses_something_is_an_error(monkeypatch):
    monkeypatch.setattr(copies, "_back", lambda held, got: lambda: got)
    with pytest.raises(BackendError, match="4,096 bytes that were copied to cpu came back as others"):
        copies._copies("cpu", 4096)


def test_a_device_that_is_not_there():
    with pytest.raises(BackendError, match="4,096 bytes cannot be copied to cuda and back"):
        copies._copies("cuda", 4096)


def test_bandwidth_of_a_run_by_hand(monkeypatch):
    """12,000 bytes are 3 arrays of 1,000 floats; 64 sums of them in 1 ms are 768 MB/s."""
    monkeypatch.setattr(device_bandwidth, "best", lambda call, budget_s: Best(1e-3, 0.0, False))
    (rate,) = device_bandwidth_rates(STAND_IN, [12_000], 1, 1.0, waited=list)
    assert rate.per_s == pytest.approx(64 * 12_000 / 1e-3)


@pytest.mark.parametrize(("size", "count"), [(1 << 20, 64), (64 << 20, 64), (256 << 20, 16), (1 << 30, 4)])
def test_a_run_has_sums_of_4_gib_or_64(size, count):
    assert sums_of(size) == count


def test_the_sums_of_a_run_are_all_done():
    """x + 5 steps of 2 is x + 10."""
    session = open_session(chain_of_sums(3, 5), SessionOptions(level="disable"))
    got = session.outputs({"x0": np.arange(3, dtype=np.float32), "step": np.full(3, 2, np.float32)})
    assert got["x5"].tolist() == [10, 11, 12]


@pytest.mark.parametrize("kind", ["float32", "float16", "float64", "int8"])
def test_a_product_on_a_device_is_one(kind):
    feeds = device_feeds(kind, 512)
    got = open_session(device_product(kind, 512), SessionOptions()).outputs(feeds)["y"]
    wanted = feeds["x"].astype(np.float64) @ feeds["w"].astype(np.float64)
    np.testing.assert_allclose(got.astype(np.float64), wanted, rtol=2e-3)


def test_sizes_end_where_a_product_takes_too_long(monkeypatch):
    """2 ms at 32 and 16 ms at 64: 8 times as many operations at 128 would take 0.128 s, more than 0.1."""
    times = iter([2e-3, 16e-3])
    monkeypatch.setattr(
        "neural_cost.runtime.calibrate.compute.best", lambda call, budget_s: Best(next(times), 0.0, False)
    )
    rates = compute_rates("float32", 1, 1.0, (32, 64, 128), waited=list, provider=STAND_IN)
    assert [rate.size for rate in rates] == [32, 64]


def test_a_provider_that_is_not_there_is_no_missing_kernel():
    with pytest.raises(ProviderError, match="install onnxruntime-gpu"):
        why_not("float32", "cuda")


def offered(monkeypatch, *providers):
    monkeypatch.setattr("onnxruntime.get_available_providers", lambda: [*providers, "CPUExecutionProvider"])


def test_which_gpu_is_measured(monkeypatch):
    offered(monkeypatch, "TensorrtExecutionProvider", "CUDAExecutionProvider")
    (found,), told = gpu_places([A100])
    assert (found.provider, found.memory, told) == ("cuda", "cuda", [])
    assert found.machine["name"] == A100.name
    assert (found.copies[0], found.copies[-1]) == (1 << 20, 256 << 20)
    assert found.working_sets[-1] == 1 << 30
    assert found.versions == {"driver": "580.1"}
    assert any("never run on a GPU" in note for note in found.notes)


def test_a_small_gpu_gets_small_arrays(monkeypatch):
    """1 GiB of memory: an eighth is 128 MiB."""
    offered(monkeypatch, "CUDAExecutionProvider")
    (found,), _ = gpu_places([replace(A100, memory_bytes=1 << 30)])
    assert found.copies[-1] == found.working_sets[-1] == 128 << 20


@pytest.mark.parametrize(
    ("gpus", "told"),
    [
        ([], []),
        ([A100, A100], ["NVIDIA A100-SXM4-80GB was not measured: install onnxruntime-gpu or onnxruntime-directml in "
                        "place of onnxruntime"]),
        ([RADEON], ["AMD Radeon RX 7900 XTX was not measured: install onnxruntime-directml in place of onnxruntime"]),
        ([MADE_UP], ["Fake 9000 was not measured: install an ONNX Runtime that can use it in place of onnxruntime"]),
        ([A100, RADEON], ["no GPU was measured: there are several kinds (NVIDIA A100-SXM4-80GB, AMD Radeon RX 7900 "
                          "XTX); let one be visible alone"]),
    ],
)  # fmt: skip
def test_what_is_not_measured_is_told(gpus, told, monkeypatch):
    offered(monkeypatch)
    assert gpu_places(gpus) == ([], told)


def made(machine):
    rates = (
        Rate(what="float32", threads=1, size=4096, per_s=100e12, spread=0.01),
        Rate(what="bandwidth", threads=1, size=1 << 30, per_s=1.5e12, spread=0.01),
        Rate(what="to device", threads=1, size=1 << 20, per_s=10e9, spread=0.01),
    )
    return Calibration(machine=machine, date="2026-01-01", versions={}, rates=rates, dispatch_s=1e-6, left_out={})


@pytest.fixture
def on_an_a100(monkeypatch, tmp_path):
    offered(monkeypatch, "TensorrtExecutionProvider", "CUDAExecutionProvider")
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    for module in (place, this_machine, detect):
        monkeypatch.setattr(module, "detect_gpus", lambda: [A100])


@pytest.mark.usefixtures("on_an_a100")
def test_bounds_use_what_was_measured():
    """100 TFLOP/s and 1.5 TB/s; before that the datasheet, with TF32's 156 TFLOP/s for float32."""
    before = this_machine.bounding_device(None, provider="cuda")
    assert (before.kind, before.peaks["float32"]) == ("datasheet", 156e12)
    assert any("TF32" in note for note in before.notes)
    ((there,), _) = gpu_places()
    store.keep(made(there.machine))
    for provider in ("cuda", "tensorrt", "CUDAExecutionProvider"):
        device = this_machine.bounding_device(None, provider=provider)
        assert (device.kind, device.peaks, device.memory_bandwidth) == ("measured", {"float32": 100e12}, 1.5e12)
    assert this_machine.bounding_device(None, provider="openvino") is None
    assert detect.detect_hardware()[0].kind == "measured"


def test_calibrations_of_a_gpu_are_held_against_each_other():
    """20 GB/s after 10."""
    before = made({"name": "Fake"})
    rates = (*before.rates[:2], replace(before.rates[2], per_s=20e9))
    assert "most of all to device at 1024 KiB on 1 thread: 2.00 times" in disagreement(
        replace(before, rates=rates), before
    )


def command(monkeypatch, capsys, *options):
    monkeypatch.setattr("sys.argv", ["neural-cost", "hardware", *options])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    return ended.value.code, said.out, " ".join(said.err.split())


def small(monkeypatch, places, told=()):
    """The command measures little, and finds these places."""
    cpu = replace(place.this_cpu(), sizes=(64,), working_sets=(1 << 20,))
    plan = Plan(budget_s=0.1, passes=1, types=("float32",))
    real = calibrate
    monkeypatch.setattr(
        "neural_cost.runtime.calibrate.calibrate.calibrate",
        lambda wanted=None, progress=None, place=None: real(plan, progress, place or cpu),
    )
    for module in (place, store):  # the latter has it by name
        monkeypatch.setattr(module, "gpu_places", lambda gpus=None: (list(places), list(told)))


def test_the_command_measures_and_keeps_both(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    small(monkeypatch, [GPU])
    code, out, err = command(monkeypatch, capsys, "--calibrate", "--format", "json")
    data = json.loads(out)
    assert (code, err) == (0, "")
    Draft202012Validator(SCHEMA).validate(data)
    (kept,) = data["gpu_calibrations"]
    assert {rate["what"] for rate in kept["rates"]} == {"float32", "bandwidth", "to device", "from device"}
    assert data["devices"][-1]["type"] == "gpu"
    assert len(list(tmp_path.iterdir())) == 2
    code, out, _ = command(monkeypatch, capsys)  # as they were kept
    assert code == 0
    assert "from device, GB/s" in out
    code, out, _ = command(monkeypatch, capsys, "--format", "csv")
    assert "Stand-in,to device,1,1048576," in out


def test_the_command_tells_of_a_gpu_that_it_could_not_measure(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    small(monkeypatch, [replace(GPU, provider="cuda")], ["another was not measured: why"])
    code, out, err = command(monkeypatch, capsys, "--calibrate", "--format", "json")
    assert code == 0
    assert json.loads(out)["gpu_calibrations"] == []
    assert "another was not measured: why. Stand-in was not measured: the provider cuda is not in this ONNX" in err


def test_the_schema_refuses_nonsense():
    data = {"cpu": {}, "gpus": [], "notes": [], "calibration": None, "calibration_in_use": None,
            "gpu_calibrations": [{"rates": []}], "devices": []}  # fmt: skip
    assert not Draft202012Validator(SCHEMA).is_valid(data)
