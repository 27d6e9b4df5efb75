"""What slinky.slurm.net calls things: object names, labels, annotations. Pure.

Users' tooling knows these names, so none of them is ours to change.
"""

from ...model.controller import ControllerNames
from ...model.login import LoginNames
from ...model.naming import Annotations, Labels, Naming

GROUP = "slinky.slurm.net"

NAME = "app.kubernetes.io/name"
INSTANCE = "app.kubernetes.io/instance"
COMPONENT = "app.kubernetes.io/component"

NAMING = Naming(
    labels=Labels(
        cluster=f"{GROUP}/cluster",
        active=f"controller.{GROUP}/active",
        pod_name=f"nodeset.{GROUP}/pod-name",
        pod_index=f"nodeset.{GROUP}/pod-index",
        pod_hostname=f"nodeset.{GROUP}/pod-hostname",
        pod_protect=f"nodeset.{GROUP}/pod-protect",
        scaling_mode=f"nodeset.{GROUP}/scaling-mode",
        revision="controller.kubernetes.io/hash",
    ),
    annotations=Annotations(
        digest=f"{GROUP}/{{}}-hash",
        pod_cordon=f"nodeset.{GROUP}/pod-cordon",
        pod_deletion_cost=f"nodeset.{GROUP}/pod-deletion-cost",
        pod_deadline=f"nodeset.{GROUP}/pod-deadline",
        topology=f"topology.{GROUP}/spec",
        features=f"features.{GROUP}/spec",
        node_cordon_reason=f"nodeset.{GROUP}/node-cordon-reason",
        hostname_override=f"nodeset.{GROUP}/hostname-override",
        force=f"nodeset.{GROUP}/force-delete",
        has_state=f"controller.{GROUP}/has-state",
        accept_empty_state=f"controller.{GROUP}/accept-empty-state",
    ),
    reason_prefix="slurm-operator: ",
    feature_prefix="k8s/",
    worker_taint=f"nodeset.{GROUP}/worker",
    finalizer=f"nodeset.{GROUP}/drain",
    window_finalizer=f"nodeset.{GROUP}/reservation",
    reservation="SlurmOperatorMaint-{}",
)

# The program, and what the part is called, of the pods of each kind.
PARTS = {
    "Controller": ("slurmctld", "controller"),
    "NodeSet": ("slurmd", "worker"),
    "Accounting": ("slurmdbd", "accounting"),
    "RestApi": ("slurmrestd", "restapi"),
    "LoginSet": ("login", "login"),
}


def selector(kind: str, name: str) -> dict[str, str]:
    """Return the labels that find the pods of one object."""
    return {NAME: PARTS[kind][0], INSTANCE: name}


def labels(kind: str, name: str) -> dict[str, str]:
    """Return the labels of what belongs to one object."""
    return {**selector(kind, name), COMPONENT: PARTS[kind][1]}


def controller(name: str) -> ControllerNames:
    """Return the names of a Controller's objects."""
    return ControllerNames(
        workload=f"{name}-controller",
        service=f"{name}-controller",
        internal=f"{name}-controller-internal",
        config=f"{name}-config",
    )


def accounting(name: str) -> str:
    """Return the name of an Accounting's objects."""
    return f"{name}-accounting"


def rest(name: str) -> str:
    """Return the name of a RestApi's objects."""
    return f"{name}-restapi"


def login(name: str) -> LoginNames:
    """Return the names of a LoginSet's objects."""
    return LoginNames(workload=name, host_keys=f"{name}-ssh-host-keys", config=f"{name}-ssh-config")


def workers(controller_name: str) -> str:
    """Return the name of the Service that all workers of a cluster share."""
    return f"slurm-workers-{controller_name}"


def budget(controller_name: str) -> str:
    """Return the name of the PodDisruptionBudget that all workers of a cluster share."""
    return f"slurm-workers-pdb-{controller_name}"


def worker_ssh(name: str) -> str:
    """Return the name of the ConfigMap with the sshd_config of a NodeSet's workers."""
    return f"{name}-ssh-config"


def reservation(name: str) -> str:
    """Return what Slurm calls the maintenance window of a NodeSet."""
    return NAMING.reservation.format(name)


def token_secret(name: str, user: str) -> str:
    """Return the name of the Secret that a Token is kept in."""
    return f"{name}-jwt-{user}"
