"""The job-safety contract, as far as it concerns workers, against any history.

Admins, users, accidents and two operators do what they like in any order, and the world of
`worlds.py` refuses every step that loses a job, ends a worker of which nobody knows, or overwrites
somebody else's reason. When they stop, all is as asked for.
"""

import math

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from shoal.decide import standing, workers
from shoal.decide.plan import DeleteWorker, DrainWorker
from shoal.decide.rollout import UPDATE
from shoal.model.nodeset import Strategy, Update
from shoal.slurm.reasons import Owner

from .worlds import CORDON, OTHER, PREFIXES, SILENT, Answer, Operator, Record, Stage, World, settled

PICK = st.integers(0, 99)
BUDGETS = st.sampled_from([1, 2, "25%", "50%", "100%"])
GOOD, BAD = ("r1", "r2", "r3"), ("b1", "b2")
ANSWERS = st.sampled_from([Answer.WHOLE, *Answer])
SECONDS = st.sampled_from([1, 10, 30, 60, 120])


def within_the_budget(wanted, fleet):
    """Decide, and see that no more go for an update than the budget leaves."""
    plan = workers.plan(wanted, fleet)
    total, told = wanted.nodeset.replicas, wanted.nodeset.update.max_unavailable
    share = math.ceil(int(told[:-1]) * total / 100) if isinstance(told, str) else told
    going = {a.pod for a in plan if isinstance(a, DeleteWorker | DrainWorker) and a.why == UPDATE}
    up = {w.name for w in fleet.workers if w.living and serves(w, fleet)}
    out = total - len(up - going)
    assert not up & going or out <= max(share, 1), f"{sorted(going)} go, {out} would be out"
    return plan


def serves(worker, fleet):
    node = fleet.slurm_node(worker)
    if node is None or not standing.began(worker.pod):
        return False
    return node.state.busy or not (node.state.down or node.state.not_responding)


