"""Revisions: what is kept of a NodeSet's wishes, and which of them its workers are made of."""

from dataclasses import replace
from typing import Any

import pytest

from shoal.decide.revisions import (
    CreateRevision,
    DeleteRevision,
    Past,
    RenumberRevision,
    Revised,
    hashed_as,
    revise,
)
from shoal.kube.objects import Meta, OwnerReference
from shoal.kube.revisions import HASH, ControllerRevision
from shoal.model.nodeset import NodeSet
from shoal.model.part import Part

SELECTOR = {"app.kubernetes.io/name": "slurmd", "app.kubernetes.io/instance": "w"}
UID = "u-1"


def make_nodeset(keep: int = 10) -> NodeSet:
    return NodeSet(Part("w", "n", SELECTOR, SELECTOR), "w", "w-", "s", "b", revisions=keep)


def wishes(image: str = "one", **more: Any) -> dict[str, Any]:
    return {"containers": {"slurmd": {"image": image}}, "labels": {}, "ssh": None, **more}


class World:
    """Does what is decided, and remembers."""

    def __init__(self, keep: int = 10) -> None:
        self.nodeset = make_nodeset(keep)
        self.revisions: dict[str, ControllerRevision] = {}
        self.workers: list[str] = []
        self.collisions = 0
        self.made = 0

    def step(self, data: dict[str, Any]) -> Revised:
        past = Past(tuple(self.revisions.values()), tuple(self.workers), self.collisions)
        revised = revise(self.nodeset, UID, data, past)
        self.collisions = revised.collisions
        for action in revised.plan:
            match action:
                case CreateRevision(_, name, hashed, number):
                    assert name not in self.revisions
                    self.keep(name, hashed, number, data)
                case RenumberRevision(_, name, uid, number, adopt):
                    found = self.revisions[name]
                    assert found.metadata.uid == uid
                    owner = UID if adopt else found.metadata.owner_references[0].uid
                    self.keep(name, found.hash, number, found.data, owner)
                case DeleteRevision(_, name, uid):
                    assert self.revisions.pop(name).metadata.uid == uid
        return revised

    def keep(
        self, name: str, hashed: str, number: int, data: Any, owner: str = UID, **more: Any
    ) -> None:
        self.made += 1
        owners = (OwnerReference("NodeSet", "w", owner, controller=True),) if owner else ()
        meta = Meta(
            name=name,
            namespace="n",
            uid=f"uid of {name}",
            labels={**SELECTOR, HASH: hashed},
            owner_references=owners,
            **more,
        )
        self.revisions[name] = ControllerRevision(meta, number, data)

    @property
    def numbers(self) -> dict[str, int]:
        """The numbers of the images that are remembered."""
        told = {
            r.data["containers"]["slurmd"]["image"]: r.revision for r in self.revisions.values()
        }
        return dict(sorted(told.items()))


def test_the_first_wishes_become_the_first_revision():
    world = World()
    revised = world.step(wishes())
    hashed = hashed_as(wishes(), 0)
    assert revised.plan == (CreateRevision("the first of its NodeSet", f"w-{hashed}", hashed, 1),)
    assert (revised.update, revised.current, revised.collisions) == (hashed, hashed, 0)


def test_nothing_is_done_when_nothing_changed():
    world = World(keep=0)
    first = world.step(wishes())
    for _ in range(3):
        assert world.step(wishes()) == replace(first, plan=())


def test_numbers_rise_with_each_change():
    """Upstream lists its revisions by labels that they do not have, so each is number one."""
    world = World()
    for image in ("one", "two", "three"):
        world.step(wishes(image))
    assert world.numbers == {"one": 1, "three": 3, "two": 2}


def test_the_current_revision_is_the_old_one_until_its_last_worker_is_gone():
    """Upstream's current one always equals the one to update to."""
    world = World()
    one = world.step(wishes("one")).update
    world.workers = [one, one]
    two = world.step(wishes("two"))
    assert (two.update == one, two.current) == (False, one)
    world.workers = [two.update, one]
    assert world.step(wishes("two")).current == one
    world.workers = [two.update, two.update]
    assert world.step(wishes("two")).current == two.update


def test_old_wishes_get_their_old_revision_back_under_the_highest_number():
    world = World()
    one = world.step(wishes("one")).update
    world.step(wishes("two"))
    back = world.step(wishes("one"))
    assert back.plan == (
        RenumberRevision("the user wants what was before", f"w-{one}", f"uid of w-{one}", 3),
    )
    assert back.update == one
    assert world.numbers == {"one": 3, "two": 2}
    assert world.step(wishes("one")).plan == ()


@pytest.mark.parametrize(("keep", "left"), [(0, 1), (2, 3), (9, 6), (-1, 1)])
def test_the_oldest_beyond_the_limit_are_forgotten(keep, left):
    """Upstream never shortens its history."""
    world = World(keep)
    for number in range(6):
        world.step(wishes(str(number)))
    world.step(wishes("5"))
    assert list(world.numbers) == [str(number) for number in range(6)][-left:]


