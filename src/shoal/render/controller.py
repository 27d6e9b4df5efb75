"""slurmctld: its configuration, its pods, and how others find it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..kube.objects import Object
from ..model.cluster import SLURMCTLD_PORT, Cluster
from ..model.controller import (
    ClaimTemplate,
    Ephemeral,
    ExistingClaim,
    ExternalController,
    ManagedController,
    Monitor,
)
from ..model.part import Marks, Part
from . import marks, pods, probes, services, shell, slurm_conf, volumes
from .pods import Inside
from .services import Port

PORT = Port("slurmctld", SLURMCTLD_PORT)
CONFIG_DIGEST = "slurm-config"
# slurmctld writes down all jobs and nodes before it ends.
GRACE_S = 60
STATE = "statesave"
AUTH_SOCKET = "slurm-authsocket"
RECONFIGURE_PERIOD_S = 5


@dataclass(frozen=True)
class Published:
    """The configuration in use, where the wanted one is held back."""

    files: Mapping[str, str]
    digest: str


def objects(cluster: Cluster, published: Published | None = None) -> list[Object]:
    """Return what slurmctld consists of, in the order of its making.

    With `published`, the configuration stays that one, and slurmctld is not restarted for the
    wanted one.
    """
    controller = cluster.controller
    held = published or wanted(cluster)
    if isinstance(controller, ExternalController):
        return [config(cluster, held)]
    made = [
        internal_service(cluster, controller),
        service(cluster, controller),
        config(cluster, held),
        stateful_set(cluster, controller, held),
    ]
    metrics = controller.metrics
    if metrics and metrics.monitor and slurm_conf.serves_metrics(cluster):
        made.append(service_monitor(controller, metrics.monitor))
    return made


def wanted(cluster: Cluster) -> Published:
    """Return the configuration as the user wants it; its digest covers the user's files too."""
    made = files(cluster)
    texts = (text for pair in made.items() for text in pair)
    theirs = (text for source in cluster.config.sources for text in (source.name, source.digest))
    return Published(made, marks.digest(*texts, *theirs))


def files(cluster: Cluster) -> dict[str, str]:
    """Return the files that we write for slurmctld."""
    made = {"slurm.conf": slurm_conf.slurm_conf(cluster)}
    external = isinstance(cluster.controller, ExternalController)
    if not external and not cluster.config.has("cgroup.conf"):
        made["cgroup.conf"] = slurm_conf.cgroup_conf(cluster)
    return made


def config(cluster: Cluster, held: Published) -> Object:
    """Hold Slurm's configuration, and say which one it is."""
    controller = cluster.controller
    external = isinstance(controller, ExternalController)
    name = (
        controller.config if isinstance(controller, ExternalController) else controller.names.config
    )
    note = {} if external else marks.digests(cluster.naming, {CONFIG_DIGEST: held.digest})
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": marks.metadata(controller.part, name, Marks(annotations=note)),
        "data": dict(held.files),
    }


def service(cluster: Cluster, controller: ManagedController) -> Object:
    """Reach the slurmctld that serves.

    Where there is one, readiness alone decides: an operator that is away must not keep a slurmctld
    that came back out of its Service. Of several, only the one that serves has the label.
    """
    selector = dict(controller.part.selector)
    if controller.many:
        selector[cluster.naming.labels.active] = "true"
    return services.service(
        controller.part, controller.names.service, controller.service, PORT, selector
    )


def internal_service(_: Cluster, controller: ManagedController) -> Object:
    """Give each slurmctld a name."""
    part = controller.part
    return services.headless(part, controller.names.internal, PORT, part.selector)


def stateful_set(cluster: Cluster, controller: ManagedController, held: Published) -> Object:
    """Run slurmctld."""
    part = controller.part
    spec: Object = {
        "replicas": controller.replicas,
        "revisionHistoryLimit": 0,
        # One that stands by need not wait for the first, and the field cannot change later.
        "podManagementPolicy": "Parallel",
        "serviceName": controller.names.internal,
        "selector": {"matchLabels": dict(part.selector)},
        "template": pods.template(part, _inside(cluster, controller, held)),
    }
    if isinstance(controller.state, ClaimTemplate):
        claim = {"metadata": {"name": STATE}, "spec": dict(controller.state.spec)}
        spec["volumeClaimTemplates"] = [claim]
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": marks.metadata(part, controller.names.workload, part.pods.marks),
        "spec": spec,
    }


def service_monitor(controller: ManagedController, monitor: Monitor) -> Object:
    """Have Prometheus read slurmctld's metrics."""
    part = controller.part
    # Both Services have the labels that are selected; one of them is enough.
    once = {
        "sourceLabels": ["__meta_kubernetes_service_name"],
        "regex": controller.names.service,
        "action": "keep",
    }
    endpoints = [
        {
            "path": endpoint.path,
            "port": PORT.name,
            "scheme": "http",
            **({"interval": endpoint.interval} if endpoint.interval else {}),
            **({"scrapeTimeout": endpoint.scrape_timeout} if endpoint.scrape_timeout else {}),
            "relabelings": [once],
        }
        for endpoint in monitor.endpoints
    ]
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "ServiceMonitor",
        "metadata": marks.metadata(
            part, controller.names.service, Marks(monitor.labels, monitor.annotations)
        ),
        "spec": {
            "selector": {"matchLabels": dict(part.selector)},
            "namespaceSelector": {"matchNames": [part.namespace]},
            "endpoints": endpoints,
        },
    }


