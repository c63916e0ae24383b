"""TensorFlow, imported without what its libraries write past Python's streams: which devices it does not find."""

from __future__ import annotations

import os
import sys
from typing import Any


def import_tensorflow() -> Any:
    """The module. What it writes while it starts is dropped; an error is raised as ever."""
    if "tensorflow" not in sys.modules:
        sys.stderr.flush()
        kept = os.dup(2)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        try:
            import tensorflow  # noqa: F401
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            os.close(nowhere)
    import tensorflow as tf

    return tf
