"""NodeSets and partitions in slurm.conf. Pure."""

from collections.abc import Iterator

from ..model.cluster import Cluster
from ..model.nodeset import NodeSet
from ..slurm import conf
from ..slurm.conf import ConfError, Place, Setting, setting


def lines(cluster: Cluster) -> list[Setting]:
    """Return the lines of slurm.conf for all NodeSets, in the order of their names."""
    by_name = sorted(cluster.nodesets, key=lambda nodeset: nodeset.part.name)
    return [line for nodeset in by_name for line in _nodeset(nodeset)]


def _nodeset(nodeset: NodeSet) -> Iterator[Setting]:
    name, source = nodeset.slurm_name, f"NodeSet {nodeset.part.name}, template.spec.hostname"
    # By feature, so that scaling changes no file: slurmd brings the feature along.
    yield setting("NodeSet", name, ("Feature", name), source=source)
    if nodeset.partition is None:
        return
    options = _options(nodeset, nodeset.partition.config)
    if not any(key.lower() == "nodes" for key, _ in options):
        options = (("Nodes", name), *options)
    yield setting("PartitionName", name, *options, source=_partition_source(nodeset))


def _options(nodeset: NodeSet, config: str) -> tuple[conf.Pair, ...]:
    source = _partition_source(nodeset)
    # One line, or the user could set any key of Slurm there.
    found = conf.parse(f"PartitionName={nodeset.slurm_name} {config}", source=source)
    if len(found) != 1 or not isinstance(found[0], Setting):
        raise ConfError(Place(source), "PartitionName", "must be one line; remove the line end")
    return found[0].pairs[1:]


def _partition_source(nodeset: NodeSet) -> str:
    return f"NodeSet {nodeset.part.name}, partition.config"
