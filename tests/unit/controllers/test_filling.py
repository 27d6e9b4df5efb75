"""Whose slurmctld it is that runs under a cluster's name."""

from types import SimpleNamespace

import msgspec
import pytest

from shoal.controllers.filling import slurmctld
from shoal.kube.workloads import Workload
from shoal.model.controller import (
    ControllerNames,
    Ephemeral,
    ExternalController,
    ManagedController,
)
from shoal.model.part import Part, ServiceWishes

PART = Part("one", "research", {"app.kubernetes.io/instance": "one"}, {})
NAMES = ControllerNames("one-controller", "one-svc", "one-svc", "one-config")
OURS = ManagedController(PART, NAMES, ServiceWishes(6817), Ephemeral())


def make_cluster(controller=OURS):
    return SimpleNamespace(namespace="research", controller=controller)


def world(labels):
    meta = {"name": "one-controller", "namespace": "research", "labels": labels}
    found = msgspec.convert({"metadata": meta}, Workload)
    return SimpleNamespace(workload=lambda _, key: found if key == found.key else None)


def test_the_slurmctld_of_a_cluster_is_known_by_its_labels():
    cluster = make_cluster()
    found = slurmctld(world({**cluster.controller.part.selector, "more": "x"}), cluster)
    assert found is not None
    assert found.metadata.name == "one-controller"


@pytest.mark.parametrize("labels", [{}, {"app.kubernetes.io/name": "slurmctld"}])
def test_the_slurmctld_of_another_cluster_by_the_same_name_is_none_of_its_own(labels):
    assert slurmctld(world(labels), make_cluster()) is None


def test_a_slurmctld_somewhere_else_is_no_workload():
    away = make_cluster(controller=ExternalController("host", 6817, PART, "one-config"))
    assert slurmctld(world({}), away) is None
