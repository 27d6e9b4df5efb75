"""Workers with a shared root: what is in their pods, and what they need beside them. Pure.

What makes a pod a worker, its names, its labels and where it may run, is the same for all clusters.
"""

from ...kube.objects import Object
from ...model.cluster import Cluster
from ...model.jail import UPPER, Fittings, Given, Jail, Mount, Volume
from ...model.jailed import SPOOL, JailedWorkers, Registration
from ...model.nodeset import NodeSet
from ...model.settings import Cgroup
from .. import marks, pods, probes, services, shell, volumes
from ..pods import Inside
from ..services import Port
from . import cluster as shared
from . import containers, limits, partitions, places, ssh_conf

NAME = "slurmd"
BOOT = "boot"
JOURNAL = "host-journal"
OUTPUTS = "soperator-outputs"
SHARED_MEMORY = "dev-shm"
SYSCTL = "sysctl"
SUPERVISORD = "supervisord-config"
NVIDIA = "nvidia"
_FACTS = (
    ("K8S_POD_NAMESPACE", "metadata.namespace"),
    ("K8S_POD_IP", "status.podIP"),
    # Slurm's nodes and Kubernetes' are joined by this.
    ("INSTANCE_ID", "spec.nodeName"),
)
# Steps get namespaces and roots of their own; slurmd makes cgroups for them. A privileged
# container's /proc is whole, so nothing is said of it.
_SECURITY: Object = {
    "privileged": True,
    "capabilities": {"add": ["SYS_ADMIN"]},
    "seccompProfile": {"type": "Unconfined"},
}


def objects(nodeset: NodeSet, workers: JailedWorkers) -> list[Object]:
    """Return what the workers of one NodeSet need beside their pods."""
    part, fittings = nodeset.part, workers.fittings
    made = []
    if fittings.limits:
        data = {limits.FILE: _limits(fittings)}
        made.append(shared.config_map(part, fittings.limits, data))
    if workers.service:
        made.append(services.headless(part, workers.service, port(workers), part.selector))
    return made


def port(workers: JailedWorkers) -> Port:
    """Return where slurmd listens."""
    return Port(NAME, workers.port)


def inside(cluster: Cluster, jail: Jail, nodeset: NodeSet, workers: JailedWorkers) -> Inside:
    """Return what is in a worker's pod; volumes of each worker's own are not in it."""
    main = _slurmd(cluster, jail, nodeset, workers)
    first = [_wait_for_toolkit(nodeset, main)] if workers.gpu else []
    return Inside(
        main,
        before=[*first, containers.munge(nodeset.part), _worker_init(nodeset, main)],
        volumes=_volumes(cluster, jail, nodeset, workers),
        digests=_digests(cluster, jail, workers),
    )


def wishes(workers: JailedWorkers) -> Object:
    """Return what the user wants of these workers, beside what any worker may be asked for.

    Nothing of it changes with their number, or scaling would replace them all.
    """
    fittings = workers.fittings
    found = {
        "jail": _volume(fittings.jail),
        "spool": _volume(workers.spool),
        "submounts": [_mount(one) for one in fittings.submounts],
        "mounts": [_mount(one) for one in fittings.mounts],
        "limits": fittings.limits_conf,
        "sharedMemory": workers.shared_memory,
        "gpu": workers.gpu,
        "gdrCopy": workers.gdr_copy,
        "nodeExtra": workers.node_extra,
        "features": list(workers.features),
        "chosen": [[one.name, one.hosts] for one in workers.chosen],
        "cgroup": workers.cgroup.value if workers.cgroup is Cgroup.V1 else "",
        "static": workers.registration is Registration.STATIC,
        "port": workers.port,
        "sshd": workers.sshd.name if workers.sshd else "",
        "supervisord": workers.supervisord.name if workers.supervisord else "",
    }
    return {key: value for key, value in found.items() if value}


def _volume(found: Volume) -> Object:
    return {"given": found.source} if isinstance(found, Given) else {"claimed": found.spec}


