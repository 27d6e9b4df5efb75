"""What was seen, as the status says it."""

from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest

from shoal.dialects.slinky import report
from shoal.dialects.slinky.types import TYPES
from shoal.kube.pods import Pod
from shoal.model.workers import Fleet, Muster, SlurmNode, Worker
from shoal.slurm.nodes import parse

from .readings import the

NOW = datetime(2026, 1, 1, tzinfo=UTC)
READY = [{"type": "Ready", "status": "True"}]


def fits(kind, told):
    """Return `told` as it is read back; what the type does not know is lost."""
    status = msgspec.structs.fields(TYPES[kind])[2].type
    struct = getattr(status, "__origin__", status)
    return msgspec.to_builtins(msgspec.convert(told, struct))


def muster(*workers, slurm=None, replicas=4, **more):
    """Return what the status of the NodeSet `cpu` is made of."""
    fleet = Fleet(workers, NOW, slurm)
    return Muster(the("NodeSet", "cpu", replicas=replicas), fleet, 7, "new", replicas, **more)


def worker(number, phase="Running", revision="new", *, ready=False, slurm="IDLE"):
    told = {"metadata": {"name": f"cpu-{number}"}, "status": {"phase": phase}}
    told["status"]["conditions"] = READY if ready else []
    return Worker(msgspec.convert(told, Pod), f"cpu-{number}", number, revision, "StatefulSet")


def test_a_node_sets_pods_are_counted_as_soon_as_they_are_accepted():
    seen = [worker(0, ready=True), worker(1, revision="old"), worker(2, ""), worker(3, "Pending")]
    assert report.nodeset(muster(*seen)) == {
        "desired": 4,
        "replicas": 3,
        "readyReplicas": 1,
        "availableReplicas": 1,
        "unavailableReplicas": 2,
        "updatedReplicas": 3,
        "nodeSetHash": "new",
        "observedGeneration": 7,
        "selector": "app.kubernetes.io/instance=cpu,app.kubernetes.io/name=slurmd",
    }


def test_a_node_set_says_what_its_workers_are_in_slurm_when_slurm_says_so():
    states = ["IDLE", "MIXED", "ALLOCATED DRAIN", "DOWN DRAIN"]
    slurm = {f"cpu-{n}": SlurmNode(f"cpu-{n}", parse(s.split())) for n, s in enumerate(states)}
    slurm["other-0"] = SlurmNode("other-0", parse(["IDLE"]))
    told = report.nodeset(muster(*(worker(n) for n in range(4)), slurm=slurm))
    counted = {key: told[key] for key in told if key.startswith("slurm")}
    assert counted == {"slurmIdle": 1, "slurmAllocated": 2, "slurmDown": 1, "slurmDrain": 2}


def test_a_worker_that_is_bound_to_a_node_is_remembered_by_its_number():
    told = report.nodeset(muster(pinned={1: "n1", 0: "n0"}, collisions=2))
    assert told["ordinalToNode"] == {"0": "n0", "1": "n1"}
    assert told["collisionCount"] == 2


def test_a_node_set_without_pods_says_zero_and_not_nothing():
    told = fits("NodeSet", report.nodeset(muster(replicas=0)))
    assert (told["replicas"], told["readyReplicas"], told["desired"]) == (0, 0, 0)


def test_a_login_set_tells_what_the_scale_subresource_asks():
    told = report.login(the("LoginSet", "login"), 2, 1)
    assert (told["replicas"], told["readyReplicas"]) == (2, 1)
    assert told["selector"] == "app.kubernetes.io/instance=login,app.kubernetes.io/name=login"


def test_a_token_tells_when_it_was_issued_in_utc():
    moment = datetime(2026, 1, 1, 3, tzinfo=timezone(timedelta(hours=2)))
    assert report.token(moment) == {"issuedAt": "2026-01-01T01:00:00Z"}


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("NodeSet", report.nodeset(muster(worker(0), pinned={0: "n0"}, collisions=1))),
        ("LoginSet", report.login(the("LoginSet"), 2, 1)),
        ("Token", report.token(datetime(2026, 1, 1, tzinfo=UTC))),
    ],
)
def test_all_that_is_told_has_a_field_in_the_definition(kind, told):
    assert told.items() <= fits(kind, told).items()
