"""Node states: what Slurm says, and what follows from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.slurm.nodes import (
    BASES,
    BUSY,
    CONDITION_PREFIX,
    FLAGS,
    POWER,
    Drain,
    NodeState,
    parse,
)

WORDS = st.sampled_from(sorted(BASES | FLAGS)) | st.from_regex(r"NEW_[A-Z]{1,5}", fullmatch=True)
STATES = st.frozensets(WORDS, max_size=6).map(NodeState)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (["IDLE", "DRAIN"], {"IDLE", "DRAIN"}),
        (["MIXED", "CLOUD", "SOMETHING_NEW"], {"MIXED", "CLOUD", "SOMETHING_NEW"}),
        ([], set()),
        (None, set()),
        ("", set()),
        ("IDLE+DRAIN*", {"IDLE", "DRAIN", "NOT_RESPONDING"}),
        ("DOWN*+DRAIN", {"DOWN", "DRAIN", "NOT_RESPONDING"}),
        ("mixed-", {"MIXED", "PLANNED"}),
        ("ALLOCATED+", {"ALLOCATED", "COMPLETING"}),
        ("alloc", {"ALLOCATED"}),
        ("idle~", {"IDLE", "POWERED_DOWN"}),
        ("idle#", {"IDLE", "POWERING_UP"}),
        ("idle%", {"IDLE", "POWERING_DOWN"}),
        ("idle!", {"IDLE", "POWER_DOWN"}),
        ("drained$", {"DRAIN", "MAINTENANCE"}),
        ("mix@", {"MIXED", "REBOOT_REQUESTED"}),
        ("mix^", {"MIXED", "REBOOT_ISSUED"}),
        ("maint", {"MAINTENANCE"}),
        ("inval", {"INVALID_REG"}),
        ("unk*", {"UNKNOWN", "NOT_RESPONDING"}),
        ("?", {"?"}),
        ("IDLE+CLOUD+POWERED_DOWN+DYNAMIC_NORM", {"IDLE", "CLOUD", "POWERED_DOWN", "DYNAMIC_NORM"}),
    ],
)
def test_lists_and_texts_say_the_same(told, words):
    assert parse(told).words == words


@given(STATES)
def test_a_state_survives_being_written(state):
    assert parse(str(state)) == state
    assert parse(sorted(state.words)) == state


@pytest.mark.parametrize(
    ("told", "drain"),
    [
        ("IDLE+DRAIN", Drain.DRAINED),
        ("DOWN+DRAIN*", Drain.DRAINED),
        ("ERROR+DRAIN", Drain.DRAINED),
        ("IDLE+DRAIN+SOMETHING_NEW", Drain.DRAINED),
        ("ALLOCATED+DRAIN", Drain.DRAINING),
        ("MIXED+DRAIN", Drain.DRAINING),
        ("IDLE+COMPLETING+DRAIN", Drain.DRAINING),
        ("DOWN+COMPLETING+DRAIN", Drain.DRAINING),
        ("IDLE", Drain.SERVING),
        ("DOWN*", Drain.SERVING),
        ("IDLE+DRAIN+UNDRAIN", Drain.SERVING),
        ("ALLOCATED", Drain.SERVING),
        # Slurm does not know, or did not say, or says it in a way that hides the base state.
        ([], Drain.UNKNOWN),
        ("", Drain.UNKNOWN),
        ("UNKNOWN", Drain.UNKNOWN),
        ("UNKNOWN+DRAIN", Drain.UNKNOWN),
        ("INVALID+DRAIN", Drain.UNKNOWN),
        (["DRAIN"], Drain.UNKNOWN),
        ("HIBERNATING+DRAIN", Drain.UNKNOWN),
        ("IDLE+DOWN+DRAIN", Drain.UNKNOWN),
        ("drained", Drain.UNKNOWN),
        ("draining", Drain.DRAINING),
        ("drng*", Drain.DRAINING),
        ("failing", Drain.UNKNOWN),
    ],
)
def test_how_far_a_drain_is(told, drain):
    assert parse(told).drain is drain


@given(STATES, st.sampled_from(sorted(BASES)))
def test_a_node_is_drained_only_if_asked_to_without_a_job_and_known(state, base):
    asked = NodeState(state.flags | {base, "DRAIN"})
    promised = base not in {"UNKNOWN", "INVALID"} and not asked.has("UNDRAIN", *BUSY)
    assert asked.drained is promised
    assert not NodeState(asked.words - {"DRAIN"}).drained


@given(st.frozensets(st.sampled_from(sorted(FLAGS)) | st.text("AZ_", min_size=1), max_size=6))
def test_without_a_base_state_nothing_is_idle_or_drained(words):
    for state in (NodeState(words), NodeState(words | {"UNKNOWN"}), NodeState(words | {"INVALID"})):
        assert not state.known
        assert not state.idle
        assert state.drain in (Drain.UNKNOWN, Drain.DRAINING)


@given(STATES, st.sampled_from(sorted(BUSY)))
def test_a_node_with_a_job_is_never_drained_or_idle_whatever_else_is_said(state, word):
    busy = NodeState(state.words | {word})
    assert busy.busy
    assert not busy.drained
    assert not busy.idle


def test_a_new_flag_is_kept_and_named():
    state = parse(["IDLE", "BRAND_NEW", "DRAIN"])
    assert state.base == "IDLE"
    assert state.flags == {"BRAND_NEW", "DRAIN"}
    assert state.unheard_of == {"BRAND_NEW"}
    assert not parse("draining").unheard_of


@pytest.mark.parametrize(
    ("told", "predicate"),
    [
        ("IDLE+DRAIN", "idle"),
        ("DOWN", "down"),
        ("IDLE*", "not_responding"),
        ("UNKNOWN", "unregistered"),
        ("FUTURE", "unregistered"),
        ("IDLE+INVALID_REG", "misregistered"),
        ("IDLE$", "in_maintenance"),
        ("IDLE+RESERVED", "reserved"),
        ("ALLOCATED@", "rebooting"),
        ("IDLE^", "rebooting"),
        ("IDLE~", "powered_down"),
        *((f"IDLE+{flag}", "power_managed") for flag in sorted(POWER)),
        ("DOWN", "unavailable"),
        ("IDLE*", "unavailable"),
        ("IDLE+DRAIN", "unavailable"),
        ("MIXED+FAIL", "unavailable"),
    ],
)
def test_a_predicate_holds_where_slurm_says_so_and_not_on_a_plain_node(told, predicate):
    assert getattr(parse(told), predicate)
    assert not getattr(parse("ALLOCATED+DYNAMIC_NORM"), predicate)


@pytest.mark.parametrize("told", ["MIXED+DRAIN", "IDLE", "DOWN+POWERED_DOWN", "IDLE+DRAIN~"])
def test_a_node_that_works_or_sleeps_is_not_unavailable(told):
    assert not parse(told).unavailable


@pytest.mark.parametrize(
    ("told", "reason", "given_up"),
    [
        ("DOWN*", "Not responding", True),
        ("DOWN+DRAIN", "slurm-operator: x; Not responding", True),
        ("IDLE*", "Not responding", False),
        ("DOWN", "admin's", False),
        ("DOWN", "", False),
    ],
)
def test_a_silent_node_is_told_from_one_that_an_admin_took_down(told, reason, given_up):
    assert parse(told).down_as_unresponsive(reason) is given_up


@pytest.mark.parametrize(
    ("told", "names"),
    [
        ("IDLE+DRAIN", ("Idle", "Drain")),
        ("ALLOCATED+COMPLETING+MAINTENANCE", ("Allocated", "Completing", "Maintenance")),
        ("DOWN+NOT_RESPONDING+FAIL", ("Down", "Fail", "NotResponding")),
        ("ERROR+INVALID_REG", ("Error", "InvalidReg")),
        ("FUTURE+UNDRAIN", ("Future", "Undrain")),
        ("MIXED+CLOUD", ("Mixed",)),
        ("UNKNOWN", ("Unknown",)),
        ("INVALID", ("Invalid",)),
        ("IDLE+ALLOCATED", ("Allocated",)),
        ("", ()),
    ],
)
def test_a_worker_shows_one_base_state_and_every_flag_that_has_a_condition(told, names):
    assert parse(told).conditions == tuple(CONDITION_PREFIX + name for name in names)


def test_there_are_fifteen_conditions():
    every = {name for word in BASES | FLAGS for name in parse([word]).conditions}
    assert len(every) == 15
