import os
import resource

import pytest

from shoal.local import preflight
from shoal.local.errors import LocalError


class Libc:
    """Gives so many inotify instances and no more."""

    def __init__(self, left: int) -> None:
        self.left = left

    def inotify_init1(self, flags: int) -> int:
        if self.left == 0:
            return -1
        self.left -= 1
        return os.open(os.devnull, os.O_RDONLY | flags)


@pytest.fixture
def leave(monkeypatch):
    """Give a function that leaves this user so many inotify instances."""

    def leave(count: int) -> None:
        monkeypatch.setattr(preflight.ctypes, "CDLL", lambda _: Libc(count))

    return leave


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("left", [20, 21])
def test_what_this_machine_can_still_watch_is_enough_or_it_is_said_at_once(leave, left):
    leave(left)
    assert preflight.watches(20) is None


def test_too_few_inotify_instances_are_told_with_both_numbers_and_the_cure(leave):
    leave(19)
    with pytest.raises(
        LocalError, match=r"has 19 inotify .* about 20\n.*sysctl fs.inotify.max_user_instances"
    ):
        preflight.watches(20)


@pytest.mark.parametrize("left", [0, 30])
def test_asking_takes_nothing_away(leave, left):
    leave(left)
    before = open_files(), resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        preflight.watches(30)
    except LocalError:
        assert left == 0
    assert (open_files(), resource.getrlimit(resource.RLIMIT_NOFILE)) == before


def test_no_machine_needs_no_watch(leave):
    leave(0)
    assert preflight.watches(0) is None
