"""Which workers are drained in Slurm, and which serve again. Pure.

A drain with somebody else's reason stays as it is, and so does a node that an admin set down. What
we drained, or what went down through us, serves again once nothing speaks against it. A reason on a
node that serves is a note: it may be drained once the note is safe.
"""

from collections.abc import Iterator

from ..model.workers import Fleet, SlurmNode, Worker
from ..slurm.reasons import Prefixes
from .notes import Wish, kept_of, noted, serves
from .plan import Action, DrainWorker, ResumeWorker
from .standing import began

SILENT = "Not responding"  # slurmctld's words
SERVES = "its pod serves again"
NOTHING = "nothing speaks against it any more"
NOTED = "what an admin had noted of it is put back"


def drains(fleet: Fleet, wish: Wish, prefixes: Prefixes) -> Iterator[Action]:
    """Give what has to be told Slurm so that every worker serves or drains as wished."""
    for worker in fleet.workers:
        node = fleet.slurm_node(worker)
        if node is None or not worker.living:
            continue
        why = wish(worker)
        # Cheap, and so it is with nearly all.
        if (why is None and _at_peace(node)) or not began(worker.pod):
            continue
        if why is None:
            yield from _resume(worker, node, prefixes)
        elif _to_drain(node, prefixes.sign(why), prefixes):
            yield DrainWorker(why, worker.name, node.name)


def given_up(node: SlurmNode) -> bool:
    """Say whether slurmctld alone took a node down, as its slurmd is silent."""
    # It adds that to what was said before: `bad disk : Not responding` is still somebody's.
    return node.state.down and node.reason.startswith(SILENT)


def _at_peace(node: SlurmNode) -> bool:
    """Say whether nobody has taken a node out of service, and we keep no note for it."""
    state = node.state
    return not (state.down or state.asked_to_drain or kept_of(node))


def _to_drain(node: SlurmNode, signed: str, prefixes: Prefixes) -> bool:
    # What slurmctld itself says of a silent slurmd is nobody's reason, and may end any moment.
    silent = given_up(node)
    note = noted(node, prefixes)
    safe = bool(note) and note == kept_of(node)
    if not (prefixes.may_drain(node.reason) or silent or safe):
        return False
    if not node.state.asked_to_drain:
        return True
    # Drained without a word: somebody's, who did not say. Ours says why as it is now.
    return prefixes.may_undrain(node.reason) and node.reason != signed


def _resume(worker: Worker, node: SlurmNode, prefixes: Prefixes) -> Iterator[Action]:
    state, note = node.state, kept_of(node)
    if state.down:
        if _came_back(worker, node, prefixes):
            yield ResumeWorker(SERVES, worker.name, node.name, down=True, note=note)
    elif not worker.ready:
        return  # it is drained for an earlier pod: jobs would come before its slurmd does
    elif state.asked_to_drain and prefixes.may_undrain(node.reason):
        yield ResumeWorker(NOTHING, worker.name, node.name, note=note)
    elif note and not node.reason and serves(node):
        yield ResumeWorker(NOTED, worker.name, node.name, note=note)


def _came_back(worker: Worker, node: SlurmNode, prefixes: Prefixes) -> bool:
    """Say whether a node is down for the end of a pod, and another one serves since.

    Slurm does that by itself where ReturnToService says so.
    """
    ours = prefixes.may_undrain(node.reason)
    # Somebody drained it as well, without a word.
    silent = given_up(node) and not node.state.asked_to_drain
    if not (ours or silent) or node.state.not_responding or not worker.ready:
        return False
    since = worker.pod.ready_since
    return node.reason_at is not None and since is not None and since >= node.reason_at
