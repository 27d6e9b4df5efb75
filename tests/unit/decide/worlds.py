"""A NodeSet's workers, Slurm and its jobs as they are in truth, and operators that see less.

Whatever is done to the world is checked: an operator that loses a job, overwrites an admin's reason
or ends a worker of which it knows nothing is stopped by an assertion. Time passes by `tick` alone.
"""

import enum
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeVar

from shoal.controllers.carry_out import Deeds
from shoal.controllers.nodeset import GRAVE, Memory
from shoal.decide import calm, workers
from shoal.decide.drains import SILENT
from shoal.decide.notes import kept_of
from shoal.decide.plan import (
    Action,
    CreateWorker,
    DeleteWorker,
    DrainWorker,
    ForgetNode,
    LookInside,
    MarkWorker,
    Plan,
    ResumeWorker,
    ShowState,
    TellSlurm,
)
from shoal.decide.portion import MOST, portion
from shoal.decide.standing import Standing, began, standing
from shoal.decide.wanted import Wanted
from shoal.kube.pods import PodCondition
from shoal.model.nodeset import Update
from shoal.model.workers import Fleet, SlurmNode, Worker
from shoal.slurm.nodes import parse
from shoal.slurm.reasons import Owner, Prefixes

from .fleets import NAMING, NOW, kube_node, worker
from .fleets import nodeset as make_nodeset

T = TypeVar("T")
PREFIXES = Prefixes(NAMING.reason_prefix)
CORDON = NAMING.annotations.pod_cordon
OTHER = "other-0"  # a node of another NodeSet
HOSTS = 12
SLOW = timedelta(minutes=3)  # longer than any image takes


class Answer(enum.Enum):
    """What Slurm says when asked for its nodes."""

    WHOLE = enum.auto()
    PARTIAL = enum.auto()  # every second node is left out
    EMPTY = enum.auto()
    NONE = enum.auto()


class Stage(enum.Enum):
    """How far a pod is."""

    WAITING = enum.auto()  # for a Kubernetes node
    PULLING = enum.auto()
    RUNNING = enum.auto()
    OVER = enum.auto()


class CrashError(Exception):
    """The operator's process ends here."""


@dataclass
class Slurmd:
    """A worker's pod, in truth."""

    number: int
    uid: str
    revision: str
    created: datetime
    host: str = ""
    stage: Stage = Stage.WAITING
    ready_since: datetime | None = None
    ending: bool = False
    silent: bool = False  # slurmctld does not hear it
    registered: bool = False
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    conditions: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"w-{self.number}"

    def seen(self, now: datetime) -> Worker:
        """Return it as Kubernetes tells of it; one that ends is gone a moment later."""
        return worker(
            self.number,
            uid=self.uid,
            host=self.host,
            ready=self.ready_since is not None,
            phase="Failed" if self.stage is Stage.OVER else "Running",
            began=self.stage in (Stage.RUNNING, Stage.OVER),
            # What a kubelet says of an image that it does not get, after a while.
            waits="ImagePullBackOff" if now - self.created > SLOW else "ContainerCreating",
            deleting=self.ending,
            revision=self.revision,
            labels=self.labels,
            annotations=self.annotations,
            conditions=[PodCondition(t, "True", "", m) for t, m in self.conditions.items()],
            ready_since=self.ready_since or self.created,
            created=self.created,
            deleted=now,
        )


@dataclass
class Record:
    """A node of Slurm's, in truth."""

    drain: bool = False
    down: bool = False
    responding: bool = True
    reason: str = ""
    reason_at: datetime | None = None
    note: str = ""  # an admin's, who did not drain it
    comment: str = ""

    @property
    def serving(self) -> bool:
        return self.responding and self.in_service

    @property
    def in_service(self) -> bool:
        """Say whether nobody took it out of service; for a while it may be silent all the same."""
        return not self.drain and not self.down

    @property
    def silent(self) -> bool:
        """Say whether slurmctld alone gave it up."""
        return self.down and not self.drain and self.reason.startswith(SILENT)

    def say(self, reason: str, now: datetime) -> None:
        self.reason, self.reason_at = reason, now if reason else None


