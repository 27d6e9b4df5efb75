"""A NodeSet of slinky.slurm.net, v1beta1: its schema, and what it is read as. Pure."""

from typing import Annotated, Any, ClassVar

from msgspec import field

from ...kube.fields import Int32, Status, Texts, Time, about, needs, one_of, said
from ...kube.objects import Object, Resource, Slim
from ...kube.schema import NULLABLE, PRESERVE, Rule
from .parts import EXTRA_SSHD, Container, ControllerRef, Key, LocalReference, PodTemplate


class Ssh(Slim, frozen=True, gc=False):
    """Logins by SSH to a worker, for those who have a job there."""

    enabled: bool = False
    extra_sshd_config: Annotated[str | None, about(EXTRA_SSHD)] = None
    sssd_conf_ref: Annotated[Key | None, about("sssd.conf, an entry of a Secret.")] = None


class Partition(Slim, frozen=True, gc=False):
    """A partition of these workers alone, named after the NodeSet."""

    enabled: bool = False
    config: Annotated[str | None, said(pattern="^[^\\n]+$"), about("Its options.")] = None


class RollingUpdate(Slim, frozen=True, gc=False):
    """How fast workers are replaced."""

    max_unavailable: int | str = "25%"


class ScheduledUpdate(Slim, frozen=True, gc=False):
    """When workers are replaced: a maintenance reservation of Slurm's."""

    start_time: Time | None = None
    duration: str = "30m"
    flags: Annotated[tuple[str, ...] | None, NULLABLE] = None


class UpdateStrategy(Slim, frozen=True, gc=False):
    """How workers of an older shape are replaced."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "self.type != 'ScheduledUpdate' || (has(self.scheduledUpdate)"
            " && has(self.scheduledUpdate.startTime) && has(self.scheduledUpdate.duration))",
            "scheduledUpdate.startTime and scheduledUpdate.duration are required when type is"
            " ScheduledUpdate",
        ),
    )

    type: Annotated[str, one_of("RollingUpdate", "OnDelete", "ScheduledUpdate")] = "RollingUpdate"
    rolling_update: RollingUpdate = RollingUpdate()
    scheduled_update: ScheduledUpdate | None = None


Retention = Annotated[str, one_of("Retain", "Delete")]


class ClaimRetention(Slim, frozen=True, gc=False):
    """What becomes of the workers' claims."""

    when_deleted: Retention = "Retain"
    when_scaled: Retention = "Retain"


class NodeSetSpec(Slim, frozen=True, gc=False):
    """What the workers shall be."""

    controller_ref: ControllerRef = field(default_factory=LocalReference)
    replicas: Annotated[Int32, about("How many there are, unless every node has one.")] = 1
    scaling_mode: Annotated[
        str,
        one_of("DaemonSet", "StatefulSet"),
        about("As many as replicas (StatefulSet), or one on each node that fits (DaemonSet)."),
    ] = "StatefulSet"
    slurmd: Container = field(default_factory=dict)
    ssh: Annotated[Ssh | None, needs("enabled", "sssdConfRef")] = None
    logfile: Container = field(default_factory=dict)
    template: PodTemplate = PodTemplate()
    extra_conf: Annotated[
        str | None, about("Options of the Slurm nodes: Key=Value, parted by spaces.")
    ] = None
    partition: Annotated[Partition, needs("enabled")] = Partition()
    volume_claim_templates: Annotated[
        Any,
        said(**{PRESERVE: True}),
        NULLABLE,
        about("A claim for each worker; they cannot be changed."),
    ] = None
    update_strategy: UpdateStrategy = UpdateStrategy()
    revision_history_limit: Annotated[Int32, about("How many old revisions are kept.")] = 0
    persistent_volume_claim_retention_policy: ClaimRetention = ClaimRetention()
    min_ready_seconds: Annotated[
        Int32 | None, about("How long a worker is ready before it counts as available.")
    ] = None
    ordinal_padding: Annotated[int, about("Digits of a worker's number.")] = 0
    pin_to_node: Annotated[bool, about("Whether a worker returns to the node it was on.")] = False
    workload_disruption_protection: Annotated[
        bool, about("Whether busy workers are kept from eviction.")
    ] = True
    prune_slurm_node_records: Annotated[
        str,
        one_of("Never", "NodeNotFound"),
        about("Whether Slurm forgets nodes that are gone (DaemonSet)."),
    ] = "Never"
    oversubscribe_node: Annotated[bool, about("Whether workers may share a node.")] = False
    taint_kube_nodes: Annotated[
        bool, about("Of older releases, and without effect: nodes are not tainted.")
    ] = False

    @property
    def claims(self) -> tuple[Object, ...]:
        """Return the claim templates, without what is none: the schema lets anything pass."""
        found = self.volume_claim_templates
        items = found if isinstance(found, list) else []
        return tuple(item for item in items if isinstance(item, dict))


class NodeSetStatus(Status, frozen=True, gc=False):
    """What is."""

    replicas: Int32 | None = None
    updated_replicas: Int32 | None = None
    ready_replicas: Int32 | None = None
    available_replicas: Int32 | None = None
    unavailable_replicas: Int32 | None = None
    desired: Int32 | None = None
    slurm_idle: Int32 | None = None
    slurm_allocated: Int32 | None = None
    slurm_down: Int32 | None = None
    slurm_drain: Int32 | None = None
    node_set_hash: str = field(default_factory=str)
    collision_count: Int32 | None = None
    ordinal_to_node: Texts = None
    selector: str = field(default_factory=str)


class NodeSet(Resource, frozen=True, gc=False):
    """Workers of one shape."""

    spec: Annotated[NodeSetSpec, needs("controllerRef")] = field(default_factory=NodeSetSpec)
    status: Annotated[NodeSetStatus, needs("nodeSetHash", "selector")] = field(
        default_factory=NodeSetStatus
    )
