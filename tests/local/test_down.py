"""`down` leaves nothing behind, and a cluster that is up leaves the machine as it was."""

import contextlib
import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from shoal.local import claims

from . import traces
from .clusters import Local, alive, below
from .objects import claim, mounted, pod_spec, service, workload


def tag_of(cluster: Local) -> str:
    """Return what the kernel's objects of the cluster are called."""
    return f"shoal{json.loads((cluster.folder / 'cluster.json').read_text())['networked']['index']}"


def processes_of(cluster: Local) -> set[int]:
    """Return every process that the cluster's machines hold."""
    return {pid for first in cluster.first_processes().values() for pid in below(first)}


def namespaces_of(pids: Iterable[int]) -> set[str]:
    """Return the network namespaces in which these processes are."""
    found = set()
    for pid in pids:
        with contextlib.suppress(OSError):  # it has ended meanwhile
            found.add(os.readlink(f"/proc/{pid}/ns/net"))
    return found


@pytest.fixture
def busy(make) -> Local:
    """Give a cluster with pods, a Service, a host network pod and a volume."""
    cluster = make("d1")
    cluster.apply(
        claim("data", "ReadWriteMany"),
        workload("Deployment", "web", pod_spec(**mounted("data")), replicas=2),
        workload("DaemonSet", "agent", pod_spec(hostNetwork=True)),
        service("web", {"app": "web"}, type="NodePort"),
    )
    cluster.kubectl("rollout", "status", "deployment/web", "--timeout=120s")
    cluster.kubectl("rollout", "status", "daemonset/agent", "--timeout=120s")
    return cluster


@pytest.fixture
def before(environment) -> traces.Traces:
    """Give what this machine had before the test's cluster."""
    return traces.look(Path(environment["SHOAL_STATE"]))


def test_down_leaves_nothing_and_no_kernel_setting_ever_changes(before, busy):
    state, tag = busy.folder.parent, tag_of(busy)
    up = traces.look(state)
    # If it were not seen now, its absence later would show nothing.
    assert up.kernel_settings == before.kernel_settings
    # Somebody else may have had the number before.
    assert tag in up.links
    assert {link for link in up.links - before.links if not strange(link)} == set()
    assert {f"{tag}-cp", f"{tag}-n0"} <= up.network_namespaces
    assert any(f"/{tag}/n0/kubepods" in path for path in up.cgroups)
    assert any(tag in route for route in up.routes)
    held = processes_of(busy)
    namespaces = namespaces_of(held)
    # Ten programs, and the pods; two machines, and the pods that have a network of their own.
    assert len(held) > 15
    assert len(namespaces) == 4
    # Of now: somebody who starts later may get a namespace with the number of one that is gone.
    everybody = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    busy.shoal("down")
    assert [pid for pid in held if alive(pid)] == []
    assert namespaces & namespaces_of(everybody) == set()
    assert left_by(busy, before, tag) == set()


# Other clusters and labs come and go as they like, and so do the mounts of image builds.
STRANGERS = ("shoal", "slurmlab", "buildah")


def strange(trace: str) -> bool:
    """Say whether somebody else may have made or removed it meanwhile."""
    return any(word in trace for word in STRANGERS)


def left_by(cluster: Local, before: traces.Traces, tag: str = "") -> set[str]:
    """Return what a cluster that is gone left behind, and all that nobody else can have changed."""
    after = traces.look(cluster.folder.parent)
    changed = {trace for found in after.since(before).values() for trace in found}
    left = after.mentions(str(cluster.folder))
    # Asked after the look: who has the number by now may be seen in it.
    if tag and claims.owner(tag) in (None, cluster.folder):
        left |= after.mentions(tag)
    return left | {trace for trace in changed if not strange(trace)}


def test_down_of_a_control_plane_leaves_nothing_and_down_again_is_fine(before, make):
    cluster = make("d2", "--control-plane-only", "--with=controller-manager,scheduler")
    held = processes_of(cluster)
    assert len(held) == 5
    cluster.shoal("down")
    assert [pid for pid in held if alive(pid)] == []
    assert left_by(cluster, before) == set()
    again = cluster.shoal("down")
    assert "there is no cluster d2" in again.out


def test_down_works_when_everything_was_killed_before(before, make):
    cluster = make("d3")
    tag = tag_of(cluster)
    for pid in cluster.first_processes().values():
        os.kill(pid, 9)
    cluster.shoal("down")
    assert left_by(cluster, before, tag) == set()


def test_down_ends_a_machine_that_nobody_wrote_down(make):
    cluster = make("d4", "--control-plane-only")
    held = processes_of(cluster)
    # As when `up` was killed between the start and the note of it.
    (cluster.folder / "control-plane/process.json").unlink()
    cluster.shoal("down")
    assert [pid for pid in held if alive(pid)] == []


def test_no_lock_is_left_where_nobody_is_at_work(environment, make):
    state = Path(environment["SHOAL_STATE"])
    # What others left there (a run that was killed, another version) is not ours.
    before = {*state.glob("*.lock"), *state.glob(".*")}
    cluster = make("d5", "--control-plane-only")
    assert {*state.glob("*.lock"), *state.glob(".*")} <= before
    cluster.shoal("down")
    assert {*state.glob("*.lock"), *state.glob(".*")} <= before


def test_a_cluster_whose_folder_was_deleted_is_told_with_the_cure_and_that_leaves_nothing(
    before, make
):
    deleted = make("d6")
    state, tag = deleted.folder.parent, tag_of(deleted)
    held = processes_of(deleted)
    shutil.rmtree(deleted.folder)
    refused = deleted.shoal("up", check=False)
    assert refused.code == 1
    assert f"{deleted.folder} was deleted" in refused.err
    assert "cure: `shoal local down --name d6`" in refused.err
    # Somebody else is not kept from working by it, and hears of it.
    beside = Local("d7", deleted.environment)
    try:
        said = beside.shoal("up", "--control-plane-only").err
    finally:
        beside.shoal("down")
    assert f"SHOAL_STATE={state} shoal local down --name d6" in said
    assert "cluster d6 is gone" in deleted.shoal("down").out
    assert [pid for pid in held if alive(pid)] == []
    assert left_by(deleted, before, tag) == set()


def test_the_number_of_a_cluster_of_which_nothing_is_left_is_free_after_the_next_up(make, tmp_path):
    # The highest number: nobody is given it as long as there is another.
    claim_file = Path("/run/shoal/shoal47")
    claim_file.parent.mkdir(exist_ok=True)
    claim_file.write_text(f"{tmp_path}/deleted\n")
    make("d8")
    assert not claim_file.exists()


def test_up_twice_is_one_cluster_and_restarts_nothing(t3):
    before = t3.first_processes(), t3.programs()
    t3.shoal("up", "--nodes=3")
    assert (t3.first_processes(), t3.programs()) == before