def _mount(found: Mount) -> list[object]:
    return [found.name, found.path, found.sub_path, found.read_only, _volume(found.volume)]


# -- containers


def _slurmd(cluster: Cluster, jail: Jail, nodeset: NodeSet, workers: JailedWorkers) -> Object:
    alive = probes.handler(cluster.version, NAME, probes.LIVE)
    ready = probes.handler(cluster.version, NAME, probes.READY)
    reason = f"{cluster.naming.reason_prefix}Pod is terminating"
    leave = ["sh", "-c", shell.script("leave"), "leave", reason]
    made = pods.container(
        nodeset.part,
        NAME,
        {
            "env": _environment(cluster, jail, nodeset, workers),
            "ports": [port(workers).opened],
            # No liveness probe: jobs go on while slurmd is slow or gone, and the end of its
            # container would be their end.
            "startupProbe": probes.started(alive),
            "readinessProbe": probes.ready(ready),
            "lifecycle": {"preStop": {"exec": {"command": leave}}},
            "securityContext": _SECURITY,
            "volumeMounts": _mounts(workers),
        },
    )
    return containers.bounded(made, cpu=True)


def _worker_init(nodeset: NodeSet, main: Object) -> Object:
    return pods.beside(
        nodeset.part,
        "worker-init",
        main,
        {
            "command": ["sh", "-c", shell.script("wait-for-controller")],
            "env": [{"name": "SLURM_CONF", "value": places.SLURM_CONF}],
            "securityContext": pods.unprivileged(),
            "volumeMounts": [places.config_mount(), containers.socket()],
        },
    )


def _wait_for_toolkit(nodeset: NodeSet, main: Object) -> Object:
    return pods.beside(
        nodeset.part,
        "toolkit-validation",
        main,
        {
            "command": ["sh", "-c", shell.script("wait-for-toolkit")],
            "securityContext": pods.unprivileged(),
            "volumeMounts": [_nvidia()],
        },
    )


