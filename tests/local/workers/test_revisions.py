"""No revision is written while nobody asks for other workers."""

import time

import pytest

from .revisions import revisions

QUIET_S = 120


@pytest.mark.long
def test_in_two_quiet_minutes_and_over_a_new_operator_no_revision_is_written(workers, operator):
    workers.make(1)
    before = revisions(workers)
    time.sleep(QUIET_S / 2)
    operator.stop()
    operator.start()
    time.sleep(QUIET_S / 2)
    assert revisions(workers) == before
    assert list(before) == [1]
