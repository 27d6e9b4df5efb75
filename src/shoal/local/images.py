"""Images of this project, built here from the Containerfiles that a registry build uses too.

Images that share layers share an archive, so that a node unpacks each layer once. An archive is
named by everything that went into it; what has not changed is neither built nor fetched again.
"""

import hashlib
import os
import platform
import re
import shlex
import shutil
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..host import files
from ..host.lock import locked
from ..host.run import CommandError
from . import bases
from .buildah import EPOCH, Buildah, step
from .errors import LocalError
from .progress import Part, Progress
from .settings import Settings

REGISTRY = "docker.io/shoal"

# Slurm's release series -> the Debian that has it.
SERIES: Mapping[str, str] = {"24.11": "trixie", "26.05": "forky"}
DAEMONS = ("slurmctld", "slurmd", "slurmdbd", "slurmrestd", "sackd", "login")
# Those of a cluster on a shared root, the jail: role and daemon, as Nebius names them.
JAILED = (
    *("controller_slurmctld", "controller_slurmdbd", "rest_slurmrestd"),
    *("worker_slurmd", "login_sshd", "munge", "populate_jail"),
)
MARIADB = "11.8"  # trixie's
VERSION = "0.1.0"  # our own, as in pyproject.toml
SHOAL = ("pyproject.toml", "uv.lock", "LICENSE", "README.md", "src/shoal")

# What of the environment says where Python packages come from, and this machine's certificates.
INDEX = (
    *("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST"),
    *("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_INSECURE_HOST"),
)
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"


@dataclass(frozen=True)
class Image:
    """A built image; `archive` may hold others as well."""

    name: str
    archive: Path
    key: str


@dataclass(frozen=True)
class Recipe:
    """One image: a Containerfile, and what it is given."""

    name: str  # with its tag
    target: str = ""  # the stage of the Containerfile


@dataclass(frozen=True)
class Bundle:
    """Images of one Containerfile that share an archive."""

    title: str
    recipes: tuple[Recipe, ...]
    reads: tuple[str, ...]  # files and folders of the checkout; first that of the Containerfile
    expect_s: float  # as measured with an empty cache, without the base
    suite: str = ""  # the Debian it stands on
    args: Mapping[str, str] = field(default_factory=dict, hash=False)
    programs: tuple[str, ...] = ()  # Go programs that it copies from bin/
    indexed: bool = False  # fetches from a Python package index


BUNDLES: tuple[Bundle, ...] = (
    Bundle("pause", (Recipe("pause:1"),), ("images/pause",), 2, programs=("machine",)),
    *(
        Bundle(
            f"Slurm {series}",
            tuple(Recipe(f"{daemon}:{series}", daemon) for daemon in DAEMONS),
            ("images/slurm", "images/add-packages"),
            70,
            suite,
            {"DEBIAN": suite, "SLURM": series},
        )
        for series, suite in SERIES.items()
    ),
    *(
        Bundle(
            f"Slurm {series} with a jail",
            tuple(Recipe(f"{name}:{series}", name) for name in JAILED),
            ("images/jail", "images/slurm/supervise", "images/add-packages"),
            110,
            suite,
            {"DEBIAN": suite, "SLURM": series},
        )
        for series, suite in SERIES.items()
    ),
    Bundle(
        "MariaDB",
        (Recipe(f"mariadb:{MARIADB}"),),
        ("images/mariadb", "images/add-packages"),
        20,
        "trixie",
        {"MARIADB": MARIADB},
    ),
    Bundle(
        "shoal",
        (Recipe(f"shoal:{VERSION}"),),
        ("images/shoal", "images/add-packages", *SHOAL),
        40,
        "trixie",
        {"VERSION": VERSION},
        indexed=True,
    ),
)
BUNDLE_OF: Mapping[str, Bundle] = {
    recipe.name: bundle for bundle in BUNDLES for recipe in bundle.recipes
}

GROUND: tuple[str, ...] = ("pause:1",)
SLURM: Mapping[str, tuple[str, ...]] = {
    series: tuple(f"{daemon}:{series}" for daemon in DAEMONS) for series in SERIES
}
JAIL: Mapping[str, tuple[str, ...]] = {
    series: tuple(f"{name}:{series}" for name in JAILED) for series in SERIES
}
_EITHER = (f"mariadb:{MARIADB}", f"shoal:{VERSION}")
# Words that stand for several: everything, nothing, or what clusters of one API need.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "all": tuple(name for name in BUNDLE_OF if name not in GROUND),
    "none": (),
    "slinky": (*(name for several in SLURM.values() for name in several), *_EITHER),
    "nebius": (*(name for several in JAIL.values() for name in several), *_EITHER),
}


