"""Reads objects of slurm.nebius.ai with what belongs to them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ..decide.conditions import Failed
from ..decide.database import Things
from ..dialects.nebius import defaults, naming, nodeset_types, read
from ..dialects.nebius.naming import NAMING
from ..dialects.nebius.types import NODE_SET, SLURM_CLUSTER, SlurmCluster
from ..kube import kinds
from ..kube.kinds import Kind
from ..kube.pods import Pod
from ..model.accounting import ManagedAccounting
from ..model.cluster import Cluster
from ..model.database import OperatorDatabase, OwnDatabase, claim_of
from ..model.jail import Jail
from ..model.jailed import Registration
from ..model.nodeset import NodeSet
from ..model.part import Marks, Part
from ..model.rest import RestApi
from ..runtime.apply import Rules
from . import secrets_once
from .cluster_parts import Whole
from .database import things
from .filling import Outlook, Pods, outlook
from .passes import Asked
from .secrets_once import Once
from .slinky_reader import Settings
from .world import World

# Parts whose pods have the root.
USERS = frozenset({naming.CONTROLLER, naming.LOGIN, naming.REST, naming.WORKERS, naming.NODE_SET})
WORKERS = frozenset({naming.WORKERS, naming.NODE_SET})
MUNGE_DIGEST = NAMING.digest("munge-key")


@dataclass(frozen=True)
class Reader:
    """Reads objects of the dialect with what belongs to them."""

    world: World
    settings: Settings

    def around(self, namespace: str, cluster: str) -> read.Around:
        """Return what is read together with an object of a cluster."""
        old = self.world.workload(kinds.STATEFUL_SET, (namespace, naming.CONTROLLER))
        legacy = naming.names(cluster, [old] if old else []).legacy
        # Records that are in a database of ours stay there.
        ours = self._database(namespace, cluster).ours
        return read.Around(
            self.world.found(namespace),
            self.settings.images,
            self.settings.domain,
            legacy,
            mariadb=self._used(kinds.MARIADB) and not ours,
            app_armor=self._used(kinds.APP_ARMOR_PROFILE),
            leaving=self.staffed(namespace, cluster),
        )

    def _used(self, kind: Kind) -> bool:
        """Say whether a kind of somebody else is there, and to be used."""
        return self.world.stores[kind].served and kind not in self.settings.unused

    def _database(self, namespace: str, cluster: str) -> Things:
        """Look for what there is under the names of a cluster's database."""
        obj: SlurmCluster | None = self.world.get(SLURM_CLUSTER, (namespace, cluster))
        labels = naming.selector(cluster, naming.DATABASE)
        uid = obj.metadata.uid if obj is not None else ""
        return things(self.world, namespace, naming.Names(cluster).database, uid, labels)

    # -- clusters

    def cluster(self, obj: SlurmCluster) -> Cluster:
        """Read a SlurmCluster."""
        nodesets = self.nodesets_of(obj)
        around = replace(self.around(*obj.key), numbered=self._numbered(nodesets))
        return read.cluster(obj, nodesets, around)

    def _numbered(self, nodesets: Iterable[nodeset_types.NodeSet]) -> dict[str, int]:
        """Count the nodes that slurm.conf must name for each NodeSet that it names nodes of."""
        found = ((one, self._pods_of(one)) for one in nodesets)
        return {
            one.metadata.name: max((_number(pod) + 1 for pod in pods), default=0)
            for one, pods in found
            # To take its annotation away takes no node from slurm.conf, and no job.
            if any(read.registration(obj) is Registration.STATIC for obj in (one, *pods))
        }

    def _pods_of(self, obj: nodeset_types.NodeSet) -> tuple[Pod, ...]:
        space, name = obj.key
        selector = naming.selector(defaults.cluster_of(obj), naming.NODE_SET, name)
        return self.world.pods(Part(name, space, selector, selector))

    def nodesets_of(self, obj: SlurmCluster) -> list[nodeset_types.NodeSet]:
        """Return the NodeSets of a cluster, by name.

        One that is deleted counts until it is gone: its partition may still have jobs.
        """
        found = self.world.users(SLURM_CLUSTER, *obj.key, NODE_SET)
        return sorted(found, key=lambda one: str(one.metadata.name))

    def whole(self, obj: SlurmCluster) -> Whole:
        """Read a SlurmCluster with all its parts."""
        around, cluster = self.around(*obj.key), self.cluster(obj)
        exporter = read.exporter(obj, around)
        if exporter is not None and kinds.POD_MONITOR in self.settings.unused:
            exporter = replace(exporter, monitor=None)
        books = cluster.accounting
        stores = books.store if isinstance(books, ManagedAccounting) else None
        taken = self._database(*obj.key).taken(stores)
        return Whole(
            cluster,
            rooted(cluster),
            read.gate(obj, around),
            read.rest(obj, around),
            exporter,
            tuple(self._secrets(obj, cluster)),
            # A database of somebody else's goes by other ones.
            () if taken else tuple(self._passwords(obj, cluster)),
            taken,
        )

    def pods(self, cluster: Cluster) -> Pods:
        """Return the pods of a cluster that count."""
        found = self._pods(cluster)
        return Pods(
            tuple(pod for pod in found if _component(pod) in WORKERS),
            tuple(pod for pod in found if _component(pod) in USERS and not pod.over),
        )

    def outlook(self, cluster: Cluster) -> Outlook:
        """Return what becomes of a cluster's pods."""
        return outlook(self.world, cluster, rooted(cluster), self.pods(cluster))

    def held(self, cluster: Cluster) -> Failed | None:
        """Say why no worker of a cluster may come yet; None: they may."""
        seen = self.outlook(cluster)
        if seen.course.pods or seen.course.maintained:
            return None
        return Failed("RootFilling", seen.verdict.words)

    # -- workers

    def nodeset(self, obj: nodeset_types.NodeSet) -> tuple[Cluster | None, NodeSet]:
        """Read a NodeSet."""
        found = self.cluster_of(obj)
        name = defaults.cluster_of(obj)
        around = self.around(obj.metadata.namespace, name)
        around = replace(around, numbered=self._numbered([obj]))
        cluster = self.cluster(found) if found else None
        return cluster, read.nodeset(obj, found, around)

    def cluster_of(self, obj: nodeset_types.NodeSet) -> SlurmCluster | None:
        """Return the object that stands for a NodeSet's cluster; None: it is not there."""
        where = (obj.metadata.namespace, defaults.cluster_of(obj))
        found: SlurmCluster | None = self.world.get(SLURM_CLUSTER, where)
        return found

    def workers(self, obj: SlurmCluster) -> tuple[Cluster | None, NodeSet]:
        """Read the workers of a SlurmCluster that are of no NodeSet: none, where it has no more."""
        around = self.around(*obj.key)
        return self.cluster(obj), read.worker(obj, around) or read.leaving(obj, around)

    def left(self, obj: SlurmCluster) -> bool:
        """Say whether a SlurmCluster has, or had and is not rid of, workers of no NodeSet."""
        if obj.spec.slurm_nodes.worker is not None or NAMING.finalizer in obj.metadata.finalizers:
            return True
        return self.staffed(*obj.key)

    def staffed(self, namespace: str, cluster: str) -> bool:
        """Say whether a cluster has pods of workers of no NodeSet."""
        selector = naming.selector(cluster, naming.WORKERS)
        return bool(self.world.pods(Part(cluster, namespace, selector, selector)))

    # -- Slurm

    def rest_of(self, cluster: Cluster) -> RestApi | None:
        """Return the slurmrestd to ask about a cluster."""
        obj = self.world.get(SLURM_CLUSTER, (cluster.namespace, cluster.name))
        return read.rest(obj, self.around(*obj.key)) if obj else None

    def jwt_key(self, cluster: Cluster) -> bytes | None:
        """Return the key that a cluster's tokens are signed with."""
        ref, found = cluster.keys.jwt, self.world.found(cluster.namespace).secrets
        return found.get(ref.name, {}).get(ref.key) if ref else None

    # -- Secrets

    def _secrets(self, obj: SlurmCluster, cluster: Cluster) -> Iterator[Once]:
        jail, own = rooted(cluster), naming.Names(obj.metadata.name)
        munge, jwt = cluster.keys.munge, cluster.keys.jwt
        if munge is not None:
            make = secrets_once.munge_key(munge.key)
            lost = self._munge_lost(cluster)
            yield Once(munge.name, jail.part, make, bool(munge.digest), lost=lost)
        if jwt is not None:
            yield Once(jwt.name, jail.part, secrets_once.jwt_key(jwt.key), bool(jwt.digest))
        ssh = jail.ssh
        if ssh.host_keys == own.sshd_keys:
            make = secrets_once.ssh_host_keys
            yield Once(ssh.host_keys, jail.part, make, bool(ssh.host_keys_digest))

    def _passwords(self, obj: SlurmCluster, cluster: Cluster) -> Iterator[Once]:
        books = cluster.accounting
        if not isinstance(books, ManagedAccounting):
            return
        match books.store:
            case OwnDatabase(part=part, name=name, root=root, storage=storage):
                lost, stays = self._database_lost(part.namespace, name), storage is not None
            case OperatorDatabase(part=part, root=root, generate=False):
                lost, stays = "", False
            case _:
                return
        operated = obj.spec.slurm_nodes.accounting.mariadb_operator
        protected = operated is not None and bool(operated.protected_secret)
        marks = Marks()
        if protected:
            marks = Marks({naming.WEBHOOK: "true"}, {naming.CLUSTER: obj.metadata.name})
        for ref in (books.database.password, root):
            make = secrets_once.password(ref.key)
            yield Once(ref.name, part, make, bool(ref.digest), marks, stays, lost)

    def _munge_lost(self, cluster: Cluster) -> str:
        if not any(MUNGE_DIGEST in pod.metadata.annotations for pod in self._pods(cluster)):
            return ""
        cure = "set spec.maintenance to downscale, and another one is made once no pod is left"
        return f"pods that run have its key; restore it, or {cure}"

    def _database_lost(self, namespace: str, name: str) -> str:
        claim = claim_of(name)
        if self.world.get(kinds.PERSISTENT_VOLUME_CLAIM, (namespace, claim)) is None:
            return ""
        return f"the database on claim {claim} goes by it; restore it, or delete the claim"

    def _pods(self, cluster: Cluster) -> tuple[Pod, ...]:
        whose = {naming.NAME: naming.APP, naming.INSTANCE: cluster.name}
        return self.world.pods(Part(cluster.name, cluster.namespace, whose, {}))


def rooted(cluster: Cluster) -> Jail:
    """Return the root that all clusters of this dialect have."""
    assert cluster.jail is not None, cluster.name
    return cluster.jail


def without_cluster(part: Part, cluster: str) -> Asked:
    """Return what is asked of a NodeSet whose cluster is not there: nothing, and to say so."""
    if cluster:
        words = f"spec.clusterName: SlurmCluster {cluster} is not there; create it, or name another"
    else:
        words = "spec.clusterName is empty; name the SlurmCluster that its workers belong to"
    return Asked((), Rules(), part=part, verdicts=(Failed("ClusterMissing", words),))


def _number(pod: Pod) -> int:
    index = pod.metadata.labels.get(NAMING.labels.pod_index, "")
    return int(index) if index.isdecimal() else -1


def _component(pod: Pod) -> str:
    return pod.metadata.labels.get(naming.COMPONENT, "")
