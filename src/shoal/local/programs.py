"""The programs of a local cluster in one folder: brought, cached or built."""

import hashlib
import platform
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..host import files
from ..host.lock import locked
from . import brought, gobuild, toolchain
from .catalogue import (
    COREDNS,
    DEFAULT,
    ETCD,
    HELM,
    KUBERNETES,
    KWOK,
    PROGRAMS,
    Module,
    Program,
)
from .progress import Progress
from .settings import Settings
from .toolchain import Toolchain

__all__ = ["COREDNS", "DEFAULT", "ETCD", "HELM", "KUBERNETES", "KWOK", "PROGRAMS", "provide"]


def provide(settings: Settings, progress: Progress, wanted: Sequence[str] = DEFAULT) -> Path:
    """Return a folder with a link to every wanted program.

    First come the folders that the user named, then the cache, then the PATH; the rest is built.
    """
    found: dict[str, Path] = {}
    missing: list[Program] = []
    for program in [PROGRAMS[name] for name in wanted]:
        if file := brought.named(settings, program):
            found[program.name] = file
        else:
            missing.append(program)
    for module in dict.fromkeys(program.module for program in missing):
        mine = [program for program in missing if program.module == module]
        found |= _provide_module(settings, progress, module, mine)
    return assemble(settings.cache, found)


def _provide_module(
    settings: Settings, progress: Progress, module: Module, wanted: Sequence[Program]
) -> dict[str, Path]:
    """Return where each wanted program of one module is, after building what is nowhere yet."""
    go = toolchain.choose(settings, toolchain.needed(module.folder))
    places = {program: place(settings.cache, program, go) for program in wanted}
    for program, target in places.items():
        if not target.exists() and (file := brought.on_path(settings, program)):
            places[program] = file
    if not all(file.exists() for file in places.values()):
        _build(settings, progress, go, places)
    return {program.name: file for program, file in places.items()}


def _build(
    settings: Settings, progress: Progress, go: Toolchain, places: Mapping[Program, Path]
) -> None:
    module = next(iter(places)).module
    toolchain.install(settings, progress, go)
    compiled = settings.cache / "go" / f"compiled-{module.name}"
    expect_s = module.warm_s if compiled.exists() else module.cold_s
    with progress.part(module.part, expect_s) as part:
        lock = settings.cache / "programs" / ".lock"
        with locked(lock, lambda: part.at("waiting for another process that builds them")):
            targets = {program: file for program, file in places.items() if not file.exists()}
            if targets:
                gobuild.build(settings, part, gobuild.Order(go.go, module, targets))
                files.write(compiled, "")


def place(cache: Path, program: Program, go: Toolchain) -> Path:
    """Return where the cache keeps `program` as it would be built now."""
    return cache / "programs" / key(program, program.module.folder, go.minor) / program.name


def key(program: Program, folder: Path, go_minor: str) -> str:
    """Return a name for everything that decides what a build gives.

    Upstream programs do not depend on our own sources, so an edit there leaves them alone. Ours
    depend on their own folder and on whatever of the module belongs to no single program.
    """
    digest = hashlib.sha256()

    def add(name: str, content: bytes) -> None:
        digest.update(f"{name} {len(content)}\n".encode() + content)

    add("go", go_minor.encode())
    add("processor", platform.machine().encode())
    add("ldflags", program.module.ldflags.encode())
    for file in ("go.mod", "go.sum", *(_sources(program, folder) if program.ours else ())):
        add(file, (folder / file).read_bytes())
    return digest.hexdigest()[:16]


def _sources(program: Program, folder: Path) -> list[str]:
    others = {
        other.package.removeprefix("./")
        for other in PROGRAMS.values()
        if other.ours and other.module == program.module and other != program
    }
    files = sorted(file.relative_to(folder) for file in folder.rglob("*.go"))
    return [
        str(file)
        for file in files
        if file.parts[0] not in others and not file.name.endswith("_test.go")
    ]


def assemble(cache: Path, found: Mapping[str, Path]) -> Path:
    """Return a folder with a link to each program, wherever it was found."""
    lines = [f"{name} {file}\n" for name, file in sorted(found.items())]
    digest = hashlib.sha256("".join(lines).encode()).hexdigest()[:16]
    folder = cache / "programs" / "sets" / digest
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".", dir=folder.parent))
    scratch.chmod(0o755)
    for name, file in found.items():
        (scratch / name).symlink_to(file.absolute())
    try:
        scratch.replace(folder)
    except OSError:
        shutil.rmtree(scratch)
        if not folder.is_dir():  # else another one was faster
            raise
    return folder
