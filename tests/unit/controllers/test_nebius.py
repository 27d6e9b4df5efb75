"""How passes over SlurmClusters get on with each other, and with clusters of another API."""

from types import SimpleNamespace

import msgspec
import pytest

from shoal.controllers.nebius import CONFLICT_AGAIN_S, Table, yielding
from shoal.kube.workloads import Workload
from shoal.kubeapi.errors import ConflictError, Status
from shoal.model.controller import ControllerNames, Ephemeral, ManagedController
from shoal.model.part import Part, ServiceWishes
from shoal.runtime.controller import Done

OURS = {"app.kubernetes.io/instance": "one"}


async def test_to_be_slower_than_another_pass_is_no_failure_and_the_next_look_is_soon():
    async def late(key):
        raise ConflictError(f"PATCH {key}", Status("it was modified"))

    assert await yielding(late)(("demo", "slurm")) == Done(CONFLICT_AGAIN_S)


@pytest.mark.parametrize(("labels", "runs"), [(OURS, True), ({}, False)])
def test_slurms_tools_never_run_in_the_slurmctld_of_another_cluster(labels, runs):
    meta = {"name": "one-controller", "namespace": "ns", "labels": labels}
    found = msgspec.convert({"metadata": meta}, Workload)
    world = SimpleNamespace(workload=lambda _, key: found if key == found.key else None)
    names = ControllerNames("one-controller", "one-svc", "one-svc", "one-config")
    part = Part("one", "ns", OURS, OURS)
    cluster = SimpleNamespace(
        namespace="ns",
        controller=ManagedController(part, names, ServiceWishes(6817), Ephemeral()),
        controllers=(("one-controller-0", ""),),
    )
    table = Table(SimpleNamespace(world=world, client=None), None, None)
    assert (table.tools(cluster) is not None) is runs
