"""Programs that are already on this machine, used instead of built ones."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from ..host.run import CommandError, run
from .catalogue import KUBERNETES_MINOR, Program
from .errors import LocalError
from .settings import Settings

TELL_TIMEOUT_S = 30.0


def executable(file: Path) -> bool:
    """Say whether `file` can be run."""
    return file.is_file() and os.access(file, os.X_OK)


def version(text: str) -> str | None:
    """Return the first version in what a program says of itself, without `v` and suffixes."""
    found = re.search(r"(?<![\d.])(\d+\.\d+\.\d+)(?![\d.])", text)
    return found[1] if found else None


def told(file: Path, program: Program, environment: Mapping[str, str]) -> str | None:
    """Return the version that `file` tells, None if it tells none."""
    try:
        done = run(file, *program.tell, env=environment, timeout_s=TELL_TIMEOUT_S, check=False)
    except (CommandError, OSError):  # hangs, or is made for another processor
        return None
    return version(done.stdout + done.stderr) if done.code == 0 else None


def named(settings: Settings, program: Program) -> Path | None:
    """Return `program` from the folders that the user named, and refuse one that cannot work."""
    for folder in settings.brought:
        if not folder.is_dir():
            raise LocalError(
                f"{folder}: no such folder",
                "SHOAL_BIN_DIR or KUBEBUILDER_ASSETS names it: correct the variable or unset it",
            )
        file = folder / program.name
        if not executable(file):
            continue
        if program.kubernetes:
            _same_minor(file, program, settings)
        return file
    return None


def on_path(settings: Settings, program: Program) -> Path | None:
    """Return `program` from the PATH, if it is there in exactly our version."""
    if not program.version:
        return None
    for folder in settings.path:
        file = folder / program.name
        if executable(file) and told(file, program, settings.environment) == program.version:
            return file
    return None


def _same_minor(file: Path, program: Program, settings: Settings) -> None:
    found = told(file, program, settings.environment)
    cure = (
        f"put programs of Kubernetes {KUBERNETES_MINOR} into {file.parent}, or take that folder out"
        " of SHOAL_BIN_DIR and KUBEBUILDER_ASSETS and have them built"
    )
    if found is None:
        raise LocalError(f"{file} does not tell its version: {' '.join(program.tell)}", cure)
    if found.rpartition(".")[0] != KUBERNETES_MINOR:
        raise LocalError(
            f"{file} is of Kubernetes {found}; a local cluster runs {KUBERNETES_MINOR}", cure
        )
