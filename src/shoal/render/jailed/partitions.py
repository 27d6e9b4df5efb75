"""Nodes, node sets and partitions in the slurm.conf of a cluster with a shared root. Pure.

A worker's slurmd brings its node along, with a feature that is its NodeSet's: so scaling changes no
file, and slurmctld never waits for a name that nobody knows. For images whose slurmd does not do
that, there is a line for their nodes.
"""

from collections.abc import Iterator, Sequence

from ...model.cluster import Cluster
from ...model.jail import Jail
from ...model.jailed import JailedWorkers, Registration, feature_name
from ...model.nodeset import NodeSet
from ...model.settings import (
    CustomPartitions,
    DefaultPartitions,
    SharedPartition,
    StructuredPartitions,
)
from ...slurm import conf
from ...slurm.conf import Comment, ConfError, Pair, Place, Setting, Written, setting
from . import containers

_ALWAYS: tuple[Pair, ...] = (("MaxTime", "INFINITE"), ("State", "UP"), ("OverSubscribe", "YES"))
_HIDDEN: tuple[Pair, ...] = (("PreemptMode", "OFF"), ("Hidden", "YES"))
_DEFAULTS: tuple[tuple[str, tuple[Pair, ...]], ...] = (
    ("main", (("Default", "YES"), ("PriorityTier", "10"), *_ALWAYS)),
    ("hidden", (("Default", "NO"), ("PriorityTier", "10"), *_HIDDEN, *_ALWAYS)),
    ("background", (("Default", "NO"), ("PriorityTier", "1"), *_HIDDEN, *_ALWAYS)),
)
# Keys of a node's line that are ours to say.
_OURS = frozenset({"nodename", "feature", "features", "state"})


def lines(cluster: Cluster, jail: Jail) -> Sequence[Written]:
    """Return the lines of slurm.conf for all nodes and partitions."""
    settings = jail.settings
    sets = sorted(_jailed(cluster), key=lambda pair: pair[0].part.name)
    nodes: list[Written] = [line for nodeset, workers in sets for line in _nodes(cluster, nodeset)]
    node_sets: list[Written] = [_node_set(nodeset, workers) for nodeset, workers in sets]
    features = [
        setting("NodeSet", one.nodeset, ("Feature", one.name), source="workerFeatures")
        for one in settings.features
        if one.nodeset
    ]
    match settings.partitions:
        case DefaultPartitions():
            found: Sequence[Written] = [_default(name, options) for name, options in _DEFAULTS]
        case CustomPartitions(raw):
            found = [line for text in raw for line in _custom(text)]
        case StructuredPartitions(partitions):
            known = {nodeset.part.name for nodeset, _ in sets}
            found = [line for one in partitions for line in _structured(one, known)]
            found = found or [Comment("WARNING: there is no partition, so no job can run")]
    return [
        *_titled("Nodes section", nodes),
        *_titled("Partitions section", found),
        *_titled("NodeSet section", [*node_sets, *features]),
    ]


def feature(nodeset: NodeSet) -> str:
    """Return the feature that the workers of a NodeSet bring along."""
    return feature_name(nodeset.slurm_name)


def names(nodeset: NodeSet, workers: JailedWorkers) -> str:
    """Return the hostlist of the workers that slurm.conf names."""
    if workers.listed == 1:
        return nodeset.hostname(0)
    return f"{nodeset.hostname_prefix}[0-{workers.listed - 1}]"


def _jailed(cluster: Cluster) -> Iterator[tuple[NodeSet, JailedWorkers]]:
    for nodeset in cluster.nodesets:
        if nodeset.jailed is not None:
            yield nodeset, nodeset.jailed


def _titled(title: str, found: Sequence[Written]) -> Sequence[Written]:
    return [Comment(""), Comment(title), *found] if found else []


# -- nodes


