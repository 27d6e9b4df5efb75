"""The cluster's network: a bridge in the control plane's namespace, a veth from it to each node.

The control plane is the router of all pod ranges. The host gets one veth and one route; there is
no address translation and no way out, so the host's own rules stay as they are and no packet of a
cluster leaves the machine.
"""

import json
from ipaddress import IPv4Network
from pathlib import Path

from ..host.run import CommandError, run
from .cluster import Cluster, Networked

NAMESPACES = Path("/run/netns")
BRIDGE = "br0"


def namespace(place: Networked, machine: str) -> str:
    """Name the network namespace of `machine`."""
    return f"{place.tag}-{machine}"


def namespaces(place: Networked) -> set[str]:
    """Name the machines whose network namespaces are there."""
    return {path.name.partition("-")[2] for path in NAMESPACES.glob(f"{place.tag}-*")}


def routed() -> list[IPv4Network]:
    """Return every network that this host knows a way to, the default route aside."""
    networks = []
    for line in json.loads(run("ip", "-j", "-4", "route", "show", "table", "all").stdout):
        if line["dst"] != "default":
            networks.append(IPv4Network(line["dst"], strict=False))
    return networks


def ensure(cluster: Cluster, place: Networked) -> None:
    """Make what is missing of the cluster's network; mend what somebody changed."""
    here = namespace(place, "cp")
    addresses = place.addresses
    _ensure_namespace(here)
    _ensure_link(None, place.tag, here, "host")
    _address(None, place.tag, f"{addresses.host}/{addresses.link.prefixlen}")
    _address(here, "host", f"{addresses.gateway}/{addresses.link.prefixlen}")
    _ip(None, "route", "replace", str(addresses.everything), "via", str(addresses.gateway))
    if not has_link(here, BRIDGE):
        _ip(here, "link", "add", BRIDGE, "type", "bridge")
    _address(here, BRIDGE, f"{addresses.control_plane}/{addresses.nodes.prefixlen}")
    _forward(here)
    for i, name in enumerate(cluster.node_names):
        _ensure_node(cluster, place, i, name)


def _ensure_node(cluster: Cluster, place: Networked, i: int, name: str) -> None:
    here, there = namespace(place, "cp"), namespace(place, name)
    addresses = place.addresses
    _ensure_namespace(there)
    _ensure_link(here, name, there, "eth0")
    _ip(here, "link", "set", name, "master", BRIDGE, "up")
    _address(there, "eth0", f"{addresses.node(i)}/{addresses.nodes.prefixlen}")
    _ip(there, "route", "replace", "default", "via", str(addresses.control_plane))
    _ip(here, "route", "replace", str(addresses.pods_of(i)), "via", str(addresses.node(i)))
    _forward(there)


def partition(place: Networked, node: str) -> None:
    """Pull the node's cable."""
    _ip(namespace(place, "cp"), "link", "set", node, "down")


def heal(place: Networked, node: str) -> None:
    """Put the node's cable back."""
    _ip(namespace(place, "cp"), "link", "set", node, "up")


def remove(cluster: Cluster, place: Networked) -> None:
    """Take the whole network away; the routes go with the host's end of the veth."""
    if has_link(None, place.tag):
        _ip(None, "link", "delete", place.tag)
    for name in (namespace(place, machine) for machine in ("cp", *cluster.node_names)):
        if (NAMESPACES / name).exists():
            run("ip", "netns", "delete", name)


def _ip(netns: str | None, *words: str) -> None:
    run("ip", *(("-n", netns) if netns else ()), *words)


def _ensure_namespace(name: str) -> None:
    path = NAMESPACES / name
    # After a host's crash a plain file may be left where a namespace was mounted.
    if path.exists() and path.stat().st_dev != Path("/proc/self/ns/net").stat().st_dev:
        path.unlink()
    if not path.exists():
        run("ip", "netns", "add", name)
    _ip(name, "link", "set", "lo", "up")


def _ensure_link(netns: str | None, name: str, peer_netns: str, peer: str) -> None:
    if has_link(netns, name) and has_link(peer_netns, peer):
        return
    if has_link(netns, name):
        _ip(netns, "link", "delete", name)
    _ip(netns, "link", "add", name, "type", "veth", "peer", "name", peer, "netns", peer_netns)


def has_link(netns: str | None, name: str) -> bool:
    """Say whether the namespace (None: the host's) has the interface `name`."""
    try:
        _ip(netns, "link", "show", name)
    except CommandError:
        return False
    return True


def _address(netns: str | None, link: str, address: str) -> None:
    _ip(netns, "address", "replace", address, "dev", link)
    _ip(netns, "link", "set", link, "up")


def _forward(netns: str) -> None:
    inside = ("nsenter", f"--net={NAMESPACES / netns}", "tee")
    run(*inside, "/proc/sys/net/ipv4/ip_forward", stdin="1")
    # All nodes share one bridge; without this the router would tell them to bypass it.
    run(*inside, "/proc/sys/net/ipv4/conf/all/send_redirects", stdin="0")
