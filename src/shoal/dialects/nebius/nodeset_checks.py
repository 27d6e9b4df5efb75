"""What is checked of a NodeSet of slurm.nebius.ai. Pure."""

import re

from ...kube import values
from ...kube.findings import Doubtful, Findings, Lookups, Wrong
from ...kube.kinds import CONFIG_MAP
from ...kube.objects import Object
from .. import texts
from . import defaults, notices, shapes
from .config_checks import RESERVED
from .naming import PARENTAL_CLUSTER
from .nodeset_types import (
    MOST_UNAVAILABLE,
    Mount,
    NodeConfig,
    NodeSet,
    NodeSetSpec,
    Sidecar,
    Slurmd,
)
from .types import SLURM_CLUSTER

NAME = "metadata.name"
LONGEST_NUMBER = 5  # digits of a worker's number that must fit, whatever the replicas are now
OURS = ("slurmd", "munge", "sssd", "worker-init", "toolkit-validation", "docker-proxy")
# What the operator writes on a node's line itself.
_NODE = ("NodeAddr", "NodeHostname", "Port")
_DROPPED = re.compile(r"(?:^|\s)(State|Features?)\s*=", re.IGNORECASE)


def nodeset(obj: NodeSet, ask: Lookups) -> Findings:
    """Check a NodeSet."""
    spec, namespace = obj.spec, obj.metadata.namespace
    yield from _cluster(obj, ask)
    yield from _name(obj.metadata.name)
    yield from values.at_least(0, {"spec.replicas": spec.replicas})
    yield from _unavailable(spec)
    yield from _slurmd(spec.slurmd)
    yield from _container("spec.munge", spec.munge)
    yield from _attributes(obj)
    yield from shapes.scheduling("spec", spec.affinity, spec.tolerations)
    yield from shapes.init_containers(
        "spec.customInitContainers", spec.custom_init_containers, OURS
    )
    yield from shapes.pull_secrets("spec.imagePullSecrets", spec.image_pull_secrets)
    refs = {
        "spec.configMapRefSshd": spec.config_map_ref_sshd or "",
        "spec.configMapRefSupervisord": spec.config_map_ref_supervisord or "",
    }
    yield from values.existing(CONFIG_MAP, namespace, refs, ask)
    for field in notices.unsupported(obj):
        yield Doubtful(field, "is not supported yet, and has no effect")


def _cluster(obj: NodeSet, ask: Lookups) -> Findings:
    field, name = "spec.clusterName", defaults.cluster_of(obj)
    noted = obj.metadata.annotations.get(PARENTAL_CLUSTER, "")
    if not name:
        yield Wrong(field, "is empty; name a SlurmCluster of this namespace")
    elif noted and noted != name:
        yield Doubtful(field, f"wins over the annotation {PARENTAL_CLUSTER}, which says {noted!r}")
    yield from values.existing(SLURM_CLUSTER, obj.metadata.namespace, {field: name}, ask)


def _name(name: str) -> Findings:
    if not name:  # one that the API server is yet to choose
        return
    if name in RESERVED:
        yield Wrong(NAME, f"Slurm takes {name!r} for something else; choose another name")
    yield from values.label(NAME, f"{name}-{'0' * LONGEST_NUMBER}", "the pod")


def _unavailable(spec: NodeSetSpec) -> Findings:
    field, most = "spec.maxUnavailable", spec.max_unavailable
    wrong = list(values.share(field, most))
    yield from wrong
    if wrong:
        return
    number = most if isinstance(most, int) else int(most[:-1]) * spec.replicas // 100
    if number > MOST_UNAVAILABLE:
        yield Wrong(
            field, f"maxUnavailable must resolve to no more than {MOST_UNAVAILABLE} workers"
        )


# -- containers and volumes


def _container(field: str, found: Sidecar) -> Findings:
    if not found.image.repository:
        yield Wrong(f"{field}.image.repository", "is empty; name an image")
    yield from shapes.resources(f"{field}.resources", found.resources)
    yield from shapes.app_armor(
        f"{field}.security.appArmorProfile", found.security.app_armor_profile
    )
    yield from shapes.probe(f"{field}.livenessProbe", found.liveness_probe)
    yield from shapes.probe(f"{field}.readinessProbe", found.readiness_probe)


