"""neural-cost: what a neural network costs, and how fast it could run.

Names load on first use, so that importing the package imports neither onnx nor a framework.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neural_cost.analyzer.analyze import analyze as analyze
    from neural_cost.analyzer.comparison import Comparison as Comparison
    from neural_cost.analyzer.errors import BackendError as BackendError
    from neural_cost.analyzer.errors import BudgetExceeded as BudgetExceeded
    from neural_cost.analyzer.errors import DeviceError as DeviceError
    from neural_cost.analyzer.errors import DimensionError as DimensionError
    from neural_cost.analyzer.errors import ExportError as ExportError
    from neural_cost.analyzer.errors import InputError as InputError
    from neural_cost.analyzer.errors import ModelError as ModelError
    from neural_cost.analyzer.errors import NeuralCostError as NeuralCostError
    from neural_cost.analyzer.errors import OptionError as OptionError
    from neural_cost.analyzer.errors import ParityError as ParityError
    from neural_cost.analyzer.errors import RuleError as RuleError
    from neural_cost.analyzer.findings.record import Finding as Finding
    from neural_cost.analyzer.gap.analyze import analyze_gap as analyze_gap
    from neural_cost.analyzer.gap.record import Gap as Gap
    from neural_cost.analyzer.prediction.predict import predict as predict
    from neural_cost.analyzer.prediction.record import Prediction as Prediction
    from neural_cost.analyzer.report import Report as Report
    from neural_cost.analyzer.rules.registry import cost as register  # noqa: F401 - under its public name
    from neural_cost.analyzer.training.options import TrainingOptions as TrainingOptions
    from neural_cost.analyzer.training.record import TrainingCost as TrainingCost
    from neural_cost.analyzer.training.registry import backward as register_backward  # noqa: F401 - its public name
    from neural_cost.comparing import compare as compare
    from neural_cost.estimates import Estimate as Estimate
    from neural_cost.estimates import estimate_model as estimate_model
    from neural_cost.estimates import estimate_operations as estimate_operations
    from neural_cost.exporters.export import export as export
    from neural_cost.exporters.record import Exported as Exported
    from neural_cost.hardware_spec import HardwareSpec as HardwareSpec
    from neural_cost.operations.record import Operation as Operation
    from neural_cost.render.plots.figure import plot as plot
    from neural_cost.runtime.calibrate.calibrate import calibrate as calibrate
    from neural_cost.runtime.detect import detect_hardware as detect_hardware
    from neural_cost.runtime.profile import Profile as Profile
    from neural_cost.runtime.profile import profile as profile
    from neural_cost.runtime.this_machine import this_machine as this_machine
    from neural_cost.runtime.timing import Timing as Timing
    from neural_cost.runtime.timing import benchmark as benchmark
    from neural_cost.runtime.verify import verify as verify
    from neural_cost.static_profile import ModelProfile as ModelProfile
    from neural_cost.static_profile import profile_model as profile_model
    from neural_cost.summary import ModelSummary as ModelSummary

__version__ = "0.1.0"

_HOMES = {
    "analyze": "analyzer.analyze",
    "Report": "analyzer.report",
    "analyze_gap": "analyzer.gap.analyze",
    "Gap": "analyzer.gap.record",
    "Finding": "analyzer.findings.record",
    "predict": "analyzer.prediction.predict",
    "Prediction": "analyzer.prediction.record",
    "this_machine": "runtime.this_machine",
    "register": "analyzer.rules.registry:cost",
    "compare": "comparing",
    "Comparison": "analyzer.comparison",
    "export": "exporters.export",
    "Exported": "exporters.record",
    "verify": "runtime.verify",
    "calibrate": "runtime.calibrate.calibrate",
    "detect_hardware": "runtime.detect",
    "profile": "runtime.profile",
    "Profile": "runtime.profile",
    "plot": "render.plots.figure",
    "benchmark": "runtime.timing",
    "Timing": "runtime.timing",
    "register_backward": "analyzer.training.registry:backward",
    "TrainingOptions": "analyzer.training.options",
    "TrainingCost": "analyzer.training.record",
    "ModelSummary": "summary",
    "Operation": "operations.record",
    "Estimate": "estimates",
    "estimate_operations": "estimates",
    "estimate_model": "estimates",
    "profile_model": "static_profile",
    "ModelProfile": "static_profile",
    "HardwareSpec": "hardware_spec",
} | dict.fromkeys(
    (
        "NeuralCostError",
        "ModelError",
        "DimensionError",
        "OptionError",
        "ExportError",
        "ParityError",
        "BackendError",
        "InputError",
        "DeviceError",
        "RuleError",
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
