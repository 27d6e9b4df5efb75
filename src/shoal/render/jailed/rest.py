"""slurmrestd of a cluster with a shared root. Pure."""

from ...kube.objects import Object
from ...model.cluster import Cluster
from ...model.jail import Jail
from ...model.rest import RestApi
from .. import marks, pods, probes, services, volumes
from ..controller import CONFIG_DIGEST, Published
from ..pods import Inside
from ..rest import NOT_READ, PORT
from . import containers, places

NAME = "rest"
_NOT_READ = (*NOT_READ, "NodeName=", "#")


def objects(cluster: Cluster, jail: Jail, rest: RestApi, held: Published) -> list[Object]:
    """Return what slurmrestd consists of; `held` is the configuration in use."""
    return [service(rest), deployment(cluster, jail, rest, held)]


def service(rest: RestApi) -> Object:
    """Reach slurmrestd."""
    return services.service(rest.part, rest.name, rest.service, PORT, rest.part.selector)


def deployment(cluster: Cluster, jail: Jail, rest: RestApi, held: Published) -> Object:
    """Run slurmrestd."""
    part = rest.part
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": marks.metadata(part, rest.workload or rest.name, part.pods.marks),
        "spec": {
            "replicas": jail.mode.replicas(rest.replicas),
            "revisionHistoryLimit": 0,
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": dict(part.selector)},
            "template": containers.template(part, _inside(cluster, rest, held)),
        },
    }


def _inside(cluster: Cluster, rest: RestApi, held: Published) -> Inside:
    jwt = cluster.keys.jwt
    # It reads all of it once, at its start; slurmctld tells it of partitions and nodes.
    told = held.files.get("slurm.conf", "").splitlines()
    read = {
        CONFIG_DIGEST: marks.digest(*(line for line in told if not line.startswith(_NOT_READ))),
        "jwt-key": jwt.digest if jwt else "",
    }
    return Inside(
        _slurmrestd(rest),
        volumes=[
            places.configs(places.config_name(cluster)),
            *([places.volume(places.JAIL, rest.jail)] if rest.jail else ()),
        ],
        spec={"enableServiceLinks": False, "hostname": NAME},
        digests=marks.digests(cluster.naming, read),
    )


def _slurmrestd(rest: RestApi) -> Object:
    ask = probes.connects(PORT.name)
    asked = {
        "SLURMRESTD_THREAD_COUNT": str(rest.threads or ""),
        "SLURMRESTD_MAX_CONNECTIONS": str(rest.connections or ""),
        # A container may not do that, and need not.
        "SLURMRESTD_SECURITY": "disable_unshare_files,disable_unshare_sysv",
        # With an arena for each thread it keeps the memory of every large answer.
        "MALLOC_ARENA_MAX": "1",
    }
    jail = places.jail_mounts(read_only=True) if rest.jail else [places.config_mount()]
    made = pods.container(
        rest.part,
        NAME,
        {
            "env": [{"name": name, "value": value} for name, value in asked.items() if value],
            "ports": [PORT.opened],
            "startupProbe": probes.started(ask),
            "readinessProbe": probes.ready(ask),
            "livenessProbe": probes.alive(ask),
            "volumeMounts": [
                volumes.mount(places.CONFIGS, places.GIVEN, read_only=True),
                *jail,
            ],
        },
    )
    return containers.bounded(made)
