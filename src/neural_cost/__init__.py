"""neural-cost: what a neural network costs, and how fast it could run.

Names load on first use, so that importing the package imports neither onnx nor a framework.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neural_cost.analyzer.analyze import analyze as analyze
    from neural_cost.analyzer.errors import BackendError as BackendError
    from neural_cost.analyzer.errors import BudgetExceeded as BudgetExceeded
    from neural_cost.analyzer.errors import DeviceError as DeviceError
    from neural_cost.analyzer.errors import DimensionError as DimensionError
    from neural_cost.analyzer.errors import ExportError as ExportError
    from neural_cost.analyzer.errors import ModelError as ModelError
    from neural_cost.analyzer.errors import NeuralCostError as NeuralCostError
    from neural_cost.analyzer.errors import OptionError as OptionError
    from neural_cost.analyzer.errors import ParityError as ParityError
    from neural_cost.analyzer.report import Report as Report
    from neural_cost.analyzer.rules.registry import cost as register  # noqa: F401 - under its public name
    from neural_cost.analyzer.training.options import TrainingOptions as TrainingOptions
    from neural_cost.analyzer.training.record import TrainingCost as TrainingCost
    from neural_cost.analyzer.training.registry import backward as register_backward  # noqa: F401 - its public name
    from neural_cost.exporters.export import export as export
    from neural_cost.exporters.record import Exported as Exported
    from neural_cost.runtime.verify import verify as verify
    from neural_cost.summary import ModelSummary as ModelSummary

__version__ = "0.1.0"

_HOMES = {
    "analyze": "analyzer.analyze",
    "Report": "analyzer.report",
    "register": "analyzer.rules.registry:cost",
    "register_backward": "analyzer.training.registry:backward",
    "TrainingOptions": "analyzer.training.options",
    "TrainingCost": "analyzer.training.record",
    "export": "exporters.export",
    "Exported": "exporters.record",
    "verify": "runtime.verify",
    "ModelSummary": "summary",
} | dict.fromkeys(
    (
        "NeuralCostError",
        "ModelError",
        "DimensionError",
        "OptionError",
        "ExportError",
        "ParityError",
        "BackendError",
        "DeviceError",
        "BudgetExceeded",
    ),
    "analyzer.errors",
)

__all__ = [  # noqa: PLE0604 - the lazy names, and the version
    *_HOMES,
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home, _, own_name = _HOMES[name].partition(":")
    return getattr(import_module(f"{__name__}.{home}"), own_name or name)


def __dir__() -> list[str]:
    return sorted(__all__)
