"""Which objects of a SlurmCluster are of which part, and may go with it."""

import msgspec
import pytest

from shoal.controllers.nebius_parts import COMPONENTS, OF_NODE_SETS, PARTS, rules
from shoal.controllers.nebius_waker import MADE
from shoal.dialects.nebius import naming
from shoal.dialects.nebius.types import SLURM_CLUSTER
from shoal.kube import kinds
from shoal.kube.objects import Resource


def labelled(component):
    labels = naming.labels("one", component) if component else {}
    return msgspec.convert({"metadata": {"name": "x", "labels": labels}}, Resource)


@pytest.mark.parametrize("part", PARTS)
def test_no_part_of_a_cluster_ever_prunes_a_worker(part):
    for component in (naming.WORKERS, naming.NODE_SET):
        assert not rules(part).among(labelled(component))


@pytest.mark.parametrize("part", COMPONENTS)
def test_parts_do_not_prune_each_other(part):
    own = COMPONENTS[part][0]
    for other, (components, _) in COMPONENTS.items():
        assert other == part or not own & components
    assert rules(part).among(labelled(part))


def test_workers_prune_no_pods():
    assert kinds.POD not in rules(naming.WORKERS).prune
    assert kinds.POD not in OF_NODE_SETS.prune


def test_a_trial_of_a_configuration_goes_with_slurmctld():
    assert rules(naming.CONTROLLER).among(labelled(""))
    assert kinds.POD in rules(naming.CONTROLLER).prune


def test_what_a_part_prunes_wakes_its_cluster_when_it_changes():
    for _, made in COMPONENTS.values():
        assert {*made} <= {*MADE[SLURM_CLUSTER]}