def _nodes(cluster: Cluster, nodeset: NodeSet) -> Iterator[Written]:
    workers = nodeset.jailed
    if workers is None or workers.registration is Registration.DYNAMIC:
        return
    if not workers.listed:
        yield Comment(f"WARNING: NodeSet {nodeset.part.name} has no workers")
        return
    found = names(nodeset, workers)
    domain = f"{nodeset.service}.{nodeset.part.namespace}.svc.{cluster.domain}"
    memory = containers.mebibytes(containers.requested(nodeset.part, "slurmd", "memory"))
    tags = ",".join(workers.features)
    yield setting(
        "NodeName",
        found,
        # Unlike others they may be missing when slurmctld starts.
        ("State", "CLOUD"),
        ("NodeAddr", f"{found}.{domain}"),
        ("RealMemory", memory),
        ("Port", workers.port),
        *([("Feature", tags)] if tags else ()),
        *_static(nodeset),
        source=_of(nodeset, "nodeConfig"),
    )


def node_keys(nodeset: NodeSet) -> str:
    """Return the keys of a node that the user sets, as slurmd and slurm.conf take them."""
    pairs = _static(nodeset)
    if not pairs:
        return ""
    text = conf.write([Setting((("NodeName", "x"), *pairs))])
    return text.strip().removeprefix("NodeName=x ")


def _static(nodeset: NodeSet) -> tuple[Pair, ...]:
    source = _of(nodeset, "nodeConfig.static")
    if not nodeset.extra.strip():
        return ()
    found = conf.parse(f"NodeName=x {nodeset.extra}", source=source)
    if len(found) != 1 or not isinstance(found[0], Setting):
        raise ConfError(Place(source), "", "must be one line; remove the line end")
    return tuple(pair for pair in found[0].pairs[1:] if pair[0].lower() not in _OURS)


def _node_set(nodeset: NodeSet, workers: JailedWorkers) -> Written:
    name, source = nodeset.part.name, _of(nodeset, "metadata.name")
    if workers.registration is Registration.DYNAMIC:
        return setting("NodeSet", name, ("Feature", feature(nodeset)), source=source)
    if not workers.listed:
        return Comment(f"WARNING: NodeSet {name} has no workers")
    return setting("NodeSet", name, ("Nodes", names(nodeset, workers)), source=source)


def _of(nodeset: NodeSet, field: str) -> str:
    return f"NodeSet {nodeset.part.name}, {field}"


# -- partitions


def _default(name: str, options: tuple[Pair, ...]) -> Setting:
    return setting("PartitionName", name, ("Nodes", "ALL"), *options)


def _custom(text: str) -> Iterator[Setting]:
    source = "partitionConfiguration.rawConfig"
    if not text.strip():
        return
    found = conf.parse(text.strip(), source=source)
    for line in found:
        if not isinstance(line, Setting) or line.key.lower() != "partitionname":
            raise ConfError(Place(source), "", f"{text.strip()!r} must begin with PartitionName=")
        yield line


def _structured(one: SharedPartition, known: set[str]) -> Iterator[Written]:
    source = f"partitionConfiguration.partitions, {one.name}"
    found = [name for name in one.nodesets if name in known]
    for name in one.nodesets:
        if name not in known:
            # The partition stays: without it slurmctld would end the jobs that are in it.
            yield Comment(f"WARNING: partition {one.name}: there is no NodeSet {name}")
    if not one.everything and not one.nodesets:
        yield Comment(f"WARNING: partition {one.name} names no NodeSet")
    # One line, or the user could set any key of Slurm there.
    options = conf.parse(f"PartitionName={one.name} {one.config}", source=source)
    if len(options) != 1 or not isinstance(options[0], Setting):
        raise ConfError(Place(source), "config", "must be one line; remove the line end")
    nodes = "ALL" if one.everything else ",".join(found)
    yield setting("PartitionName", one.name, ("Nodes", nodes), *options[0].pairs[1:], source=source)