@dataclass
class Job:
    """A job on one node."""

    node: str
    uid: str  # of the pod that its step runs in
    end: datetime
    known: bool = True  # to Slurm


@dataclass
class World:
    """All there is."""

    replicas: int = 3
    revision: str = "r1"
    update: Update = field(default_factory=Update)
    now: datetime = NOW
    deleted_at: datetime | None = None
    forced: bool = False
    bad: set[str] = field(default_factory=set)  # revisions whose image cannot be pulled
    pods: dict[str, Slurmd] = field(default_factory=dict)
    hosts: dict[str, bool] = field(default_factory=dict)  # whether they are cordoned
    records: dict[str, Record] = field(default_factory=lambda: {OTHER: Record()})
    jobs: list[Job] = field(default_factory=list)
    looked: set[str] = field(default_factory=set)  # uids of pods that were seen from inside
    made: int = 0

    def __post_init__(self) -> None:
        self.hosts = {f"k-{n}": False for n in range(HOSTS)}

    # -- what is seen of it

    @property
    def wanted(self) -> Wanted:
        """Return what the user asks for now."""
        made = make_nodeset(self.replicas, update=self.update)
        return Wanted(
            made, NAMING, self.revision, uid="uid-w", deleted_at=self.deleted_at, forced=self.forced
        )

    def slurm(self, answer: Answer = Answer.WHOLE) -> Mapping[str, SlurmNode] | None:
        """Return what Slurm says of its nodes."""
        if answer is Answer.NONE:
            return None
        names = [] if answer is Answer.EMPTY else sorted(self.records)
        return {n: self._node(n) for n in (names[::2] if answer is Answer.PARTIAL else names)}

    def _node(self, name: str) -> SlurmNode:
        record = self.records[name]
        busy = any(job.node == name and job.known for job in self.jobs)
        words = ["DOWN" if record.down else "MIXED" if busy else "IDLE", "DYNAMIC_NORM"]
        words += ["DRAIN"] * record.drain + ["NOT_RESPONDING"] * (not record.responding)
        told = (record.reason, record.reason_at, None, record.comment)
        return SlurmNode(name, parse(words), *told, features=("w",))

    def ends(self) -> Mapping[str, datetime]:
        """Return when the jobs of each node end."""
        ends: dict[str, datetime] = {}
        for job in self.jobs:
            if job.known:
                ends[job.node] = max(ends.get(job.node, job.end), job.end)
        return ends

    def fleet(self, slurm: Mapping[str, SlurmNode] | None, steps: Mapping[str, bool]) -> Fleet:
        """Return what an operator gathers."""
        every = tuple(pod.seen(self.now) for pod in self.pods.values())
        kube = {n: kube_node(n, unschedulable=cordoned) for n, cordoned in self.hosts.items()}
        asked = slurm is not None and workers.order_matters(self.wanted, every)
        return Fleet(every, self.now, slurm, kube, self.ends() if asked else None, steps)

    def with_uid(self, uid: str) -> Slurmd | None:
        return next((pod for pod in self.pods.values() if pod.uid == uid), None)

    def steps_in(self, uid: str) -> list[Job]:
        return [job for job in self.jobs if job.uid == uid]

    # -- what an operator does to it

    def create(self, number: int) -> None:
        """Start a worker; a name is given once at a time."""
        name = f"w-{number}"
        if name not in self.pods:
            self.made += 1
            self.pods[name] = Slurmd(number, f"uid-{self.made}", self.revision, self.now)

    def drain(self, name: str, reason: str) -> None:
        """Drain a node, by us."""
        record = self.records[name]
        foreign = PREFIXES.owner_of(record.reason) is Owner.FOREIGN
        kept = record.in_service and record.reason == kept_of(self._node(name))
        assert record.silent or kept or not foreign, f"{name}: {record.reason!r} is overwritten"
        record.drain = True
        record.say(reason, self.now)

    def resume(self, name: str, note: str, *, down: bool) -> None:
        """Let a node serve again, by us, with what an admin had noted of it."""
        record = self.records[name]
        ours = PREFIXES.owner_of(record.reason) is Owner.OURS
        back = record.in_service and not record.reason and note
        assert ours or record.silent or back, f"{name}: {record.reason!r} is not ours to lift"
        assert down or not record.down
        record.drain = record.down = False
        record.say(note, self.now)

    def delete(self, uid: str) -> None:
        """End a pod, by us."""
        pod = self.with_uid(uid)
        if pod is None:
            return
        if not self.forced and pod.stage is Stage.RUNNING:
            assert not self.steps_in(uid), f"{pod.name} had a job, and it is lost"
            record = self.records.get(pod.name)
            if record is None:
                assert uid in self.looked, f"{pod.name} ends though nobody looked into it"
            else:
                assert record.drain or record.down, f"{pod.name} ends undrained"
        pod.ending = True

    # -- what happens to it

    def job(self, node: str, lasts_s: int = 600) -> bool:
        """Have Slurm start a job on a node, where it can."""
        pod, record = self.pods.get(node), self.records.get(node)
        alive = pod is not None and pod.stage is Stage.RUNNING and pod.registered
        if pod is None or record is None or not alive or pod.silent or pod.ending:
            return False
        if record.serving:
            self.jobs.append(Job(node, pod.uid, self.now + timedelta(seconds=lasts_s)))
        return record.serving

    def die(self, name: str, *, gone: bool = False) -> None:
        """End a pod by accident; `gone`: with its Kubernetes node."""
        pod = self.pods[name]
        if pod.stage is Stage.WAITING:
            return
        pod.stage, pod.ready_since = Stage.OVER, None
        self._fall_silent(pod)
        if gone:
            self.hosts.pop(pod.host, None)

    def flap(self, name: str) -> None:
        """Have the kubelet say for a while that a pod is not ready."""
        self.pods[name].ready_since = None

    def mute(self, name: str) -> None:
        """Have slurmctld not hear a slurmd for a while; it gives up the jobs there."""
        pod = self.pods[name]
        if pod.stage is Stage.RUNNING and pod.registered:
            pod.silent = True
            self._fall_silent(pod)

    def lose_table(self, *, others: bool) -> None:
        """Have slurmctld forget its nodes and jobs; the steps run on."""
        self.records = {OTHER: Record()} if others else {}
        for job in self.jobs:
            job.known = False

    def tick(self, seconds: int = 30) -> None:
        """Let time pass: jobs end, pods come and go, slurmctld notices what is silent."""
        self.now += timedelta(seconds=seconds)
        self.jobs = [job for job in self.jobs if job.end > self.now]
        for record in self.records.values():
            if not record.responding and not record.down:
                record.down = True
                said = record.reason.removesuffix(SILENT).removesuffix(" : ")
                record.say(f"{said} : {SILENT}" if said else SILENT, self.now)
        for name, pod in list(self.pods.items()):
            if pod.ending or (pod.host and pod.host not in self.hosts):
                self._leave(pod)
                del self.pods[name]
            else:
                self._go_on(pod)

    def _go_on(self, pod: Slurmd) -> None:
        if pod.stage is Stage.WAITING:
            taken = {other.host for other in self.pods.values()}
            free = [n for n, cordoned in self.hosts.items() if not cordoned and n not in taken]
            if free:
                pod.host, pod.stage = free[0], Stage.PULLING
        elif pod.stage is Stage.PULLING:
            if pod.revision not in self.bad:
                pod.stage = Stage.RUNNING
        elif pod.stage is Stage.RUNNING:
            pod.ready_since = pod.ready_since or self.now
            # A slurmd registers when it starts; one that was only silent is heard again.
            if not pod.registered or (pod.silent and pod.name in self.records):
                self._register(pod)

    def _register(self, pod: Slurmd) -> None:
        pod.registered, pod.silent = True, False
        record = self.records.setdefault(pod.name, Record())
        record.responding = True
        if record.down:  # ReturnToService=2
            record.down = False
            if not record.drain:
                record.say("", self.now)
                record.note = ""

    def _fall_silent(self, pod: Slurmd) -> None:
        self.jobs = [job for job in self.jobs if job.uid != pod.uid]
        if pod.name in self.records and pod.registered:
            self.records[pod.name].responding = False

    def _leave(self, pod: Slurmd) -> None:
        record = self.records.get(pod.name)
        running = pod.stage is Stage.RUNNING and pod.registered
        self._fall_silent(pod)
        if running and record is not None and not record.reason:
            record.down = True
            record.say(PREFIXES.sign("its pod ends"), self.now)


