"""How the workers of a deleted NodeSet go, and then what Slurm knows of them. Pure."""

from datetime import timedelta

from ..model.nodeset import Mode
from ..model.workers import Fleet, SlurmNode
from . import facts, workers
from .conditions import Failed
from .plan import Action, ForgetNode, Plan, Wait, waits
from .wanted import Wanted
from .workers import Decided

# So long Slurm is waited for, once no worker is left: records that stay do no harm.
PATIENCE = timedelta(minutes=2)
AGAIN_S = 2.0
ENDING = "its workers end"
CURE = 'to delete it at once, and lose the jobs that run: kubectl annotate {} {}="true"'


def decide(wanted: Wanted, fleet: Fleet) -> Decided:
    """Return what to do now, and no more than that: nobody is left in peace."""
    return Decided(plan(wanted, fleet))


def plan(wanted: Wanted, fleet: Fleet) -> Plan:
    """Return what to do now; nothing: the NodeSet may go."""
    if fleet.workers:
        told = workers.plan(wanted, fleet)
        # Those that are ended tell when they are gone.
        return told or (Wait(ENDING, workers.AGAIN_S),)
    # With the whole cluster goes what Slurm knows of it; lines of slurm.conf go with the NodeSet.
    if fleet.abandoned or wanted.forced or not wanted.alone or wanted.nodeset.in_conf:
        return ()
    if fleet.slurm is None:
        why = "Slurm does not answer, and knows of its workers"
        return () if in_vain(wanted, fleet) else (Wait(why, AGAIN_S),)
    return tuple(_records(wanted, fleet))


def in_vain(wanted: Wanted, fleet: Fleet) -> bool:
    """Say whether a NodeSet that goes has no worker left, and no longer waits for a silent Slurm.

    One that goes with its whole cluster, or by force, does not begin to.
    """
    if wanted.deleted_at is None or fleet.workers:
        return False
    waited = fleet.now - wanted.deleted_at >= PATIENCE
    return waited or wanted.forced or not wanted.alone


def draining(wanted: Wanted, plan: Plan, whose: str = "") -> Failed:
    """Fail as `Draining`: the NodeSet is deleted, and waits for the jobs on its workers.

    `whose` is what kubectl calls the object that is deleted, where it is no NodeSet.
    """
    words = "; ".join(waits(plan)) or ENDING
    if wanted.forced:
        return Failed("Draining", words)
    who, key = whose or f"nodeset {wanted.nodeset.part.name}", wanted.naming.annotations.force
    return Failed("Draining", f"{words}; {CURE.format(who, key)}")


def _records(wanted: Wanted, fleet: Fleet) -> list[Action]:
    assert fleet.slurm is not None
    found = [node for node in fleet.slurm.values() if _was_ours(node, wanted)]
    idle: list[Action] = [
        ForgetNode("its NodeSet is gone", node.name) for node in found if not node.state.busy
    ]
    return [*idle, Wait("Slurm knows of its workers", AGAIN_S)] if found else []


def _was_ours(node: SlurmNode, wanted: Wanted) -> bool:
    """Say whether a Slurm node was a worker of the NodeSet: it says so, or is called like one."""
    told = facts.told_of(node.comment)
    if told is not None:
        return told.node_set_uid == wanted.uid
    nodeset = wanted.nodeset
    number = node.name.removeprefix(nodeset.hostname_prefix)
    called = node.name.startswith(nodeset.hostname_prefix) and number.isdecimal()
    return nodeset.mode is Mode.REPLICAS and called and nodeset.slurm_name in node.features
