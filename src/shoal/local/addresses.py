"""Which addresses a cluster has: one /14 of private space for each, cut the same way.

Pure. With o = 64 + 4 * index: 10.o.0.0/24 nodes, 10.o.255.0/30 the link to the host,
10.(o+1).0.0/16 pods (a /24 for each node), 10.(o+2).0.0/16 Services.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

INDEXES = range(48)
MOST_NODES = 200  # node i is 10.o.0.(10+i)


@dataclass(frozen=True)
class Addresses:
    """The addresses of cluster number `index` on this machine."""

    index: int

    @property
    def _octet(self) -> int:
        return 64 + 4 * self.index

    @property
    def everything(self) -> IPv4Network:
        """What the host routes into the cluster."""
        return IPv4Network(f"10.{self._octet}.0.0/14")

    @property
    def nodes(self) -> IPv4Network:
        """The bridge's network."""
        return IPv4Network(f"10.{self._octet}.0.0/24")

    @property
    def pods(self) -> IPv4Network:
        """Every pod's address is in here."""
        return IPv4Network(f"10.{self._octet + 1}.0.0/16")

    @property
    def services(self) -> IPv4Network:
        """Every ClusterIP is in here."""
        return IPv4Network(f"10.{self._octet + 2}.0.0/16")

    @property
    def link(self) -> IPv4Network:
        """The two ends of the veth between host and control plane."""
        return IPv4Network(f"10.{self._octet}.255.0/30")

    @property
    def host(self) -> IPv4Address:
        """The host as the cluster sees it."""
        return self.link[1]

    @property
    def gateway(self) -> IPv4Address:
        """The control plane as the host sees it."""
        return self.link[2]

    @property
    def control_plane(self) -> IPv4Address:
        """The API server, the router of all nodes, and where CoreDNS listens."""
        return self.nodes[1]

    @property
    def kubernetes_service(self) -> IPv4Address:
        """The first Service address, which Kubernetes takes for its own API."""
        return self.services[1]

    @property
    def dns(self) -> IPv4Address:
        """The Service address of kube-dns."""
        return self.services[10]

    def node(self, i: int) -> IPv4Address:
        """Return node `i`'s own address."""
        return self.nodes[10 + i]

    def pods_of(self, i: int) -> IPv4Network:
        """Return the pod range of node `i`."""
        return IPv4Network(f"10.{self._octet + 1}.{i}.0/24")


def free(taken: set[int], routed: list[IPv4Network]) -> Iterator[int]:
    """Yield the indexes that no cluster has and whose addresses the host does not route."""
    for index in INDEXES:
        wanted = Addresses(index).everything
        if index not in taken and not any(wanted.overlaps(net) for net in routed):
            yield index
