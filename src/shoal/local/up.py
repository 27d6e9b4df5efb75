"""Bring a cluster up, from whatever state it is in."""

import re
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from ..host.lock import locked
from . import (
    addons,
    claims,
    dns,
    images,
    leftovers,
    load,
    machines,
    network,
    packages,
    preflight,
    programs,
)
from .addresses import MOST_NODES, free
from .api import Api, wait_for_nodes, wait_until_ready
from .cluster import Cluster, Loopback, Networked, Place, every, grown
from .cluster import load as load_cluster
from .control_plane import ALONE, PROGRAM_OF
from .errors import LocalError
from .progress import Progress
from .settings import Settings

MOST_PORT = 65535
# inotify instances, as counted.
CONTROL_PLANE_WATCHES = 12  # API server 6, controller manager 5, kube-proxy 1
NODE_WATCHES = 8  # kubelet 6, kube-proxy 1, containerd 1


@dataclass(frozen=True)
class Wanted:
    """What the user asked for; None means: as it is, or the default."""

    name: str
    nodes: int | None = None
    control_plane_only: bool = False
    extras: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    port: int | None = None
    audited: bool = False


def up(settings: Settings, wanted: Wanted, progress: Progress) -> Api:
    """Make the cluster exist and be ready; return the way to it."""
    check(wanted)
    preflight.check(settings, networked=not wanted.control_plane_only)
    lock = lock_of(settings, wanted.name)
    with locked(lock, lambda: _say_waiting(progress)), ThreadPoolExecutor(1) as beside:
        if not wanted.control_plane_only:
            packages.ensure(settings, progress, (*packages.CLUSTER, *packages.IMAGES))
        # Building the images takes as long as building the programs: side by side.
        building = beside.submit(_build_images, settings, wanted.images, progress)
        preflight.watches(watches(load_cluster(settings.state / wanted.name), wanted))
        cluster = choose(settings, wanted)
        found = programs.provide(settings, progress, needed_programs(cluster))
        cluster.save()
        api = Api(cluster, found)
        with progress.part("control plane", 5):
            start(api)
        if cluster.networked:
            ground = images.build(settings, images.GROUND, found, progress)
            with progress.part(f"{len(cluster.node_names)} nodes", 12):
                start_nodes(api, ground)
        built = building.result()
        if built:
            with progress.part("loading images", 5 + 3 * len(built)) as part:
                load.load_everywhere(cluster, built, part)
    return api


def _build_images(
    settings: Settings, wanted: Sequence[str], progress: Progress
) -> list[images.Image]:
    return images.build(settings, wanted, None, progress) if wanted else []


def start(api: Api) -> None:
    """Start the control plane and wait for it."""
    cluster = api.cluster
    machines.certify(cluster)
    if isinstance(cluster.place, Networked):
        with locked(claims.LOCK, lambda: None):
            claims.check(cluster, cluster.place)
        network.ensure(cluster, cluster.place)
    machines.start_control_plane(cluster, api.programs)
    wait_until_ready(api)
    if objects := addons.addons(cluster):
        api.apply(objects)


def start_nodes(api: Api, ground: Sequence[images.Image]) -> None:
    """Start every node and wait until all serve."""
    cluster = api.cluster
    assert isinstance(cluster.place, Networked)

    def one(name: str) -> None:
        machines.start_node(cluster, name, api.programs)
        load.load(cluster, name, ground)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(one, cluster.node_names))
    wait_for_nodes(api, cluster.node_names)
    dns.wait_until_answering(cluster.place.addresses)


def needed_programs(cluster: Cluster) -> tuple[str, ...]:
    """Name the programs that `cluster` runs, and those for its user."""
    extras = (PROGRAM_OF[extra] for extra in cluster.extras)
    usual = programs.DEFAULT if cluster.networked else ("machine", "kubectl", *ALONE)
    return tuple(dict.fromkeys((*usual, *extras)))


