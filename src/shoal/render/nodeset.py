"""Workers: bare pods, and what all workers of a cluster share. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ..kube.merge import DIRECTIVE, merge_pod_spec
from ..kube.objects import Object
from ..model.claims import claim_name
from ..model.cluster import Cluster
from ..model.nodeset import NodeSet
from . import login, marks, pods, services, slurmd, ssh_conf, volumes
from .jailed import containers
from .jailed import nodeset as jailed

APP = "app.kubernetes.io/name"
# Jobs run on while a kubelet is away. Else Kubernetes ends them after five minutes of that.
STAYING: tuple[Object, ...] = tuple(
    {"key": f"node.kubernetes.io/{what}", "operator": "Exists", "effect": "NoExecute"}
    for what in ("not-ready", "unreachable")
)


def objects(_: Cluster, nodeset: NodeSet) -> list[Object]:
    """Return what the workers of one NodeSet need beside their pods."""
    if nodeset.jailed is not None:
        return jailed.objects(nodeset, nodeset.jailed)
    if nodeset.ssh is None:
        return []
    return [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": marks.metadata(nodeset.part, nodeset.ssh.config),
            "data": {slurmd.SSHD_CONFIG: _sshd_config(nodeset)},
        }
    ]


def shared(cluster: Cluster) -> list[Object]:
    """Return what all workers of a cluster share: their names, and the protection of busy ones."""
    made = {}
    for nodeset in cluster.nodesets:
        for obj in (_names(cluster, nodeset), _budget(cluster, nodeset)):
            meta = obj["metadata"]
            made[obj["kind"], meta["namespace"], meta["name"]] = obj
    return [made[key] for key in sorted(made)]


@dataclass(frozen=True)
class Mould:
    """Makes the pods of a NodeSet's workers; what they have alike is worked out once for all."""

    cluster: Cluster
    nodeset: NodeSet

    def pod(self, number: int, node: str = "") -> Object:
        """Return worker `number`; with `node`, it runs there or nowhere."""
        nodeset, labels = self.nodeset, self.cluster.naming.labels
        name, hostname = nodeset.pod_name(number), nodeset.hostname(number)
        index = nodeset.index(number)
        own = {labels.pod_name: name, labels.pod_index: index, labels.pod_hostname: hostname}
        return _finished(nodeset, self._alike, _Own(name, own, hostname, index, node))

    def pod_on(self, node: str, hostname: str) -> Object:
        """Return the worker of one Kubernetes node, where there is one on every node."""
        own = {self.cluster.naming.labels.pod_hostname: hostname}
        # One name for each node: were a request sent twice, a second slurmd would end the first
        # one's jobs. And people see where a worker is.
        name = self.nodeset.pod_name_on(node)
        return _finished(self.nodeset, self._alike, _Own(name, own, hostname, hostname, node))

    @cached_property
    def _alike(self) -> Object:
        return _alike(self.cluster, self.nodeset)


@dataclass(frozen=True)
class _Own:
    """What one worker's pod has of its own."""

    name: str
    labels: Mapping[str, str]
    hostname: str
    whose: str  # are its claims: as their names say it
    node: str  # that it has to run on; empty: anywhere


def shape(nodeset: NodeSet) -> str:
    """Return a digest of what workers tell Slurm of their nodes; empty: nobody says."""
    return slurmd.shape(nodeset) if nodeset.jailed is None else ""


def claims(nodeset: NodeSet, whose: str, owners: Sequence[Object] = ()) -> list[Object]:
    """Return the claims of one worker; `whose` is its number as names have it, or its hostname."""
    held = {"ownerReferences": list(owners)} if owners else {}
    made = []
    for claim in nodeset.claims:
        meta = claim.get("metadata", {})
        made.append(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {
                    **({"annotations": meta["annotations"]} if meta.get("annotations") else {}),
                    "name": claim_name(nodeset, claim, whose),
                    "namespace": nodeset.part.namespace,
                    "labels": {**(meta.get("labels") or {}), **nodeset.part.selector},
                    **held,
                },
                "spec": claim.get("spec", {}),
            }
        )
    return made


# -- the pod


def _alike(cluster: Cluster, nodeset: NodeSet) -> Object:
    """Return the metadata and the spec of every worker that is bound to no node."""
    naming, part = cluster.naming, nodeset.part
    spec: Object = {
        "enableServiceLinks": False,
        "subdomain": nodeset.service,
        "dnsConfig": {
            "searches": [f"{nodeset.service}.{part.namespace}.svc.{cluster.domain}"],
        },
        "tolerations": [
            {"key": naming.worker_taint, "operator": "Equal", "effect": "NoExecute"},
            *STAYING,
        ],
    }
    if affinity := _affinity(nodeset, ""):
        spec["affinity"] = affinity
    if nodeset.on_nodes_network:
        # Or it would not find slurmctld's Service.
        spec["dnsPolicy"] = "ClusterFirstWithHostNet"
    made = _template(cluster, nodeset, spec)
    # The user's hostname is only how it begins.
    made["spec"] = {k: v for k, v in made["spec"].items() if k not in ("nodeName", "hostname")}
    made["metadata"]["labels"] |= {
        naming.labels.cluster: cluster.name,
        naming.labels.scaling_mode: nodeset.mode.value,
        naming.labels.revision: nodeset.revision,
    }
    return made


