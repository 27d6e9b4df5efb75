"""What slurm.nebius.ai calls things: object names, labels, annotations. Pure.

Users' tooling knows these names, so none of them is ours to choose. Workloads were once called
after their part alone, so that a namespace could hold one cluster; a cluster that has such
workloads keeps them (`legacy`), any other has its own name in front.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...kube.objects import Resource
from ...model.accounting import AccountingNames
from ...model.controller import ControllerNames
from ...model.jail import JailNames
from ...model.jailed import GateNames
from ...model.naming import Annotations, Labels, Naming

GROUP = "slurm.nebius.ai"

NAME = "app.kubernetes.io/name"
INSTANCE = "app.kubernetes.io/instance"
COMPONENT = "app.kubernetes.io/component"
PART_OF = "app.kubernetes.io/part-of"
MANAGED_BY = "app.kubernetes.io/managed-by"
APP = "slurmcluster"
OPERATOR = "slurm-operator"

NODESET = f"{GROUP}/nodeset"  # on workers: their NodeSet
WORKER = f"{GROUP}/worker"  # on workers: "true"
CONTROLLER_TYPE = f"{GROUP}/controller-type"  # "main"
JAILED_AGGREGATION = f"{GROUP}/jailed-aggregation"
WEBHOOK = f"{GROUP}/webhook"  # on Secrets: "true" where they are protected
CLUSTER = f"{GROUP}/cluster"  # on protected Secrets: whose they are
# On NodeSets of the older release: what spec.clusterName says now.
PARENTAL_CLUSTER = f"{GROUP}/parental-cluster-ref"
DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"

NAMING = Naming(
    labels=Labels(
        cluster=f"{GROUP}/cluster",
        active=f"{GROUP}/controller-active",
        # The same as on pods of a StatefulSet, which workers once were.
        pod_name="statefulset.kubernetes.io/pod-name",
        pod_index="apps.kubernetes.io/pod-index",
        pod_hostname=f"{GROUP}/pod-hostname",
        pod_protect=f"{GROUP}/pod-protect",
        scaling_mode=f"{GROUP}/scaling-mode",
        revision="controller-revision-hash",
    ),
    annotations=Annotations(
        digest=f"{GROUP}/{{}}-hash",
        pod_cordon=f"{GROUP}/pod-cordon",
        pod_deletion_cost=f"{GROUP}/pod-deletion-cost",
        pod_deadline=f"{GROUP}/pod-deadline",
        topology=f"{GROUP}/topology",
        features=f"{GROUP}/features",
        node_cordon_reason=f"{GROUP}/node-cordon-reason",
        hostname_override=f"{GROUP}/hostname-override",
        force=f"{GROUP}/force-delete",
        has_state=f"{GROUP}/has-state",
        accept_empty_state=f"{GROUP}/accept-empty-state",
    ),
    reason_prefix="slurm-operator: ",
    feature_prefix="k8s/",
    worker_taint=f"{GROUP}/worker",
    finalizer=f"{GROUP}/drain",
    window_finalizer=f"{GROUP}/reservation",
    reservation="SlurmOperatorMaint-{}",
)

HOLDS = f"{GROUP}/workers"  # finalizer of a cluster, until workers that are deleted are gone

# -- labels

CONTROLLER = "controller"
LOGIN = "login"
ACCOUNTING = "accounting"
DATABASE = "mariadb"  # of its own: slurmdbd's Service must not lead to it
REST = "rest"
EXPORTER = "exporter"
CONFIG_CONTROLLER = "sconfigcontroller"
POPULATE_JAIL = "populate-jail"
COMMON = "common"
WORKERS = "worker"  # of slurmNodes.worker
NODE_SET = "nodeset"  # of a NodeSet
COMPONENTS = (
    CONTROLLER, LOGIN, ACCOUNTING, REST, EXPORTER, CONFIG_CONTROLLER, POPULATE_JAIL, COMMON,
    WORKERS, NODE_SET, DATABASE,
)  # fmt: skip


def selector(cluster: str, component: str, nodeset: str = "") -> dict[str, str]:
    """Return the labels that find the pods of one part, or of one NodeSet."""
    found = {NAME: APP, INSTANCE: cluster, COMPONENT: component}
    return {**found, NODESET: nodeset} if nodeset else found


def labels(cluster: str, component: str, nodeset: str = "") -> dict[str, str]:
    """Return the labels of what belongs to one part, or to one NodeSet."""
    more = {WORKER: "true"} if component in (WORKERS, NODE_SET) else {}
    made = {PART_OF: OPERATOR, MANAGED_BY: OPERATOR}
    return {**selector(cluster, component, nodeset), **made, **more}


def workers(cluster: str) -> dict[str, str]:
    """Return the labels that every worker's pod of a cluster has, and no other pod."""
    return {NAME: APP, INSTANCE: cluster, WORKER: "true"}


def written(selects: Mapping[str, str]) -> str:
    """Return a selector as the scale subresource wants it."""
    return ",".join(f"{key}={value}" for key, value in sorted(selects.items()))


# -- names


