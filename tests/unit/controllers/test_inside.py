"""What is seen inside a worker: steps, none, or nothing at all."""

import subprocess

import pytest

from fakes.apiserver import FakeApi
from fakes.loop import VirtualLoop
from fakes.network import Network
from fakes.wire import FakeClient
from shoal.controllers.inside import CONTAINER, SCRIPT, TIMEOUT_S, look_inside
from shoal.kube import kinds
from shoal.runtime import clock

LOOP = VirtualLoop


def make_client(program) -> FakeClient:
    api = FakeApi(program=program)
    meta = {"name": "w-0", "namespace": "ns", "uid": "u"}
    spec = {"nodeName": "n", "containers": [{"name": CONTAINER, "image": "x"}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
    api.history.write(kinds.POD, ("ns", "w-0"), {**pod, "status": {"phase": "Running"}})
    return FakeClient(Network(api, latency_s=(0, 0), lag_s=(0, 0)))


def ending(code: int):
    async def program(_key, _container, _words):
        return code, "", ""

    return program


@pytest.mark.parametrize(("code", "seen"), [(0, True), (1, False), (2, None), (127, None)])
async def test_only_what_was_searched_to_the_end_is_an_answer(code, seen):
    assert await look_inside(make_client(ending(code)), "ns", "w-0") is seen


async def test_a_worker_that_is_gone_or_does_not_answer_is_unknown_and_not_empty():
    async def hung(_key, _container, _words):
        await clock.sleep(10 * TIMEOUT_S)
        return 1, "", ""

    assert await look_inside(make_client(ending(1)), "ns", "nobody") is None
    assert await look_inside(make_client(hung), "ns", "w-0") is None


@pytest.fixture
def processes(tmp_path):
    """Search a folder of our own in the place of /proc."""

    def found(*lines: bytes) -> int:
        for number, line in enumerate(lines, 10):
            (tmp_path / str(number)).mkdir()
            (tmp_path / str(number) / "cmdline").write_bytes(line)
        script = SCRIPT.replace("/proc", str(tmp_path))
        return subprocess.run(["sh", "-c", script], capture_output=True, check=False).returncode

    return found


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ((b"slurmd\0-D\0", b"slurmstepd: [7.batch]\0"), 0),
        ((b"slurmd\0-D\0", b"slurmstepd: [12_3.extern]\0"), 0),
        ((b"slurmd\0-D\0", b"/usr/sbin/slurmstepd\0infinity\0"), 1),
        ((b"slurmd\0-D\0", b"sh\0-c\0" + SCRIPT.encode() + b"\0"), 1),
    ],
)
def test_a_step_is_told_from_the_process_that_keeps_a_cgroup_and_from_the_search(
    processes, lines, code
):
    assert processes(*lines) == code
