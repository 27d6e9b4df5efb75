"""How slurmctld is found: by others, by its own pods, and by Prometheus. Pure."""

from collections.abc import Iterator

from ..kube.objects import Object
from ..model.cluster import SLURMCTLD_PORT, Cluster
from ..model.controller import ManagedController, Monitor
from ..model.part import Marks, ServiceWishes
from . import marks, services, slurm_conf
from .services import Port

PORT = Port("slurmctld", SLURMCTLD_PORT)
# By which a StatefulSet's controller marks each of its pods.
POD_NAME = "statefulset.kubernetes.io/pod-name"


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


def own_services(cluster: Cluster, controller: ManagedController) -> Iterator[Object]:
    """Give each slurmctld of several an address that stays while its pod is not there."""
    part = controller.part
    # Workers ask the one that serves, whatever its probes say.
    wishes = ServiceWishes(SLURMCTLD_PORT, spec={"publishNotReadyAddresses": True})
    for name, _ in cluster.controllers:
        if slurm_conf.own_address(cluster, name):
            selector = {**part.selector, POD_NAME: name}
            yield services.service(part, name, wishes, PORT, selector)


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