@dataclass(frozen=True)
class Names:
    """What a cluster's objects are called."""

    cluster: str
    legacy: bool = False  # its workloads are called after their part alone

    def _of(self, part: str) -> str:
        return f"{self.cluster}-{part}"

    def workload(self, component: str) -> str:
        """Return the name of the workload of one part."""
        part = _WORKLOADS.get(component, component)
        return part if self.legacy else self._of(part)

    @property
    def placeholder(self) -> str:
        """Return the DaemonSet that has slurmctld's image pulled everywhere."""
        return f"{self.workload(CONTROLLER)}-placeholder"

    def service(self, component: str) -> str:
        """Return the name of the Service of one part."""
        return self._of(f"{component}-svc")

    @property
    def login_headless(self) -> str:
        """Return the Service that gives each login pod a name."""
        return self._of("login-headless-svc")

    @property
    def workers_service(self) -> str:
        """Return the headless Service of all workers of NodeSets."""
        return self.service(NODE_SET)

    def nodeset_service(self, nodeset: str) -> str:
        """Return the Service of one NodeSet."""
        return self._of(f"nodeset-{nodeset}-svc")

    @property
    def budget(self) -> str:
        """Return the PodDisruptionBudget that all workers share."""
        return self._of("workers-pdb")

    # -- ConfigMaps

    @property
    def slurm_configs(self) -> str:
        """Return the ConfigMap with slurm.conf and its like; the JailedConfig has this name too."""
        return self._of("slurm-configs")

    @property
    def ssh_configs(self) -> str:
        """Return the ConfigMap with the sshd_config of login nodes."""
        return self._of("ssh-configs")

    @property
    def worker_ssh_configs(self) -> str:
        """Return the ConfigMap with the sshd_config of workers."""
        return self._of("ssh-configs-worker")

    @property
    def root_keys(self) -> str:
        """Return the ConfigMap with the keys that root logs in by."""
        return self._of("ssh-root-keys")

    def security_limits(self, component: str, nodeset: str = "") -> str:
        """Return the ConfigMap with limits.conf of one part, or of one NodeSet."""
        part = f"nodeset-{nodeset}" if nodeset else component
        return self._of(f"{part}-security-limits")

    @property
    def sysctl(self) -> str:
        """Return the ConfigMap with sysctl.conf."""
        return self._of("sysctl")

    @property
    def supervisord(self) -> str:
        """Return the ConfigMap with supervisord.conf."""
        return self._of("supervisord")

    @property
    def topology(self) -> str:
        """Return the ConfigMap with topology.conf."""
        return "topology-config" if self.legacy else self._of("topology-config")

    # -- Secrets

    @property
    def munge(self) -> str:
        """Return the Secret with munge's key."""
        return self._of("munge")

    @property
    def jwt(self) -> str:
        """Return the Secret with the key that signs tokens."""
        return self._of("rest-jwt-key")

    @property
    def sshd_keys(self) -> str:
        """Return the Secret with the host keys of sshd."""
        return self._of("sshd-keys")

    @property
    def slurmdbd(self) -> str:
        """Return the Secret with slurmdbd.conf."""
        return self._of("slurmdbd-configs")

    @property
    def database_password(self) -> str:
        """Return the Secret with the password of the database's user."""
        return MARIADB_PASSWORD if self.legacy else self._of(MARIADB_PASSWORD)

    @property
    def database_root(self) -> str:
        """Return the Secret with the password of the database's root."""
        return MARIADB_ROOT if self.legacy else self._of(MARIADB_ROOT)

    # -- the rest

    @property
    def database(self) -> str:
        """Return the MariaDB, its Grant, or our own StatefulSet in their place."""
        return self._of("acct-db")

    @property
    def exporter_account(self) -> str:
        """Return how the exporter's account begins, and what that may do."""
        return self._of(EXPORTER)

    @property
    def populate(self) -> str:
        """Return the Job that fills the shared root."""
        return self._of("populate-jail")

    def app_armor(self, namespace: str) -> str:
        """Return the AppArmorProfile."""
        return f"soperator-cluster-{self.cluster}-ns-{namespace}"

    @property
    def controller(self) -> ControllerNames:
        """Return the names of slurmctld's objects."""
        return ControllerNames(
            workload=self.workload(CONTROLLER),
            service=self.service(CONTROLLER),
            internal=self.service(CONTROLLER),
            config=self.slurm_configs,
        )

    @property
    def gate(self) -> GateNames:
        """Return the names of the login nodes' objects."""
        return GateNames(
            workload=self.workload(LOGIN),
            service=self.service(LOGIN),
            headless=self.login_headless,
            config=self.ssh_configs,
        )

    @property
    def jail(self) -> JailNames:
        """Return the names of what pods of several parts mount."""
        return JailNames(self.sysctl, self.worker_ssh_configs, self.supervisord)

    @property
    def accounting(self) -> AccountingNames:
        """Return the names of slurmdbd's objects."""
        return AccountingNames(self.workload(ACCOUNTING), self.service(ACCOUNTING), self.slurmdbd)

    def host(self, service: str, namespace: str, domain: str = "cluster.local") -> str:
        """Return the full name of one of its Services."""
        return f"{service}.{namespace}.svc.{domain}"


def names(cluster: str, workloads: Iterable[Resource]) -> Names:
    """Return what the objects of `cluster` are called; `workloads` are those of its namespace."""
    return Names(cluster, legacy=any(_is_legacy(cluster, one) for one in workloads))


def _is_legacy(cluster: str, workload: Resource) -> bool:
    meta = workload.metadata
    return meta.name == CONTROLLER and meta.labels.get(INSTANCE) == cluster


_WORKLOADS: Mapping[str, str] = {EXPORTER: "slurm-exporter"}
MARIADB_PASSWORD = "mariadb-password"
MARIADB_ROOT = "mariadb-root"
