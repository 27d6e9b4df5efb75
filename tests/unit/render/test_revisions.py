"""What is kept of a NodeSet's wishes."""

import msgspec

from shoal.decide.revisions import hashed_as
from shoal.kube import kinds
from shoal.kube.kinds import Kinds
from shoal.kube.revisions import HASH, ControllerRevision
from shoal.model.nodeset import Retention
from shoal.render import revisions

from .builders import make_nodeset, make_part


def test_a_revision_is_found_by_the_selector_of_its_workers_and_holds_the_wishes():
    nodeset = make_nodeset()
    made = revisions.revision(nodeset, "w-abc", "abc", 7)
    assert Kinds().of(made) is kinds.CONTROLLER_REVISION
    assert made["metadata"]["labels"].items() >= {**nodeset.part.selector, HASH: "abc"}.items()
    read = msgspec.json.decode(msgspec.json.encode(made), type=ControllerRevision)
    assert (read.hash, read.revision) == ("abc", 7)
    assert read.data == msgspec.json.decode(msgspec.json.encode(revisions.data(nodeset)))


def test_a_hash_is_the_same_in_every_version_of_ours_and_fits_in_a_label():
    # Another one would have every worker of every cluster replaced by an upgrade.
    assert hashed_as(revisions.data(make_nodeset()), 0) == "e1dc90426e"


def test_what_does_not_concern_running_workers_is_no_new_revision():
    before = revisions.data(make_nodeset())
    kept = Retention(delete_with_set=True)
    for change in ({"replicas": 9}, {"revisions": 3}, {"retention": kept}):
        assert revisions.data(make_nodeset(**change)) == before
    assert revisions.data(make_nodeset(extra="Weight=5")) != before
    other = make_part("NodeSet", "slurm-worker", slurmd={"image": "other"})
    assert revisions.data(make_nodeset(part=other)) != before
