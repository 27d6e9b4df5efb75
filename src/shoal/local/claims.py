"""Whose a cluster number is, machine-wide: state folders do not know of each other.

A number names kernel objects (link, namespaces, cgroups). Its claim is a file in /run that holds
the cluster's folder; whoever creates that file has it. /run is emptied when those objects go too.
Claims are only made and given back by who holds LOCK: a cluster is saved a moment after its claim,
and must not be taken for one that was deleted in between.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from .cluster import Cluster, Networked
from .errors import LocalError

CLAIMS = Path("/run/shoal")
LOCK = Path("/run/shoal.lock")


def every(claims: Path = CLAIMS) -> dict[Networked, Path]:
    """Return the folder of each cluster that has a number, by that number."""
    files = sorted(claims.iterdir()) if claims.is_dir() else []
    numbers = [match[1] for file in files if (match := re.fullmatch(r"shoal(\d+)", file.name))]
    places = [Networked(int(number), 0) for number in numbers]
    return {place: folder for place in places if (folder := owner(place.tag, claims))}


def owner(tag: str, claims: Path = CLAIMS) -> Path | None:
    """Return the folder of the cluster that has `tag`."""
    try:
        return Path((claims / tag).read_text().strip())
    except FileNotFoundError:
        return None


def claim(place: Networked, folder: Path, claims: Path = CLAIMS) -> bool:
    """Take a number for the cluster in `folder`; say whether it is its."""
    claims.mkdir(parents=True, exist_ok=True)
    try:
        with (claims / place.tag).open("x") as file:
            file.write(f"{folder}\n")
    except FileExistsError:
        return owner(place.tag, claims) == folder
    return True


def check(cluster: Cluster, place: Networked, claims: Path = CLAIMS) -> None:
    """Make sure that the number of an existing cluster is still its own."""
    if not claim(place, cluster.folder, claims):
        holder = owner(place.tag, claims) or Path("unknown")
        raise LocalError(
            f"the addresses of cluster {cluster.name} are in use by the cluster in {holder}",
            f"take one of the two down: `shoal local down --name {cluster.name}`, or the other:"
            f" `{down_of(holder)}`",
        )


def down_of(folder: Path) -> str:
    """Return the command that takes the cluster in `folder` away, wherever that is."""
    return f"SHOAL_STATE={folder.parent} shoal local down --name {folder.name}"


def first(indexes: Iterable[int], folder: Path, claims: Path = CLAIMS) -> int | None:
    """Take the first of `indexes` that nobody has."""
    return next((i for i in indexes if claim(Networked(i, 1), folder, claims)), None)


def is_ours(cluster: Cluster, place: Networked, claims: Path = CLAIMS) -> bool:
    """Say whether the kernel objects of that number are `cluster`'s to remove."""
    return owner(place.tag, claims) in (None, cluster.folder)


def release(cluster: Cluster, place: Networked, claims: Path = CLAIMS) -> None:
    """Give the number back."""
    if owner(place.tag, claims) == cluster.folder:
        (claims / place.tag).unlink()
        if not any(claims.iterdir()):
            claims.rmdir()
