"""The toy framework, registered as another package would register it."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint

import pytest

from neural_cost.exporters import registry


@pytest.fixture(autouse=True)
def one_thread():
    """Workers share the cores; the models here are too small for two."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)


@pytest.fixture
def registered(monkeypatch):
    """Register an exporter by the place of its class; forget it afterwards."""

    def register(where):
        entry = EntryPoint("toy", where, registry.GROUP)
        monkeypatch.setattr(registry, "entry_points", lambda group: [entry] if group == registry.GROUP else [])
        registry.exporters.cache_clear()

    yield register
    registry.exporters.cache_clear()


@pytest.fixture
def toy(registered):
    """The toy framework can be exported."""
    registered("tests.exporters.toy:ToyExporter")
