"""A configuration is used once Slurm accepts it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.decide.publish import AGAIN_S, Again, Candidate, Hold, Publish, Try, Verdict, publish


@pytest.mark.parametrize("verdict", Verdict)
def test_the_first_configuration_is_used_at_once(verdict):
    assert isinstance(publish(Candidate("new", None, verdict)), Publish)


@pytest.mark.parametrize("verdict", Verdict)
def test_what_is_in_use_stays_in_use_whatever_a_trial_says(verdict):
    assert isinstance(publish(Candidate("same", "same", verdict)), Publish)


@given(st.sampled_from(Verdict), st.text(), st.floats(-1e9, 1e9))
def test_another_configuration_is_used_only_when_slurm_accepts_it(verdict, words, began_s):
    made = publish(Candidate("new", "old", verdict, words, began_s))
    assert isinstance(made, Publish) is (verdict is Verdict.GOOD)


@pytest.mark.parametrize("verdict", [Verdict.NONE, Verdict.PENDING])
def test_a_trial_is_waited_for_and_its_words_are_told(verdict):
    made = publish(Candidate("new", "old", verdict, "no node has room"))
    assert isinstance(made, Try)
    assert "no node has room" in made.why


def test_a_refusal_holds_it_in_slurms_own_words():
    assert publish(Candidate("new", "old", Verdict.BAD, "line 3: x")) == Hold("line 3: x")
    assert publish(Candidate("new", "old", Verdict.BAD)).why


def test_a_trial_without_a_verdict_is_made_again_and_not_sooner_than_after_a_while():
    made = publish(Candidate("new", "old", Verdict.UNKNOWN, "evicted", 3.0))
    assert isinstance(made, Again)
    assert made.after_s == AGAIN_S - 3.0
    assert "evicted" in made.why
    assert publish(Candidate("new", "old", Verdict.UNKNOWN, "", AGAIN_S)).after_s == 0


@given(st.floats(allow_nan=False))
def test_a_clock_that_differs_from_the_api_servers_holds_nothing_up_for_long(began_s):
    made = publish(Candidate("new", "old", Verdict.UNKNOWN, "", began_s))
    assert 0 <= made.after_s <= AGAIN_S
