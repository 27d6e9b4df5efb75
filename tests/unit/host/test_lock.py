import fcntl
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from shoal.host.lock import is_held, locked

HOLD = """
import pathlib, sys, time
from shoal.host.lock import locked
with locked(pathlib.Path(sys.argv[1]), lambda: None):
    print("held", flush=True)
    time.sleep(60)
"""


def test_the_second_says_that_it_waits_and_goes_on_when_the_first_is_done(tmp_path):
    order = []
    waits = threading.Event()

    def second() -> None:
        with locked(tmp_path / "lock", waits.set):
            order.append("second")

    with locked(tmp_path / "lock", lambda: order.append("waited")):
        thread = threading.Thread(target=second)
        thread.start()
        assert waits.wait(timeout=30)
        order.append("first")
    thread.join(timeout=30)
    assert order == ["first", "second"]


def test_the_lock_of_a_killed_process_is_free(tmp_path):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path / "lock"], stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout.readline() == "held\n"
        holder.kill()
    waited = []
    with locked(tmp_path / "lock", lambda: waited.append("waited")):
        assert waited == []


def test_nothing_is_left_of_a_lock(tmp_path):
    with locked(tmp_path / "folder" / "lock", lambda: None):
        assert (tmp_path / "folder" / "lock").exists()
    assert list((tmp_path / "folder").iterdir()) == []


def waits_for(file) -> bool:
    """Say whether somebody waits for a lock on the open file `file`, as the kernel tells it."""
    number = f":{os.fstat(file.fileno()).st_ino} "
    lines = Path("/proc/locks").read_text().splitlines()
    return any("-> FLOCK" in line and number in line for line in lines)


def wait_until(true) -> None:
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_who_waited_for_a_file_that_was_taken_away_waits_for_the_new_one(tmp_path):
    path, order = tmp_path / "lock", []

    def wait() -> None:
        with locked(path, lambda: order.append("waits")):
            order.append("enters")

    thread = threading.Thread(target=wait)
    with path.open("w") as old:
        fcntl.flock(old, fcntl.LOCK_EX)
        thread.start()
        wait_until(lambda: waits_for(old))
        # The first one goes with its file, and a second is faster than who waits.
        path.unlink()
        new = path.open("w")
        fcntl.flock(new, fcntl.LOCK_EX)
    with new:
        wait_until(lambda: waits_for(new))
        order.append("the second is done")
    thread.join(timeout=30)
    assert order == ["waits", "the second is done", "enters"]


def test_a_lock_is_held_while_somebody_has_it_and_only_then(tmp_path):
    path = tmp_path / "lock"
    assert not is_held(path)
    with locked(path, lambda: None):
        assert is_held(path)
    assert not is_held(path)
    path.touch()  # left by a process that was killed
    assert not is_held(path)
