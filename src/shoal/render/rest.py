"""slurmrestd. Pure."""

from ..kube.objects import Object
from ..model.cluster import Cluster
from ..model.controller import ExternalController
from ..model.rest import RestApi
from ..slurm.keys import V25_05
from . import controller, marks, pods, probes, services, volumes
from .pods import Inside
from .services import Port

PORT = Port("slurmrestd", 6820)
# What slurmrestd asks slurmctld for instead: a new NodeSet need not restart it.
NOT_READ = ("NodeSet=", "PartitionName=", "MaxNodeCount=")


def objects(
    cluster: Cluster, rest: RestApi, published: controller.Published | None = None
) -> list[Object]:
    """Return what slurmrestd consists of; `published` is the configuration in use."""
    held = published or controller.wanted(cluster)
    return [service(rest), deployment(cluster, rest, held)]


def service(rest: RestApi) -> Object:
    """Reach slurmrestd."""
    return services.service(rest.part, rest.name, rest.service, PORT, rest.part.selector)


def deployment(cluster: Cluster, rest: RestApi, held: controller.Published) -> Object:
    """Run slurmrestd."""
    part = rest.part
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": marks.metadata(part, rest.name, part.pods.marks),
        "spec": {
            "replicas": rest.replicas,
            "revisionHistoryLimit": 0,
            "selector": {"matchLabels": dict(part.selector)},
            "template": pods.template(part, _inside(cluster, rest, held)),
        },
    }


def _of_interest(slurm_conf: str) -> list[str]:
    return [line for line in slurm_conf.splitlines() if not line.startswith(NOT_READ)]


def _inside(cluster: Cluster, rest: RestApi, held: controller.Published) -> Inside:
    slurm = cluster.keys.slurm
    sources = (
        volumes.one_of_map(_config(cluster), "slurm.conf", "slurm.conf"),
        volumes.key_file(slurm, "slurm.key"),
    )
    # It reads both once, at its start.
    read = {
        controller.CONFIG_DIGEST: marks.digest(*_of_interest(held.files.get("slurm.conf", ""))),
        "slurm-key": slurm.digest if slurm else "",
    }
    return Inside(
        _slurmrestd(cluster, rest),
        volumes=[
            volumes.projected(volumes.ETC, 0o600, sources),
            volumes.memory(volumes.RUN),
            volumes.scratch(volumes.TMP),
        ],
        spec={"securityContext": pods.restricted_pod(pods.NOBODY)},
        digests=marks.digests(cluster.naming, read),
    )


def _slurmrestd(cluster: Cluster, rest: RestApi) -> Object:
    ask = probes.connects(PORT.name)
    made = pods.container(
        rest.part,
        "slurmrestd",
        {
            # Without accounting 24.11 does not start with the plugin for it.
            "args": [] if cluster.accounting else ["-s", "openapi/slurmctld"],
            "env": _environment(cluster),
            "ports": [PORT.opened],
            "startupProbe": probes.started(ask),
            "readinessProbe": probes.ready(ask),
            "livenessProbe": probes.alive(ask),
            "securityContext": pods.restricted(pods.NOBODY),
            "volumeMounts": [
                volumes.mount(volumes.ETC, pods.ETC, read_only=True),
                volumes.mount(volumes.RUN, "/run"),
                volumes.mount(volumes.TMP, "/tmp"),
            ],
        },
    )
    # Where to listen comes last, behind the user's own arguments.
    return {**made, "args": [*made["args"], f"0.0.0.0:{PORT.number}"]}


def _environment(cluster: Cluster) -> list[Object]:
    made = {
        "SLURM_JWT": "daemon",
        "SLURMRESTD_SECURITY": "disable_unshare_files,disable_unshare_sysv",
        # With an arena for each thread it keeps the memory of every large answer.
        "MALLOC_ARENA_MAX": "1",
    }
    # 24.11 does not know it.
    if cluster.version is not None and cluster.version >= V25_05:
        made["SLURM_JSON"] = "compact"
    return [{"name": name, "value": value} for name, value in made.items()]


def _config(cluster: Cluster) -> str:
    found = cluster.controller
    return found.config if isinstance(found, ExternalController) else found.names.config
