"""All backends: those of the package, and those that other packages register.

[project.entry-points."neural_cost.backends"]
mine = "my_package:MyBackend"
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import entry_points

from neural_cost.analyzer.errors import BackendError, closest
from neural_cost.runtime.backends.jax_backend import Jax
from neural_cost.runtime.backends.onnx_backend import OnnxRuntime
from neural_cost.runtime.backends.protocol import ONNX, Backend
from neural_cost.runtime.backends.tensorflow_backend import TensorFlow
from neural_cost.runtime.backends.torch_backend import Torch
from neural_cost.runtime.session import LEVELS

GROUP = "neural_cost.backends"
BUILT_IN: tuple[Backend, ...] = (
    Torch("torch"),
    Torch("torch.compile"),
    Torch("torchscript"),
    TensorFlow("keras"),
    TensorFlow("tf.function"),
    TensorFlow("tf.function xla"),
    Jax(),
    *(OnnxRuntime(level) for level in reversed(LEVELS)),
)


@cache
def backends() -> Sequence[Backend]:
    """All backends.

    Raises:
        BackendError: a registered one cannot be loaded.
    """
    return (*BUILT_IN, *map(_registered, entry_points(group=GROUP)))


def backend(name: str) -> Backend:
    """The backend of this name.

    Raises:
        BackendError: there is none.
    """
    found = next((each for each in backends() if each.name == name), None)
    if found is None:
        names = [each.name for each in backends()]
        raise BackendError(f'there is no backend "{name}"{closest(name, names)}; there are: {", ".join(names)}.')
    return found


def chosen(framework: str | None, names: Sequence[str] | None) -> list[Backend]:
    """Backends that run a framework's models and its file; of a file without a framework, those that run files.

    Raises:
        BackendError: a named one does not exist, or does not run such models.
    """
    fitting = [each for each in backends() if each.framework in (framework, ONNX)]
    if not names:
        return fitting
    found = [backend(name) for name in names]
    for each in found:
        if each not in fitting:
            of = "a file" if framework is None else f"a model of {framework}"
            raise BackendError(f"{each.name} cannot run {of}: choose of {', '.join(one.name for one in fitting)}.")
    return list(dict.fromkeys(found))


def _registered(entry: object) -> Backend:
    try:
        found = entry.load()  # type: ignore[attr-defined]
        return found() if isinstance(found, type) else found  # type: ignore[no-any-return]
    except Exception as error:
        raise BackendError(f'the backend "{entry.name}" cannot be loaded ({error}).') from error  # type: ignore[attr-defined]
