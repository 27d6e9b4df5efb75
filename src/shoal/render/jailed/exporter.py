"""What tells Prometheus about a cluster with a shared root. Pure."""

from collections.abc import Mapping

from ...kube.objects import Object
from ...model.cluster import Cluster
from ...model.exporter import Exporter, PodMonitor
from ...model.jail import Jail
from ...model.rest import RestApi
from .. import marks, pods, probes
from ..pods import Inside
from ..services import Port
from . import containers

NAME = "exporter"
RBAC = "rbac.authorization.k8s.io"
METRICS = Port("metrics", 8080)
MONITORING = Port("monitoring", 8081)
# Of the pod that answers: a new pod would else begin new series.
_DROPPED: Object = {"action": "labeldrop", "regex": "pod|instance|container"}


def objects(cluster: Cluster, jail: Jail, exporter: Exporter, rest: RestApi) -> list[Object]:
    """Return what the exporter consists of."""
    made = [*rights(cluster, exporter), deployment(cluster, jail, exporter, rest)]
    if exporter.monitor is not None:
        made.append(pod_monitor(cluster, exporter, exporter.monitor))
    return made


def rights(cluster: Cluster, exporter: Exporter) -> list[Object]:
    """Let the exporter see the key that its tokens are signed with, and nothing else."""
    part, key = exporter.part, cluster.keys.jwt
    if not exporter.account or key is None:
        return []
    account, role = f"{exporter.account}-sa", f"{exporter.account}-role"
    sees: Object = {
        "apiGroups": [""],
        "resources": ["secrets"],
        "resourceNames": [key.name],
        "verbs": ["get"],
    }
    return [
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": marks.metadata(part, account),
            # Only for pods that ask for it.
            "automountServiceAccountToken": False,
        },
        {
            "apiVersion": f"{RBAC}/v1",
            "kind": "Role",
            "metadata": marks.metadata(part, role),
            "rules": [sees],
        },
        {
            "apiVersion": f"{RBAC}/v1",
            "kind": "RoleBinding",
            "metadata": marks.metadata(part, f"{role}-binding"),
            "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": role},
            "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": part.namespace}],
        },
    ]


def deployment(cluster: Cluster, jail: Jail, exporter: Exporter, rest: RestApi) -> Object:
    """Run the exporter."""
    part = exporter.part
    listens = probes.connects(METRICS.name)
    main = pods.container(
        part,
        NAME,
        {
            "env": [
                {"name": f"SLURM_EXPORTER_{name}", "value": value}
                for name, value in _environment(cluster, exporter, rest).items()
            ],
            "ports": [METRICS.opened, MONITORING.opened],
            "startupProbe": probes.started(listens),
            "readinessProbe": probes.ready(listens),
            "securityContext": pods.restricted(pods.NOBODY),
        },
    )
    spec: Object = {
        "enableServiceLinks": False,
        # It signs its tokens with the cluster's key, which it asks Kubernetes for.
        "automountServiceAccountToken": True,
        **({"serviceAccountName": f"{exporter.account}-sa"} if exporter.account else {}),
        "securityContext": pods.restricted_pod(pods.NOBODY),
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": marks.metadata(part, exporter.name, part.pods.marks),
        "spec": {
            "replicas": jail.mode.replicas(1),
            "revisionHistoryLimit": 0,
            "selector": {"matchLabels": dict(part.selector)},
            "template": containers.template(part, Inside(containers.bounded(main), spec=spec)),
        },
    }


def pod_monitor(cluster: Cluster, exporter: Exporter, monitor: PodMonitor) -> Object:
    """Have Prometheus read the exporter, and what it says of itself."""
    every: Object = {
        "interval": monitor.interval,
        "scrapeTimeout": monitor.scrape_timeout,
        "path": "/metrics",
        "scheme": "http",
        "relabelings": [_DROPPED, *monitor.relabel],
    }
    if monitor.metric_relabel:
        every["metricRelabelings"] = list(monitor.metric_relabel)
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PodMonitor",
        "metadata": marks.metadata(exporter.part, cluster.name),
        "spec": {
            "jobLabel": monitor.job_label,
            "selector": {"matchLabels": dict(exporter.part.selector)},
            "namespaceSelector": {"matchNames": [exporter.part.namespace]},
            "podMetricsEndpoints": [{"port": port.name, **every} for port in (METRICS, MONITORING)],
        },
    }


def _environment(cluster: Cluster, exporter: Exporter, rest: RestApi) -> Mapping[str, str]:
    more = {
        name.upper().replace("-", "_"): value for name, value in sorted(exporter.settings.items())
    }
    where = f"{rest.name}.{rest.part.namespace}:{rest.service.port}"
    return {
        "CLUSTER_NAMESPACE": cluster.namespace,
        "CLUSTER_NAME": cluster.name,
        "SLURM_API_SERVER": f"http://{where}",
        "COLLECTION_INTERVAL": exporter.collection_interval,
        **more,
    }