def choose(settings: Settings, wanted: Wanted) -> Cluster:
    """Return the cluster as it is to be: the one of that name, or a new one."""
    folder = settings.state / wanted.name
    existing = load_cluster(folder)
    if existing is None:
        # Ports are chosen among a user's clusters, numbers among all of this machine.
        lock = lock_of(settings, ".places") if wanted.control_plane_only else claims.LOCK
        with locked(lock, lambda: None):
            place = _place(settings, wanted)
            cluster = Cluster(wanted.name, folder, place, wanted.extras, wanted.audited)
            # Saved under the lock: the next one to choose must see what is taken.
            cluster.save()
            return cluster
    if existing.networked is wanted.control_plane_only:
        raise LocalError(
            f"cluster {wanted.name} exists {'with' if existing.networked else 'without'} nodes",
            f"`shoal local down --name {wanted.name}` first, or take another --name",
        )
    extras = tuple(dict.fromkeys((*existing.extras, *wanted.extras)))
    audited = existing.audited or wanted.audited
    existing = replace(existing, extras=extras, audited=audited)
    if wanted.nodes is None or not isinstance(existing.place, Networked):
        return existing
    if wanted.nodes < existing.place.nodes:
        raise LocalError(
            f"cluster {wanted.name} has {existing.place.nodes} nodes, not {wanted.nodes}",
            f"a cluster only grows: `shoal local down --name {wanted.name}` first",
        )
    return grown(existing, wanted.nodes)


def _place(settings: Settings, wanted: Wanted) -> Place:
    if wanted.control_plane_only:
        return _loopback(settings, wanted.port)
    leftovers.forget()
    leftovers.check(settings.state / wanted.name)
    taken = {c.place.index for c in every(settings.state) if isinstance(c.place, Networked)}
    index = claims.first(free(taken, network.routed()), settings.state / wanted.name)
    if index is None:
        raise LocalError(
            "no free address range: each cluster takes a /14 of 10.64.0.0 to 10.255.255.255",
            "`shoal local down` a cluster, or remove host routes into that range",
        )
    return Networked(index, wanted.nodes or 1)


def _loopback(settings: Settings, port: int | None) -> Loopback:
    taken = {
        number
        for c in every(settings.state)
        if isinstance(c.place, Loopback)
        for number in (c.place.port, c.place.etcd_port, c.place.etcd_peer_port)
    }
    if port is not None and (port in taken or not _free(port)):
        raise LocalError(f"port {port} is taken", "choose another --port, or leave it out")
    chosen = {port} if port else set()
    # Below the ephemeral range, so that no client's outgoing port can be in the way later.
    for candidate in range(20000, 32000):
        if len(chosen) == 3:  # API server, etcd, etcd's peers
            break
        if candidate not in taken and _free(candidate):
            chosen.add(candidate)
    api = port or min(chosen)
    etcd, peers = sorted(chosen - {api})
    return Loopback(api, etcd, peers)


def _free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def check(wanted: Wanted) -> None:
    """Refuse what cannot be, before anything is made."""
    check_name(wanted.name)
    if wanted.nodes is not None and not 1 <= wanted.nodes <= MOST_NODES:
        raise LocalError(f"--nodes {wanted.nodes} cannot be", f"ask for 1 to {MOST_NODES} of them")
    if wanted.port is not None and not 1 <= wanted.port <= MOST_PORT:
        raise LocalError(
            f"--port {wanted.port} is no port", f"use 1 to {MOST_PORT}, or leave it out"
        )
    if wanted.control_plane_only and (wanted.nodes is not None or wanted.images):
        raise LocalError(
            "--control-plane-only has no nodes, so neither --nodes nor --images",
            "leave out the one or the others",
        )
    if wanted.port is not None and not wanted.control_plane_only:
        raise LocalError(
            "--port is for --control-plane-only; with nodes a cluster has its own addresses",
            "leave it out",
        )


def watches(existing: Cluster | None, wanted: Wanted) -> int:
    """Count the inotify instances that the machines to be started will take, about."""
    running = machines.running(existing) if existing else set()
    control_plane = 0 if machines.CONTROL_PLANE in running else CONTROL_PLANE_WATCHES
    if wanted.control_plane_only:
        return control_plane
    nodes = {f"n{i}" for i in range(wanted.nodes or 1)} | set(
        existing.node_names if existing else ()
    )
    return control_plane + NODE_WATCHES * len(nodes - running)


def check_name(name: str) -> None:
    """Refuse a name that cannot be part of a host name, a path and a namespace."""
    if not re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,28}[a-z0-9])?", name):
        raise LocalError(
            f"--name {name!r} is no cluster name",
            "use 1 to 30 of a-z, 0-9 and -, with a letter or digit at both ends",
        )


def lock_of(settings: Settings, name: str) -> Path:
    """Say which file lets one process at a time change the cluster `name`."""
    return settings.state / f"{name}.lock"


def _say_waiting(progress: Progress) -> None:
    with progress.part("waiting for another process that changes this cluster", 60):
        pass
