"""What is checked of a SlurmCluster of slurm.nebius.ai. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ...kube import values
from ...kube.findings import Doubtful, Findings, Lookups, Wrong
from ...kube.kinds import CONFIG_MAP
from ...kube.objects import Object
from . import accounting_checks, config_checks, login_checks, notices, shapes
from .node_types import Exporter, PopulateJail, Worker
from .parts import NodeContainer, NodeVolume, NodeVolumeMount
from .types import SlurmCluster, SlurmNodes

FILTERS = "spec.k8sNodeFilters"
SOURCES = "spec.volumeSources"
NODES = "spec.slurmNodes"
# Slurm's own name of the cluster is its name here (man slurm.conf: ClusterName).
CLUSTER_NAME_LENGTH = 40
# Containers of ours in each part's pods, which a container of the user's must not be called.
OURS = {
    "accounting": ("accounting", "munge", "wait-for-database"),
    "controller": (
        "slurmctld",
        "munge",
        "wait-for-accounting",
        "reconfigure",
        "state",
        "check",
        "sssd",
    ),
    "login": ("sshd", "munge", "sssd"),
    "worker": (
        "slurmd",
        "munge",
        "wait-for-controller",
        "worker-init",
        "toolkit-validation",
        "sssd",
    ),
    "rest": ("rest",),
    "exporter": ("exporter", "munge"),
}


def cluster(obj: SlurmCluster, ask: Lookups) -> Findings:
    """Check a SlurmCluster."""
    spec, namespace = obj.spec, obj.metadata.namespace
    if len(obj.metadata.name) > CLUSTER_NAME_LENGTH:
        message = f"must be {CLUSTER_NAME_LENGTH} characters or fewer: Slurm calls the cluster so"
        yield Wrong("metadata.name", f"{message}; shorten it")
    yield from _filters(obj)
    yield from _sources(obj)
    yield from _populate(spec.populate_jail)
    if spec.secrets.sshd_keys_name:
        yield from values.subdomain(
            "spec.secrets.sshdKeysName", spec.secrets.sshd_keys_name, "the Secret"
        )
    for name, part in _there(spec.slurm_nodes):
        yield from _part(f"{NODES}.{name}", part, OURS[name])
    yield from login_checks.login(spec.slurm_nodes.login, namespace, ask)
    yield from accounting_checks.accounting(spec.slurm_nodes.accounting, namespace, ask)
    yield from _rest(spec.slurm_nodes)
    yield from _exporter(spec.slurm_nodes.exporter)
    yield from _worker(spec.slurm_nodes.worker, namespace, ask)
    yield from config_checks.config(obj, ask)
    for field in notices.unsupported(obj):
        yield Doubtful(field, "is not supported yet, and has no effect")


def _there(nodes: SlurmNodes) -> Iterator[tuple[str, Any]]:
    """Return the parts that the cluster has, by their names."""
    yield "controller", nodes.controller
    if nodes.login.size:
        yield "login", nodes.login
    if nodes.worker is not None and nodes.worker.size:
        yield "worker", nodes.worker
    for name, part in (
        ("accounting", nodes.accounting),
        ("rest", nodes.rest),
        ("exporter", nodes.exporter),
    ):
        if part.enabled:
            yield name, part


# -- nodes of Kubernetes under names


def _filters(obj: SlurmCluster) -> Findings:
    found = obj.spec.k8s_node_filters
    for number, one in enumerate(found):
        yield from shapes.scheduling(f"{FILTERS}[{number}]", one.affinity, one.tolerations)
    for name, count in Counter(one.name for one in found).items():
        if count > 1:
            yield Wrong(FILTERS, f"{name!r} is there {count} times; give each a name of its own")
    known = sorted({one.name for one in found})
    has = f"{FILTERS} has {', '.join(known)}"
    for field, name in _filter_names(obj):
        if name not in known:
            yield Wrong(field, f"there is no filter {name!r}; {has}")
    node = obj.spec.s_config_controller.node
    # No pod of ours needs it, and the usual values of upstream's chart name one that is not there.
    if node is not None and node.k8s_node_filter_name not in known:
        message = f"there is no filter {node.k8s_node_filter_name!r}; {has}"
        yield Doubtful("spec.sConfigController.node.k8sNodeFilterName", message)


def _filter_names(obj: SlurmCluster) -> Iterator[tuple[str, str]]:
    spec = obj.spec
    yield "spec.populateJail.k8sNodeFilterName", spec.populate_jail.k8s_node_filter_name
    for name, part in _there(spec.slurm_nodes):
        yield f"{NODES}.{name}.k8sNodeFilterName", part.k8s_node_filter_name


# -- volumes under names


def _sources(obj: SlurmCluster) -> Findings:
    found = obj.spec.volume_sources
    for number, one in enumerate(found):
        yield from shapes.volume_source(f"{SOURCES}[{number}]", one, ("name",))
    for name, count in Counter(str(one.get("name")) for one in found).items():
        if count > 1:
            yield Doubtful(SOURCES, f"{name!r} is there {count} times; the first one counts")
    known = sources(obj)
    for field, volume in _volumes(obj):
        yield from _volume(field, volume, known)
    yield from _root(obj, known)
    yield from _state(obj, known)


def sources(obj: SlurmCluster) -> Mapping[str, Object]:
    """Return the volumes of a cluster by their names, without them."""
    told: dict[str, Object] = {}
    for one in obj.spec.volume_sources:
        rest = {key: value for key, value in one.items() if key != "name"}
        told.setdefault(str(one.get("name")), rest)
    return told


def _volumes(obj: SlurmCluster) -> Iterator[tuple[str, NodeVolume]]:
    snapshot = obj.spec.populate_jail.jail_snapshot_volume
    if snapshot is not None:
        yield "spec.populateJail.jailSnapshotVolume", snapshot
    for name, part in _there(obj.spec.slurm_nodes):
        # The exporter's are of earlier releases, and nothing is made of them.
        volumes = None if name == "exporter" else getattr(part, "volumes", None)
        for key in ("spool", "jail"):
            if hasattr(volumes, key):
                yield f"{NODES}.{name}.volumes.{key}", getattr(volumes, key)
        for field, mounts in _mounts(f"{NODES}.{name}.volumes", volumes):
            for number, one in enumerate(mounts):
                yield f"{field}[{number}]", one


def _mounts(field: str, volumes: Any) -> Iterator[tuple[str, tuple[NodeVolumeMount, ...]]]:  # noqa: ANN401 - of any part
    yield f"{field}.jailSubMounts", getattr(volumes, "jail_sub_mounts", ())
    yield f"{field}.customMounts", getattr(volumes, "custom_mounts", ())


def _volume(field: str, found: NodeVolume, known: Mapping[str, Object]) -> Findings:
    name, asked = found.volume_source_name, found.volume_claim_template_spec
    if name and asked is not None:
        message = "and volumeClaimTemplateSpec are both set; keep one"
        yield Wrong(f"{field}.volumeSourceName", message)
    elif not name and asked is None:
        message = f"is empty; name one of {SOURCES}, or write volumeClaimTemplateSpec"
        yield Wrong(f"{field}.volumeSourceName", message)
    elif name and name not in known:
        has = f"has {', '.join(sorted(known))}" if known else "is empty"
        yield Wrong(f"{field}.volumeSourceName", f"there is no volume {name!r}; {SOURCES} {has}")
    elif asked is not None:
        yield from shapes.claim(f"{field}.volumeClaimTemplateSpec", asked)


def _root(obj: SlurmCluster, known: Mapping[str, Object]) -> Findings:
    """Check that all pods share one root."""
    jails = {f: v for f, v in _volumes(obj) if f.endswith(".volumes.jail")}
    for field, volume in jails.items():
        if volume.volume_claim_template_spec is not None:
            message = "makes a root for every pod, and they should share one; use volumeSourceName"
            yield Doubtful(f"{field}.volumeClaimTemplateSpec", message)
        elif "emptyDir" in known.get(volume.volume_source_name or "", {}):
            message = "is an emptyDir, which no two pods share; use a claim of ReadWriteMany"
            yield Wrong(f"{field}.volumeSourceName", message)
    names = {v.volume_source_name for v in jails.values() if v.volume_source_name}
    if len(names) > 1:
        message = f"is not the same everywhere ({', '.join(sorted(names))}); pods share one root"
        yield Doubtful(f"{NODES}.controller.volumes.jail.volumeSourceName", message)


def _state(obj: SlurmCluster, known: Mapping[str, Object]) -> Findings:
    spool = obj.spec.slurm_nodes.controller.volumes.spool
    if "emptyDir" in known.get(spool.volume_source_name or "", {}):
        message = "is an emptyDir: all jobs are lost whenever slurmctld's pod is replaced"
        yield Doubtful(f"{NODES}.controller.volumes.spool.volumeSourceName", message)


# -- pods


def _populate(found: PopulateJail) -> Findings:
    field = "spec.populateJail"
    if not found.image:
        yield Wrong(f"{field}.image", "is empty; name an image")
    yield from shapes.app_armor(f"{field}.appArmorProfile", found.app_armor_profile)
    yield from shapes.pull_secrets(f"{field}.imagePullSecrets", found.image_pull_secrets)


def _part(field: str, part: Any, ours: tuple[str, ...]) -> Findings:  # noqa: ANN401 - any of them
    yield from values.at_least(0, {f"{field}.size": getattr(part, "size", 0)})
    yield from shapes.init_containers(
        f"{field}.customInitContainers", part.custom_init_containers, ours
    )
    yield from shapes.mounts(dict(_mounts(f"{field}.volumes", getattr(part, "volumes", None))))
    if part.priority_class:
        yield from values.subdomain(f"{field}.priorityClass", part.priority_class, "the class")
    for name in ("slurmctld", "slurmd", "slurmdbd", "sshd", "rest", "exporter_container", "munge"):
        container = getattr(part, name, None)
        if isinstance(container, NodeContainer):
            at = "exporterContainer" if name == "exporter_container" else name
            yield from _container(f"{field}.{at}", container)


def _container(field: str, found: NodeContainer) -> Findings:
    if not found.image:
        yield Wrong(f"{field}.image", "is empty; name an image")
    yield from values.ports({f"{field}.port": found.port})
    yield from shapes.resources(f"{field}.resources", found.resources)
    yield from shapes.environment(f"{field}.customEnv", found.custom_env)
    yield from shapes.app_armor(f"{field}.appArmorProfile", found.app_armor_profile)
    yield from shapes.pull_secrets(f"{field}.imagePullSecrets", found.image_pull_secrets)
    yield from shapes.probe(f"{field}.livenessProbe", found.liveness_probe)
    yield from shapes.probe(f"{field}.readinessProbe", found.readiness_probe)


def _rest(nodes: SlurmNodes) -> Findings:
    if nodes.rest.enabled and nodes.rest.rest is None:
        yield Wrong(f"{NODES}.rest.rest", "is missing; name its image, or set enabled to false")
    if nodes.exporter.enabled and not nodes.rest.enabled:
        message = "needs Slurm's REST API; set rest.enabled to true"
        yield Doubtful(f"{NODES}.exporter.enabled", message)


def _exporter(found: Exporter) -> Findings:
    if not found.enabled:
        return
    field, monitor = f"{NODES}.exporter", found.pod_monitor_config
    if found.exporter_container is None and found.exporter is None:
        message = "is missing; name its image, or set enabled to false"
        yield Wrong(f"{field}.exporterContainer", message)
    at = f"{field}.podMonitorConfig"
    yield from values.scraped(at, monitor.interval, monitor.scrape_timeout)


def _worker(found: Worker | None, namespace: str, ask: Lookups) -> Findings:
    if found is None or not found.size:
        return
    field = f"{NODES}.worker"
    yield from values.share(f"{field}.maxUnavailable", found.max_unavailable)
    yield from shapes.quantity(
        f"{field}.volumes.sharedMemorySize", found.volumes.shared_memory_size
    )
    refs = {
        f"{field}.sshdConfigMapRefName": found.sshd_config_map_ref_name or "",
        f"{field}.supervisordConfigMapRefName": found.supervisord_config_map_ref_name or "",
    }
    yield from values.existing(CONFIG_MAP, namespace, refs, ask)
    if not (found.slurm_node_extra or "").isprintable():
        yield Wrong(f"{field}.slurmNodeExtra", "is more than one line; put all of it on one")
    if "memory" not in found.slurmd.resources:
        message = "is missing, so Slurm takes the workers for having none; say how much"
        yield Doubtful(f"{field}.slurmd.resources.memory", message)


def spool(obj: SlurmCluster) -> object:
    """Return what tells one volume of slurmctld's state from another; None: there is none."""
    asked = obj.spec.slurm_nodes.controller.volumes.spool
    if asked.volume_claim_template_spec is not None:
        return "claim", asked.volume_claim_template_spec.get("storageClassName")
    return sources(obj).get(asked.volume_source_name or "")
