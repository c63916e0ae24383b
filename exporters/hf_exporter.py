"""Hugging Face configs: the graph of a model without its weights, through mobius-onnx. Nothing is fetched."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from neural_cost.analyzer.environment import environment
from neural_cost.analyzer.errors import BackendError, ExportError, ModelError
from neural_cost.exporters.dim_names import open_axes
from neural_cost.exporters.messages import first_line
from neural_cost.exporters.protocol import Draft, Request

OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
ABSENT = "weights-not-exported.data"


@dataclass(frozen=True)
class HfConfig:
    """A `config.json`, or the folder of one; `component` where the model has several graphs."""

    path: Path
    component: str | None = None

    @property
    def file(self) -> Path:
        """The config itself."""
        return self.path / "config.json" if self.path.is_dir() else self.path


class HfExporter:
    """Exports what a config describes, if mobius-onnx knows its architecture."""

    name = "hf"

    def recognises(self, model: object, example_inputs: object) -> bool:
        """Say whether a model is a config."""
        del example_inputs
        return isinstance(model, HfConfig)

    def reads(self, file: Path) -> bool:
        """A folder may be anything: `hf:PATH` says that it is a config."""
        del file
        return False

    def load(self, file: Path) -> tuple[object, object]:
        """Read nothing yet."""
        return HfConfig(file), None

    def content(self, model: Any, example_inputs: Any) -> bytes | None:
        """Digest the config and the version of what builds its graph."""
        from neural_cost.exporters.cache import digest_of

        del example_inputs
        _require_mobius()
        return digest_of(iter([_read(model), model.component, _versions()]))

    def export(self, model: Any, example_inputs: Any, file: Path, request: Request) -> Draft:
        """Write the graph; weights are named, sized and absent."""
        import onnx_ir as ir

        del example_inputs
        _require_mobius()
        if request.dynamic_dims or request.opset:
            raise ExportError(
                "the open axes and the opset of a config's graph are those of mobius-onnx: leave them out."
            )
        graph = _component(_build(model), model)
        absent = [value for value in graph.graph.initializers.values() if value.const_value is None]
        for value in absent:
            value.const_value = ir.ExternalTensor(ABSENT, 0, None, value.dtype, shape=value.shape, name=value.name)
        ir.save(graph, file)
        notes = (f"without weights: {len(absent)} tensors are named and sized alone, so nothing can be compared",)
        return Draft("mobius-onnx", _versions(), {}, open_axes(graph), None, notes)


def _read(model: HfConfig) -> bytes:
    """The config as it is. Raises ModelError for what is no config of a model that is named."""
    try:
        data = model.file.read_bytes()
    except OSError as error:
        raise ModelError(
            f"{model.file} cannot be read ({error.strerror}); give a config.json or the folder of one."
        ) from error
    try:
        config = json.loads(data)
    except ValueError as error:
        raise ModelError(f"{model.file} is not JSON ({first_line(error).rstrip('.')}); download it again.") from error
    if not isinstance(config, dict) or not isinstance(config.get("model_type"), str):
        raise ModelError(f"{model.file} has no model_type, so it is the config of no model that could be built.")
    return data


def _build(model: HfConfig) -> Any:
    """Build from a copy of the config alone, so that neither weights nor code beside it are looked at."""
    import mobius

    kind = json.loads(_read(model))["model_type"]
    with tempfile.TemporaryDirectory() as folder, environment(dict.fromkeys(OFFLINE, "1")):
        shutil.copy(model.file, Path(folder) / "config.json")
        try:
            return mobius.build(folder, load_weights=False, trust_remote_code=False)
        except Exception as error:
            if "model_index.json" in str(error):  # what it looks for last
                raise ExportError(f"mobius-onnx knows no architecture {kind!r}, as {model.file} has it.") from error
            said = first_line(error).replace(folder, str(model.file.parent))
            raise ExportError(f"mobius-onnx cannot build {model.file} ({type(error).__name__}): {said}") from error


def _component(package: Any, model: HfConfig) -> Any:
    names = list(package)
    if model.component in names or (model.component is None and len(names) == 1):
        return package[model.component or names[0]]
    choices = ", ".join(f"hf:{model.path}#{name}" for name in names)
    raise ExportError(f"{model.file} describes {len(names)} graphs: give one of {choices}.")


def _versions() -> dict[str, str]:
    return {name: metadata.version(name) for name in ("mobius-onnx", "transformers")}


def _require_mobius() -> None:
    try:
        import mobius  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as error:
        raise BackendError(f"{error.name} is missing: pip install 'neural-cost[hf]'.") from error
