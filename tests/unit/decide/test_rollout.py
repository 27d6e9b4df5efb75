"""Which workers are replaced by newer ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.decide.rollout import UPDATE, budget, outdated, stopped
from shoal.decide.wanted import Healing
from shoal.model.nodeset import Strategy, Update, Window

from .fleets import NOW, SINCE, fleet, slurm_node, wanted, worker
from .worlds import CORDON, OTHER, grown


def old(number, **fields):
    return worker(number, revision="old", **fields)


def chosen(*workers, told=1, slurm="IDLE", **fields):
    """Return the numbers of those that are replaced."""
    update = fields.pop("update", Update(max_unavailable=told))
    asked = wanted(len(workers), of={"update": update, **fields})
    found = outdated(asked, fleet(*workers, slurm=slurm), len(workers), workers)
    assert set(found.values()) <= {UPDATE}
    return sorted(w.number for w in workers if w.uid in found)


@pytest.mark.parametrize(
    ("told", "total", "most"),
    [(1, 8, 1), ("3", 8, 3), ("25%", 8, 2), ("25%", 9, 3), ("100%", 4, 4), ("1%", 0, 1)],
)
def test_a_budget_is_a_number_or_a_part_rounded_up(told, total, most):
    assert budget(told, total) == most


@pytest.mark.parametrize("told", [0, "0", "0%", "many", "x%", ""])
def test_a_budget_that_would_stop_every_update_is_one(told):
    assert budget(told, 8) == 1


def test_nobody_is_replaced_when_all_are_new():
    assert chosen(worker(0), worker(1, ready=False)) == []


def test_no_more_go_at_a_time_than_the_budget():
    assert chosen(*map(old, range(4)), told=2) == [2, 3]


@pytest.mark.parametrize(
    "late",
    [worker(3, ready=False), worker(3, began=False), worker(3, host="")],
)
def test_a_new_worker_that_does_not_come_up_stops_the_update_at_the_budget(late):
    assert chosen(old(0), old(1), old(2), late) == []
    assert chosen(old(0), old(1), old(2), late, told=2) == [2]


def test_a_new_worker_that_slurm_has_lost_or_still_holds_drained_is_not_up():
    there = [slurm_node(f"w-{n}") for n in range(3)]
    for state in ("DOWN", "IDLE+DRAIN"):
        last = slurm_node("w-3", state, reason=f"slurm-operator: {UPDATE}")
        assert chosen(old(0), old(1), old(2), worker(3), slurm=[*there, last]) == []
    assert chosen(old(0), old(1), old(2), worker(3), slurm=there) == []


def test_a_new_worker_whose_slurmd_is_silent_is_not_up():
    there = [slurm_node(f"w-{n}") for n in range(3)]
    every = (old(0), old(1), old(2), worker(3))
    assert chosen(*every, slurm=[*there, slurm_node("w-3", "IDLE+NOT_RESPONDING")]) == []
    assert chosen(*every, slurm=[*there, slurm_node("w-3", "MIXED+NOT_RESPONDING")]) == [2]


@pytest.mark.parametrize(("told", "goes"), [(1, [1]), (2, [0, 1]), (3, [0, 1, 3])])
def test_old_workers_whose_slurmd_is_silent_go_first_and_within_the_budget(told, goes):
    slurm = [slurm_node(f"w-{n}", "IDLE+NOT_RESPONDING" if n < 2 else "IDLE") for n in range(4)]
    assert chosen(*map(old, range(4)), told=told, slurm=slurm) == goes


@pytest.mark.parametrize("state", ["IDLE+DRAIN", "DOWN", "DOWN+DRAIN", "IDLE+DRAIN+NOT_RESPONDING"])
def test_what_an_admin_took_out_before_its_worker_was_replaced_stops_no_update(state):
    last = slurm_node("w-3", state, reason="bad disk", reason_at=NOW - 2 * SINCE)
    slurm = [*(slurm_node(f"w-{n}") for n in range(3)), last]
    assert chosen(old(0), old(1), old(2), worker(3), slurm=slurm) == [2]


def test_an_admins_drain_is_not_newer_for_what_slurmctld_adds_when_the_pod_ends():
    last = slurm_node("w-3", "IDLE+DRAIN", reason="bad disk : Not responding", reason_at=NOW)
    slurm = [*(slurm_node(f"w-{n}") for n in range(3)), last]
    assert chosen(old(0), old(1), old(2), worker(3), slurm=slurm) == [2]


@pytest.mark.parametrize("state", ["IDLE+DRAIN", "MIXED+DRAIN", "DOWN", "DOWN+DRAIN"])
@pytest.mark.parametrize("when", [NOW, NOW - SINCE, None])
def test_what_was_taken_out_since_may_be_the_new_images_doing_and_counts(state, when):
    last = slurm_node("w-3", state, reason="NHC: no GPU", reason_at=when)
    slurm = [*(slurm_node(f"w-{n}") for n in range(3)), last]
    assert chosen(old(0), old(1), old(2), worker(3), slurm=slurm) == []
    assert chosen(old(0), old(1), old(2), worker(3), slurm=slurm, told=2) == [2]


def test_a_new_worker_that_is_drained_for_a_cordon_stops_no_update():
    last = slurm_node("w-3", "IDLE+DRAIN", reason="slurm-operator: Pod (ns/w-3) was cordoned")
    slurm = [*(slurm_node(f"w-{n}") for n in range(3)), last]
    cordoned = worker(3, annotations={CORDON: "true"})
    assert chosen(old(0), old(1), old(2), cordoned, slurm=slurm) == [2]


def test_a_new_worker_counts_once_it_is_ready_for_long_enough():
    young = worker(1, ready_since=NOW - SINCE / 2)
    assert chosen(old(0), young, min_ready=SINCE) == []
    assert chosen(old(0), young, min_ready=SINCE / 2) == [0]


def test_after_a_rollback_the_broken_ones_go_at_once_beside_the_budget():
    broken = [old(2, began=False), old(3, host="")]
    assert chosen(worker(0), worker(1), *broken, told=1) == [2, 3]


def test_an_unhealthy_worker_goes_beyond_the_budget_only_without_a_job():
    """slurm-operator 1.2.1 ends all that are not ready, whatever the budget and their jobs."""
    sick = [old(n, ready=False) for n in range(3)]
    assert chosen(*sick, told=1, slurm="DOWN+NOT_RESPONDING") == [0, 1, 2]
    assert chosen(*sick, told=1, slurm="MIXED+NOT_RESPONDING") == [2]


def test_a_silent_kubelet_takes_nobody_out_of_service_whom_slurm_has_at_work():
    assert chosen(*(old(n, ready=False) for n in range(4)), told=1, slurm="IDLE") == [3]


def test_a_table_that_lost_its_nodes_sends_nobody_beyond_the_budget():
    lost = [slurm_node("other-0")]
    assert chosen(*map(old, range(4)), told=1, slurm=lost) == []


def test_without_an_answer_the_budget_holds():
    assert chosen(*map(old, range(4)), told=1, slurm=None) == [3]
    assert chosen(old(0), old(1), old(2), worker(3, ready=False), slurm=None) == []


def test_on_delete_replaces_nobody():
    update = Update(Strategy.ON_DELETE)
    assert chosen(old(0), old(1, began=False), update=update) == []


@pytest.mark.parametrize(
    ("state", "reservation", "goes"),
    [("IDLE+MAINTENANCE", "maint", [0]), ("IDLE+MAINTENANCE", "other", []), ("IDLE", "maint", [])],
)
def test_a_scheduled_update_waits_for_its_window(state, reservation, goes):
    update = Update(Strategy.SCHEDULED, window=Window("maint", NOW, SINCE))
    slurm = [slurm_node("w-0", state, reservation=reservation)]
    assert chosen(old(0), update=update, slurm=slurm) == goes


def test_what_is_out_of_service_needs_no_window():
    update = Update(Strategy.SCHEDULED, window=Window("maint", NOW, SINCE))
    assert chosen(old(0), old(1, began=False), update=update, slurm="IDLE") == [1]
    assert chosen(old(0), old(1, ready=False), update=update, slurm=None) == [1]


# -- who stops it


def words(*workers, told=1, slurm="IDLE", healing=None, **fields):
    """Return what is said of an update that has stopped."""
    update = fields.pop("update", Update(max_unavailable=told))
    asked = wanted(len(workers), of={"update": update, **fields}, healing=healing or {})
    found = stopped(asked, fleet(*workers, slurm=slurm), len(workers), workers)
    return [wait.why for wait in found]


AT_MOST = "the update has stopped, as no more than {} of {} may be out of service: "


def test_an_update_that_is_stopped_names_the_worker_that_does_not_come_up_and_the_cure():
    every = (old(0), old(1), old(2), worker(3, began=False))
    cure = "the pod does not come up; correct the spec, or ask again for what was before"
    assert words(*every) == [f"{AT_MOST.format(1, 4)}w-3: {cure}"]
    assert words(*every, told=2) == []


@pytest.mark.parametrize(("state", "how"), [("IDLE+DRAIN", "drained"), ("DOWN", "set down")])
def test_an_update_that_is_stopped_by_somebodys_drain_says_for_what_and_how_to_lift_it(state, how):
    last = slurm_node("w-3", state, reason="NHC: no GPU", reason_at=NOW)
    slurm = [*(slurm_node(f"w-{n}") for n in range(3)), last]
    (told,) = words(old(0), old(1), old(2), worker(3), slurm=slurm)
    assert f"w-3: {how} since the pod was made (NHC: no GPU)" in told
    assert "scontrol update nodename=w-3 state=resume" in told


def test_an_update_that_is_stopped_by_a_silent_slurmd_says_where_to_look():
    slurm = [*(slurm_node(f"w-{n}") for n in range(3)), slurm_node("w-3", "DOWN+NOT_RESPONDING")]
    (told,) = words(old(0), old(1), old(2), worker(3), slurm=slurm)
    assert "w-3: slurmd does not answer; see the pod's log" in told


def test_an_update_is_stopped_by_a_worker_that_does_not_register_once_it_had_its_time():
    slurm = [slurm_node(f"w-{n}") for n in range(3)]
    every = (old(0), old(1), old(2), worker(3))
    assert words(*every, slurm=slurm, healing={"w-3": Healing(NOW)}) == []
    (told,) = words(*every, slurm=slurm, healing={"w-3": Healing(NOW - SINCE)})
    assert "w-3: slurmd does not register; see the pod's log" in told


def test_workers_that_stop_an_update_for_one_reason_are_named_together_and_few_of_many():
    late = [worker(n, began=False) for n in range(4)]
    (told,) = words(*late, old(4), told="80%")
    assert "no more than 4 of 5 may be out of service: w-0, w-1, w-2, ...: the pod" in told


def test_an_update_that_goes_on_or_waits_for_jobs_says_nothing_of_that():
    slurm = [
        slurm_node("w-0"),
        slurm_node("w-1", "MIXED+DRAIN", reason=f"slurm-operator: {UPDATE}"),
    ]
    assert words(old(0), old(1), slurm=slurm) == []
    assert words(old(0), worker(1, ready=False)) == []
    assert words(old(0), worker(1), slurm=None) == []
    assert words(worker(0), worker(1, began=False)) == []


@pytest.mark.parametrize("strategy", [Strategy.ON_DELETE, Strategy.SCHEDULED])
def test_only_a_rolling_update_has_a_budget_to_stop_at(strategy):
    assert words(old(0), worker(1, began=False), update=Update(strategy)) == []


# -- from the first to the last worker


def out(world):
    """Return how many workers take no jobs."""
    serving = sum(record.serving for name, record in world.records.items() if name != OTHER)
    return world.replicas - serving


@given(
    st.integers(1, 7),
    st.sampled_from([1, 2, "25%", "50%"]),
    st.lists(st.tuples(st.integers(0, 6), st.integers(1, 900)), max_size=12),
)
def test_an_update_never_takes_more_than_its_budget_out_of_service(replicas, told, jobs):
    world, operator = grown(replicas, update=Update(max_unavailable=told))
    world.revision = "r2"
    waiting = list(jobs)
    for _ in range(300):
        if waiting and world.job(f"w-{waiting[-1][0]}", waiting[-1][1]):
            waiting.pop()
        for _ in range(3):
            operator.step()
            assert out(world) <= budget(told, replicas)
        if all(pod.revision == "r2" for pod in world.pods.values()) and not out(world):
            break
        world.tick(30)
    assert {pod.revision for pod in world.pods.values()} == {"r2"}


@given(st.integers(1, 7), st.sampled_from([1, 2, "25%", "50%"]))
def test_an_image_that_cannot_be_pulled_stops_the_update_at_the_budget(replicas, told):
    world, operator = grown(replicas, update=Update(max_unavailable=told), bad={"bad"})
    world.revision = "bad"
    for _ in range(40):
        operator.all_at_once()
        world.tick(30)
    assert out(world) == min(budget(told, replicas), replicas)
    world.revision = "r1"
    operator.all_at_once()
    assert all(pod.ending for pod in world.pods.values() if pod.revision == "bad")


@given(st.integers(1, 7), st.sampled_from([1, 2, "25%", "50%"]))
def test_a_health_check_that_drains_each_new_worker_stops_the_update_at_the_budget(replicas, told):
    world, operator = grown(replicas, update=Update(max_unavailable=told))
    world.revision = "r2"
    for _ in range(40):
        operator.all_at_once()
        world.tick(30)
        for name, pod in world.pods.items():
            if pod.revision == "r2" and pod.registered and world.records[name].serving:
                world.records[name].drain = True
                world.records[name].say("NHC: no GPU", world.now)
        assert out(world) <= budget(told, replicas)
    assert out(world) == min(budget(told, replicas), replicas)


def test_a_worker_that_an_admin_set_down_long_ago_does_not_stop_an_update():
    world, operator = grown(3, update=Update(max_unavailable=1))
    record = world.records["w-0"]
    record.drain = record.down = True
    record.say("broken", world.now)
    world.tick(60)
    world.revision = "r2"
    for _ in range(40):
        operator.all_at_once()
        world.tick(30)
    assert {pod.revision for pod in world.pods.values()} == {"r2"}
    assert (record.drain, record.reason) == (True, "broken")
