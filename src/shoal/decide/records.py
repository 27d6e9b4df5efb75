"""Slurm's records that a new worker would come into, and that are not of its kind. Pure.

Slurm believes what the first slurmd of a name says of its node, and no later one: a worker with
other features would not have them, and one that may use more or less of its machine is refused as
invalid. So is it with a worker that has the name of one of another NodeSet, as those do that are
called after their Kubernetes node, and all that are on its network: it would be in the partition of
that one.
"""

from collections.abc import Iterable, Iterator, Sequence

from ..model.nodeset import Mode
from ..model.workers import Fleet, SlurmNode
from ..slurm.nodes import Drain
from .drains import given_up
from .facts import told_of
from .notes import kept_of
from .plan import CreateWorker, ForgetNode
from .wanted import Wanted

INHERITED = "it was a worker of another NodeSet"
RESHAPED = "its worker tells Slurm other things of its node now"


def inherited(wanted: Wanted, fleet: Fleet, create: Sequence[CreateWorker]) -> Iterator[ForgetNode]:
    """Give the records that Slurm has to forget before these workers come."""
    if not create or not fleet.slurm or wanted.nodeset.in_conf:
        return
    for name in _names(wanted, fleet, create):
        node = fleet.slurm.get(name)
        why = _unlike(wanted, node) if node is not None else ""
        if node is not None and why and _free(wanted, node):
            yield ForgetNode(why, name)


def _names(wanted: Wanted, fleet: Fleet, create: Sequence[CreateWorker]) -> Iterable[str]:
    """Return what the workers that come may be called in Slurm."""
    nodeset = wanted.nodeset
    if nodeset.mode is Mode.REPLICAS and nodeset.on_nodes_network:
        # Each is called after the node that the scheduler will find for it.
        taken = fleet.others.union(worker.node for worker in fleet.workers)
        return sorted({name.partition(".")[0] for name in fleet.nodes} - taken)
    return [action.hostname or nodeset.hostname(action.number or 0) for action in create]


def _unlike(wanted: Wanted, node: SlurmNode) -> str:
    """Say why a record is not that of a worker that comes; empty: it is, or nobody knows."""
    told = told_of(node.comment)
    if told is None or not wanted.uid:
        return ""
    if told.node_set_uid != wanted.uid:
        return INHERITED
    return RESHAPED if told.shape and wanted.shape and told.shape != wanted.shape else ""


def _free(wanted: Wanted, node: SlurmNode) -> bool:
    state = node.state
    # No slurmd is there, or none that takes jobs.
    out = state.down or state.not_responding or state.drain is Drain.DRAINED
    if state.busy or not state.known or not out:
        return False
    # What an admin said of it would be lost with it.
    return not kept_of(node) and (wanted.prefixes.may_drain(node.reason) or given_up(node))