# -- the pod


def _inside(cluster: Cluster, controller: ManagedController, held: Published) -> Inside:
    part = controller.part
    main = _slurmctld(cluster, controller)
    sidecars = [pods.logfile(part, main, "slurmctld")]
    if controller.in_place:
        sidecars.insert(0, _reconfigure(part, main))
    spec: Object = {
        "securityContext": pods.restricted_pod(pods.SLURM),
        "terminationGracePeriodSeconds": GRACE_S,
        "affinity": pods.apart(part.selector),
    }
    if address := slurm_conf.service_address(cluster):
        # From here the Service leads back here, with another address as its sender: what slurmctld
        # then sends to an srun in this pod would not arrive.
        spec["hostAliases"] = [{"ip": "127.0.0.1", "hostnames": [address]}]
    return Inside(main, sidecars, _volumes(cluster, controller), spec, _digests(cluster, held))


def _slurmctld(cluster: Cluster, controller: ManagedController) -> Object:
    live = probes.handler(cluster.version, PORT.name, probes.LIVE)
    # One that stands by never says that it is ready, and updates would wait for it for ever.
    path = probes.LIVE if controller.many else probes.READY
    ready = probes.handler(cluster.version, PORT.name, path)
    return pods.container(
        controller.part,
        "slurmctld",
        {
            "ports": [PORT.opened],
            "startupProbe": probes.started(live),
            "readinessProbe": probes.ready(ready),
            "livenessProbe": probes.alive(live),
            "securityContext": pods.restricted(pods.SLURM),
            "volumeMounts": [
                volumes.mount(volumes.ETC, pods.ETC, read_only=True),
                volumes.mount(volumes.RUN, "/run"),
                volumes.mount(STATE, slurm_conf.state_folder(cluster)),
                volumes.mount(AUTH_SOCKET, "/run/slurmctld"),
                volumes.mount(volumes.LOGS, pods.LOGS),
                volumes.mount(volumes.TMP, "/tmp"),
            ],
        },
    )


def _reconfigure(part: Part, main: Object) -> Object:
    return pods.beside(
        part,
        "reconfigure",
        main,
        {
            "command": ["tini", "-g", "--", "bash", "-c", shell.script("reconfigure")],
            "env": [{"name": "PERIOD_S", "value": str(RECONFIGURE_PERIOD_S)}],
            "restartPolicy": "Always",
            "securityContext": pods.restricted(pods.SLURM),
            "volumeMounts": [
                volumes.mount(volumes.ETC, pods.ETC, read_only=True),
                volumes.mount(AUTH_SOCKET, "/run/slurmctld", read_only=True),
            ],
        },
    )


def _volumes(cluster: Cluster, controller: ManagedController) -> list[Object]:
    made = [
        configuration(cluster, controller.names.config),
        volumes.memory(volumes.LOGS),
        volumes.memory(volumes.RUN),
        volumes.scratch(AUTH_SOCKET),
        volumes.scratch(volumes.TMP),
    ]
    match controller.state:
        case ExistingClaim(name):
            made.append({"name": STATE, "persistentVolumeClaim": {"claimName": name}})
        case Ephemeral():
            made.append(volumes.scratch(STATE))
        case ClaimTemplate():
            pass  # the StatefulSet adds it
    return made


def configuration(cluster: Cluster, config_map: str) -> Object:
    """Return the volume with all that slurmctld reads."""
    keys = cluster.keys
    sources = (
        volumes.whole_map(config_map),
        volumes.key_file(keys.slurm, "slurm.key"),
        volumes.key_file(keys.jwt, "jwt.key"),
        *(volumes.whole_map(source.name) for source in cluster.config.sources),
        volumes.key_file(keys.jwks, "jwks.json"),
    )
    # Scripts are among them, which the group must be able to run.
    return volumes.projected(volumes.ETC, 0o610, sources)


def _digests(cluster: Cluster, held: Published) -> dict[str, str]:
    keys, controller = cluster.keys, cluster.controller
    # slurmctld reads keys at its start only, so they count also where the rest is read in place.
    found = {
        "slurm-key": keys.slurm.digest if keys.slurm else "",
        "jwt-key": keys.jwt.digest if keys.jwt else "",
    }
    if isinstance(controller, ManagedController) and not controller.in_place:
        found["jwks"] = keys.jwks.digest if keys.jwks else ""
        found[CONFIG_DIGEST] = held.digest
    return marks.digests(cluster.naming, found)
