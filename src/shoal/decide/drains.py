"""Which workers are drained in Slurm, and which serve again. Pure.

A drain with somebody else's reason stays as it is, and so does a node that an admin set down. What
we drained, or what went down through us, serves again once nothing speaks against it.
"""

from collections.abc import Callable, Iterator

from ..model.workers import Fleet, SlurmNode, Worker
from ..slurm.reasons import Prefixes
from .plan import Action, DrainWorker, ResumeWorker
from .standing import began

Wish = Callable[[Worker], str | None]  # why a worker is to be drained; None: it serves


def drains(fleet: Fleet, wish: Wish, prefixes: Prefixes) -> Iterator[Action]:
    """Give what has to be told Slurm so that every worker serves or drains as wished."""
    for worker in fleet.workers:
        node = fleet.slurm_node(worker)
        if node is None or not worker.living or not began(worker.pod):
            continue
        why = wish(worker)
        if why is None:
            yield from _resume(worker, node, prefixes)
        elif _to_drain(node, prefixes.sign(why), prefixes):
            yield DrainWorker(why, worker.name, node.name)


def _to_drain(node: SlurmNode, signed: str, prefixes: Prefixes) -> bool:
    # What slurmctld itself says of a silent slurmd is nobody's reason, and may end any moment.
    silent = node.state.down_as_unresponsive(node.reason)
    if not prefixes.may_drain(node.reason) and not silent:
        return False
    if not node.state.asked_to_drain:
        return True
    # Drained without a word: somebody's, who did not say. Ours says why as it is now.
    return prefixes.may_undrain(node.reason) and node.reason != signed


def _resume(worker: Worker, node: SlurmNode, prefixes: Prefixes) -> Iterator[Action]:
    state = node.state
    if state.down:
        if _came_back(worker, node, prefixes):
            yield ResumeWorker("its pod serves again", worker.name, node.name, down=True)
    elif not worker.pod.ready:
        return  # it is drained for an earlier pod: jobs would come before its slurmd does
    elif state.asked_to_drain and prefixes.may_undrain(node.reason):
        yield ResumeWorker("nothing speaks against it any more", worker.name, node.name)


def _came_back(worker: Worker, node: SlurmNode, prefixes: Prefixes) -> bool:
    """Say whether a node is down for the end of a pod, and another one serves since.

    Slurm does that by itself where ReturnToService says so.
    """
    ours = prefixes.may_undrain(node.reason)
    # Somebody drained it as well, without a word.
    silent = node.state.down_as_unresponsive(node.reason) and not node.state.asked_to_drain
    if not (ours or silent) or node.state.not_responding or not worker.pod.ready:
        return False
    since = worker.pod.ready_since
    return node.reason_at is not None and since is not None and since >= node.reason_at
