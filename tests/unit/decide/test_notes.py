"""What an admin noted of a node that serves."""

import pytest

from shoal.decide.drains import NOTED, NOTHING, drains
from shoal.decide.facts import facts, told_of
from shoal.decide.notes import IS_BACK, KEEP, notes
from shoal.decide.plan import DrainWorker, ResumeWorker, TellSlurm, Wait
from shoal.slurm.reasons import Prefixes

from .fleets import NAMING, NOW, fleet, slurm_node, wanted, worker
from .worlds import CORDON, grown, settled

PREFIXES = Prefixes(NAMING.reason_prefix)
ASKED = wanted(uid="u")
NOTE = 'fan "3" is loud'
PLAIN = '{"namespace":"ns","podName":"w-0","node":"k-0","nodeSetName":"w","nodeSetUID":"u"}'
WITH = PLAIN.removesuffix("}") + ',"note":"fan \\"3\\" is loud"}'
OURS = "slurm-operator: work"
SERVING = ["IDLE", "MIXED", "ALLOCATED", "IDLE+NOT_RESPONDING"]
OUT = ["IDLE+DRAIN", "MIXED+DRAIN", "DOWN", "IDLE+FAIL", "IDLE+REBOOT_REQUESTED", "UNKNOWN"]


def done(state, why=None, **fields):
    """Return what is done about a worker that is to be drained because of `why`."""
    one = worker()
    seen = fleet(one, slurm=[slurm_node("w-0", state, **fields)])
    made = (*drains(seen, lambda _: why, PREFIXES), *notes(ASKED, seen, lambda _: why))
    return [*made, *facts(ASKED, seen, [one])]


@pytest.mark.parametrize("state", SERVING)
def test_a_note_goes_into_our_comment_and_only_then_the_node_is_drained(state):
    assert done(state, "work", reason=NOTE, comment=PLAIN) == [TellSlurm(KEEP, "w-0", comment=WITH)]
    assert done(state, "work", reason=NOTE, comment=WITH) == [DrainWorker("work", "w-0", "w-0")]


def test_a_note_that_was_changed_meanwhile_is_kept_anew():
    (keep,) = done("IDLE", "work", reason="fan is quiet", comment=WITH)
    assert told_of(keep.comment).note == "fan is quiet"


@pytest.mark.parametrize("state", OUT)
@pytest.mark.parametrize("why", [None, "work"])
def test_a_reason_of_somebodys_on_a_node_that_does_not_serve_is_no_note(state, why):
    assert done(state, why, reason=NOTE, comment=PLAIN) == []
    assert done(state, why, reason=NOTE, comment=WITH) == []


def test_a_note_on_a_node_that_shall_serve_stays_as_it_is():
    assert done("IDLE", reason=NOTE, comment=PLAIN) == []


def test_the_end_of_our_drain_puts_the_note_back():
    made = done("IDLE+DRAIN", reason=OURS, comment=WITH)
    assert made == [ResumeWorker(NOTHING, "w-0", "w-0", note=NOTE)]


def test_a_note_is_put_back_also_when_the_operator_ended_right_after_the_drain_did():
    assert done("IDLE", comment=WITH) == [ResumeWorker(NOTED, "w-0", "w-0", note=NOTE)]


def test_a_node_that_came_back_from_down_gets_its_note_back():
    (resume,) = done("DOWN", reason=OURS, reason_at=NOW.replace(year=2025), comment=WITH)
    assert (resume.down, resume.note) == (True, NOTE)


def test_a_note_that_is_back_leaves_the_comment():
    made = done("IDLE", reason=NOTE, comment=WITH)
    assert made == [TellSlurm(IS_BACK, "w-0", comment=PLAIN)]


def test_a_newer_note_is_not_overwritten_by_the_one_that_was_kept():
    made = done("IDLE", reason="fan is quiet", comment=WITH)
    assert made == [TellSlurm(IS_BACK, "w-0", comment=PLAIN)]


def test_nothing_is_put_back_while_the_drain_lasts():
    assert done("IDLE+DRAIN", "work", reason=OURS, comment=WITH) == []


def test_where_a_comment_is_somebody_elses_too_the_node_is_not_drained_and_it_is_said_why():
    (wait,) = done("IDLE", "work", reason=NOTE, comment="rack 4")
    assert isinstance(wait, Wait)
    assert "scontrol update nodename=w-0" in wait.why


def test_the_next_pods_comment_keeps_the_note():
    node = slurm_node("w-0", "IDLE+DRAIN", reason=OURS, comment=WITH.replace("k-0", "k-9"))
    (told,) = facts(ASKED, fleet(worker(), slurm=[node]), [worker()])
    assert told.comment == WITH


# -- from the drain to its end


def note_of(world, name):
    record = world.records[name]
    record.note = NOTE
    record.say(NOTE, world.now)
    return record


def test_a_note_does_not_keep_a_worker_from_being_scaled_in_and_is_there_for_the_next():
    world, operator = grown(3)
    record = note_of(world, "w-2")
    world.replicas = 2
    assert settled(world, operator)
    assert list(world.pods) == ["w-0", "w-1"]
    world.replicas = 3
    assert settled(world, operator)
    assert (record.serving, record.reason) == (True, NOTE)
    assert "note" not in record.comment


def test_a_cordon_and_its_end_leave_a_note_as_it_was():
    world, operator = grown(2)
    record = note_of(world, "w-1")
    world.pods["w-1"].annotations[CORDON] = "true"
    assert settled(world, operator)
    assert record.drain
    del world.pods["w-1"].annotations[CORDON]
    assert settled(world, operator)
    assert (record.serving, record.reason) == (True, NOTE)


def test_an_update_leaves_a_note_as_it_was():
    world, operator = grown(2)
    record = note_of(world, "w-0")
    world.revision = "r2"
    assert settled(world, operator)
    assert {pod.revision for pod in world.pods.values()} == {"r2"}
    assert (record.serving, record.reason) == (True, NOTE)


def test_the_shape_of_a_record_stays_in_the_comment_with_the_note():
    asked, one = wanted(uid="u", shape="square"), worker()
    shaped = PLAIN.removesuffix("}") + ',"shape":"round"}'
    seen = fleet(one, slurm=[slurm_node("w-0", "IDLE", reason=NOTE, comment=shaped)])
    (keep,) = notes(asked, seen, lambda _: "work")
    assert (told_of(keep.comment).note, told_of(keep.comment).shape) == (NOTE, "round")
    seen = fleet(one, slurm=[slurm_node("w-0", "IDLE", reason=NOTE, comment=keep.comment)])
    (back,) = notes(asked, seen, lambda _: None)
    assert back.comment == shaped