def _template(cluster: Cluster, nodeset: NodeSet, spec: Object) -> Object:
    part = nodeset.part
    if cluster.jail is not None and nodeset.jailed is not None:
        inside = jailed.inside(cluster, cluster.jail, nodeset, nodeset.jailed)
        return containers.template(part, replace(inside, spec=spec))
    main = slurmd.container(cluster, nodeset)
    inside = pods.Inside(
        main,
        before=[pods.logfile(part, main, "slurmd")],
        volumes=_volumes(cluster, nodeset),
        spec=spec,
        digests=_digests(cluster, nodeset),
    )
    return pods.template(part, inside)


def _finished(nodeset: NodeSet, alike: Object, own: _Own) -> Object:
    """Return one worker's pod; what it has alike with others is not copied, and so not changed."""
    spec = {**alike["spec"], "hostname": own.hostname}
    if own.node:
        spec |= _bound(nodeset, own.node)
    claimed = [
        {
            "name": claim["metadata"]["name"],
            "persistentVolumeClaim": {"claimName": claim_name(nodeset, claim, own.whose)},
        }
        for claim in nodeset.claims
    ]
    # A volume of a worker's own goes before a volume that all have under the same name.
    shadowed = {volume["name"] for volume in claimed}
    spec["volumes"] = [*claimed, *(v for v in spec.get("volumes", ()) if v["name"] not in shadowed)]
    meta = {
        "name": own.name,
        "namespace": nodeset.part.namespace,
        **alike["metadata"],
        "labels": {**alike["metadata"]["labels"], **own.labels},
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def _bound(nodeset: NodeSet, node: str) -> Object:
    """Return the affinity of a worker that runs on one node, with what the user asks for."""
    theirs = {k: v for k, v in nodeset.part.pods.spec.items() if k in ("affinity", DIRECTIVE)}
    return merge_pod_spec({"affinity": _affinity(nodeset, node)}, theirs)


def _affinity(nodeset: NodeSet, node: str) -> Object:
    made: Object = {}
    if not nodeset.oversubscribe:
        # Each slurmd takes a whole node for its own, of whatever NodeSet it is.
        made |= pods.apart(_workers(nodeset))
    if node:
        field = {"key": "metadata.name", "operator": "In", "values": [node]}
        required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
        made["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": required}
    return made


def _volumes(cluster: Cluster, nodeset: NodeSet) -> list[Object]:
    key = volumes.key_file(cluster.keys.slurm, "slurm.key")
    made = [volumes.projected(volumes.ETC, 0o600, [key]), volumes.memory(volumes.LOGS)]
    if ssh := nodeset.ssh:
        items = [{"key": slurmd.SSHD_CONFIG, "path": slurmd.SSHD_CONFIG, "mode": 0o600}]
        source = {"configMap": {"name": ssh.config, "items": items}}
        made.append(volumes.projected(slurmd.SSH_CONFIG, 0o600, [source]))
        made.append(login.sssd_volume(ssh.sssd.name, ssh.sssd.key))
    return made


def _digests(cluster: Cluster, nodeset: NodeSet) -> dict[str, str]:
    slurm, ssh = cluster.keys.slurm, nodeset.ssh
    found = {"slurm-key": slurm.digest if slurm else ""}
    if ssh:
        found["sshd-conf"] = marks.digest(_sshd_config(nodeset))
        found["sssd-conf"] = ssh.sssd.digest
    return marks.digests(cluster.naming, found)


def _sshd_config(nodeset: NodeSet) -> str:
    return ssh_conf.sshd_config(ssh_conf.WORKER, nodeset.ssh.extra_sshd if nodeset.ssh else "")


# -- what is shared


def _names(cluster: Cluster, nodeset: NodeSet) -> Object:
    port = jailed.port(nodeset.jailed) if nodeset.jailed else slurmd.PORT
    made = services.headless(nodeset.part, nodeset.service, port, _all(cluster, nodeset))
    return {**made, "metadata": _meta(cluster, nodeset, nodeset.service)}


def _budget(cluster: Cluster, nodeset: NodeSet) -> Object:
    labels = cluster.naming.labels
    protected = {labels.pod_protect: "true", labels.cluster: cluster.name}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": _meta(cluster, nodeset, nodeset.budget),
        "spec": {"maxUnavailable": 0, "selector": {"matchLabels": protected}},
    }


def _all(cluster: Cluster, nodeset: NodeSet) -> dict[str, str]:
    return {**_workers(nodeset), cluster.naming.labels.cluster: cluster.name}


def _workers(nodeset: NodeSet) -> dict[str, str]:
    """Return the labels that all workers have, of any NodeSet, and no other pod."""
    return dict(nodeset.alike) or {APP: nodeset.part.labels[APP]}


def _meta(cluster: Cluster, nodeset: NodeSet, name: str) -> Object:
    # Nothing of one NodeSet alone, or several would quarrel about it.
    clusters = cluster.jail.part.labels if cluster.jail else {}
    labels = {**clusters, **_all(cluster, nodeset)}
    return {"name": name, "namespace": nodeset.part.namespace, "labels": labels}
