"""Where a local cluster keeps its things. Built once, in `cli/`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """The machine's side of every local cluster."""

    cache: Path  # built programs and images, by content key; safe to delete
    state: Path  # one folder per cluster
    # Folders that the user named (SHOAL_BIN_DIR, KUBEBUILDER_ASSETS): what they hold is used
    # instead of built programs, or refused aloud. What is on the PATH is used where it fits.
    brought: tuple[Path, ...] = ()
    offline: bool = False  # never ask a package registry
    # This process's environment, for the programs that it runs; Go's and pip's own variables
    # (GOPROXY, PIP_INDEX_URL, proxies, certificates) reach them through it.
    environment: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def path(self) -> tuple[Path, ...]:
        """The folders of the PATH."""
        words = self.environment.get("PATH", "").split(":")
        return tuple(Path(word) for word in words if word.startswith("/"))
