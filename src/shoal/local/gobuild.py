"""Build Go programs, all of one module in one go.

go.sum holds the hash of every module that may be used, and -mod=readonly refuses any that is not
in it; so what is compiled is what was committed, whichever proxy it came from.
"""

import os
import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..host.run import CommandError
from ..host.stream import stream
from .catalogue import Module, Program
from .errors import LocalError
from .progress import Part
from .settings import Settings

# Taken from no environment: they would give other programs, or none.
DROPPED = {"GOROOT", "GOTOOLDIR", "GOBIN", "GOOS", "GOARCH", "GOEXPERIMENT", "GO111MODULE"}

# Every package that has to be compiled, the mains marked: those are linked in any case.
STALE = '{{if .Stale}}{{.ImportPath}}{{if eq .Name "main"}} main{{end}}{{end}}'


@dataclass(frozen=True)
class Order:
    """What to build with which Go, and where each program goes."""

    go: Path
    module: Module
    targets: Mapping[Program, Path]


def build(settings: Settings, part: Part, order: Order) -> None:
    """Build and put each program in its place, whole or not at all. One at a time per cache."""
    programs = settings.cache / "programs"
    for left_over in programs.glob(".building-*"):
        shutil.rmtree(left_over, ignore_errors=True)
    scratch = programs / f".building-{os.getpid()}"
    try:
        (scratch / "tmp").mkdir(parents=True)
        # A copy, so that an edit half-way does not end up under the key of what was there before.
        shutil.copytree(order.module.folder, scratch / "source")
        _compile(settings, part, order, scratch)
        for program, target in order.targets.items():
            _place(scratch / "programs" / built_name(program), target)
    except CommandError as error:
        with suppress(OSError):  # the disk may be full, and that is what has to be said
            (programs / "build.log").write_text(error.said)
        raise explain(error.said, settings) from error
    except OSError as error:
        raise explain(str(error), settings) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def built_name(program: Program) -> str:
    """Return the file name that Go gives: the last element that is no major version."""
    return re.sub(r"/v\d+$", "", program.package).rpartition("/")[2]


def environment(settings: Settings, scratch: Path) -> dict[str, str]:
    """Return the environment that Go gets: the user's proxies, our caches and flags."""
    kept = {k: v for k, v in settings.environment.items() if k not in DROPPED}
    ours = {
        "CGO_ENABLED": "0",
        "GOCACHE": str(settings.cache / "go" / "build"),
        "GOFLAGS": "-buildvcs=false -mod=readonly",
        "GOMODCACHE": str(settings.cache / "go" / "mod"),
        "GOPATH": str(settings.cache / "go"),
        "GOTMPDIR": str(scratch / "tmp"),
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }
    return kept | ours | ({"GOPROXY": "off"} if settings.offline else {})


def _compile(settings: Settings, part: Part, order: Order, scratch: Path) -> None:
    env = environment(settings, scratch)
    source = scratch / "source"
    packages = [program.package for program in order.targets]
    flags = ("-trimpath", "-ldflags", order.module.ldflags)
    counted = Counted(part)

    part.at("looking for what has to be compiled")
    go = str(order.go)
    lister = (go, "list", *flags, "-deps", "-f", STALE, *packages)
    counted.expect(stream(*lister, line=counted.fetching, env=env, cwd=source))
    builder = (go, "build", "-v", *flags, "-o", f"{scratch / 'programs'}/", *packages)
    stream(*builder, line=counted.compiling, env=env, cwd=source)


class Counted:
    """Turns Go's lines into progress."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.fetched = 0
        self.compiled = 0
        self.waiting: dict[str, bool] = {}  # import path -> is it a main package
        self.total = 0

    def expect(self, listed: str) -> None:
        """Take the list of packages that will be compiled."""
        words = [line.split() for line in listed.splitlines() if not line.startswith("go: ")]
        self.waiting = {word[0]: word[1:] == ["main"] for word in words if word}
        # With only links left there is nothing to count: Go says nothing meanwhile.
        linking = all(self.waiting.values())
        self.total = 0 if linking else len(self.waiting)
        self.part.at("linking" if linking else "compiling", 0, self.total)

    def fetching(self, line: str) -> None:
        """See a line while modules are fetched."""
        if line.startswith("go: downloading "):
            self.fetched += 1
            self.part.at(f"downloading {line.split()[2]} ({self.fetched})")

    def compiling(self, line: str) -> None:
        """See a line of `go build -v`: a package whose compilation begins."""
        if line not in self.waiting:
            return self.fetching(line)
        verb = "linking" if self.waiting.pop(line) else "compiling"
        self.compiled += 1
        self.part.at(f"{verb} {line}", self.compiled, self.total)


def _place(built: Path, target: Path) -> None:
    # Renamed only once it is on the disk: a power cut must not leave half a program in the cache.
    with built.open("rb") as handle:
        os.fsync(handle.fileno())
    target.parent.mkdir(parents=True, exist_ok=True)
    built.replace(target)


BRING = "or bring ready-made programs: SHOAL_BIN_DIR names their folder"

# What Go or the kernel says -> the problem and its cure, first match wins.
KNOWN = (
    (
        r"no space left on device|disk quota exceeded",
        "the disk is full",
        "free 6 GB where {cache} is, or move the cache to a larger disk",
    ),
    (
        r"Permission denied|permission denied|Read-only file system",
        "a file cannot be written",
        "look who owns {cache}, or move the cache",
    ),
    (
        r"module lookup disabled by GOPROXY=off",
        "the programs are not in the cache, and fetching them is switched off",
        f"drop the offline setting once, {BRING}",
    ),
    (
        r"checksum mismatch|SECURITY ERROR",
        "a downloaded module is not the one that go.sum names",
        "find out which proxy GOPROXY is and why it changes modules; if a download was damaged,"
        " remove {cache}/go/mod",
    ),
    (
        r"missing go\.sum entry|updates to go\.(mod|sum) needed|no required module provides",
        "go.mod and go.sum do not cover what the programs import",
        "run `go mod tidy` in the module's folder and look at what it changes",
    ),
    (
        r"signal: killed|cannot allocate memory",
        "the compiler was killed, most likely for want of memory",
        f"give it 4 GB, set GOMAXPROCS=1, {BRING}",
    ),
    (
        r"dial tcp|no such host|i/o timeout|TLS handshake|connection re(fused|set)|proxyconnect"
        r"|x509:|unexpected EOF|https?://\S+: ([45]\d\d|EOF)",
        "the Go module registry cannot be reached",
        f"look at the network, set GOPROXY (now: {{goproxy}}) or HTTPS_PROXY, {BRING}",
    ),
)


def explain(said: str, settings: Settings) -> LocalError:
    """Return what went wrong in words, with its cure."""
    # Go also names every package, on a line of its own.
    lines = [line.removesuffix(" main").strip() for line in said.splitlines()]
    telling = [line for line in lines if " " in line]
    tail = "\n".join(telling[-10:])
    for pattern, problem, cure in KNOWN:
        if re.search(pattern, said):
            goproxy = settings.environment.get("GOPROXY", "Go's default")
            return LocalError(
                f"{problem}\n{tail}", cure.format(cache=settings.cache, goproxy=goproxy)
            )
    log = settings.cache / "programs" / "build.log"
    return LocalError(f"the programs do not build\n{tail}", f"read {log}, {BRING}")
