"""Kinds and where the API server serves them. Pure."""

from dataclasses import dataclass

from .objects import Object, Resource


@dataclass(frozen=True)
class Kind:
    """A kind of object in one version of its group."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        """Return the kind's apiVersion field."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Return the URL path of one object, of all of a namespace, or of all there are."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        scope = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        tail = "".join(f"/{part}" for part in (name, subresource) if part)
        return f"{root}{scope}/{self.plural}{tail}"

    def identity(self, obj: Resource) -> Object:
        """Return which object `obj` is, and nothing else of it: what an owner or an apply needs."""
        meta = {"name": obj.metadata.name, "uid": obj.metadata.uid}
        if self.namespaced:
            meta["namespace"] = obj.metadata.namespace
        return {"apiVersion": self.api_version, "kind": self.kind, "metadata": meta}


def _core(kind: str, plural: str, *, namespaced: bool = True) -> Kind:
    return Kind("", "v1", kind, plural, namespaced)


POD = _core("Pod", "pods")
SERVICE = _core("Service", "services")
CONFIG_MAP = _core("ConfigMap", "configmaps")
SECRET = _core("Secret", "secrets")
SERVICE_ACCOUNT = _core("ServiceAccount", "serviceaccounts")
PERSISTENT_VOLUME_CLAIM = _core("PersistentVolumeClaim", "persistentvolumeclaims")
NODE = _core("Node", "nodes", namespaced=False)
NAMESPACE = _core("Namespace", "namespaces", namespaced=False)
STATEFUL_SET = Kind("apps", "v1", "StatefulSet", "statefulsets")
DEPLOYMENT = Kind("apps", "v1", "Deployment", "deployments")
DAEMON_SET = Kind("apps", "v1", "DaemonSet", "daemonsets")
CONTROLLER_REVISION = Kind("apps", "v1", "ControllerRevision", "controllerrevisions")
JOB = Kind("batch", "v1", "Job", "jobs")
CRON_JOB = Kind("batch", "v1", "CronJob", "cronjobs")
POD_DISRUPTION_BUDGET = Kind("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets")
# Of the Prometheus operator, which not every cluster has.
SERVICE_MONITOR = Kind("monitoring.coreos.com", "v1", "ServiceMonitor", "servicemonitors")
POD_MONITOR = Kind("monitoring.coreos.com", "v1", "PodMonitor", "podmonitors")
# Of mariadb-operator, and of security-profiles-operator.
MARIADB = Kind("k8s.mariadb.com", "v1alpha1", "MariaDB", "mariadbs")
GRANT = Kind("k8s.mariadb.com", "v1alpha1", "Grant", "grants")
APP_ARMOR_PROFILE = Kind(
    "security-profiles-operator.x-k8s.io", "v1alpha1", "AppArmorProfile", "apparmorprofiles"
)
LEASE = Kind("coordination.k8s.io", "v1", "Lease", "leases")
EVENT = Kind("events.k8s.io", "v1", "Event", "events")
ENDPOINT_SLICE = Kind("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices")
ROLE = Kind("rbac.authorization.k8s.io", "v1", "Role", "roles")
ROLE_BINDING = Kind("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings")
CLUSTER_ROLE = Kind("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", False)  # noqa: FBT003
CLUSTER_ROLE_BINDING = Kind(
    "rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", namespaced=False
)
CUSTOM_RESOURCE_DEFINITION = Kind(
    "apiextensions.k8s.io",
    "v1",
    "CustomResourceDefinition",
    "customresourcedefinitions",
    namespaced=False,
)
VALIDATING_WEBHOOK = Kind(
    "admissionregistration.k8s.io",
    "v1",
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
    namespaced=False,
)
MUTATING_WEBHOOK = Kind(
    "admissionregistration.k8s.io",
    "v1",
    "MutatingWebhookConfiguration",
    "mutatingwebhookconfigurations",
    namespaced=False,
)


KUBERNETES_OWN = (
    POD,
    SERVICE,
    CONFIG_MAP,
    SECRET,
    SERVICE_ACCOUNT,
    PERSISTENT_VOLUME_CLAIM,
    NODE,
    NAMESPACE,
    STATEFUL_SET,
    DEPLOYMENT,
    DAEMON_SET,
    CONTROLLER_REVISION,
    JOB,
    CRON_JOB,
    POD_DISRUPTION_BUDGET,
    LEASE,
    EVENT,
    ENDPOINT_SLICE,
    ROLE,
    ROLE_BINDING,
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    CUSTOM_RESOURCE_DEFINITION,
    VALIDATING_WEBHOOK,
    MUTATING_WEBHOOK,
)


SOMEBODY_ELSES = (SERVICE_MONITOR, POD_MONITOR, MARIADB, GRANT, APP_ARMOR_PROFILE)


class Kinds:
    """The kinds that a process knows: Kubernetes' own, some more, and those it is told of."""

    def __init__(self, *more: Kind) -> None:
        known = (*KUBERNETES_OWN, *SOMEBODY_ELSES, *more)
        self._by_name = {(k.api_version, k.kind): k for k in known}

    def of(self, obj: Object) -> Kind:
        """Return the kind of `obj`."""
        try:
            return self._by_name[obj["apiVersion"], obj["kind"]]
        except KeyError:
            raise LookupError(f"{obj.get('apiVersion')} {obj.get('kind')}: unknown kind") from None
