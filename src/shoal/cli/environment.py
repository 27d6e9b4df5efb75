"""What the environment says: the only place that asks."""

import os
from pathlib import Path

from ..local.settings import Settings


def settings() -> Settings:
    """Return where local clusters keep their things."""
    home = Path.home()
    brought = [os.environ.get(key) for key in ("SHOAL_BIN_DIR", "KUBEBUILDER_ASSETS")]
    return Settings(
        # Machines have another working folder than the user.
        cache=Path(os.environ.get("SHOAL_CACHE") or home / ".cache/shoal").absolute(),
        state=Path(os.environ.get("SHOAL_STATE") or home / ".local/state/shoal").absolute(),
        brought=tuple(Path(folder).absolute() for folder in brought if folder),
        offline=bool(os.environ.get("SHOAL_OFFLINE")),
        environment=dict(os.environ),
    )


def debugging() -> bool:
    """Say whether the user wants to see where in the code an error came from."""
    return bool(os.environ.get("SHOAL_DEBUG"))
