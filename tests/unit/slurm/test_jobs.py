"""Job states, pending reasons and deadlines."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.slurm.durations import Open
from shoal.slurm.jobs import (
    BASES,
    HARMLESS,
    HOLDING,
    TERMINAL,
    JobState,
    Stay,
    Waiting,
    deadline,
    latest,
    parse,
    waiting_for,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
WORDS = st.sampled_from(sorted(BASES | HOLDING | HARMLESS)) | st.just("BRAND_NEW")


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (["RUNNING"], {"RUNNING"}),
        (["COMPLETED", "COMPLETING"], {"COMPLETED", "COMPLETING"}),
        ("PD", {"PENDING"}),
        ("CG", {"COMPLETING"}),
        ("oom", {"OUT_OF_MEMORY"}),
        ("CANCELLED by 1000", {"CANCELLED"}),
        ("CANCELLED+", {"CANCELLED"}),
        ("RUNNING+CONFIGURING", {"RUNNING", "CONFIGURING"}),
        ("BRAND_NEW", {"BRAND_NEW"}),
        ([], set()),
        (None, set()),
        ("", set()),
    ],
)
def test_lists_texts_and_codes_say_the_same(told, words):
    assert parse(told).words == words


@given(st.frozensets(WORDS, max_size=4).map(JobState))
def test_a_state_survives_being_written(state):
    assert parse(str(state)) == state


@pytest.mark.parametrize("base", sorted(TERMINAL | {"PENDING"}))
def test_a_job_that_waits_or_has_ended_holds_nothing(base):
    for flag in ("", *HARMLESS):
        state = parse([base, flag])
        assert not state.holds_nodes
        assert state.finished is (base != "PENDING")
        assert state.pending is (base == "PENDING")


@pytest.mark.parametrize("flag", [*sorted(HOLDING), "BRAND_NEW"])
@pytest.mark.parametrize("base", sorted(BASES))
def test_a_job_that_may_still_be_there_holds_its_nodes(base, flag):
    state = parse([base, flag])
    assert state.holds_nodes
    assert not state.finished
    assert not state.pending


@pytest.mark.parametrize(
    "told", [[], "", ["BRAND_NEW"], ["COMPLETING"], "REQUEUE_HOLD", ["PENDING", "RUNNING"]]
)
def test_a_job_in_a_state_we_do_not_know_holds_its_nodes(told):
    assert parse(told).holds_nodes
    assert not parse(told).finished


@pytest.mark.parametrize("base", ["RUNNING", "SUSPENDED"])
def test_a_suspended_job_runs_and_holds_its_nodes(base):
    assert parse([base]).running
    assert parse([base]).holds_nodes


def test_a_new_flag_is_kept_and_named():
    assert parse(["RUNNING", "BRAND_NEW", "SIGNALING"]).unheard_of == {"BRAND_NEW"}


@pytest.mark.parametrize(
    ("reason", "waiting"),
    [
        ("Resources", Waiting.NODES),
        ("(Resources)", Waiting.NODES),
        ("ReqNodeNotAvail, UnavailableNodes:w-[0-3]", Waiting.NODES),
        ("ReqNodeNotAvail(Unavailable:w-0)", Waiting.NODES),
        ("Priority", Waiting.TURN),
        ("None", Waiting.TURN),
        ("Dependency", Waiting.JOBS),
        ("BeginTime", Waiting.TIME),
        ("AssocGrpGRES", Waiting.LIMIT),
        ("QOSMaxCpuPerUserLimit", Waiting.LIMIT),
        ("QOSNotAllowed", Waiting.CHANGE),
        ("MaxCpuPerAccount", Waiting.LIMIT),
        ("MaxMemPerLimit", Waiting.CHANGE),
        ("JobHeldAdmin", Waiting.RELEASE),
        ("(launch failed requeued held)", Waiting.RELEASE),
        ("launch_failed_requeued_held", Waiting.RELEASE),
        ("BadConstraints", Waiting.CHANGE),
        ("SomethingNew", Waiting.UNKNOWN),
        ("", Waiting.UNKNOWN),
    ],
)
def test_a_pending_reason_says_what_would_help(reason, waiting):
    assert waiting_for(reason) is waiting


@given(st.text())
def test_no_reason_is_too_strange_to_be_classified(reason):
    assert waiting_for(reason) in Waiting


def test_a_job_ends_its_limit_after_its_start():
    assert deadline(NOON, HOUR) == NOON + HOUR


@pytest.mark.parametrize(
    ("start", "limit"),
    [
        (NOON, Open.UNLIMITED),
        (NOON, Open.NOT_SET),
        (None, HOUR),
        (NOON, timedelta(minutes=2**32 - 3)),
    ],
)
def test_a_job_whose_end_cannot_be_told_has_none(start, limit):
    assert deadline(start, limit) is None


def test_the_last_job_of_a_node_decides():
    ends = latest(
        [
            Stay(("w-0", "w-1"), NOON + HOUR),
            Stay(("w-1", "w-2"), NOON),
            Stay(("w-2",), None),
            Stay(("w-2",), NOON),
        ]
    )
    assert ends == {"w-0": NOON + HOUR, "w-1": NOON + HOUR, "w-2": None}


STAYS = st.builds(
    Stay,
    st.lists(st.sampled_from(["w-0", "w-1", "w-2"])).map(tuple),
    st.none() | st.integers(0, 9).map(lambda hours: NOON + hours * HOUR),
)


@given(st.lists(STAYS))
def test_no_job_outlasts_the_deadline_of_its_node(stays):
    ends = latest(stays)
    assert ends.keys() == {node for stay in stays for node in stay.nodes}
    for node, end in ends.items():
        here = [stay.until for stay in stays if node in stay.nodes]
        assert end is None if None in here else end == max(here)