def _environment(
    cluster: Cluster, jail: Jail, nodeset: NodeSet, workers: JailedWorkers
) -> list[Object]:
    # Images take it for the name of the Slurm node, and for its host in DNS.
    hostname = f"metadata.labels['{cluster.naming.labels.pod_hostname}']"
    memory = containers.requested(nodeset.part, NAME, "memory")
    static = workers.registration is Registration.STATIC
    facts = [
        {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
        for name, path in (("K8S_POD_NAME", hostname), *_FACTS)
    ]
    told = {
        "K8S_SERVICE_NAME": nodeset.service,
        # Of two releases of the images, one by one name and one by the other.
        "SLURM_CLUSTER_TYPE": "gpu" if jail.gpu else "cpu",
        "SLURM_CLUSTER_WITH_GPU": _flag(jail.gpu),
        "NODESET_GPU_ENABLED": _flag(workers.gpu),
        "SOPERATOR_DOCKER_ENABLED": _flag(on=False),
        "SLURM_REAL_MEMORY": str(containers.mebibytes(memory)),
        "SOPERATOR_NODE_REAL_MEMORY_BYTES": str(memory),
        "SLURM_NODE_EXTRA": workers.node_extra,
        "SLURM_NODE_CONF": "" if static else partitions.node_keys(nodeset),
        "SOPERATOR_NODE_SETS_ON": _flag(on=True) if static else "",
        "CGROUP_V2": _flag(on=True) if workers.cgroup is Cgroup.V2 else "",
        "NVIDIA_GDRCOPY": "enabled" if workers.gdr_copy else "",
        **({} if static else _features(nodeset, workers)),
    }
    return [*facts, *({"name": name, "value": value} for name, value in told.items() if value)]


def _features(nodeset: NodeSet, workers: JailedWorkers) -> dict[str, str]:
    # A worker has a feature when it is in the hostlist; kubelet fills in its own name.
    own = dict.fromkeys((partitions.feature(nodeset), *workers.features), "$(K8S_POD_NAME)")
    chosen = {one.name: one.hosts for one in workers.chosen}
    return {f"SLURM_FEATURE_{name}": hosts for name, hosts in {**chosen, **own}.items()}


def _flag(on: bool) -> str:  # noqa: FBT001 - it is what is written
    return "true" if on else "false"


# -- volumes


def _mounts(workers: JailedWorkers) -> list[Object]:
    return [
        volumes.mount(SPOOL, "/var/spool/slurmd"),
        *places.jail_mounts(),
        volumes.mount(places.CONFIGS, places.GIVEN, read_only=True),
        containers.socket(),
        *places.sshd_mounts(),
        volumes.mount(places.IN_MEMORY, f"{UPPER}/mnt/memory"),
        volumes.mount(places.TMP_DISK, "/tmp"),
        volumes.mount(BOOT, "/boot", read_only=True),
        volumes.mount(JOURNAL, f"{UPPER}/var/hostlog/journal", read_only=True),
        volumes.mount(OUTPUTS, f"{UPPER}/opt/soperator-outputs/local"),
        volumes.mount(SHARED_MEMORY, "/dev/shm"),
        places.one_file(SYSCTL, f"/etc/{limits.SYSCTL_FILE}", limits.SYSCTL_FILE),
        volumes.mount(SUPERVISORD, "/etc/supervisor/conf.d/", read_only=True),
        *([_nvidia()] if workers.gpu else ()),
        *places.fitted(workers.fittings),
    ]


def _nvidia() -> Object:
    # The driver's own mounts come after this pod's.
    return {**volumes.mount(NVIDIA, "/run/nvidia"), "mountPropagation": "HostToContainer"}


def _volumes(
    cluster: Cluster, jail: Jail, nodeset: NodeSet, workers: JailedWorkers
) -> list[Object]:
    # What is claimed for each worker is added where the worker is made.
    given, _ = places.kept([(SPOOL, workers.spool), *places.wanted(workers.fittings)])
    sshd = workers.sshd.name if workers.sshd else jail.names.worker_sshd
    supervisord = workers.supervisord.name if workers.supervisord else jail.names.supervisord
    return [
        *given,
        places.configs(places.config_name(cluster)),
        *containers.munge_volumes(cluster.keys),
        *places.limits(workers.fittings),
        places.host_keys(jail.ssh.host_keys),
        places.map_file(places.ROOT_KEYS, jail.ssh.root_keys, 0o600),
        places.map_file(places.SSH_CONFIGS, sshd, 0o600),
        places.memory(places.IN_MEMORY, containers.requested(nodeset.part, NAME, "memory")),
        volumes.scratch(places.TMP_DISK),
        places.host_path(BOOT, "/boot"),
        places.host_path(JOURNAL, "/var/log/journal", "DirectoryOrCreate"),
        places.host_path(OUTPUTS, "/var/log/soperator-outputs", "DirectoryOrCreate"),
        {
            "name": SHARED_MEMORY,
            "emptyDir": {"medium": "Memory", "sizeLimit": workers.shared_memory},
        },
        places.map_file(SYSCTL, jail.names.sysctl),
        places.map_file(SUPERVISORD, supervisord),
        *([places.host_path(NVIDIA, "/run/nvidia")] if workers.gpu else ()),
    ]


def _limits(fittings: Fittings) -> str:
    return limits.limits_conf(fittings.limits_conf, limits.unlimited())


def _digests(cluster: Cluster, jail: Jail, workers: JailedWorkers) -> dict[str, str]:
    sshd, supervisord = workers.sshd, workers.supervisord
    found = {
        **containers.munge_digest(cluster.keys),
        "ssh-host-keys": jail.ssh.host_keys_digest,
        "sshd-conf": sshd.digest if sshd else marks.digest(ssh_conf.sshd_config(jail.ssh.port)),
        "supervisord-conf": (
            supervisord.digest if supervisord else marks.digest(ssh_conf.supervisord_conf())
        ),
        "limits": marks.digest(_limits(workers.fittings)),
    }
    return marks.digests(cluster.naming, found)