def named(words: Sequence[str]) -> tuple[str, ...]:
    """Return the images that a user's words mean: groups, or names with or without a tag."""
    names: dict[str, None] = {}
    for word in words:
        matching = GROUPS.get(word) or [n for n in BUNDLE_OF if word in (n, n.partition(":")[0])]
        if not matching and word not in GROUPS:
            known = (*GROUPS, *BUNDLE_OF)
            raise LocalError(f"there is no image {word}", f"one of: {', '.join(known)}")
        names |= dict.fromkeys(matching)
    return tuple(names)


def recipes_dir() -> Path:
    """Return the folder of the Containerfiles: the checkout's, or the copy in the package."""
    package = Path(__file__).parents[1]
    checkout = package.parents[1] / "images"
    return checkout if checkout.is_dir() else package / "images"


def inputs(bundle: Bundle, programs: Path | None) -> dict[str, Path]:
    """Return every file that the bundle's build may read, by its place in the context.

    The context is laid out as the checkout is, which is the context of a registry build.
    """
    found: dict[str, Path] = {}
    for name in bundle.reads:
        place = _place(name)
        if not place.exists():
            raise LocalError(f"{place} is missing", "build this image from a checkout of shoal")
        each = [place] if place.is_file() else [f for f in place.rglob("*") if f.is_file()]
        found |= {
            str(Path(name) / file.relative_to(place)): file
            for file in each
            if file.parent.name != "__pycache__"
        }
    for name in bundle.programs:
        if programs is None or not (programs / name).is_file():
            raise LocalError(
                f"the image of {bundle.title} holds the program {name}, which is not there",
                "build the cluster's programs first",
            )
        found[f"bin/{name}"] = programs / name
    return dict(sorted(found.items()))


def _place(name: str) -> Path:
    folder, _, rest = name.partition("/")
    return recipes_dir() / rest if folder == "images" else recipes_dir().parent / name


def key(bundle: Bundle, found: Mapping[str, Path]) -> str:
    """Return a name for everything that decides what the bundle's images are."""
    digest = hashlib.sha256()

    def add(name: str, content: bytes) -> None:
        digest.update(f"{name} {len(content)}\n".encode() + content)

    add("processor", platform.machine().encode())
    add("time", str(EPOCH).encode())
    add("base", bases.key(bundle.suite).encode() if bundle.suite else b"")
    add("images", " ".join(f"{r.name}={r.target}" for r in bundle.recipes).encode())
    for name, value in sorted(bundle.args.items()):
        add(f"argument {name}", value.encode())
    for name, file in found.items():
        add(f"{name} {file.stat().st_mode & 0o111 != 0}", file.read_bytes())
    return digest.hexdigest()[:16]


def build(
    settings: Settings, wanted: Sequence[str], programs: Path | None, progress: Progress
) -> list[Image]:
    """Return the wanted images, after building those that are not in the cache.

    `programs` is a folder with the Go programs; only images that hold one need it.
    """
    archives = {
        bundle.title: _provide(settings, bundle, inputs(bundle, programs), progress)
        for bundle in dict.fromkeys(BUNDLE_OF[name] for name in wanted)
    }
    found = ((name, archives[BUNDLE_OF[name].title]) for name in dict.fromkeys(wanted))
    return [Image(f"{REGISTRY}/{name}", file, file.name.partition(".")[0]) for name, file in found]


def _provide(
    settings: Settings, bundle: Bundle, found: Mapping[str, Path], progress: Progress
) -> Path:
    archive = archive_of(settings.cache, key(bundle, found))
    if archive.exists():
        return archive
    if settings.offline and bundle.suite:
        raise LocalError(
            f"the images of {bundle.title} are not in the cache, and fetching is switched off",
            "drop the offline setting once",
        )
    buildah = Buildah(settings.cache / "buildah", settings.environment)
    # One lock for each: the small images must not wait for the large ones.
    try:
        with locked(lock_of(archive), lambda: _say_waiting(progress, bundle)):
            if archive.exists():
                return archive
            if bundle.suite:
                bases.provide(settings.cache, bundle.suite, buildah, progress)
            with progress.part(f"images of {bundle.title}", bundle.expect_s) as part:
                # Held by the lock; what is left in it is of a process that was killed.
                scratch = archive.with_name(f".{archive.name}.building")
                return _make(settings, bundle, found, Work(buildah, part, scratch))
    except CommandError as error:
        (settings.cache / "images" / "build.log").write_text(error.said)
        raise explain(error.said, bundle.title, settings.cache) from error
    except OSError as error:
        raise explain(str(error), bundle.title, settings.cache) from error


def archive_of(cache: Path, named: str) -> Path:
    """Return where the cache keeps the images with the key `named`."""
    return cache / "images" / f"{named}.oci.tar"


def lock_of(archive: Path) -> Path:
    """Return what whoever builds `archive` holds."""
    return archive.with_name(f".{archive.name}.lock")


def _say_waiting(progress: Progress, bundle: Bundle) -> None:
    with progress.part(f"{bundle.title}: waiting for another build", bundle.expect_s):
        pass


