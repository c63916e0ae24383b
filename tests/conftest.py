"""Exports of PyTorch models, made once for all tests of a session."""

import signal
from collections.abc import Callable
from functools import cache

import pytest

from tests.transformer_models import Exported, export, export_by_trace

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell starts with `&` what Ctrl-C is not to end
    signal.signal(signal.SIGINT, signal.default_int_handler)  # else tests that interrupt a process wait for minutes


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Exported]:
    """Export of a small transformer, by name and opset."""
    folder = tmp_path_factory.mktemp("exported")
    return cache(lambda name, opset=20: export(name, folder, opset))


@pytest.fixture(scope="session")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Exported]:
    """Export of a small transformer by the older exporter, by name."""
    folder = tmp_path_factory.mktemp("traced")
    return cache(lambda name: export_by_trace(name, folder))


@pytest.fixture(autouse=True)
def no_calibration(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests see no calibration of the machine that they run on: a bound would depend on it."""
    folder = tmp_path_factory.getbasetemp() / "no_calibrations"
    monkeypatch.setattr("neural_cost.runtime.calibrate.store.FOLDER", folder)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run the command in this process: (exit code, stdout, stderr)."""
    from neural_cost.cli import main

    monkeypatch.setenv("COLUMNS", "120")

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["neural-cost", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0), *capsys.readouterr()

    return call
