"""What the first process of the Slurm images promises, with small programs in Slurm's place."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SUPERVISE = Path(__file__).parents[3] / "images/slurm/supervise"
pytestmark = pytest.mark.skipif(shutil.which("perl") is None, reason="no perl on this machine")

# A daemon that logs its starts, says READY=1 and, told to reconfigure, hands over as Slurm does.
DAEMON = """
import os, signal, socket, sys, time
log = open(sys.argv[1], "a", buffering=1)
def tell(text):
    line = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    line.sendto(text.encode(), os.environ["NOTIFY_SOCKET"])
def hand_over(*_):
    if os.fork() == 0:
        tell(f"READY=1\\nMAINPID={os.getpid()}")
        log.write(f"{os.getpid()} took over\\n")
    else:
        time.sleep(0.1)
        os._exit(0)
signal.signal(signal.SIGHUP, hand_over)
signal.signal(signal.SIGTERM, lambda *_: os._exit(int(sys.argv[2])))
tell("READY=1")
log.write(f"{os.getpid()} started\\n")
while True:
    time.sleep(1)
"""


class Container:
    """A supervise with one daemon, and perhaps companions."""

    def __init__(self, folder, *options, code=0, companions=()):
        (folder / "daemon.py").write_text(DAEMON)
        self.log = folder / "log"
        self.log.touch()
        daemon = (sys.executable, folder / "daemon.py", self.log, str(code))
        self.process = subprocess.Popen(
            ["perl", SUPERVISE, *options, *daemon, *companions], stderr=subprocess.PIPE, text=True
        )

    def lines(self, count):
        """Wait for that many lines of the daemon, and return them as (pid, what)."""
        deadline = time.monotonic() + 10
        while len(lines := self.log.read_text().splitlines()) < count:
            assert time.monotonic() < deadline, f"the daemon said only {lines}"
            time.sleep(0.02)
        return [(int(pid), what) for pid, what in (line.split(" ", 1) for line in lines)]

    def end(self):
        """Return the exit code once it has ended by itself."""
        return self.process.wait(timeout=10)


@pytest.fixture
def contain(tmp_path):
    made = []

    def make(*options, **more):
        made.append(Container(tmp_path, *options, **more))
        return made[-1]

    yield make
    for container in made:
        if container.process.poll() is None:
            container.process.terminate()
            container.process.wait(timeout=10)
        container.process.stderr.close()


def test_the_container_ends_with_its_main_program_and_its_code(contain):
    container = contain(code=7)
    container.lines(1)
    container.process.terminate()
    assert container.end() == 7


def test_a_crash_of_the_main_program_ends_the_container(contain):
    container = contain()
    ((pid, _),) = container.lines(1)
    os.kill(pid, signal.SIGKILL)
    assert container.end() == 128 + signal.SIGKILL


def test_a_successor_is_followed_and_the_container_goes_on(contain):
    container = contain(code=3)
    container.lines(1)
    container.process.send_signal(signal.SIGHUP)
    (first, _), (second, _) = container.lines(2)
    time.sleep(0.5)
    assert first != second
    assert container.process.poll() is None
    container.process.send_signal(signal.SIGHUP)
    assert [what for _, what in container.lines(3)] == ["started", "took over", "took over"]
    container.process.terminate()
    assert container.end() == 3


def test_a_kept_program_is_started_again_and_the_rest_stays(contain):
    container = contain("--keep")
    ((first, _),) = container.lines(1)
    os.kill(first, signal.SIGKILL)
    (_, _), (second, what) = container.lines(2)
    assert (what, second != first) == ("started", True)
    assert container.process.poll() is None


def test_a_kept_program_that_was_never_ready_ends_the_container():
    done = subprocess.run(
        ["perl", SUPERVISE, "--keep", "sh", "-c", "exit 5"],
        capture_output=True,
        timeout=10,
        check=False,
    )
    assert done.returncode == 5


def test_a_companion_is_started_again_and_ends_with_the_container(contain, tmp_path):
    starts = tmp_path / "starts"
    companion = ("++", "sh", "-c", f"echo >>{starts}; exit 1")
    container = contain(companions=companion)
    deadline = time.monotonic() + 10
    while not starts.exists() or starts.read_text().count("\n") < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert container.process.poll() is None
    container.process.terminate()
    assert container.end() == 0


def socket_of(container):
    ((pid, _),) = container.lines(1)
    environment = Path(f"/proc/{pid}/environ").read_bytes()
    return Path(os.fsdecode(environment.partition(b"NOTIFY_SOCKET=")[2].partition(b"\0")[0]))


def test_nobody_else_may_name_a_successor(contain):
    container = contain()
    assert socket_of(container).stat().st_mode & 0o777 == 0o600


def test_no_socket_is_left_behind(contain):
    container = contain()
    path = socket_of(container)
    assert path.exists()
    container.process.terminate()
    container.end()
    assert not path.exists()
