"""One worker on every Kubernetes node that fits, and workers that stay on theirs. Pure.

A cordon says that nothing new comes to a node, and workers are no exception: users took the
exemption that pods of a DaemonSet have away (slurm-operator 39), as it had workers start on nodes
under repair. The worker that is there stays, drained. So three things follow for those whose nodes
are cordoned for long (slurm-operator 259): an update leaves such a worker as it is until the node
is uncordoned (`returns`), a worker comes in the same pass in which the node is seen uncordoned, and
a template that tolerates node.kubernetes.io/unschedulable has its workers come in spite of cordons.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from ..kube.nodes import Node
from ..kube.scheduling import Demands, demands
from ..model.nodeset import Mode
from ..model.workers import Fleet, Worker
from .facts import told_of
from .plan import Action, CreateWorker, DeleteWorker, Wait
from .scale import OTHER_MODE, Change, over
from .standing import never_ran
from .wanted import Healing, Wanted

EXPELLED = "Pod is pending termination: {}"
RENAMED = "Pod is pending termination: the hostname of its node is another one now"
NO_NODE = "Pod is pending termination: the node that it waits for is gone"
SURPLUS = "Pod is pending termination: its node has another worker"

FIRST = timedelta(seconds=1)
LONGEST = timedelta(minutes=15)
AGAIN_S, SOON_S = 60.0, 5.0
LEAVING = "Node ({}) gets its worker when that of another NodeSet has left it"


@dataclass(frozen=True)
class _Ground:
    """The Kubernetes nodes, and what a NodeSet makes of them."""

    wanted: Wanted
    fleet: Fleet

    @cached_property
    def demands(self) -> Demands:
        """Return what workers ask of their node."""
        # What the user wants is read before it is laid over what we add: nothing else that we add
        # speaks of nodes, but for the one node that a worker is made for.
        ours = {"key": self.wanted.naming.worker_taint, "effect": "NoExecute"}
        return demands(self.wanted.nodeset.part.pods.spec, [ours])

    @cached_property
    def hostnames(self) -> Mapping[str, str]:
        """Return what the worker of each node is called in Slurm, by the node's name."""
        key = self.wanted.naming.annotations.hostname_override
        return {name: hostname(node, key) for name, node in self.fleet.nodes.items()}

    @cached_property
    def by_hostname(self) -> Mapping[str, str]:
        """Return the nodes' names by those of their workers; of several, the first by name."""
        return {self.hostnames[name]: name for name in sorted(self.hostnames, reverse=True)}

    @cached_property
    def on(self) -> Mapping[str, list[Worker]]:
        """Return all workers by node, be they dead, ending or of the other mode."""
        found: dict[str, list[Worker]] = {}
        for worker in self.fleet.workers:
            found.setdefault(self.place(worker), []).append(worker)
        return found

    def place(self, worker: Worker) -> str:
        """Return the node that a worker is on, or is made for; empty: there is none."""
        # Until it is scheduled, only its hostname says which one it waits for.
        return worker.pod.spec.node_name or self.by_hostname.get(worker.node, "")

    def empty(self) -> Iterator[Node]:
        """Give the nodes that fit and have no worker, by name."""
        for name in sorted(self.fleet.nodes.keys() - self.on.keys()):
            node = self.fleet.nodes[name]
            if not node.deleting and not self.demands.refused(node):
                yield node


def hostname(node: Node, key: str) -> str:
    """Return what the worker of a node is called in Slurm; `key` is the annotation that says so."""
    name = node.metadata.name
    return node.metadata.annotations.get(key) or name.partition(".")[0]


def on_nodes(wanted: Wanted, fleet: Fleet) -> Change:
    """Have one worker on every node that fits; a node is free once its last worker is gone."""
    if not fleet.nodes:
        # No list of nodes is no answer.
        return Change((), {})
    ground = _Ground(wanted, fleet)
    taken = {worker.node for worker in fleet.workers} | fleet.others
    create = []
    for node in ground.empty():
        name = ground.hostnames[node.metadata.name]
        # Two slurmds of one name take each other's jobs for lost.
        if name not in taken:
            taken.add(name)
            create.append(CreateWorker("a node that fits", None, node.metadata.name, name))
    return Change(tuple(create), _going(ground))


def _going(ground: _Ground) -> dict[str, str]:
    going: dict[str, str] = {}
    for place, workers in ground.on.items():
        stay = []
        for worker in workers:
            if not worker.living:
                continue
            if why := _leaves(ground, worker, place):
                going[worker.uid] = why
            else:
                stay.append(worker)
        if len(stay) > 1 and place in ground.fleet.nodes:
            stay.sort(key=lambda worker: _rank(worker, ground.fleet))
            going |= {worker.uid: SURPLUS for worker in stay[1:]}
    return going


def _leaves(ground: _Ground, worker: Worker, place: str) -> str:
    if worker.mode != Mode.EVERY_NODE.value:
        return OTHER_MODE
    node = ground.fleet.nodes.get(place)
    if node is None:
        # Kubernetes clears away what was on a node that is gone. What waits for it, it keeps.
        return "" if worker.pod.spec.node_name else NO_NODE
    if why := ground.demands.expelled(node):
        return EXPELLED.format(why)
    return RENAMED if worker.node != ground.hostnames[place] else ""


