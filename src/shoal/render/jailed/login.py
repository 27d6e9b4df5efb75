"""Login nodes with a shared root: whoever logs in is in the jail. Pure."""

from ...kube.objects import Object
from ...model.cluster import Cluster
from ...model.jail import UPPER, Jail
from ...model.jailed import Gate
from .. import marks, pods, probes, services, volumes
from ..pods import Inside
from ..services import Port
from . import cluster as shared
from . import containers, limits, places, ssh_conf

NAME = "sshd"


def objects(cluster: Cluster, jail: Jail, gate: Gate) -> list[Object]:
    """Return what login nodes consist of, but for their host keys."""
    part, fittings, names = gate.part, gate.fittings, gate.names
    made = []
    if fittings.limits:
        data = {limits.FILE: limits.limits_conf(fittings.limits_conf)}
        made.append(shared.config_map(part, fittings.limits, data))
    if gate.sshd is None:
        data = {ssh_conf.SSHD_FILE: ssh_conf.sshd_config(jail.ssh.port)}
        made.append(shared.config_map(part, names.config, data))
    return [
        *made,
        services.headless(part, names.headless, port(jail), part.selector),
        service(jail, gate),
        stateful_set(cluster, jail, gate),
    ]


def port(jail: Jail) -> Port:
    """Return where sshd listens."""
    return Port(NAME, jail.ssh.port)


def service(jail: Jail, gate: Gate) -> Object:
    """Let people in."""
    part = gate.part
    return services.service(part, gate.names.service, gate.service, port(jail), part.selector)


def stateful_set(cluster: Cluster, jail: Jail, gate: Gate) -> Object:
    """Run sshd."""
    part = gate.part
    given, templates = places.kept(places.wanted(gate.fittings))
    spec: Object = {
        "replicas": jail.mode.replicas(gate.replicas),
        "revisionHistoryLimit": 0,
        "podManagementPolicy": "Parallel",
        "serviceName": gate.names.headless,
        "selector": {"matchLabels": dict(part.selector)},
        "template": containers.template(part, _inside(cluster, jail, gate, given)),
    }
    if templates:
        spec["volumeClaimTemplates"] = templates
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": marks.metadata(part, gate.names.workload, part.pods.marks),
        "spec": spec,
    }


def _inside(cluster: Cluster, jail: Jail, gate: Gate, given: list[Object]) -> Inside:
    return Inside(
        _sshd(jail, gate),
        before=[containers.munge(gate.part)],
        volumes=[*given, *_volumes(cluster, jail, gate)],
        spec={"enableServiceLinks": False, **places.searches(cluster, jail)},
        digests=_digests(cluster, jail, gate),
    )


def _sshd(jail: Jail, gate: Gate) -> Object:
    listens = probes.connects(NAME)
    made = pods.container(
        gate.part,
        NAME,
        {
            "env": [
                {"name": "SLURM_CLUSTER_TYPE", "value": "gpu" if jail.gpu else "cpu"},
                {"name": "SLURM_CLUSTER_WITH_GPU", "value": "true" if jail.gpu else "false"},
            ],
            "ports": [port(jail).opened],
            # No other probe: people are logged in there.
            "readinessProbe": {**probes.ready(listens), "periodSeconds": 2},
            # It mounts what people need into the jail.
            "securityContext": {"privileged": True},
            "volumeMounts": [
                *places.jail_mounts(),
                volumes.mount(places.CONFIGS, places.GIVEN, read_only=True),
                containers.socket(),
                *places.sshd_mounts(),
                volumes.mount(places.IN_MEMORY, f"{UPPER}/mnt/memory"),
                volumes.mount(places.TMP_DISK, "/tmp"),
                *places.fitted(gate.fittings),
            ],
        },
    )
    return containers.bounded(made)


def _volumes(cluster: Cluster, jail: Jail, gate: Gate) -> list[Object]:
    sshd = gate.sshd.name if gate.sshd else gate.names.config
    memory = containers.requested(gate.part, NAME, "memory")
    return [
        places.configs(places.config_name(cluster)),
        *containers.munge_volumes(cluster.keys),
        *places.limits(gate.fittings),
        places.host_keys(jail.ssh.host_keys),
        places.map_file(places.ROOT_KEYS, jail.ssh.root_keys, 0o600),
        places.map_file(places.SSH_CONFIGS, sshd, 0o600),
        places.memory(places.IN_MEMORY, memory),
        volumes.scratch(places.TMP_DISK),
    ]


def _digests(cluster: Cluster, jail: Jail, gate: Gate) -> dict[str, str]:
    # All of it is mounted file by file, or read at the start of sshd.
    found = {
        **containers.munge_digest(cluster.keys),
        "ssh-host-keys": jail.ssh.host_keys_digest,
        "sshd-conf": (
            gate.sshd.digest if gate.sshd else marks.digest(ssh_conf.sshd_config(jail.ssh.port))
        ),
        "root-keys": marks.digest(jail.ssh.authorized_keys),
        "limits": marks.digest(limits.limits_conf(gate.fittings.limits_conf)),
    }
    return marks.digests(cluster.naming, found)