Decide = Callable[[Wanted, Fleet], Plan]


@dataclass
class Operator:
    """One process: it gathers, decides, and does what it decided, each on what it sees then."""

    world: World
    decide: Decide = workers.plan
    answer: Answer = Answer.WHOLE
    memory: Memory = field(default_factory=Memory)
    left: int | None = None  # things that it does until it crashes
    most: int = MOST  # workers that come, or go, in one pass
    fenced: bool = False  # somebody else leads, and the API server knows it
    eager: bool = False  # jobs start wherever they can between its last question and its deed
    plan: Plan = ()
    spared: int = 0  # workers that a pass did not look at, of all passes
    _going_on: Iterator[None] | None = None
    _same: dict[str, object] = field(default_factory=dict)

    def step(self) -> None:
        """Go on to where others may come in between; a crash begins anew without a memory."""
        self._going_on = self._going_on or self._pass()
        try:
            next(self._going_on)
        except StopIteration:
            self._going_on = None
        except CrashError:
            self.crash()

    def crash(self) -> None:
        """End the process, and start another one."""
        self.memory, self._going_on, self.left = Memory(), None, None

    def all_at_once(self) -> Plan:
        """Make one whole pass, from its beginning."""
        self._going_on = None
        for _ in self._pass():
            pass
        return self.plan

    # As controllers/nodeset.py and carry_out.py do it.

    def _pass(self) -> Iterator[None]:
        world, memory = self.world, self.memory
        fleet = self._as_before(world.fleet(world.slurm(self.answer), memory.steps(world.now)))
        healing, failures = memory.healing, memory.failures
        wanted = replace(world.wanted, healing=healing, failures=failures)
        yield
        plan = self.decide(wanted, fleet)
        if any(isinstance(action, GRAVE) for action in plan):
            fleet = self._as_before(replace(fleet, slurm=world.slurm(self.answer)))
            plan = self.decide(wanted, fleet)
        self._leave_in_peace(wanted, fleet)
        self.plan = plan = portion(plan, self.most)
        self._tell(plan)
        yield
        deeds = Deeds(deleted=self._delete(wanted, fleet, plan))
        self._show(plan)
        for action in plan:
            if isinstance(action, LookInside) and world.with_uid(action.uid) is not None:
                deeds.steps[action.uid] = bool(world.steps_in(action.uid))
                world.looked.add(action.uid)
        memory.learn(wanted, fleet, deeds)

    def _as_before(self, fleet: Fleet) -> Fleet:
        """Return what was gathered, the very same objects where nothing is new."""

        def same(name: str, new: T) -> T:
            if self._same.get(name) != new:
                self._same[name] = new
            return self._same[name]  # type: ignore[return-value]

        slurm, nodes = fleet.slurm, fleet.nodes
        return replace(
            fleet,
            workers=tuple(same(w.uid, w) for w in fleet.workers),
            slurm=slurm and {name: same(f"slurm/{name}", node) for name, node in slurm.items()},
            nodes={name: same(f"kube/{name}", node) for name, node in nodes.items()},
        )

    def _leave_in_peace(self, wanted: Wanted, fleet: Fleet) -> None:
        """See that nothing is missed by not looking at those of whom nothing is new."""
        remembering = replace(wanted, calm=self.memory.calm)
        decided = workers.decide(remembering, fleet)
        assert decided.plan == workers.plan(wanted, fleet)
        self.spared += len(fleet.workers) - len(list(calm.others(remembering, fleet)))
        self.memory.calm = decided.calm

    def _do(self, what: Callable[[], None]) -> None:
        if self.left is not None:
            self.left -= 1
        if self.fenced or (self.left is not None and self.left < 0):
            raise CrashError
        what()

    def _tell(self, plan: Plan) -> None:
        kinds = (CreateWorker, DrainWorker, ResumeWorker, TellSlurm, ForgetNode)
        for kind in kinds:
            for action in plan:
                if isinstance(action, kind):
                    self._do(lambda action=action: self._told(action))

    def _told(self, action: Action) -> None:
        world = self.world
        match action:
            case CreateWorker(number=number):
                world.create(number)
            case DrainWorker(node=node):
                world.drain(node, PREFIXES.sign(action.why))
            case ResumeWorker(node=node, down=down, note=note):
                world.resume(node, note, down=down)
            case TellSlurm(node=node, comment=comment):
                world.records[node].comment = comment or world.records[node].comment
            case ForgetNode(node=node):
                del world.records[node]

    def _delete(self, wanted: Wanted, fleet: Fleet, plan: Plan) -> list[DeleteWorker]:
        ends = [action for action in plan if isinstance(action, DeleteWorker)]
        free = self._still_free(wanted, fleet, {action.uid for action in ends}) if ends else ()
        if self.eager:
            for name in self.world.pods:
                self.world.job(name)
        done = []
        for action in ends:
            if action.uid in free:
                self._do(lambda uid=action.uid: self.world.delete(uid))
                done.append(action)
        return done

    def _still_free(self, wanted: Wanted, fleet: Fleet, uids: set[str]) -> set[str]:
        if wanted.forced:
            return uids
        asked = [w for w in fleet.workers if w.uid in uids]
        if any(w.pod.spec.node_name and not w.pod.over for w in asked):
            fleet = replace(fleet, slurm=self.world.slurm(self.answer))
        free = {w.uid for w in asked if standing(w, fleet) is Standing.FREE}
        for w in asked:
            listed = fleet.slurm is None or w.node in fleet.slurm
            if not listed and w.node in self.world.records:
                free.discard(w.uid)
            # The API server refuses to end a pod that is no longer as it was seen.
            now = self.world.with_uid(w.uid)
            if now is not None and not began(w.pod) and now.stage is Stage.RUNNING:
                free.discard(w.uid)
        return free

    def _show(self, plan: Plan) -> None:
        for action in plan:
            if not isinstance(action, MarkWorker | ShowState):
                continue
            pod = self.world.with_uid(action.uid)
            if pod is None:
                continue
            if isinstance(action, ShowState):
                pod.conditions = dict(action.conditions)
            else:
                pod.labels = _changed(pod.labels, action.labels)
                pod.annotations = _changed(pod.annotations, action.annotations)


def _changed(there: Mapping[str, str], by: Mapping[str, str | None]) -> dict[str, str]:
    return {k: v for k, v in {**there, **by}.items() if v is not None}


def settled(world: World, operator: Operator, passes: int = 150) -> bool:
    """Let the operator work undisturbed; say whether it comes to have nothing left to do."""
    quiet = 0
    for _ in range(passes):
        plan = operator.all_at_once()
        quiet = quiet + 1 if not plan and not world.jobs else 0
        if quiet > 3:  # so many passes a pod takes to be up
            return True
        world.tick(30)
    return False


def grown(replicas: int, **fields: object) -> tuple[World, Operator]:
    """Return a world in which all workers serve."""
    world = World(replicas=replicas, **fields)  # type: ignore[arg-type]
    operator = Operator(world)
    assert settled(world, operator)
    return world, operator
