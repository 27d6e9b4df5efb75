"""What the kinds of slurm.nebius.ai are made of. Pure.

Two releases are read: the older one, which is the contract, and the newer one.

* A field of either is accepted.
* Where both have a default and the defaults differ, the older one counts: nobody's cluster changes
  because the operator does.
* A default that only the newer one has counts too, unless it would switch something on that the
  older one does not have: such a field has none, and what it stands for is there when it is asked
  for.
* What Kubernetes itself defines (volumes, affinities, containers, probes) is kept as it is written,
  whichever release of Kubernetes it is of; the API server judges it when pods are made of it, and
  `shapes` looks at the rest before.
"""

from typing import Annotated

from msgspec import field

from ...kube.fields import Int32, Quantity, about, needs, one_of
from ...kube.objects import Object, Slim

Objects = tuple[Object, ...]
PullPolicy = Annotated[str, one_of("Always", "Never", "IfNotPresent")]
ProcMount = Annotated[str | None, one_of("Default", "Unmasked")]
CgroupVersion = Annotated[str, one_of("v1", "v2")]
Resources = dict[str, Quantity]
FilterName = Annotated[str, about("One of spec.k8sNodeFilters: the nodes that it may run on.")]
UNCONFINED = "unconfined"
SHARED_MEMORY = "64Gi"


class LocalName(Slim, frozen=True, gc=False):
    """An object of the same namespace."""

    name: str = ""


class SecretKey(Slim, frozen=True, gc=False):
    """One entry of a Secret of the same namespace."""

    name: str | None = None
    key: str | None = None


class NodeContainer(Slim, frozen=True, gc=False):
    """A container of ours."""

    image: str = field(default_factory=str)
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    custom_env: Objects = ()
    image_pull_policy: PullPolicy = "IfNotPresent"
    image_pull_secrets: tuple[LocalName, ...] = ()
    port: Int32 | None = None
    resources: Resources = field(default_factory=dict)
    liveness_probe: Object | None = None
    readiness_probe: Object | None = None
    security_limits_config: str | None = None
    app_armor_profile: str = UNCONFINED
    proc_mount: ProcMount = None


Container = Annotated[NodeContainer, needs("image")]


class SlurmNode(Slim, frozen=True, gc=False):
    """Pods of one sort: how many, and where."""

    size: Int32 = field(default_factory=int)
    custom_init_containers: Objects = ()
    k8s_node_filter_name: FilterName = field(default_factory=str)
    priority_class: str | None = None
    host_users: bool | None = None


class NodeVolume(Slim, frozen=True, gc=False):
    """A volume: one of spec.volumeSources, or a claim for each pod."""

    volume_source_name: str | None = None
    volume_claim_template_spec: Object | None = None


class NodeVolumeMount(NodeVolume, frozen=True, gc=False):
    """A volume, and where it is mounted."""

    name: str = field(default_factory=str)
    mount_path: str = field(default_factory=str)
    sub_path: str = ""
    read_only: bool = False


Mounts = tuple[Annotated[NodeVolumeMount, needs("name", "mountPath")], ...]
