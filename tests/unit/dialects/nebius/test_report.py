"""What was seen, as the status says it."""

from datetime import UTC, datetime

import msgspec
import pytest

from shoal.dialects.nebius import naming, report
from shoal.dialects.nebius.nodeset_types import NodeSetStatus
from shoal.dialects.nebius.report import NodeSetPhase, Phase, Ready, Standing, State
from shoal.dialects.nebius.types import SlurmClusterStatus
from shoal.kube import conditions
from shoal.kube.pods import Pod
from shoal.model.nodeset import NodeSet
from shoal.model.part import Part
from shoal.model.workers import Fleet, Muster, Worker

NOW = datetime(2026, 1, 1, tzinfo=UTC)
UNKNOWN, READY = Standing(State.UNKNOWN), Standing(State.READY)
NOT_READY, AWAY = Standing(State.NOT_READY, "1 of 2"), Standing(State.MAINTENANCE)


@pytest.mark.parametrize(
    ("seen", "phase"),
    [
        ([], Phase.PENDING),
        ([UNKNOWN, UNKNOWN], Phase.PENDING),
        ([READY, UNKNOWN], Phase.RECONCILING),
        ([READY, NOT_READY], Phase.NOT_AVAILABLE),
        ([NOT_READY, UNKNOWN], Phase.NOT_AVAILABLE),
        ([AWAY, READY], Phase.NOT_AVAILABLE),
        ([READY, READY], Phase.AVAILABLE),
    ],
)
def test_a_cluster_is_available_only_when_every_part_is(seen, phase):
    assert report.phase(seen) is phase


def test_phases_are_called_as_users_wait_for_them():
    names = ["Pending", "Reconciling", "Not available", "Available"]
    assert [phase.value for phase in Phase] == names


@pytest.mark.parametrize(
    ("standing", "told"),
    [
        (UNKNOWN, ("Unknown", "SetUpCondition", "The object is not ready yet.")),
        (READY, ("True", "Available", "")),
        (NOT_READY, ("False", "NotAvailable", "1 of 2")),
        (AWAY, ("False", "Maintenance", "")),
    ],
)
def test_a_part_has_the_reasons_that_it_always_had(standing, told):
    (found,) = report.parts({naming.LOGIN: standing}, 7)
    assert (found.status, found.reason, found.message) == told
    assert (found.type, found.observed_generation) == ("LoginAvailable", 7)


def test_conditions_come_in_the_order_in_which_a_cluster_is_built():
    seen = dict.fromkeys(reversed(report.TYPES), READY)
    assert [c.type for c in report.parts(seen, 1)] == [
        "CommonAvailable",
        "AccountingAvailable",
        "WorkersAvailable",
        "SConfigControllerAvailable",
        "ControllersAvailable",
        "LoginAvailable",
    ]


def test_a_part_that_the_cluster_has_not_has_no_condition():
    assert report.parts({}, 1) == []


def test_the_mode_of_the_last_filling_is_a_reason():
    found = report.populate_mode("downscaleAndOverwritePopulateJail", 1)
    assert (found.type, found.reason) == ("PopulateJailMode", "downscaleAndOverwritePopulateJail")


def test_partitions_that_refer_to_nothing_are_told():
    assert report.node_set_refs([], 1).reason == "AllNodeSetRefsResolved"
    found = report.node_set_refs(["a", "b"], 1)
    assert (found.status, found.reason) == ("False", "IgnoredNodeSetRefs")
    assert "a, b" in found.message


def test_fields_without_effect_are_told():
    assert report.supported([], 1).status == "True"
    found = report.supported(["spec.docker"], 1)
    assert (found.status, found.reason) == ("False", "UnsupportedFields")
    assert found.message.endswith("without effect: spec.docker")


def test_a_cluster_counts_what_there_is():
    assert report.cluster(Phase.AVAILABLE, Ready(login=1, workers=0)) == {
        "phase": "Available",
        "readyLogin": 1,
        "readyWorkers": 0,
    }


# -- NodeSets


@pytest.mark.parametrize(
    ("standing", "going", "phase"),
    [
        (UNKNOWN, False, "Pending"),
        (NOT_READY, False, "Provisioning"),
        (AWAY, False, "Provisioning"),
        (READY, False, "Ready"),
        (READY, True, "Terminating"),
        (UNKNOWN, True, "Terminating"),
    ],
)
def test_a_node_set_is_in_the_phase_that_its_pods_are(standing, going, phase):
    assert report.nodeset_phase(standing, going=going).value == phase


@pytest.mark.parametrize(
    ("standing", "told"),
    [
        (READY, ("True", "NodeSetReady")),
        (NOT_READY, ("False", "NodeSetNotReady")),
        (UNKNOWN, ("Unknown", "SetUpCondition")),
    ],
)
def test_a_node_set_says_whether_its_pods_are_ready(standing, told):
    (found,) = report.nodeset_conditions(standing, 3, going=False)
    assert (found.type, found.status, found.reason) == ("PodsReady", *told)
    types = [c.type for c in report.nodeset_conditions(standing, 3, going=True)]
    assert types == ["PodsReady", "StatefulSetTerminated"]


def muster():
    selector = naming.selector("c", "nodeset", "gpu")
    part = Part("gpu", "ns", selector, naming.labels("c", "nodeset", "gpu"))
    nodes = NodeSet(part, "gpu", "gpu-", "c-nodeset-svc", "c-workers-pdb")
    states = [("True", None), ("False", None), ("True", "2026-01-01T00:00:00Z")]
    workers = []
    for number, (ready, deleted) in enumerate(states):
        meta = {"name": f"gpu-{number}", "deletionTimestamp": deleted}
        status = {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]}
        pod = msgspec.convert({"metadata": meta, "status": status}, Pod)
        workers.append(Worker(pod, f"gpu-{number}", number, "r", "StatefulSet"))
    return Muster(nodes, Fleet(tuple(workers), NOW), 7, "r", 3)


def test_a_node_set_counts_those_that_are_ready_and_tells_how_they_are_found():
    assert report.nodeset(muster(), NodeSetPhase.READY) == {
        "phase": "Ready",
        "replicas": 1,
        "labelSelector": "app.kubernetes.io/component=nodeset,app.kubernetes.io/instance=c,"
        "app.kubernetes.io/name=slurmcluster,slurm.nebius.ai/nodeset=gpu",
        "observedGeneration": 7,
    }


def test_all_that_is_told_has_a_field_in_the_definition():
    for told, type_ in (
        (report.nodeset(muster(), NodeSetPhase.READY), NodeSetStatus),
        (report.cluster(Phase.AVAILABLE, Ready(1, 2, 3)), SlurmClusterStatus),
    ):
        assert msgspec.to_builtins(msgspec.convert(told, type_)) == told


def test_every_condition_can_be_written():
    seen = dict.fromkeys(report.TYPES, NOT_READY)
    for condition in (*report.parts(seen, 1), report.populate_mode("none", 1)):
        written = conditions.settled([condition], {}, NOW)[0]
        assert msgspec.convert({"conditions": [written]}, SlurmClusterStatus).conditions
