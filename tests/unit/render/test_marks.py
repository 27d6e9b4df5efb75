from hypothesis import given
from hypothesis import strategies as st

from shoal.dialects.slinky.naming import NAMING
from shoal.model.part import Marks
from shoal.render.marks import digest, digests, metadata

from .builders import make_part

APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def test_what_we_find_objects_by_wins_over_everything():
    part = make_part("Controller", "slurm", marks=Marks({"a": "1", "b": "1"}))
    name = "app.kubernetes.io/name"
    labels = metadata(part, "x", Marks({"b": "2", name: "mine"}))["labels"]
    assert (labels["a"], labels["b"], labels[name]) == ("1", "2", "slurmctld")


def test_applying_the_same_resource_again_changes_nothing():
    """A copied last-applied-configuration would restart pods with every `kubectl apply`."""
    part = make_part("Controller", "slurm", marks=Marks({}, {APPLIED: "{}", "note": "x"}))
    assert metadata(part, "x")["annotations"] == {"note": "x"}


def test_what_is_not_there_yet_has_no_digest():
    assert digests(NAMING, {"slurm-key": "", "jwt-key": "d"}) == {
        "slinky.slurm.net/jwt-key-hash": "d"
    }


@given(st.lists(st.text()), st.lists(st.text()))
def test_a_digest_tells_any_two_contents_apart(one, other):
    assert (digest(*one) == digest(*other)) == (one == other)
