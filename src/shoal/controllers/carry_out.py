"""Does what was decided about workers. The only doer: what no longer holds is dropped."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TypeVar

import structlog

from ..decide.plan import (
    Action,
    CreateClaim,
    CreateWorker,
    DeleteWorker,
    DrainWorker,
    ForgetNode,
    HoldClaim,
    LookInside,
    MarkWorker,
    Plan,
    RequeueJob,
    ResumeWorker,
    ShowState,
    TellSlurm,
    Wait,
)
from ..decide.standing import Standing, began, standing
from ..decide.wanted import Wanted
from ..kube import kinds
from ..kube.objects import Object, Resource
from ..kube.pods import Pod
from ..kubeapi.client import Ref
from ..kubeapi.errors import ConflictError, ExistsError, NotFoundError
from ..model.cluster import Cluster
from ..model.nodeset import NodeSet
from ..model.workers import Fleet
from ..render import nodeset as render
from ..runtime import clock
from ..runtime.apply import Outcome, Rules, delete
from ..runtime.events import About
from ..slurmapi.nodes import NodeChange
from . import happenings
from .passes import Hands
from .requeue import requeue
from .slurms import Slurm, now

CLAIM = kinds.PERSISTENT_VOLUME_CLAIM
POSTED = Rules(post=(kinds.POD,))
# Of these there are many, and nothing comes of them.
QUIET = frozenset(kind.__name__ for kind in (Wait, ShowState, MarkWorker, LookInside))
RESUME = ("RESUME",)
A = TypeVar("A", bound=Action)
Look = Callable[[str, str], Awaitable[bool | None]]  # namespace, pod -> whether steps run in it
log = structlog.get_logger()


@dataclass(frozen=True)
class Doing:
    """Whose workers they are, and by what means things are done to them."""

    hands: Hands
    owner: Object
    cluster: Cluster | None
    wanted: Wanted
    fleet: Fleet
    slurm: Slurm | None
    look: Look
    about: About | None = None  # whom events are about


@dataclass
class Deeds:
    """What was done."""

    outcome: Outcome = field(default_factory=Outcome)
    deleted: list[DeleteWorker] = field(default_factory=list)
    steps: dict[str, bool] = field(default_factory=dict)


async def carry_out(doing: Doing, plan: Plan) -> Deeds:
    """Do it: first what was decided on what Slurm says right now, then what takes its time."""
    deeds = Deeds()
    if doing.slurm is not None:
        await _drain(doing, doing.slurm, plan)
        await _forget(doing, doing.slurm, _only(ForgetNode, plan))
    kept = await _claim(doing, plan)
    deeds.outcome = await _create(doing, _only(CreateWorker, plan))
    if doing.slurm is not None:
        await _tell(doing, doing.slurm, plan)
        await _requeue(doing, doing.slurm, _only(RequeueJob, plan))
    ends = [action for action in _only(DeleteWorker, plan) if action.uid not in kept]
    deeds.deleted = await _delete(doing, ends)
    await _mark(doing, plan)
    for action in _only(LookInside, plan):
        found = await doing.look(doing.wanted.nodeset.part.namespace, action.pod)
        if found is not None:
            deeds.steps[action.uid] = found
    _log(doing, plan)
    return deeds


async def _claim(doing: Doing, plan: Plan) -> set[str]:
    """Make claims and settle whose they are; return the workers that must not end for it yet."""
    client, space = doing.hands.client, doing.wanted.nodeset.part.namespace
    store = doing.hands.world.stores[CLAIM]
    kept: set[str] = set()

    async def one(action: Action) -> None:
        if isinstance(action, CreateClaim):
            made = render.claims(doing.wanted.nodeset, action.whose, action.owners)
            claim = next(obj for obj in made if obj["metadata"]["name"] == action.claim)
            with suppress(ExistsError):
                store.put(await client.create(CLAIM, claim, Resource))
        elif isinstance(action, HoldClaim):
            meta = {"resourceVersion": action.version, "ownerReferences": list(action.owners)}
            try:
                where = Ref(CLAIM, space, action.claim)
                store.put(await client.patch(where, {"metadata": meta}, Resource))
            except (ConflictError, NotFoundError):
                kept.add(action.uid)

    claims = [action for action in plan if isinstance(action, CreateClaim | HoldClaim)]
    await doing.hands.applier.each(doing.owner, claims, one)
    return kept


async def _create(doing: Doing, actions: Sequence[CreateWorker]) -> Outcome:
    cluster = doing.cluster
    if not actions or cluster is None:
        return Outcome()
    mould = render.Mould(cluster, doing.wanted.nodeset)
    pods = (_pod(mould, action) for action in actions)
    outcome = await doing.hands.applier.apply(doing.owner, pods, POSTED)
    refused = {one.key[1] for one in outcome.refused}
    nodeset = doing.wanted.nodeset
    made = [a for a in actions if _named(nodeset, a) not in refused]
    _tell_of(doing, made[: outcome.written])
    return outcome


def _named(nodeset: NodeSet, action: CreateWorker) -> str:
    if action.number is None:
        return nodeset.pod_name_on(action.node)
    return nodeset.pod_name(action.number)


def _pod(mould: render.Mould, action: CreateWorker) -> Object:
    if action.number is None:
        return mould.pod_on(action.node, action.hostname)
    return mould.pod(action.number, action.node)


# -- Slurm


async def _drain(doing: Doing, slurm: Slurm, plan: Plan) -> None:
    nodes, prefixes = slurm.client.nodes, doing.wanted.prefixes
    for why, drained in _by_why(_only(DrainWorker, plan)).items():
        await nodes.drain([action.node for action in drained], prefixes.sign(why))
        _tell_of(doing, drained)
    resumed = _only(ResumeWorker, plan)
    await nodes.undrain([action.node for action in resumed if not action.down])
    down = [action.node for action in resumed if action.down]
    if down:
        await nodes.update(down, NodeChange(state=RESUME))
    for action in resumed:
        if action.note:
            await nodes.update([action.node], NodeChange(reason=action.note))
    _tell_of(doing, resumed)


async def _tell(doing: Doing, slurm: Slurm, plan: Plan) -> None:
    nodes = slurm.client.nodes
    alike: dict[TellSlurm, list[str]] = defaultdict(list)
    for told in _only(TellSlurm, plan):
        alike[replace(told, node="")].append(told.node)

    async def tell(one: tuple[TellSlurm, list[str]]) -> None:
        await nodes.update(one[1], _change(one[0]))

    await doing.hands.applier.each(doing.owner, alike.items(), tell)


async def _forget(doing: Doing, slurm: Slurm, actions: Sequence[ForgetNode]) -> None:
    """Have Slurm forget nodes, before workers of their names come."""
    if actions:
        await slurm.client.nodes.delete([action.node for action in actions])
        _tell_of(doing, actions)


async def _requeue(doing: Doing, slurm: Slurm, actions: Sequence[RequeueJob]) -> None:
    for action in actions:
        if (done := await requeue(slurm, action)) is not None:
            _tell_of(doing, (done,))


def _change(what: TellSlurm) -> NodeChange:
    return NodeChange(
        comment=what.comment,
        features=what.features,
        features_act=what.active_features,
        topology_str=what.topology,
    )


# -- pods


async def _delete(doing: Doing, actions: Sequence[DeleteWorker]) -> list[DeleteWorker]:
    if not actions:
        return []
    free = await _still_free(doing, {action.uid for action in actions})
    ended = [action for action in actions if action.uid in free]
    client, store = doing.hands.client, doing.hands.world.stores[kinds.POD]
    seen = {worker.uid: worker.pod for worker in doing.fleet.workers}

    async def one(action: DeleteWorker) -> None:
        pod = seen[action.uid]
        # One in which nothing has run may be running by now: only as it was seen.
        exact = not doing.wanted.forced and not pod.over and not began(pod)
        with suppress(ConflictError):
            await delete(client, store, kinds.POD, pod, exact=exact)

    await doing.hands.applier.each(doing.owner, ended, one)
    _tell_of(doing, ended)
    return ended


async def _still_free(doing: Doing, uids: set[str]) -> set[str]:
    """Return those of which Slurm, asked once more, still says that nothing is lost with them."""
    if doing.wanted.forced:
        return uids
    fleet = doing.fleet
    asked = [w for w in fleet.workers if w.uid in uids]
    if doing.slurm is not None and any(_asks_slurm(w.pod) for w in asked):
        fleet = replace(fleet, slurm=await doing.slurm.nodes(newer_than=now()))
    free = {w.uid for w in asked if standing(w, fleet) is Standing.FREE}
    lost = [w for w in asked if w.uid in free and _asks_slurm(w.pod) and _missing(w.node, fleet)]
    for worker in lost:
        # A list may lie by leaving out; a second question has to agree, and a second look.
        known = doing.slurm is not None and await doing.slurm.client.nodes.find(worker.node)
        if known or await doing.look(worker.pod.metadata.namespace, worker.name) is not False:
            free.discard(worker.uid)
    return free


def _missing(node: str, fleet: Fleet) -> bool:
    return fleet.slurm is not None and node not in fleet.slurm


def _asks_slurm(pod: Pod) -> bool:
    return began(pod) and not pod.over


async def _mark(doing: Doing, plan: Plan) -> None:
    client, store = doing.hands.client, doing.hands.world.stores[kinds.POD]
    space = doing.wanted.nodeset.part.namespace

    async def one(action: Action) -> None:
        assert isinstance(action, MarkWorker | ShowState)
        pod = store.get((space, action.pod))
        if pod is None or pod.metadata.uid != action.uid:
            return
        try:
            if isinstance(action, MarkWorker):
                change = _marked(action)
                store.put(await client.patch(Ref(kinds.POD, *pod.key), change, Pod))
            else:
                told = _shown(pod, action)
                written = await client.apply(kinds.POD, told, Pod, force=True, subresource="status")
                store.put(written)
        except (NotFoundError, ConflictError):
            return  # it has gone meanwhile, or is another one

    marks = [action for action in plan if isinstance(action, MarkWorker | ShowState)]
    await doing.hands.applier.each(doing.owner, marks, one)


def _marked(action: MarkWorker) -> Object:
    meta: Object = {"uid": action.uid}  # of that very pod, or it is a conflict
    if action.labels:
        meta["labels"] = dict(action.labels)
    if action.annotations:
        meta["annotations"] = dict(action.annotations)
    return {"metadata": meta}


def _shown(pod: Pod, action: ShowState) -> Object:
    """Return the conditions to apply; what is left out of them is taken away."""
    since = {c.type: c.last_transition_time for c in pod.status.conditions if c.status == "True"}
    stamp = clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    conditions = [
        {
            "type": type_,
            "status": "True",
            "message": message,
            "lastTransitionTime": since.get(type_) or stamp,
        }
        for type_, message in action.conditions.items()
    ]
    meta = {"name": pod.metadata.name, "namespace": pod.metadata.namespace, "uid": action.uid}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta,
        "status": {"conditions": conditions},
    }


def _only(kind: type[A], plan: Plan) -> list[A]:
    return [action for action in plan if isinstance(action, kind)]


def _by_why(actions: Iterable[A]) -> Mapping[str, list[A]]:
    found: dict[str, list[A]] = defaultdict(list)
    for action in actions:
        found[action.why].append(action)
    return found


def _tell_of(doing: Doing, done: Iterable[Action]) -> None:
    for what, count in happenings.told(doing.wanted, done):
        doing.hands.record(doing.about, what, count)


def _log(doing: Doing, plan: Plan) -> None:
    counts: dict[tuple[str, str], int] = {}
    for action in plan:
        what = (type(action).__name__, action.why)
        counts[what] = counts.get(what, 0) + 1
    name = doing.wanted.nodeset.part.name
    for (action_, why), number in counts.items():
        say = log.debug if action_ in QUIET else log.info
        say("workers", nodeset=name, action=action_, why=why, number=number)
