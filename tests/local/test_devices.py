"""A machine's /dev is its own, and pods find in it what they need."""

import contextlib
import os
import pty
import subprocess
from pathlib import Path

import pytest

from .clusters import Local, wait_for
from .objects import pod
from .python_image import command

IDLE = "import time; time.sleep(3600)"
TERMINAL = "import os; print(os.isatty(0), os.ttyname(0))"
SHARED = """
from multiprocessing.shared_memory import SharedMemory
mine = SharedMemory('word', create=True, size=1 << 20)
mine.buf[:5] = b'hello'
print(open('/dev/shm/word').read(5))
mine.close()
mine.unlink()
"""
# A file system without a server behind it: to mount it takes the device and nothing else.
FUSE = """
import ctypes, os
handle = os.open('/dev/fuse', os.O_RDWR)
os.mkdir('/mnt')
libc = ctypes.CDLL(None, use_errno=True)
options = f'fd={handle},rootmode=40000,user_id=0,group_id=0'.encode()
if libc.mount(b'none', b'/mnt', b'fuse', 0, options):
    raise OSError(ctypes.get_errno(), 'mount')
print('fuse' in open('/proc/self/mounts').read())
libc.umount2(b'/mnt', 2)
"""


def devices(folder: Path = Path("/dev")) -> dict[str, tuple[int, int, int]]:
    """Return the host's devices with their rights and owners; terminals come and go."""
    found = {}
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            about = path.lstat()
            if not path.is_relative_to("/dev/pts") and not path.is_relative_to("/dev/shm"):
                found[str(path)] = (about.st_mode, about.st_rdev, about.st_uid)
    return found


def test_what_a_node_removes_changes_or_makes_in_dev_is_its_own_affair(mended):
    before = devices()
    script = "rm /dev/full; chmod 000 /dev/zero; mknod /dev/mine c 1 3; touch /dev/shm/mine"
    mended.shoal("exec", "n1", "--", "sh", "-euc", script)
    assert devices() == before
    assert not Path("/dev/shm/mine").exists()
    paths = ("/dev/full", "/dev/mine", "/dev/shm/mine")
    assert mended.shoal("exec", "n0", "ls", *paths, check=False).out == "/dev/full\n"
    assert mended.shoal("exec", "n0", "stat", "--format=%a", "/dev/zero").out == "666\n"
    # A boot makes /dev anew.
    mended.shoal("node reboot", "n1")
    assert mended.shoal("exec", "n1", "stat", "--format=%a", "/dev/zero", "/dev/full").out == (
        "666\n666\n"
    )


def test_a_machine_sees_none_of_the_hosts_disks_and_terminals(t3):
    blocks = [p.name for p in Path("/dev").iterdir() if p.is_block_device()]
    for machine in ("cp", "n0"):
        found = t3.shoal("exec", machine, "ls", "/dev").out.split()
        assert set(found) >= {
            "null",
            "zero",
            "random",
            "urandom",
            "tty",
            "ptmx",
            "pts",
            "shm",
            "fd",
        }
        assert {name for name in found if name in blocks} <= {f"loop{i}" for i in range(1024)}
        assert t3.shoal("exec", machine, "ls", "/dev/pts").out.split() == ["ptmx"]


@pytest.fixture(scope="module")
def idle(shared_ns: Local, python: str) -> Local:
    """Give a namespace with the idle pod `plain`, and the pod `mighty` that may do anything."""
    mighty = {"securityContext": {"privileged": True}}
    shared_ns.apply(
        pod("plain", image=python, command=command(IDLE)),
        pod("mighty", image=python, command=command(IDLE), container=mighty),
    )
    shared_ns.wait("condition=Ready", "pod/plain", "pod/mighty")
    return shared_ns


def on_a_terminal(words: list[str], env) -> str:
    """Run a program as a user in front of a terminal does; return what it shows."""
    ours, theirs = pty.openpty()
    try:
        session = ["setsid", "--ctty", "--wait", *words]
        done = subprocess.Popen(session, env=env, stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # the terminal's other end is closed
            while part := os.read(ours, 4096):
                shown += part
        assert done.wait(timeout=60) == 0, shown
    finally:
        os.close(ours)
    return shown.decode()


@pytest.mark.parametrize("name", ["plain", "mighty"])
def test_kubectl_exec_gives_a_terminal(idle, name):
    words = ["kubectl", f"--namespace={idle.namespace}", "exec", "-it", name, "--"]
    assert "True /dev/pts/" in on_a_terminal([*words, *command(TERMINAL)], idle.shell)


def test_shoal_exec_works_on_a_terminal(t3):
    words = t3.words("exec", "n0", "--", "bash", "-ic", "test -t 0 && echo a terminal >/dev/tty")
    shown = on_a_terminal(words, t3.environment)
    assert "a terminal" in shown
    assert "no job control" not in shown


def test_a_pods_processes_share_memory(idle):
    assert idle.kubectl("exec", "plain", "--", *command(SHARED)).out == "hello\n"


@pytest.mark.skipif(not Path("/dev/fuse").exists(), reason="this kernel has no /dev/fuse")
def test_a_privileged_pod_mounts_a_fuse_file_system(idle):
    assert idle.kubectl("exec", "mighty", "--", *command(FUSE)).out == "True\n"


def test_a_privileged_pod_has_the_nodes_devices_and_no_disk_of_the_host(idle):
    script = "import os; print(*sorted(os.listdir('/dev')))"
    found = set(idle.kubectl("exec", "mighty", "--", *command(script)).out.split())
    node = wait_for("a node", lambda: idle.get("pod", "mighty")["spec"]["nodeName"])
    there = set(idle.shoal("exec", node, "ls", "/dev").out.split())
    # What runc makes for every container stands beside.
    assert found - there <= {"mqueue", "termination-log", "core", "console"}
    assert {"null", "kmsg"} <= found
