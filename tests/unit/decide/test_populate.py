"""The shared root is filled once, filled anew when that is asked for, and never under anybody."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.decide.populate import (
    DeleteJob,
    Filling,
    MakeJob,
    MarkJob,
    Progress,
    Root,
    Verdict,
    populate,
)
from shoal.model.maintenance import Mode

RUNNING = Filling("u", Progress.RUNNING)
DONE = Filling("u", Progress.DONE)
ANEW = Filling("u", Progress.DONE, anew=True)
JOBS = st.builds(
    Filling, st.just("u"), st.sampled_from(Progress), st.booleans(), st.booleans(), st.text()
)
ROOTS = st.builds(Root, st.sampled_from(Mode), st.booleans(), st.integers(0, 3), st.integers(0, 1))


def carried_out(root: Root, job: Filling | None, verdict: Verdict) -> Filling | None:
    """Return the Job after what was decided was done, and had its time."""
    match verdict.action:
        case MakeJob(anew=anew):
            assert job is None
            assert not root.writers, "two would write to one root"
            assert not (root.users and (anew or root.overwrite))
            return Filling("u", Progress.RUNNING, anew)
        case DeleteJob(uid=uid):
            assert job is not None
            assert job.uid == uid
            return None
        case MarkJob(uid=uid):
            assert job is not None
            assert job.uid == uid
            return Filling("u", job.progress)
        case None:
            if job is None or job.going:
                return None
            done = Progress.DONE if job.progress is Progress.RUNNING else job.progress
            return Filling("u", done, job.anew, trouble=job.trouble)


def ended(root: Root, job: Filling | None) -> tuple[Verdict, Filling | None]:
    for _ in range(10):
        verdict = populate(root, job)
        after = carried_out(root, job, verdict)
        if after == job:
            return verdict, job
        job = after
    raise AssertionError("there is no end")


@given(ROOTS, st.none() | JOBS)
def test_from_anywhere_it_comes_to_an_end_and_nothing_is_replaced_under_pods(root, job):
    verdict, job = ended(root, job)
    waits = root.users and (root.overwrite or root.mode is Mode.OVERWRITE)
    failed = job is not None and job.progress is Progress.FAILED
    given_up = root.mode is Mode.DELETE
    assert verdict.filled or waits or failed or given_up or root.writers
    assert verdict.filled or verdict.words


def test_what_is_filled_stays_as_it_is():
    for mode in (Mode.NONE, Mode.DOWNSCALE, Mode.SKIP):
        assert populate(Root(mode, overwrite=True, users=3), DONE) == Verdict(filled=True)


def test_a_maintenance_fills_it_anew_once_and_the_next_one_again():
    root = Root(Mode.OVERWRITE)
    assert isinstance(populate(root, DONE).action, DeleteJob)
    assert populate(root, None).action == MakeJob("the shared root is being filled", anew=True)
    assert populate(root, ANEW) == Verdict(filled=True)
    # Its end is noted on the Job, or the next maintenance would take it for its own.
    assert isinstance(populate(Root(Mode.NONE), ANEW).action, MarkJob)
    assert populate(Root(Mode.NONE), DONE).action is None
    assert populate(Root(Mode.DOWNSCALE), ANEW).action is None


@pytest.mark.parametrize("mode", [Mode.NONE, Mode.SKIP, Mode.OVERWRITE])
def test_a_root_that_is_being_replaced_is_fit_for_nobody(mode):
    half = Filling("u", Progress.RUNNING, anew=True)
    assert not populate(Root(mode), half).filled


def test_pods_end_before_the_root_is_replaced():
    for root in (Root(Mode.OVERWRITE, users=1), Root(Mode.NONE, overwrite=True, users=2)):
        verdict = populate(root, None)
        assert (verdict.action, verdict.filled) == (None, False)
        assert verdict.again_s
        assert "not replaced as long as" in verdict.words


def test_a_maintenance_that_takes_the_job_away_does_so_once():
    assert isinstance(populate(Root(Mode.DELETE), DONE).action, DeleteJob)
    assert populate(Root(Mode.DELETE), None).action is None
    assert populate(Root(Mode.DELETE), Filling("u", Progress.DONE, going=True)).action is None


def test_trouble_is_told_and_a_job_that_gave_up_with_a_cure():
    assert (
        "no image"
        in populate(Root(Mode.NONE), Filling("u", Progress.RUNNING, trouble="no image")).words
    )
    told = populate(Root(Mode.NONE), Filling("u", Progress.FAILED, trouble="disk full"))
    assert "disk full" in told.words
    assert "delete it" in told.words
