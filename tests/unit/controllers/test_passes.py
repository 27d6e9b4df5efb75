"""What every pass has in common."""

import pytest

from shoal.controllers.passes import cured, keys, soonest, without_cluster
from shoal.dialects.slinky.types import CONTROLLER, TOKEN
from shoal.kube.conditions import Condition
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


TAKEN = "StatefulSet slurm-controller: it belongs to SlurmCluster slurm"


def refused(message: str) -> Condition:
    return Condition("Ready", "False", "Refused", message)


def test_who_wants_a_name_that_is_somebody_elses_is_told_what_to_do():
    words = cured(CONTROLLER, refused(TAKEN)).message
    assert words == f"{TAKEN}; metadata.name: name this Controller otherwise, or delete that"
    words = cured(TOKEN, refused(TAKEN), "spec.secretRef: name another Secret").message
    assert words == f"{TAKEN}; spec.secretRef: name another Secret, or delete that"


def test_no_other_trouble_is_said_to_be_one_of_names():
    busy = refused("Pod cpu-0: it is being deleted")
    assert cured(CONTROLLER, busy) is busy
    fine = Condition("Ready", "True", "AsAsked", TAKEN)
    assert cured(CONTROLLER, fine) is fine
