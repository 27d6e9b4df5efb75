import subprocess
import sys
import threading

from shoal.host.lock import locked

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
