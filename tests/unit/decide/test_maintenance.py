"""A cluster goes down from its workers, and comes up once its root is filled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.decide.maintenance import Course, Standing, course, without_root, words
from shoal.model.maintenance import Mode

DOWN = [mode for mode in Mode if mode.down]
UP = [mode for mode in Mode if not mode.down]
STANDINGS = st.builds(Standing, st.integers(0, 3), st.booleans(), st.booleans())


@given(st.sampled_from(Mode), STANDINGS)
def test_a_cluster_with_workers_always_has_its_slurmctld(mode, seen):
    assert course(mode, seen).pods or not seen.workers


@given(st.sampled_from(UP), STANDINGS)
def test_a_slurmctld_that_runs_goes_down_only_because_the_user_wants_it(mode, seen):
    assert course(mode, seen).pods or not seen.serving


@pytest.mark.parametrize("mode", DOWN)
def test_without_workers_it_goes_down(mode):
    assert course(mode, Standing(0, filled=True, serving=True)) is Course.DOWN
    assert without_root(mode, Standing(0, filled=True, serving=True)) is Course.DOWN


@pytest.mark.parametrize("mode", UP)
def test_a_root_that_is_not_filled_is_waited_for_but_not_by_accounting(mode):
    seen = Standing(0, filled=False, serving=False)
    assert course(mode, seen) is Course.WAITING
    assert without_root(mode, seen) is Course.UP


def test_what_it_waits_for_is_said():
    seen = Standing(2, filled=True, serving=True)
    told = words(Mode.DOWNSCALE, course(Mode.DOWNSCALE, seen), seen)
    assert told == "maintenance: downscale: goes down when all workers are gone; 2 workers are left"
    assert "1 worker is left" in words(Mode.DOWNSCALE, Course.STAYING, Standing(1, True, True))  # noqa: FBT003
    assert words(Mode.DOWNSCALE, Course.DOWN, seen) == "maintenance: downscale"
    assert words(Mode.NONE, Course.UP, seen) == ""
