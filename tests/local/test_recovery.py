"""Programs, machines and whole clusters that were killed come back as they were."""

import re
import signal
import subprocess

import pytest

from .clusters import Local, alive, containers, is_ready, kill, run, wait_for
from .objects import claim, config_map, pod, pod_spec, workload


@pytest.fixture(scope="module")
def r1(make_shared) -> Local:
    """Give a cluster of one node that runs a Deployment, for tests that kill."""
    cluster = make_shared("r1")
    cluster.apply(workload("Deployment", "web", pod_spec(), replicas=2))
    cluster.kubectl("rollout", "status", "deployment/web", "--timeout=120s")
    return cluster


def wait_until_well(cluster: Local) -> None:
    """Wait until the API server answers, every program runs and every node is Ready."""
    wait_for("`status` to be content", lambda: cluster.shoal("status", check=False), is_well)


def is_well(status) -> bool:
    return status.code == 0


@pytest.mark.parametrize(
    ("machine", "program"),
    [
        ("n0", "kubelet"),
        ("n0", "containerd"),
        ("cp", "etcd"),
        ("cp", "kube-apiserver"),
    ],
)
def test_a_killed_program_runs_again_and_no_container_notices(r1, machine, program):
    before, servers, programs = containers(r1.get("pods")), r1.servers("n0"), r1.programs()
    kill(programs[machine, program])
    wait_for(
        f"{program} to run again",
        lambda: r1.programs().get((machine, program)),
        lambda pid: pid not in {None, programs[machine, program]},
    )
    wait_until_well(r1)
    # A new pod takes all of them: API server, scheduler, kubelet, containerd.
    r1.apply(pod("new", command=["/machine", "pause"]))
    r1.wait("condition=Ready", "pod/new")
    r1.kubectl("delete", "pod/new")
    assert containers(r1.get("pods")) == before
    assert r1.servers("n0") == servers


def test_a_program_that_does_not_run_is_told_by_status(r1):
    programs = r1.programs()
    scheduler, keeper = programs["cp", "kube-scheduler"], r1.first_processes()["control-plane"]
    try:
        # Else it would start the program again at once.
        signal_to(keeper, signal.SIGSTOP)
        kill(scheduler)
        wait_for("the scheduler's end", lambda: not alive(scheduler))
        status = r1.shoal("status", check=False)
    finally:
        signal_to(keeper, signal.SIGCONT)
    assert status.code == 1
    assert "kube-scheduler             NOT RUNNING" in status.out
    wait_until_well(r1)


def signal_to(pid: int, number: int) -> None:
    subprocess.run(["kill", f"-{int(number)}", str(pid)], check=True)


def test_after_everything_was_killed_up_gives_the_same_cluster_with_its_objects(r1):
    r1.apply(config_map("kept", word="still here"), claim("kept"))
    r1.wait("jsonpath={.status.phase}=Bound", "pvc/kept")
    uid = r1.get("namespace", "kube-system")["metadata"]["uid"]
    volume = r1.get("pvc", "kept")["spec"]["volumeName"]
    (r1.folder / "volumes" / volume / "data").write_text("not lost")
    processes = [*r1.first_processes().values(), *r1.programs().values()]
    for pid in r1.first_processes().values():
        kill(pid)
    wait_for(
        "the end of every process", lambda: [p for p in processes if alive(p)], lambda p: not p
    )
    status = r1.shoal("status", check=False)
    assert status.code == 1
    assert "NOT READY" in status.out
    # Its link outlives its processes: whoever still talks to it is heard by nobody outside.
    route = run("ip", "route", "get", address_of(r1), env=r1.environment).out
    assert re.search(r" dev shoal\d+ ", route)
    start = r1.shoal("node start", "n0", check=False)
    assert start.code == 1
    assert "is not running" in start.err
    r1.shoal("up")
    assert r1.get("namespace", "kube-system")["metadata"]["uid"] == uid
    assert r1.get("configmap", "kept")["data"] == {"word": "still here"}
    assert (r1.folder / "volumes" / volume / "data").read_text() == "not lost"
    wait_for(
        "the Deployment's pods to run again",
        lambda: r1.get("pods", "--selector=app=web"),
        lambda pods: len(pods) == 2 and all(map(restarted, pods)),
    )


def address_of(cluster: Local) -> str:
    """Return the API server's address."""
    config = (cluster.folder / "kubeconfig").read_text()
    return re.search(r"server: https://([\d.]+):", config)[1]


def restarted(one: dict) -> bool:
    """Say whether a pod's container runs, and not for the first time."""
    return is_ready(one) and all(s["restartCount"] > 0 for s in one["status"]["containerStatuses"])


# Where `up` is by then depends on the machine; wherever it is, the next one must cope with it.
@pytest.mark.parametrize("seconds", [0.8, 3])
def test_up_that_was_killed_half_way_is_finished_by_the_next(make, environment, seconds):
    cut = Local("cut", environment)
    with subprocess.Popen(
        cut.words("up"), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
    assert is_well(make("cut").shoal("status"))
