"""Debian's base images, made by mmdebstrap: a Containerfile's FROM line needs no registry then."""

import hashlib
import platform
import re
from collections.abc import Mapping
from pathlib import Path

from ..host.lock import locked
from ..host.run import CommandError, run
from ..host.stream import stream
from .buildah import EPOCH, Buildah
from .progress import Part, Progress

EXPECT_S = 25.0
STORED = "localhost/base"

# What Debian's own -slim images leave out, and what of this machine mmdebstrap puts in.
OPTIONS = (
    "--variant=minbase",
    "--format=tar",
    *(
        f"--dpkgopt=path-exclude=/usr/share/{folder}/*"
        for folder in ("doc", "info", "lintian", "locale", "man")
    ),
    "--dpkgopt=path-include=/usr/share/doc/*/copyright",
    # Its own cleaning would leave folders whose owner depends on where the cache is.
    *("--skip=cleanup/apt/lists", "--skip=cleanup/apt/cache"),
    '--customize-hook=cd "$1" && rm -rf etc/hostname etc/resolv.conf etc/machine-id'
    " var/cache/apt/* var/cache/ldconfig var/lib/apt/lists/* var/log/*",
)

# Not released: its Release file may outlive its own promise. Signatures are checked all the same.
UNRELEASED = {"forky"}


def name(suite: str) -> str:
    """Return what a Containerfile calls the base."""
    return f"docker.io/library/debian:{suite}-slim"


def key(suite: str) -> str:
    """Return a name for everything that decides what the base of `suite` is."""
    words = (suite, platform.machine(), str(EPOCH), *options(suite))
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]


def stored(suite: str) -> str:
    """Return what buildah's storage calls the base of `suite`."""
    return f"{STORED}:{key(suite)}"


def archive_of(cache: Path, suite: str) -> Path:
    """Return where the cache keeps the base of `suite`."""
    return cache / "bases" / f"{key(suite)}.tar"


def provide(cache: Path, suite: str, buildah: Buildah, progress: Progress) -> None:
    """Have the base of `suite` in buildah's storage, under the name that FROM lines use."""
    ours = stored(suite)
    archive = archive_of(cache, suite)
    with locked(archive.with_suffix(".lock"), lambda: None):
        if not buildah.has(ours):
            if not archive.exists():
                with progress.part(f"Debian {suite}", EXPECT_S) as part:
                    _bootstrap(suite, archive, buildah, part)
            buildah.import_root(archive, ours)
        # Another checkout may have another base of that name in the same storage.
        buildah.tag(ours, name(suite))


def options(suite: str) -> tuple[str, ...]:
    """Return mmdebstrap's options for `suite`."""
    unchecked = ('--aptopt=Acquire::Check-Valid-Until "false"',) if suite in UNRELEASED else ()
    return (*OPTIONS, *unchecked)


def _bootstrap(suite: str, archive: Path, buildah: Buildah, part: Part) -> None:
    scratch = archive.with_suffix(".part")
    environment = {**buildah.environment, "SOURCE_DATE_EPOCH": str(EPOCH)}
    sources = mirrors(suite, environment)

    def line(text: str) -> None:
        if text.startswith("I: "):
            part.at(text[3:])

    buildah.scratch.mkdir(parents=True, exist_ok=True)
    try:
        words = (*options(suite), suite, str(scratch), *sources)
        stream("mmdebstrap", *words, line=line, env=environment)
        scratch.replace(archive)
    finally:
        scratch.unlink(missing_ok=True)


def mirrors(suite: str, environment: Mapping[str, str]) -> list[str]:
    """Return apt source lines for `suite` on the mirrors of this machine.

    None at all, and so Debian's own mirror, where this machine is not Debian or never asked one.
    """
    wanted = "$(ORIGIN) $(LABEL) $(REPO_URI)"
    try:
        said = run("apt-get", "indextargets", "--format", wanted, env=environment).stdout
    except CommandError:
        return []
    return sources(suite, said)


def sources(suite: str, targets: str) -> list[str]:
    """Read `ORIGIN LABEL URI` lines of apt; return the source lines that they mean for `suite`."""
    found = dict(re.findall(r"^Debian (Debian|Debian-Security) (\S+)$", targets, re.MULTILINE))
    if "Debian" not in found:
        return []
    lines = [f"deb {found['Debian']} {name} main" for name in (suite, f"{suite}-updates")]
    if security := found.get("Debian-Security"):
        lines.append(f"deb {security} {suite}-security main")
    return lines
