"""Our images as folders: each layer unpacked once into the cache, for an overlay to stack.

roots/<key of the archive>/<layer>    a layer's files; `whole` marks that all of them are there
"""

import json
import os
import stat
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from shoal.host.lock import locked
from shoal.local import images
from shoal.local.bar import progress
from shoal.local.settings import Settings

MARIADB = f"mariadb:{images.MARIADB}"


@dataclass(frozen=True)
class Image:
    """A root file system, and how its first process is to be started."""

    folder: Path
    layers: tuple[str, ...]  # folders in `folder`, the lowest first
    user: str  # uid:gid
    entrypoint: tuple[str, ...]
    environment: tuple[str, ...]  # NAME=value


@dataclass(frozen=True)
class Images:
    """What a lab of one series runs, by daemon."""

    series: str
    of: Mapping[str, Image]


def provide(series: str, settings: Settings) -> Images:
    """Return the images of a series, after building and unpacking what is not in the cache."""
    names = (*images.SLURM[series], MARIADB)
    built = images.build(settings, names, None, progress(sys.stderr))
    return Images(
        series,
        {
            name.partition(":")[0]: unpack(image, settings.cache / "roots")
            for name, image in zip(names, built, strict=True)
        },
    )


def unpack(image: images.Image, roots: Path) -> Image:
    """Return an image out of its archive as folders below `roots`."""
    folder = roots / image.key
    with (
        locked(roots / f".{image.key}.lock", lambda: None),
        tarfile.open(image.archive) as archive,
    ):
        manifest = _manifest(archive, image.name)
        layers = [entry["digest"].partition(":")[2] for entry in manifest["layers"]]
        for digest in layers:
            place = folder / digest[:12]
            if not (place / "whole").exists():
                with _blob(archive, digest) as blob:
                    _unpack_layer(blob, place / "files")
                (place / "whole").touch()
        config = _read(archive, manifest["config"]["digest"].partition(":")[2])["config"]
    return Image(
        folder,
        tuple(f"{digest[:12]}/files" for digest in layers),
        config.get("User", "0:0"),
        (*config["Entrypoint"], *config.get("Cmd", ())),
        tuple(config["Env"]),
    )


def _manifest(archive: tarfile.TarFile, name: str) -> Any:
    member = archive.extractfile("index.json")
    assert member is not None
    for entry in json.load(member)["manifests"]:
        if entry["annotations"]["org.opencontainers.image.ref.name"] == name:
            return _read(archive, entry["digest"].partition(":")[2])
    raise LookupError(f"the archive holds no {name}: delete it, and it is built anew")


def _read(archive: tarfile.TarFile, digest: str) -> Any:
    with _blob(archive, digest) as blob:
        return json.load(blob)


def _blob(archive: tarfile.TarFile, digest: str) -> IO[bytes]:
    member = archive.extractfile(f"blobs/sha256/{digest}")
    assert member is not None
    return member


def _unpack_layer(blob: IO[bytes], target: Path) -> None:
    # An earlier run that was killed may have left half of it; tar overwrites that.
    target.mkdir(parents=True, exist_ok=True)
    options = ("--gunzip", "--numeric-owner", "--same-permissions", "--xattrs")
    with subprocess.Popen(
        ["tar", "--extract", *options, f"--directory={target}"], stdin=subprocess.PIPE
    ) as tar:
        assert tar.stdin is not None
        while piece := blob.read(1 << 20):
            tar.stdin.write(piece)
        tar.stdin.close()
        assert tar.wait() == 0, f"tar could not unpack a layer into {target}"
    for mark in sorted(target.rglob(".wh.*")):
        _white_out(mark)


def _white_out(mark: Path) -> None:
    """Write as overlay does what an image's layer says by a file's name: something is gone."""
    mark.unlink()
    if mark.name == ".wh..wh..opq":
        os.setxattr(mark.parent, "trusted.overlay.opaque", b"y")
        return
    with suppress(FileExistsError):
        os.mknod(mark.with_name(mark.name.removeprefix(".wh.")), stat.S_IFCHR, os.makedev(0, 0))
