"""What lies in the cache, and what of it nothing needs any more.

An entry is named by everything that decided what is in it. It is in the way when this version of
shoal would not use it and no machine that runs now was started from it.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path

from ..host.lock import is_held, locked
from . import bases, brought, images, packages, programs, toolchain
from .buildah import Buildah
from .catalogue import PROGRAMS
from .errors import LocalError
from .machine import first_processes
from .settings import Settings


class Use(Enum):
    """Who needs an entry."""

    CURRENT = "used by the next up"
    RUNNING = "used by a running cluster"
    KEPT = "kept for later builds"
    NOBODY = "used by nobody"


@dataclass(frozen=True)
class Kind:
    """Entries of one sort: where they lie, and what whoever makes one of them holds."""

    name: str
    pattern: str
    lock: Callable[[Path], Path]


@dataclass(frozen=True)
class Entry:
    """One thing in the cache."""

    kind: str
    path: Path
    use: Use
    lock: Path | None = None

    @property
    def key(self) -> str:
        """Its name, without what only says how it is packed."""
        return (
            self.path.name.strip(".").partition(".")[0] if self.path.is_file() else self.path.name
        )

    @property
    def size_bytes(self) -> int:
        """What its files take."""
        return sum(file.lstat().st_size for file in _files(self.path))

    @property
    def made(self) -> datetime:
        """When it was put here."""
        return datetime.fromtimestamp(self.path.stat().st_mtime, UTC)


def _beside(path: Path) -> Path:
    return path.with_name(".lock")


def _of_its_own(path: Path) -> Path:
    return path.with_suffix(".lock")


KEYED = (
    Kind("programs", f"programs/{16 * '[0-9a-f]'}", _beside),
    Kind("images", "images/*.oci.tar", images.lock_of),
    Kind("base", "bases/*.tar", _of_its_own),
    Kind("go", "go-toolchain/[0-9]*", _beside),
)
# What builds leave that were killed.
SCRATCH = (
    Kind("scratch", "programs/.building-*", _beside),
    Kind("scratch", "images/.*.building", _of_its_own),
    Kind("scratch", "bases/*.part", _of_its_own),
    Kind("scratch", "go-toolchain/.installing-*", _beside),
)


def entries(settings: Settings) -> list[Entry]:
    """Return everything in the cache, by kind."""
    # Machines were told where the files really are, behind any link.
    cache = settings.cache.resolve()
    needed, running = current(replace(settings, cache=cache)), in_use(cache)
    keyed = [
        Entry(kind.name, path, _use(path, needed, running), kind.lock(path))
        for kind, path in _found(cache, KEYED)
    ]
    scratch = [
        Entry(kind.name, path, Use.NOBODY, kind.lock(path))
        for kind, path in _found(cache, SCRATCH)
        if not is_held(kind.lock(path))
    ]
    return [*keyed, *scratch, *_shared(cache)]


def _found(cache: Path, kinds: tuple[Kind, ...]) -> Iterator[tuple[Kind, Path]]:
    for kind in kinds:
        for path in sorted(cache.glob(kind.pattern)):
            yield kind, path


def _shared(cache: Path) -> list[Entry]:
    """Return what has no key: Go's and buildah's own caches, and whatever else is here."""
    known = {kind.pattern.partition("/")[0] for kind in KEYED}
    others = [p for p in sorted(cache.glob("*/")) if p.name not in known]
    return [Entry("shared", path, Use.KEPT) for path in others]


def _use(path: Path, needed: set[Path], running: set[Path]) -> Use:
    if any(used.is_relative_to(path) or path.is_relative_to(used) for used in running):
        return Use.RUNNING
    return Use.CURRENT if path in needed else Use.NOBODY


def current(settings: Settings) -> set[Path]:
    """Return the entries that `up` and image builds would use now, there or not."""
    modules = {program.module for program in PROGRAMS.values()}
    go = {m: toolchain.choose(settings, toolchain.needed(m.folder)) for m in modules}
    places = {p.name: programs.place(settings.cache, p, go[p.module]) for p in PROGRAMS.values()}
    machine = brought.named(settings, PROGRAMS["machine"]) or places["machine"]
    return {
        *(place.parent for place in places.values()),
        *(chosen.go.parents[2] for chosen in go.values()),
        *_archives(settings.cache, machine.parent),
        *(bases.archive_of(settings.cache, suite) for suite in _suites()),
    }


def _archives(cache: Path, built: Path) -> Iterator[Path]:
    for bundle in images.BUNDLES:
        try:
            found = images.inputs(bundle, built)
        except LocalError:
            continue  # it cannot be built now, so there is nothing that it would use
        yield images.archive_of(cache, images.key(bundle, found))


def _suites() -> set[str]:
    return {bundle.suite for bundle in images.BUNDLES if bundle.suite}


def in_use(cache: Path) -> set[Path]:
    """Return what the machines of this host run from the cache, whosever they are."""
    used: set[Path] = set()
    for process, config in first_processes().items():
        try:
            used.add(Path(os.readlink(f"/proc/{process.pid}/exe")))
            told = json.loads(config.read_text())
        except (OSError, ValueError):
            # It is just ending, or somebody deleted its folder: it may be any of them.
            used.add(cache / "programs")
            continue
        used |= {Path(program["argv"][0]) for program in told["programs"]}
        used |= {Path(mount["source"]) for mount in told["mounts"]}
    return {path for path in used if path.is_relative_to(cache)}


def prune(entry: Entry, waiting: Callable[[], None]) -> None:
    """Remove an entry that nobody uses; call `waiting` first when somebody is building it anew."""
    assert entry.use is Use.NOBODY
    assert entry.lock is not None
    with locked(entry.lock, waiting):
        if entry.path.is_dir():
            shutil.rmtree(entry.path)
        else:
            entry.path.unlink(missing_ok=True)


def tidy(settings: Settings) -> None:
    """Remove what hung on removed entries: sets of links, and the layers of old images."""
    for folder in (settings.cache / "programs" / "sets").glob("*"):
        if not all(link.exists() for link in folder.iterdir()):
            shutil.rmtree(folder)
    storage = settings.cache / "buildah"
    if storage.is_dir() and packages.find(settings, "buildah"):
        buildah = Buildah(storage, settings.environment)
        wanted = {bases.stored(suite) for suite in _suites()}
        buildah.prune([name for name in buildah.names(bases.STORED) if name not in wanted])


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
    for folder, _, names in os.walk(path):
        yield from (Path(folder, name) for name in names)