def _rank(worker: Worker, fleet: Fleet) -> tuple[object, ...]:
    """Order the workers of one node, the one that stays first: with jobs, or else the oldest.

    They have one name: of Slurm's record only the comment says which of them registered last.
    """
    pod, known = worker.pod, fleet.slurm_node(worker)
    told = told_of(known.comment) if known is not None else None
    registered = told is not None and told.pod_name == worker.name
    began = bool(pod.spec.node_name) and not never_ran(pod)
    return (
        fleet.steps.get(worker.uid) is not True,
        not registered,
        not began,
        pod.metadata.creation_timestamp or "",
        worker.name,
    )


def desired(wanted: Wanted, fleet: Fleet) -> int:
    """Return how many workers there should be now: as many as asked for, or as nodes fit.

    A cordoned node counts while it has its worker, and does not while it can get none.
    """
    if wanted.nodeset.mode is Mode.REPLICAS:
        return wanted.nodeset.replicas
    if not fleet.nodes:
        return sum(worker.living for worker in fleet.workers)
    ground = _Ground(wanted, fleet)
    nodes = ((fleet.nodes.get(place), workers) for place, workers in ground.on.items())
    return sum(1 for _ in ground.empty()) + sum(
        node is not None and not ground.demands.expelled(node) and _counts(ground, node, workers)
        for node, workers in nodes
    )


def _counts(ground: _Ground, node: Node, workers: Collection[Worker]) -> bool:
    mode = Mode.EVERY_NODE.value
    own = any(worker.living and worker.mode == mode for worker in workers)
    return own or not ground.demands.refused(node)


def returns(wanted: Wanted, fleet: Fleet) -> Callable[[Worker], bool]:
    """Return what says of a worker whether another one could come in its place now.

    One that has a number comes back on any node, and one that no node has yet is not missed.
    """
    ground = _Ground(wanted, fleet)

    def back(worker: Worker) -> bool:
        if worker.number is not None or not worker.pod.spec.node_name:
            return True
        node = fleet.node(worker)
        return node is not None and not ground.demands.refused(node)

    return back


def clashes(wanted: Wanted, fleet: Fleet) -> list[Action]:
    """Tell of nodes that get no worker, as another one's worker has its name."""
    ground = _Ground(wanted, fleet)
    key = wanted.naming.annotations.hostname_override
    taken = {worker.node for worker in fleet.workers}
    found: list[Action] = []
    for node in ground.empty():
        name = ground.hostnames[node.metadata.name]
        if name in fleet.others:
            found.append(Wait(LEAVING.format(node.metadata.name), SOON_S))
        elif name in taken:
            words = f"Node ({node.metadata.name}) gets no worker: another one is called {name}"
            found.append(Wait(f"{words}; give the Node another name by annotation {key}", AGAIN_S))
        taken.add(name)
    return found


# -- workers that ended


def ended(wanted: Wanted, fleet: Fleet) -> list[Action]:
    """Clear away workers that ended by themselves, on one node more and more seldom."""
    found: list[Action] = []
    soonest = None
    for worker in over(fleet):
        left = _left(wanted, fleet, worker)
        if left > timedelta():
            soonest = min(soonest or left, left)
        else:
            why = f"it ended ({worker.pod.status.phase})"
            found.append(DeleteWorker(why, worker.name, worker.uid))
    if soonest is not None:
        found.append(Wait("workers end again and again", soonest.total_seconds()))
    return found


def remember(wanted: Wanted, fleet: Fleet, cleared: Collection[str]) -> Mapping[str, Healing]:
    """Return what to remember for the next pass; `cleared` are the uids that `ended` ended."""
    found = {
        name: known
        for name, known in wanted.failures.items()
        if known.last is not None and fleet.now - known.last < 2 * LONGEST
    }
    for worker in over(fleet):
        if worker.uid in cleared:
            name = _failed_on(worker)
            # What the user changed since may be the cure.
            known = found.get(name) if worker.revision == wanted.revision else None
            since = known.since if known else fleet.now
            found[name] = Healing(since, known.tries + 1 if known else 1, fleet.now)
    return found


def _left(wanted: Wanted, fleet: Fleet, worker: Worker) -> timedelta:
    known = wanted.failures.get(_failed_on(worker))
    if known is None or known.last is None or worker.revision != wanted.revision:
        return timedelta()
    # Beyond that power of two it is the longest anyway.
    pause = min(FIRST * (1 << min(max(known.tries - 1, 0), 20)), LONGEST)
    return known.last + pause - fleet.now


def _failed_on(worker: Worker) -> str:
    return worker.pod.spec.node_name or worker.node


# -- workers that come back to their node


def pins(wanted: Wanted, fleet: Fleet) -> Mapping[int, str]:
    """Return the node that each number is bound to; no cordon and no illness of a node unbinds."""
    nodeset = wanted.nodeset
    if nodeset.mode is not Mode.REPLICAS or not nodeset.pin:
        return {}
    if not fleet.nodes:
        return wanted.pinned
    asked = _Ground(wanted, fleet).demands
    running = {
        worker.number: worker.pod.spec.node_name
        for worker in fleet.workers
        if worker.number is not None and worker.living and worker.pod.status.phase == "Running"
    }
    held = {} if nodeset.oversubscribe else {node: number for number, node in running.items()}

    def fits(name: str) -> bool:
        node = fleet.nodes.get(name)
        return node is not None and not asked.unfit(node)

    # A node that another worker has got meanwhile would never be free again.
    known = {n: node for n, node in wanted.pinned.items() if held.get(node, n) == n and fits(node)}
    new = {n: node for n, node in running.items() if n not in known and fits(node)}
    return dict(sorted({**known, **new}.items()))