def _slurmd(found: Slurmd) -> Findings:
    field = "spec.slurmd"
    yield from _container(field, found)
    for name in ("cpu", "memory"):
        amount = found.resources.get(name)
        if amount is None:
            message = "is missing; say how much Slurm may give to jobs"
            yield Wrong(f"{field}.resources.{name}", message)
        else:
            yield from shapes.quantity(f"{field}.resources.{name}", amount)
    yield from values.ports({f"{field}.port": found.port})
    yield from shapes.environment(f"{field}.customEnv", found.custom_env)
    volumes, at = found.volumes, f"{field}.volumes"
    yield from _jail(f"{at}.jail", volumes.jail)
    yield from _spool(f"{at}.spool", volumes.spool)
    yield from shapes.quantity(f"{at}.sharedMemorySize", volumes.shared_memory_size)
    lists = {
        f"{at}.jailSubMounts": volumes.jail_sub_mounts,
        f"{at}.customVolumeMounts": volumes.custom_volume_mounts,
    }
    yield from shapes.mounts(lists)
    for name, mounts in lists.items():
        for number, one in enumerate(mounts):
            yield from _mounted(f"{name}[{number}]", one)


def _jail(field: str, found: Object) -> Findings:
    yield from shapes.volume_source(field, found)
    if found.get("emptyDir") is not None:
        message = "is an emptyDir, which no two pods share; use a claim of ReadWriteMany"
        yield Wrong(field, message)


def _spool(field: str, found: Object | None) -> Findings:
    if found is None:
        return
    yield from shapes.volume_source(field, found)
    if isinstance(asked := found.get(defaults.CLAIM), dict):
        yield from shapes.claim(f"{field}.{defaults.CLAIM}", asked)


def _mounted(field: str, one: Mount) -> Findings:
    if (one.volume_source is None) is (one.volume_claim_template_spec is None):
        yield Wrong(field, "needs volumeSource or volumeClaimTemplateSpec, and one of them only")
    elif one.volume_source is not None:
        yield from shapes.volume_source(f"{field}.volumeSource", one.volume_source)
    elif one.volume_claim_template_spec is not None:
        yield from shapes.claim(f"{field}.volumeClaimTemplateSpec", one.volume_claim_template_spec)


# -- what Slurm knows of the nodes


def _attributes(obj: NodeSet) -> Findings:
    spec = obj.spec
    lists = {
        "spec.nodeConfig.features": spec.node_config.features,
        "spec.nodeAttributes.features": spec.node_attributes.features,
    }
    for field, features in lists.items():
        for number, feature in enumerate(features):
            at = f"{field}[{number}]"
            yield from texts.words({at: ("Feature", feature)})
            if not feature or "," in feature:
                yield Wrong(at, f"{feature!r} is no feature; write each as an entry of its own")
    yield from _lines(spec.node_config)
    extras = {
        "spec.nodeConfig.dynamic": spec.node_config.dynamic,
        "spec.nodeAttributes.extra": spec.node_attributes.extra or "",
    }
    for field, text in extras.items():
        if not text.isprintable():
            yield Wrong(field, "is more than one line; put all of it on one")
    if spec.node_config.dynamic and spec.node_attributes.extra:
        yield Doubtful("spec.nodeAttributes.extra", "has no effect: nodeConfig.dynamic says it")


def _lines(found: NodeConfig) -> Findings:
    yield from texts.options("spec.nodeConfig.static", found.static, "NodeName", _NODE)
    for dropped in _DROPPED.findall(found.static):
        message = f"{dropped} is left out: the operator says it; use nodeConfig.features"
        yield Doubtful("spec.nodeConfig.static", message)
    for number, line in enumerate(found.gres_config):
        yield from texts.options(f"spec.nodeConfig.gresConfig[{number}]", line, "NodeName", ())