class AnyHistory(RuleBasedStateMachine):
    """Steps that may come in any order."""

    @initialize(replicas=st.integers(1, 5), told=BUDGETS)
    def begin(self, replicas, told):
        self.world = World(replicas, update=Update(max_unavailable=told), bad=set(BAD))
        self.operators = [Operator(self.world, within_the_budget) for _ in range(2)]
        assert settled(self.world, self.operators[0])

    # Few rules with many cases each: half of all steps are the operators'.

    @rule(which=st.integers(0, 1), answer=ANSWERS, eager=st.booleans())
    def an_operator_goes_on(self, which, answer, eager):
        operator = self.operators[which]
        operator.answer, operator.eager = answer, eager
        operator.step()

    @rule(which=st.integers(0, 1), left=st.integers(0, 4), answer=ANSWERS)
    def an_operator_crashes_between_two_actions(self, which, left, answer):
        operator = self.operators[which]
        operator.answer, operator.left = answer, left
        for _ in range(3):
            operator.step()
        operator.crash()

    @rule(which=st.integers(0, 1), passes=st.integers(1, 3), seconds=SECONDS)
    def an_operator_makes_passes(self, which, passes, seconds):
        self.operators[which].answer = Answer.WHOLE
        self.operators[which].fenced, self.operators[1 - which].fenced = False, True
        for _ in range(passes):
            for _ in range(3):
                self.operators[which].step()
            self.world.tick(seconds)

    @rule(which=st.integers(0, 1), replicas=st.integers(0, 2), jobs=st.booleans())
    def somebody_resumes_all_between_our_drain_and_our_last_question(self, which, replicas, jobs):
        operator = self.operators[which]
        operator.crash()
        operator.answer, operator.eager = Answer.WHOLE, jobs
        self.world.replicas = replicas
        operator.step()
        operator.step()
        for number in range(6):
            self.an_admin_changes("resume", number)
        operator.step()

    @rule(first=PICK, many=st.integers(1, 4), lasts_s=st.sampled_from([5, 60, 600, 3600]))
    def jobs_come(self, first, many, lasts_s):
        for number in range(first, first + many):
            self.world.job(self.name(number), lasts_s)

    @rule(seconds=SECONDS)
    def time_passes(self, seconds):
        self.world.tick(seconds)

    @rule(what=st.sampled_from(["scale", "update", "how", "pod", "node"]), number=PICK, of=BUDGETS)
    def a_user_changes(self, what, number, of):
        world, pod = self.world, self.world.pods.get(self.name(number // 2))
        match what:
            case "scale":
                world.replicas = number % 7
            case "update":
                world.revision = (*GOOD, *GOOD, *BAD)[number % 8]
            case "how":
                how = Strategy.ON_DELETE if number % 4 == 0 else Strategy.ROLLING
                world.update = Update(how, of)
            case "pod" if pod is not None:
                pod.annotations |= {CORDON: "true" if number % 2 else "false"}
            case "node":
                world.hosts[sorted(world.hosts)[number // 2 % 6]] = bool(number % 2)

    @rule(what=st.sampled_from(["drain", "silently", "down", "resume"]), number=PICK)
    def an_admin_does(self, what, number):
        self.an_admin_changes(what, number)

    def an_admin_changes(self, what, number):
        name, now = self.name(number), self.world.now
        record = self.world.records.get(name)
        if record is None:
            return
        record.drain = what in ("drain", "silently") or (record.drain and what == "down")
        record.down = what == "down" or (record.down and what != "resume")
        reasons = {"drain": "bad disk", "down": "broken", "resume": ""}
        record.say(reasons.get(what, record.reason), now)
        if what == "down":
            self.world.jobs = [job for job in self.world.jobs if job.node != name]

    @rule(what=st.sampled_from(["pod", "node", "kubelet", "slurmd", "table", "state"]), number=PICK)
    def an_accident(self, what, number):
        world, name = self.world, self.name(number)
        there = name in world.pods
        match what:
            case "pod" if there:
                world.die(name)
            case "node" if there and len(world.hosts) > 8:
                world.die(name, gone=True)
            case "kubelet" if there:
                world.flap(name)
            case "slurmd" if there:
                world.mute(name)
            case "table" | "state":
                # What was seen inside a worker is believed for half a minute.
                world.tick(31)
                for operator in self.operators:
                    operator.crash()
                world.lose_table(others=what == "table")

    def name(self, number):
        return f"w-{number % 6}"

    # -- the end

    def teardown(self):
        if not hasattr(self, "world"):
            return
        world, operator = self.world, Operator(self.world, within_the_budget)
        world.revision = world.revision if world.revision in GOOD else "r1"
        world.tick(3600)
        self.an_admin_does_as_told()
        # What an admin lost without a word, an admin finds.
        for record in world.records.values():
            if record.drain and (not record.reason or record.reason == SILENT):
                record.say("an admin's", world.now)
        assert settled(world, operator), (operator.plan, world.pods, world.records)
        self.all_is_as_asked()

    def an_admin_does_as_told(self):
        for pod in self.world.pods.values():
            # Without a rolling update, what cannot start is the user's to delete.
            pod.ending = pod.ending or pod.revision in BAD
        # While Slurm has no node at all, nobody goes; any node that registers ends that.
        self.world.records.setdefault(OTHER, Record())

    def all_is_as_asked(self):
        world = self.world
        assert len(world.pods) == world.replicas
        for name, pod in world.pods.items():
            assert pod.stage is Stage.RUNNING
            record = world.records[name]
            if world.update.strategy is Strategy.ROLLING:
                assert pod.revision == world.revision
            foreign = PREFIXES.owner_of(record.reason) is Owner.FOREIGN
            cordoned = world.hosts[pod.host] or pod.annotations.get(CORDON) == "true"
            assert record.serving or foreign or (cordoned and record.drain)
            assert not cordoned or not record.serving


PROFILE = settings(
    max_examples=250,
    stateful_step_count=40,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate, Phase.shrink],
)


class TestAnyHistoryLosesNoJobAndEndsAsAsked(AnyHistory.TestCase):
    settings = PROFILE


class TestAnyLongHistoryLosesNoJobAndEndsAsAsked(AnyHistory.TestCase):
    settings = settings(PROFILE, max_examples=1500, stateful_step_count=80)
    pytestmark = pytest.mark.long
