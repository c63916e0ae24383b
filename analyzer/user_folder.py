"""Where this program keeps what it made: `$NEURAL_COST_CACHE`, or the user's cache folder."""

from __future__ import annotations

import os
from pathlib import Path


def user_folder() -> Path:
    """The folder; it need not exist."""
    own = os.environ.get("NEURAL_COST_CACHE")
    user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(own) if own else user / "neural-cost"
