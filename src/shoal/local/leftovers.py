"""Clusters whose folder was deleted by hand: what is left of them, and which numbers are free.

Every process of a cluster is in one of its groups, and a group that has one cannot be removed. So
where no link, namespace or group is left, no process is.
"""

import re
from dataclasses import replace
from pathlib import Path

from . import cgroups, claims, network
from .claims import CLAIMS
from .cluster import Cluster, Networked
from .errors import LocalError


def orphans(where: Path = CLAIMS) -> list[Cluster]:
    """Return the clusters that have a number and no folder, with the nodes that are left."""
    return [
        Cluster(folder.name, folder, replace(place, nodes=_nodes(place)))
        for place, folder in claims.every(where).items()
        if _deleted(folder)
    ]


def abandoned(where: Path = CLAIMS) -> list[Cluster]:
    """Return those of them that still take something of this machine."""
    return [c for c in orphans(where) if isinstance(c.place, Networked) and left(c.place)]


def orphan(folder: Path, where: Path = CLAIMS) -> Cluster | None:
    """Return the cluster that was in `folder`, if it has its number still."""
    return next((found for found in orphans(where) if found.folder == folder), None)


def forget(where: Path = CLAIMS) -> None:
    """Give back the numbers of deleted clusters of which nothing is left."""
    for cluster in orphans(where):
        assert isinstance(cluster.place, Networked)
        if not left(cluster.place):
            claims.release(cluster, cluster.place, where)


def left(place: Networked) -> list[str]:
    """Say what the kernel still has of the cluster at `place`."""
    link = [f"the link {place.tag}"] if network.has_link(None, place.tag) else []
    names = sorted(network.namespaces(place))
    groups = sorted(cgroups.machines(place.tag))
    return [
        *link,
        *(f"the namespace {network.namespace(place, name)}" for name in names),
        *(f"the cgroup {cgroups.group(place.tag, name)}" for name in groups),
    ]


def check(folder: Path, where: Path = CLAIMS) -> None:
    """Refuse to make a cluster in `folder` while one that was deleted there lives on."""
    if found := orphan(folder, where):
        assert isinstance(found.place, Networked)
        raise LocalError(
            f"{folder} was deleted, and its cluster was not taken down:"
            f" there is {', '.join(left(found.place))}",
            f"`shoal local down --name {found.name}`, then `up` again",
        )


def _deleted(folder: Path) -> bool:
    try:
        (folder / "cluster.json").stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:  # a file that cannot be looked at is no file that is gone
        return False
    return False


def _nodes(place: Networked) -> int:
    names = network.namespaces(place) | cgroups.machines(place.tag)
    numbers = [int(name[1:]) for name in names if re.fullmatch(r"n\d+", name)]
    return max(numbers, default=-1) + 1
