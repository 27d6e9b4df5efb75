"""What may happen to a cluster while its workers come and go."""

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

from ..clusters import Local, alive, kill, wait_for
from ..slinky.operator import ACCOUNT, ROOT, SPACE, Operator
from ..slinky.site import Site
from .jobs import PATIENCE_S
from .nodesets import Record, stays

Upheaval = Callable[[Site, float], AbstractContextManager[None]]


@contextmanager
def operator_killed(operator: Operator, seed: int, record: Record) -> Iterator[None]:
    """Kill the operator again and again, at moments that the seed decides."""
    chance = random.Random(seed)

    def kill_it() -> None:
        operator.kill()
        time.sleep(chance.uniform(0, 2))
        operator.start()

    with _again_and_again(kill_it, lambda: chance.uniform(0.5, 5)) as times:
        yield
    record("the operator was killed", f"{len(times)} times")
    assert len(times) > 1


@contextmanager
def operator_upgraded(operator: Operator, seed: int, record: Record) -> Iterator[None]:
    """Replace the operator again and again as a Deployment does: the next comes, then one goes.

    They lead by a Lease: whoever comes waits until the one before has let go of it.
    """
    chance = random.Random(seed)
    _allow_leases(operator.cluster)
    operator.stop()
    leading = _candidate(operator)

    def replace_it() -> None:
        nonlocal leading
        following = _candidate(operator)
        leading.stop()
        leading = following

    try:
        with _again_and_again(replace_it, lambda: chance.uniform(2, 6)) as times:
            yield
    finally:
        leading.stop()
        operator.start()
    record("the operator was replaced", f"{len(times)} times")
    assert len(times) > 1


@contextmanager
def _again_and_again(do: Callable[[], None], pause_s: Callable[[], float]) -> Iterator[list[float]]:
    """Do something beside a block, with pauses; give the moments at which it was done."""
    over, times = threading.Event(), list[float]()

    def go_on() -> None:
        while not over.wait(pause_s()):
            do()
            times.append(time.monotonic())

    with ThreadPoolExecutor(1) as pool:
        doing = pool.submit(go_on)
        try:
            yield times
        finally:
            over.set()
            doing.result()


def _candidate(operator: Operator) -> Operator:
    options = ("--leader-elect", f"--leader-elect-namespace={SPACE}")
    made = Operator(operator.cluster, operator.folder, options)
    made.start()
    return made


def _allow_leases(cluster: Local) -> None:
    home, name = replace(cluster, namespace=SPACE), "slurm-operator-home"
    home.kubectl("apply", "--filename", ROOT / "deploy/rbac/home.yaml")
    if not home.exists("rolebinding", name):
        account = f"--serviceaccount={SPACE}:{ACCOUNT}"
        home.kubectl("create", "rolebinding", name, f"--role={name}", account)


@contextmanager
def slurmctld_deleted(site: Site, seconds: float) -> Iterator[None]:
    """Delete the pod of slurmctld."""
    old = site.pod_of("slurmctld")["metadata"]["uid"]
    site.kubectl("delete", "pod", "slurm-controller-0", "--wait=false")
    yield
    wait_for(
        "another slurmctld",
        lambda: site.cluster.get("pods", "--selector=app.kubernetes.io/name=slurmctld"),
        lambda pods: [p for p in pods if p["metadata"]["uid"] != old],
        PATIENCE_S,
    )
    site.wait("pod/slurm-controller-0")


@contextmanager
def no_slurmrestd(site: Site, seconds: float) -> Iterator[None]:
    """Take slurmrestd away for some time."""
    site.patch("restapi/slurm", {"replicas": 0})
    selector = "--selector=app.kubernetes.io/name=slurmrestd"
    wait_for(
        "no slurmrestd",
        lambda: site.cluster.get("pods", selector),
        lambda pods: not pods,
        PATIENCE_S,
    )
    before = _workers(site)
    yield
    # Nobody knows which of them have jobs.
    stays("every worker", lambda: _workers(site) == before, seconds)
    site.patch("restapi/slurm", {"replicas": 1})


def _workers(site: Site) -> list[str]:
    found = site.cluster.get("pods", "--selector=app.kubernetes.io/name=slurmd")
    return sorted(pod["metadata"]["uid"] for pod in found)


@contextmanager
def no_api_server(site: Site, seconds: float) -> Iterator[None]:
    """End the API server and keep it away for some time; what is done meanwhile is nothing."""
    yield
    with away(site.cluster, "control-plane", "cp", "kube-apiserver"):
        time.sleep(seconds)
    status = "`status` to be content"
    wait_for(status, lambda: site.cluster.shoal("status", check=False).code == 0)


@contextmanager
def away(cluster: Local, machine: str, short: str, program: str) -> Iterator[None]:
    """Keep a program of a machine away: whoever would start it again is held."""
    pid, keeper = cluster.programs()[short, program], cluster.first_processes()[machine]
    try:
        _signal(keeper, signal.SIGSTOP)
        kill(pid)
        wait_for(f"the end of {program}", lambda: not alive(pid))
        yield
    finally:
        _signal(keeper, signal.SIGCONT)


def _signal(pid: int, number: signal.Signals) -> None:
    # A pid that is somebody else's by now would be a pity.
    assert Path(f"/proc/{pid}").exists()
    os.kill(pid, number)
