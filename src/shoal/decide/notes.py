"""What an admin noted of a node that serves, kept while we drain it. Pure.

Slurm has one reason for a node. On one that serves it is a note and no drain, so that it does not
keep a worker for ever. But a drain overwrites it, and its end clears it. So the note goes into our
comment first, is put back when the drain ends, and only then leaves the comment.
"""

from collections.abc import Callable, Iterator

from ..model.workers import Fleet, SlurmNode, Worker
from ..slurm.reasons import Owner, Prefixes
from .facts import comment_of, shape_of, told_of
from .plan import Action, TellSlurm, Wait
from .wanted import Wanted

Wish = Callable[[Worker], str | None]  # why a worker is to be drained; None: it serves

KEEP = "what an admin noted of it is kept"
IS_BACK = "what an admin had noted of it is back"
NO_ROOM = (
    "{0} has a reason and a comment of somebody else's, and is not drained lest one is lost; "
    "clear one of them: scontrol update nodename={0} comment="
)
AGAIN_S = 60.0
_KEY = '"note"'


def notes(wanted: Wanted, fleet: Fleet, wish: Wish) -> Iterator[Action]:
    """Give what Slurm has to be told so that no note is lost by a drain of ours."""
    for worker in fleet.workers:
        node = fleet.slurm_node(worker)
        # Cheap, and nearly all there is to ask.
        if node is None or not (node.reason or _KEY in node.comment):
            continue
        if worker.living and wanted.uid:
            yield from _notes(wanted, worker, node, drain=wish(worker) is not None)


def _notes(wanted: Wanted, worker: Worker, node: SlurmNode, *, drain: bool) -> Iterator[Action]:
    note, kept = noted(node, wanted.prefixes), kept_of(node)
    if drain and note and note != kept:
        if node.comment.strip() and told_of(node.comment) is None:
            yield Wait(NO_ROOM.format(node.name), AGAIN_S)
        else:
            comment = comment_of(wanted, worker, note, shape_of(wanted, worker, node))
            yield TellSlurm(KEEP, node.name, comment=comment)
    elif kept and note and not drain:
        comment = comment_of(wanted, worker, shape=shape_of(wanted, worker, node))
        yield TellSlurm(IS_BACK, node.name, comment=comment)


def noted(node: SlurmNode, prefixes: Prefixes) -> str:
    """Return what somebody noted of a node that serves; empty: nobody did, or it does not."""
    foreign = prefixes.owner_of(node.reason) is Owner.FOREIGN
    return node.reason if foreign and serves(node) else ""


def kept_of(node: SlurmNode) -> str:
    """Return the note that our comment keeps; empty: none."""
    told = told_of(node.comment) if _KEY in node.comment else None
    return told.note if told is not None else ""


def serves(node: SlurmNode) -> bool:
    """Say whether a node takes jobs, so that its reason is no more than a note."""
    state = node.state
    return (
        state.base in ("ALLOCATED", "IDLE", "MIXED")
        and not state.asked_to_drain
        and not state.has("FAIL")
        and not state.rebooting
        and not state.power_managed
    )
