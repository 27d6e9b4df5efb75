"""Turn a cluster into running machines: files, private roots, first processes."""

import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ..host import files
from ..runtime import clock
from . import cgroups, control_plane, network, node, root
from .cluster import Cluster, Networked
from .machine import Config, Machine, Mount
from .pki import Identity, kubeconfig, service_account_key

CONTROL_PLANE = "cp"  # its name beside the nodes'
# What runs from our own folder in each machine; the rest comes from the host's packages.
NODE_PROGRAMS = ("kubelet", "kube-proxy")


def certify(cluster: Cluster) -> None:
    """Make every key, certificate and kubeconfig that is missing."""
    now = clock.now()
    trusted, proxies = control_plane.authority(cluster), control_plane.front_proxy(cluster)
    nodes = [node.identity(cluster, name) for name in cluster.node_names]
    trusted.ensure(now)
    trusted.issue([control_plane.server_identity(cluster), *control_plane.USERS, *nodes], now)
    proxies.ensure(now)
    proxies.issue([Identity("front-proxy-client", "front-proxy-client")], now)
    service_account_key(cluster.pki)
    for user in control_plane.USERS:
        path = (
            cluster.kubeconfig
            if user.name == "admin"
            else control_plane.kubeconfig_of(cluster, user.name)
        )
        files.write(
            path, kubeconfig(cluster.server, f"shoal-{cluster.name}", trusted, user.name), 0o600
        )


def start_control_plane(cluster: Cluster, programs: Path) -> bool:
    """Start the control plane's machine unless it runs as it should."""
    machine = Machine(cluster.control_plane)
    texts = {str(path): text for path, text in control_plane.config_files(cluster).items()}
    bins = node.BIN if cluster.networked else programs
    listed = control_plane.programs(cluster, bins, machine.logs)

    def prepare() -> None:
        cluster.volumes.mkdir(parents=True, exist_ok=True)
        for path, text in texts.items():
            files.write(Path(path), text)

    config = Config(
        hostname=f"{cluster.name}-{CONTROL_PLANE}",
        programs=listed,
        log=str(machine.logs / "machine.log"),
        disk=_digest(texts),
    )
    if isinstance(cluster.place, Networked):
        mounts = (
            *root.system(),
            Mount("rbind", "/usr", "/usr", readOnly=True),
            Mount("rbind", "/etc", "/etc", readOnly=True),
            Mount("rbind", str(cluster.folder), str(cluster.folder)),
            root.disk(cluster.volumes, "/var/lib/shoal/volumes"),
            *(_bin(programs, program.name) for program in listed),
        )
        config = _private(cluster.place, CONTROL_PLANE, machine, config, mounts)
    return machine.ensure(programs / "machine", config, prepare)


def start_node(cluster: Cluster, name: str, programs: Path) -> bool:
    """Start a node's machine unless it runs as it should."""
    assert isinstance(cluster.place, Networked)
    machine = Machine(cluster.node(name))
    disk = machine.folder
    cni = node.cni_folder()
    texts = {**node.etc(cluster, name), **_credentials(cluster, name)}
    tag = cluster.place.tag

    def prepare() -> None:
        cgroups.clear(tag, name)
        for path, text in texts.items():
            secret = path.endswith((".key", ".kubeconfig"))
            files.write(disk / "etc/upper" / path, text, 0o600 if secret else 0o644)
        for setting, value in node.KERNEL_SETTINGS.items():
            files.write(disk / "sysctl" / setting, f"{value}\n")
        # A machine that starts has booted: whoever compares boot ids must see it.
        files.write(disk / "boot-id", f"{uuid.uuid4()}\n")
        files.write(disk / "etc/upper/machine-id", f"{_machine_id(cluster, name)}\n")
        (disk / "var/lib").mkdir(parents=True, exist_ok=True)
        if not (disk / "var/run").is_symlink():
            (disk / "var/run").symlink_to("/run")
        (disk / "tmp").mkdir(exist_ok=True)
        (disk / "tmp").chmod(0o1777)

    mounts = (
        *root.system(),
        root.boot_id(disk / "boot-id"),
        *(
            Mount("bind", str(disk / "sysctl" / setting), f"/proc/sys/{setting}")
            for setting in node.KERNEL_SETTINGS
        ),
        root.overlay("/usr", disk / "usr"),
        root.overlay("/etc", disk / "etc"),
        root.disk(disk / "var", "/var"),
        root.disk(machine.logs, "/var/log/shoal"),
        # Addresses given out before a power cut are free again after it.
        Mount("tmpfs", "tmpfs", "/var/lib/cni"),
        root.disk(cluster.volumes, "/var/lib/shoal/volumes"),
        root.disk(disk / "tmp", "/tmp"),
        root.disk(disk / "home", "/root"),
        *(_bin(programs, name) for name in NODE_PROGRAMS),
        # Debian's lie below /usr, which is there already.
        Mount("bind", str(cni), str(cni), readOnly=True),
    )
    config = Config(
        hostname=name,
        programs=node.programs(cluster, name),
        log=str(machine.logs / "machine.log"),
        disk=_digest(texts),
    )
    config = _private(cluster.place, name, machine, config, mounts)
    return machine.ensure(programs / "machine", config, prepare)


def every(cluster: Cluster) -> dict[str, Machine]:
    """Return the cluster's machines by name, the control plane first."""
    nodes = {name: Machine(cluster.node(name)) for name in cluster.node_names}
    return {CONTROL_PLANE: Machine(cluster.control_plane), **nodes}


def running(cluster: Cluster) -> set[str]:
    """Name the machines of `cluster` that are on."""
    return {name for name, machine in every(cluster).items() if machine.process()}


def _private(
    place: Networked, name: str, machine: Machine, config: Config, mounts: tuple[Mount, ...]
) -> Config:
    """Return `config` with namespaces, a private root of `mounts` and a cgroup."""
    top = machine.folder / "root"
    top.mkdir(parents=True, exist_ok=True)
    return replace(
        config,
        netns=str(network.NAMESPACES / network.namespace(place, name)),
        root=str(top),
        mounts=mounts,
        links=root.links(),
        devices=root.DEVICES,
        cgroups=cgroups.ensure(place.tag, name),
    )


def _bin(programs: Path, name: str) -> Mount:
    return root.file(programs / name, str(node.BIN / name))


def _credentials(cluster: Cluster, name: str) -> dict[str, str]:
    """Return the keys and certificates that a node holds, below its /etc."""
    trusted = control_plane.authority(cluster)
    who = f"node-{name}"

    def config(user: str) -> str:
        return kubeconfig(cluster.server, f"shoal-{cluster.name}", trusted, user)

    return {
        "kubernetes/pki/ca.crt": trusted.certificate.read_text(),
        "kubernetes/pki/kubelet.crt": (cluster.pki / f"{who}.crt").read_text(),
        "kubernetes/pki/kubelet.key": (cluster.pki / f"{who}.key").read_text(),
        "kubernetes/kubelet.kubeconfig": config(who),
        "kubernetes/kube-proxy.kubeconfig": config("proxy"),
    }


def _machine_id(cluster: Cluster, name: str) -> str:
    return uuid.uuid5(uuid.NAMESPACE_DNS, f"{name}.{cluster.name}.{cluster.folder}").hex


def _digest(texts: Mapping[str, str]) -> str:
    parts = (f"{path}\0{text}\0" for path, text in sorted(texts.items()))
    return hashlib.sha256("".join(parts).encode()).hexdigest()
