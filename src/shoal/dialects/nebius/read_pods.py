"""What is read of any pods of slurm.nebius.ai: where they run, their containers, volumes. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...kube.objects import Object
from ...model.jail import Claimed, Given, Mount, Volume
from ...model.observed import Found
from ...model.part import Marks, Part, PodWishes
from ...model.security import app_armor
from . import naming
from .naming import Names
from .node_types import Controller, PopulateJail
from .parts import (
    LocalName,
    NodeContainer,
    NodeVolume,
    NodeVolumeMount,
    ProcMount,
    Resources,
    SlurmNode,
)
from .types import SlurmCluster

NODES = "spec.slurmNodes"


@dataclass(frozen=True)
class Around:
    """What is read together with an object."""

    found: Found
    images: Mapping[str, str] = field(default_factory=dict)  # for containers that name none
    domain: str = "cluster.local"
    legacy: bool = False  # the cluster's workloads are called after their part alone
    mariadb: bool = False  # mariadb-operator is there, and the cluster has no database of ours yet
    app_armor: bool = False  # security-profiles-operator is there
    # By NodeSet, of those that slurm.conf names: how many nodes it must name, as pods of them run.
    numbered: Mapping[str, int] = field(default_factory=dict)
    leaving: bool = False  # workers of the cluster's own are left that nobody asks for any more

    def names(self, cluster: str) -> Names:
        """Return what a cluster's objects are called."""
        return Names(cluster, self.legacy)

    def image(self, program: str) -> Object:
        """Return some of a container: the image of a program of ours."""
        found = self.images.get(program)
        return {"image": found} if found else {}


def part(
    obj: SlurmCluster,
    component: str,
    spec: Object | None = None,
    annotations: Mapping[str, str] | None = None,
    **containers: Object,
) -> Part:
    """Return a part of a cluster; containers by our names, with _ for -."""
    # Marks of the object itself are not handed on: those of a chart change with each of its
    # releases, and pods would be replaced for them.
    cluster = obj.metadata.name
    asked = {name.replace("_", "-"): wishes for name, wishes in containers.items()}
    return Part(
        cluster,
        obj.metadata.namespace,
        naming.selector(cluster, component),
        naming.labels(cluster, component),
        PodWishes(Marks(annotations=annotations or {}), spec or {}, asked),
    )


# -- where pods run


def placed(obj: SlurmCluster, name: str, at: str) -> Object:
    """Return some of a PodSpec: the nodes of the filter that the field `at` names."""
    for one in obj.spec.k8s_node_filters:
        if one.name == name:
            return scheduled(one.affinity, one.tolerations, one.node_selector)
    known = ", ".join(sorted(one.name for one in obj.spec.k8s_node_filters))
    raise ValueError(f"{at}: there is no filter {name!r}; spec.k8sNodeFilters has {known}")


def scheduled(
    affinity: Object | None, tolerations: Sequence[Object], selector: Mapping[str, str]
) -> Object:
    """Return some of a PodSpec: which nodes pods may be on."""
    made = {
        "affinity": affinity,
        "tolerations": list(tolerations),
        "nodeSelector": dict(selector),
    }
    return {key: value for key, value in made.items() if value}


def pod_spec(
    obj: SlurmCluster,
    at: str,
    asked: SlurmNode | Controller | PopulateJail,
    containers: Iterable[NodeContainer | PopulateJail | None],
) -> Object:
    """Return what the user wants of the pods of one part; `at` is where that is written."""
    secrets = [name for one in containers if one for name in one.image_pull_secrets]
    more = {
        "priorityClassName": asked.priority_class,
        "imagePullSecrets": pull_secrets(secrets),
        "initContainers": list(getattr(asked, "custom_init_containers", ())),
    }
    return {
        **placed(obj, asked.k8s_node_filter_name, f"{at}.k8sNodeFilterName"),
        **{key: value for key, value in more.items() if value},
        **({} if asked.host_users is None else {"hostUsers": asked.host_users}),
    }


def pull_secrets(found: Iterable[LocalName]) -> list[Object]:
    """Return the Secrets that images are pulled with, each once."""
    return [{"name": name} for name in dict.fromkeys(one.name for one in found) if name]


# -- containers


def container(asked: NodeContainer | None, profile: str = "") -> Object:
    """Return what the user wants of a container; `profile` stands in for its AppArmor profile."""
    if asked is None:
        return {}
    return wishes(
        {
            "image": asked.image,
            "imagePullPolicy": asked.image_pull_policy,
            "command": list(asked.command),
            "args": list(asked.args),
            "env": list(asked.custom_env),
            "livenessProbe": asked.liveness_probe,
            "readinessProbe": asked.readiness_probe,
        },
        asked.resources,
        profile or asked.app_armor_profile,
        asked.proc_mount,
    )


def wishes(some: Object, resources: Resources, profile: str, proc: ProcMount) -> Object:
    """Return what the user wants of a container, without what nothing is said of."""
    made = {
        **some,
        # Limits follow from these, for each container as it can bear them.
        "resources": {"requests": dict(resources)} if resources else None,
        "securityContext": {**app_armor(profile), **({"procMount": proc} if proc else {})},
    }
    return {key: value for key, value in made.items() if value}


def profile(obj: SlurmCluster | None, around: Around) -> str:
    """Return the AppArmor profile of pods that people work in; empty: what each of them says."""
    if obj is None or not obj.spec.use_default_app_armor_profile or not around.app_armor:
        return ""
    meta = obj.metadata
    return f"localhost/{around.names(meta.name).app_armor(meta.namespace)}"


# -- volumes


def volume(obj: SlurmCluster, asked: NodeVolume, at: str) -> Volume:
    """Return a volume; `at` is where it is asked for."""
    if asked.volume_claim_template_spec is not None:
        return Claimed(asked.volume_claim_template_spec)
    for one in obj.spec.volume_sources:
        if asked.volume_source_name and one.get("name") == asked.volume_source_name:
            return Given({key: value for key, value in one.items() if key != "name"})
    # Kubernetes would take a volume of no source for an empty one.
    known = ", ".join(sorted(str(one.get("name")) for one in obj.spec.volume_sources))
    name = asked.volume_source_name or ""
    raise ValueError(
        f"{at}.volumeSourceName: there is no volume {name!r}; spec.volumeSources has {known}"
    )


def root(obj: SlurmCluster) -> Volume:
    """Return the root as slurmctld has it, and all that have no word of their own about it."""
    asked = obj.spec.slurm_nodes.controller.volumes.jail
    return volume(obj, asked, f"{NODES}.controller.volumes.jail")


def mounts(obj: SlurmCluster, found: Sequence[NodeVolumeMount], at: str) -> tuple[Mount, ...]:
    """Return volumes at places in a pod."""
    return tuple(
        Mount(
            one.name,
            one.mount_path,
            volume(obj, one, f"{at}[{number}]"),
            one.sub_path,
            one.read_only,
        )
        for number, one in enumerate(found)
    )
