"""One local cluster as data, and where its files are."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ..host import files
from .addresses import Addresses


@dataclass(frozen=True)
class Networked:
    """A whole cluster: control plane and nodes in namespaces of their own."""

    index: int
    nodes: int

    @property
    def addresses(self) -> Addresses:
        """Its addresses."""
        return Addresses(self.index)

    @property
    def tag(self) -> str:
        """What the kernel's objects of this cluster are called: unique on the whole machine."""
        return f"shoal{self.index}"


@dataclass(frozen=True)
class Loopback:
    """A control plane alone, on ports of the loopback address, sharing the host's namespaces."""

    port: int
    etcd_port: int
    etcd_peer_port: int


Place = Networked | Loopback

# What a control plane can run beside etcd and the API server.
EXTRAS = ("controller-manager", "scheduler", "kwok")


@dataclass(frozen=True)
class Cluster:
    """A cluster that was asked for; `folder` holds everything it ever writes."""

    name: str
    folder: Path
    place: Place
    extras: tuple[str, ...] = ()
    audited: bool = False  # every request to the API server is written down

    @property
    def server(self) -> str:
        """The API server's URL."""
        match self.place:
            case Networked():
                return f"https://{self.place.addresses.control_plane}:6443"
            case Loopback(port=port):
                return f"https://127.0.0.1:{port}"

    @property
    def pki(self) -> Path:
        """Keys and certificates."""
        return self.folder / "pki"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's way in."""
        return self.folder / "kubeconfig"

    @property
    def volumes(self) -> Path:
        """The folders that persistent volumes are."""
        return self.folder / "volumes"

    @property
    def control_plane(self) -> Path:
        """The control plane's machine."""
        return self.folder / "control-plane"

    @property
    def audit_log(self) -> Path:
        """One line of JSON for each request to the API server, if it is audited."""
        return self.control_plane / "audit.log"

    @property
    def node_names(self) -> tuple[str, ...]:
        """The nodes' names, in order."""
        match self.place:
            case Networked(nodes=count):
                return tuple(f"n{i}" for i in range(count))
            case Loopback():
                return ()

    @property
    def networked(self) -> bool:
        """Say whether it has namespaces (and so may have nodes)."""
        return isinstance(self.place, Networked)

    def node(self, name: str) -> Path:
        """Return the folder of a node's machine."""
        return self.folder / "nodes" / name

    def save(self) -> None:
        """Remember this cluster."""
        shape = "networked" if self.networked else "loopback"
        saved = {
            "name": self.name,
            "extras": self.extras,
            "audited": self.audited,
            shape: asdict(self.place),
        }
        files.write(self.folder / "cluster.json", json.dumps(saved, indent=2) + "\n")


def load(folder: Path) -> Cluster | None:
    """Return the cluster that was saved in `folder`."""
    try:
        saved = json.loads((folder / "cluster.json").read_text())
    except FileNotFoundError:
        return None
    place: Place
    if "networked" in saved:
        place = Networked(**saved["networked"])
    else:
        place = Loopback(**saved["loopback"])
    extras, audited = tuple(saved["extras"]), saved.get("audited", False)
    return Cluster(saved["name"], folder, place, extras, audited)


def every(state: Path) -> list[Cluster]:
    """Return all clusters of this user."""
    folders = sorted(state.iterdir()) if state.is_dir() else []
    return [found for folder in folders if folder.is_dir() and (found := load(folder))]


def grown(cluster: Cluster, nodes: int) -> Cluster:
    """Return `cluster` with more nodes."""
    assert isinstance(cluster.place, Networked)
    return replace(cluster, place=replace(cluster.place, nodes=nodes))