@dataclass(frozen=True)
class Work:
    """Who does the work, who shows it, and where."""

    buildah: Buildah
    part: Part
    scratch: Path


def _make(settings: Settings, bundle: Bundle, found: Mapping[str, Path], work: Work) -> Path:
    shutil.rmtree(work.scratch, ignore_errors=True)
    context, layout, packed = (work.scratch / name for name in ("context", "layout", "packed"))
    try:
        # A copy with a key of its own: an edit half-way must not end up under the old key.
        staged = {name: _copy(file, context / name) for name, file in found.items()}
        archive = archive_of(settings.cache, key(bundle, staged))
        secrets = _secrets(settings, work.scratch) if bundle.indexed else ()
        for number, recipe in enumerate(bundle.recipes):
            name = f"{REGISTRY}/{recipe.name}"
            options = (*_options(bundle, recipe, context), f"--tag={name}", *secrets)
            counted = Counted(work.part, recipe.name, number, len(bundle.recipes))
            work.buildah.push(work.buildah.build(context, options, counted.line), name, layout)
        work.part.at("packing")
        pack(layout, packed)
        packed.replace(archive)
        return archive
    finally:
        shutil.rmtree(work.scratch, ignore_errors=True)


def _copy(file: Path, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(file, target))


@dataclass(frozen=True)
class Counted:
    """Turns buildah's lines into progress. A stage has numbers of its own, so only images count."""

    part: Part
    name: str
    number: int
    images: int

    def line(self, text: str) -> None:
        """See a line of output."""
        if found := step(text):
            self.part.at(f"{self.name}: {found}", self.number, self.images)


def _options(bundle: Bundle, recipe: Recipe, context: Path) -> list[str]:
    options = [f"--file={context / bundle.reads[0]}/Containerfile"]
    options += [f"--build-arg={name}={value}" for name, value in bundle.args.items()]
    return [*options, f"--target={recipe.target}"] if recipe.target else options


def _secrets(settings: Settings, scratch: Path) -> list[str]:
    """Hand the user's package index and certificates to a build, and leave them in no layer."""
    index = scratch / "index"
    given = {n: settings.environment[n] for n in INDEX if n in settings.environment}
    lines = (f"{name}={shlex.quote(value)}\n" for name, value in given.items())
    files.write(index, "".join(lines), 0o600)
    certificates = Path(settings.environment.get("SSL_CERT_FILE", CERTIFICATES))
    found = [("index", index), ("certificates", certificates)]
    return [f"--secret=id={name},src={file}" for name, file in found if file.is_file()]


def pack(layout: Path, target: Path) -> None:
    """Write an OCI layout as a tar archive: the same layout gives the same bytes."""
    with target.open("wb") as handle:
        with tarfile.open(fileobj=handle, mode="w") as archive:
            for file in sorted(f for f in layout.rglob("*") if f.is_file()):
                about = tarfile.TarInfo(str(file.relative_to(layout)))
                about.size = file.stat().st_size
                with file.open("rb") as content:
                    archive.addfile(about, content)
        # Renamed only once it is on the disk: a power cut must not leave half of it in the cache.
        handle.flush()
        os.fsync(handle.fileno())


# What buildah, mmdebstrap or apt say -> the problem and its cure, first match wins.
KNOWN = (
    (
        r"[Nn]o space left on device|[Dd]isk quota exceeded|enough free space",
        "the disk is full",
        "free 3 GB where {cache} is, or move the cache to a larger disk",
    ),
    (
        r"(buildah|mmdebstrap): not found",
        "buildah or mmdebstrap is missing",
        "install what Debian calls buildah and mmdebstrap",
    ),
    (
        r"Could not resolve|Temporary failure|Could not connect|Failed to fetch|Unable to fetch"
        r"|Unable to connect|Connection (refused|timed out)|[Nn]ame or service not known"
        r"|tls: |certificate verify failed",
        "a package mirror cannot be reached",
        "look at the network, at apt's and pip's settings, and at http_proxy",
    ),
    (
        r"is not signed|NO_PUBKEY|GPG error|[Ss]ignatures? (were|couldn't)",
        "the mirror's signatures cannot be verified",
        "install a current debian-archive-keyring; a mirror that changes files must not be used",
    ),
    (
        r"[Oo]peration not permitted|permission denied",
        "this machine does not let us build images",
        "become root; inside a container, start it privileged",
    ),
)


def explain(said: str, title: str, cache: Path) -> LocalError:
    """Return what went wrong in words, with its cure."""
    tail = "\n".join(line for line in said.splitlines() if line.strip())[-1500:]
    for pattern, problem, cure in KNOWN:
        if re.search(pattern, said):
            return LocalError(f"{title}: {problem}\n{tail}", cure.format(cache=cache))
    log = cache / "images" / "build.log"
    return LocalError(f"the images of {title} do not build\n{tail}", f"read {log}")
