"""What every pass has in common."""

import pytest

from shoal.controllers.passes import keys, soonest, without_cluster
from shoal.model.controller import Keys
from shoal.model.part import KeyRef, Part
from shoal.runtime.controller import Done


@pytest.mark.parametrize(
    ("waits", "again_s"),
    [((), None), ((None,), None), ((None, 5.0), 5.0), ((7.0, None, 3.0), 3.0), ((0.0, 1.0), 0.0)],
)
def test_of_several_ends_of_a_pass_the_soonest_counts(waits, again_s):
    assert soonest(*map(Done, waits)) == Done(again_s)


def test_of_several_ends_of_a_pass_the_longest_rest_counts():
    assert soonest(Done(rest_s=1.0), Done(3.0, 2.0), Done(4.0)) == Done(3.0, 2.0)


def test_a_part_without_its_cluster_has_nothing_made_and_nothing_taken_away():
    asked = without_cluster(Part("r", "ns", {}, {}), "slurm")
    assert list(asked.objects) == []
    assert not asked.rules.prune
    assert asked.status is None
    (failed,) = asked.verdicts
    assert failed.reason == "ControllerMissing"
    assert failed.message.startswith("spec.controllerRef: Controller slurm is not there; create it")


def test_keys_that_nobody_names_are_not_needed():
    slurm, jwt = KeyRef("a", "k"), KeyRef("b", "k")
    assert keys(Keys(slurm, None, None)) == (slurm,)
    assert keys(Keys(slurm, jwt)) == (slurm, jwt)
    assert keys(Keys(None, None)) == ()