def test_a_revision_is_never_forgotten_while_a_worker_is_of_it_or_it_is_wanted():
    world = World(keep=0)
    one = world.step(wishes("one")).update
    world.workers = [one]
    two = world.step(wishes("two")).update
    world.workers = [one, two]
    three = world.step(wishes("three"))
    assert [a for a in three.plan if isinstance(a, DeleteRevision)] == []
    world.workers = [three.update]
    assert len(world.step(wishes("three")).plan) == 2
    assert world.numbers == {"three": 3}


def test_a_name_that_somebody_else_has_is_passed_over_and_counted():
    world = World()
    hashed = hashed_as(wishes(), 0)
    world.keep(f"w-{hashed}", hashed, 7, wishes("other"), owner="somebody")
    revised = world.step(wishes())
    assert revised.collisions == 1
    assert revised.update == hashed_as(wishes(), 1) != hashed
    assert revised.plan[0].number == 1
    assert world.step(wishes()).plan == ()
    # Equal wishes of somebody else's are somebody else's.
    assert world.revisions[f"w-{hashed}"].revision == 7


def test_a_clash_with_other_wishes_of_our_own_is_a_clash():
    world = World()
    hashed = hashed_as(wishes(), 0)
    world.keep(f"w-{hashed}", hashed, 4, wishes("other"))
    revised = world.step(wishes())
    assert (revised.collisions, revised.plan[0].number) == (1, 5)


def test_a_name_that_is_about_to_go_is_not_taken_again():
    world = World()
    hashed = hashed_as(wishes(), 0)
    world.keep(f"w-{hashed}", hashed, 4, wishes(), deletion_timestamp="2026-01-01T00:00:00Z")
    assert world.step(wishes()).update == hashed_as(wishes(), 1)


def test_the_hash_of_a_revision_is_the_name_it_was_given_once():
    """Whatever a later version of ours would call it, its workers stay."""
    world = World()
    world.keep("w-abc", "abc", 3, wishes())
    world.workers = ["abc"]
    assert world.step(wishes()) == Revised("abc", "abc", 0)


@pytest.mark.parametrize("nothing", [None, {}, [], "", 0, False])
def test_a_wish_that_a_later_version_knows_of_replaces_no_worker_while_nobody_has_it(nothing):
    world = World()
    before = world.step(wishes())
    assert world.step(wishes(invented=nothing)) == replace(before, plan=())
    assert world.step(wishes(invented="now")).update != before.update


def test_what_the_api_server_makes_of_the_data_is_the_same_data():
    world = World()
    told = wishes(ssh=("a", "b"), spec={"x": 1, "y": [1, 2]})
    before = world.step(told)
    (name,) = world.revisions
    stored = dict(reversed(wishes(ssh=["a", "b"], spec={"y": [1, 2], "x": 1}).items()))
    world.keep(name, before.update, 1, stored)
    assert world.step(told).plan == ()


def test_an_orphan_with_the_same_wishes_is_taken_over_with_its_workers():
    world = World()
    world.keep("w-abc", "abc", 3, wishes(), owner="")
    world.workers = ["abc"]
    revised = world.step(wishes())
    assert revised.plan == (
        RenumberRevision("it is nobody's", "w-abc", "uid of w-abc", 3, adopt=True),
    )
    assert revised.update == "abc"
    assert world.step(wishes()).plan == ()


def test_an_orphan_is_not_forgotten_as_it_is_not_ours():
    world = World(keep=0)
    world.keep("w-abc", "abc", 3, wishes("old"), owner="")
    revised = world.step(wishes())
    assert [type(action) for action in revised.plan] == [CreateRevision]
    assert revised.plan[0].number == 4


def test_of_two_with_the_same_wishes_the_one_of_most_workers_is_kept():
    world = World()
    world.keep("w-abc", "abc", 1, wishes())
    world.keep("w-def", "def", 2, wishes())
    world.workers = ["abc", "abc", "def"]
    assert world.step(wishes()).update == "abc"
    assert {name: one.revision for name, one in world.revisions.items()} == {"w-abc": 3, "w-def": 2}
    assert world.step(wishes()).plan == ()


@pytest.mark.parametrize("data", [None, "text", [1], {"spec": {"template": {}}}])
def test_data_that_is_not_ours_is_no_match_and_no_error(data):
    world = World()
    world.keep("w-abc", "abc", 1, data)
    assert isinstance(world.step(wishes()).plan[0], CreateRevision)


def test_a_history_that_is_cut_short_anywhere_comes_to_the_same_end():
    images = ["one", "two", "one", "three", "four", "one"]
    whole = World(keep=2)
    for image in images:
        whole.step(wishes(image))
    cut = World(keep=2)
    for image in images:
        past = Past(tuple(cut.revisions.values()), ())
        # Only the first action is carried out before the pass is ended.
        for action in revise(cut.nodeset, UID, wishes(image), past).plan[:1]:
            if isinstance(action, CreateRevision):
                cut.keep(action.name, action.hash, action.number, wishes(image))
        cut.step(wishes(image))
    assert cut.numbers == whole.numbers
