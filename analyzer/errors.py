"""Errors that a user can act on.

NeuralCostError
├── ModelError          the file cannot be read, is invalid, or points outside its folder
├── DimensionError      a dimension that the model lacks, or a value that does not fit
├── ExportError         a framework's model could not be turned into ONNX
├── BackendError        an extra is missing, or a provider is not available
├── DeviceError         no such device in the table, or a device without the figure asked for
└── BudgetExceeded      a model costs more than it may

Each message is one sentence that names the file, node or tensor and says what to do. Anything else that
escapes is a fault of this program.
"""


class NeuralCostError(Exception):
    """Base of every error that this package raises on purpose."""

    exit_code = 3


class ModelError(NeuralCostError):
    """The model cannot be read or is not valid ONNX."""


class DimensionError(NeuralCostError):
    """A dimension was named that the model lacks, or given a value that does not fit."""

    exit_code = 2


class ExportError(NeuralCostError):
    """A framework's model could not be exported."""


class BackendError(NeuralCostError):
    """A backend is missing or cannot run the model."""


class DeviceError(NeuralCostError):
    """A device is unknown, or lacks a figure that is needed."""

    exit_code = 2


class BudgetExceeded(NeuralCostError):
    """A model costs more than the budget allows."""

    exit_code = 1
