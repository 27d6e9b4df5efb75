"""Slurm's records of workers whose Kubernetes node is gone: which are forgotten. Pure."""

from ..model.nodeset import Mode
from ..model.workers import Fleet, SlurmNode
from .drains import given_up
from .facts import Told, told_of
from .notes import kept_of
from .place import hostname
from .plan import Action, ForgetNode, Wait
from .wanted import Wanted

FEW = 3  # records that may go at a time, even if they are all
AGAIN_S = 60.0


def defunct(wanted: Wanted, fleet: Fleet) -> list[Action]:
    """Have Slurm forget workers whose Kubernetes node is gone, or has another hostname now."""
    nodeset = wanted.nodeset
    asked = nodeset.prune and nodeset.mode is Mode.EVERY_NODE and bool(wanted.uid)
    if not asked or not fleet.nodes or not fleet.slurm:
        return []
    found: list[Action] = []
    pods = {worker.name for worker in fleet.workers} | {worker.node for worker in fleet.workers}
    for node in fleet.slurm.values():
        if node.name not in pods and _dead(wanted, fleet, node):
            owner = _owner(wanted, node)
            if owner is not None and owner.pod_name not in pods:
                found += _forget(wanted, fleet, node, owner)
    if len(found) <= FEW:
        return found
    records = sum(wanted.uid in node.comment for node in fleet.slurm.values())
    if 2 * len(found) <= records:
        return found
    # Most nodes of Kubernetes gone at once is more likely a list that is not whole.
    words = f"{len(found)} of {records} records of Slurm nodes are defunct, too many to be pruned"
    return [Wait(f"{words}; if they are gone for good, scontrol delete NodeName=... them", AGAIN_S)]


def _dead(wanted: Wanted, fleet: Fleet, node: SlurmNode) -> bool:
    state = node.state
    if not (state.down and state.not_responding) or state.busy:
        return False
    if state.reserved or state.in_maintenance or node.name in (fleet.ends or ()):
        return False
    # What an admin said of it would be lost with it.
    if kept_of(node):
        return False
    return wanted.prefixes.may_drain(node.reason) or given_up(node)


def _owner(wanted: Wanted, node: SlurmNode) -> Told | None:
    part = wanted.nodeset.part
    # Cheap, and nearly all there is to ask.
    owner = told_of(node.comment) if wanted.uid in node.comment else None
    if owner is None or not owner.node:
        return None
    told = (owner.namespace, owner.node_set_name, owner.node_set_uid)
    return owner if told == (part.namespace, part.name, wanted.uid) else None


def _forget(wanted: Wanted, fleet: Fleet, node: SlurmNode, owner: Told) -> list[Action]:
    at = fleet.nodes.get(owner.node)
    if at is None:
        return [ForgetNode("its Kubernetes node is gone", node.name)]
    if hostname(at, wanted.naming.annotations.hostname_override) != node.name:
        return [ForgetNode("its Kubernetes node has another hostname now", node.name)]
    return []
