"""Jobs as they are seen."""

import pytest

from shoal.exporter.snapshot import JobsSeen, base_of

from .builders import some_job


@pytest.mark.parametrize(
    ("words", "state", "holds"),
    [
        (("RUNNING",), "RUNNING", True),
        (("COMPLETED", "COMPLETING"), "COMPLETED", True),
        (("COMPLETED",), "COMPLETED", False),
        (("PENDING",), "PENDING", False),
        (("COMPLETING",), "COMPLETING", True),
        (("NEVER_HEARD_OF",), "NEVER_HEARD_OF", True),
        ((), "UNKNOWN", True),
    ],
)
def test_a_state_is_one_word_and_says_whether_nodes_are_held(words, state, holds):
    assert base_of(words) == (state, holds)


def test_a_job_has_started_when_it_runs_or_ran():
    assert some_job().started
    assert some_job(state="FAILED").started
    assert not some_job(state="PENDING", start=5).started  # an estimate
    assert not some_job(state="CANCELLED", nodes="").started


def test_jobs_of_which_only_the_state_is_known_are_counted():
    assert JobsSeen([some_job(1), some_job(2, read=False)], "changes").unread == 1
