"""The store: a cache that never looks back, whatever the order in which news arrive."""

import itertools
from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from shoal.kube import kinds
from shoal.kube.objects import Key, Meta, OwnerReference, Resource
from shoal.runtime.store import OWNER, Store, Synced


def thing(name: str, version: int, uid: str = "", *, owner: str = "", namespace: str = "n"):
    """Make an object; without a `uid` it is the first of its name."""
    owners = (OwnerReference("Parent", owner, owner, "x/v1", controller=True),) if owner else ()
    return Resource(
        Meta(
            name=name,
            namespace=namespace,
            uid=uid or f"uid-of-{name}",
            resource_version=str(version),
            owner_references=owners,
        )
    )


def make_store(*objects: Resource, **indexes) -> Store[Resource]:
    store = Store(kinds.POD, Resource, indexes)
    for obj in objects:
        store.put(obj)
    return store


def heard(store: Store[Resource]) -> list[tuple[str | None, str | None]]:
    """Return a list that grows with every change: the versions before and after."""
    told: list = []
    store.listen(lambda *seen: told.append(tuple(s and s.metadata.resource_version for s in seen)))
    return told


def test_a_listener_hears_first_what_is_there_already():
    assert heard(make_store(thing("a", 1), thing("b", 2))) == [(None, "1"), (None, "2")]


def test_an_older_version_changes_nothing():
    store = make_store(thing("a", 5))
    told = heard(store)
    store.put(thing("a", 4))
    store.put(thing("a", 5))
    assert store.get(("n", "a")).version == 5
    assert told == [(None, "5")]


def test_a_late_deletion_of_a_predecessor_leaves_the_successor_alone():
    store = make_store(thing("a", 5, "new"))
    store.remove(thing("a", 4, "old"))
    assert store.get(("n", "a")).metadata.uid == "new"


def test_after_our_deletion_late_news_of_the_object_do_not_bring_it_back():
    store = make_store(thing("a", 1))
    store.removed_by_us(("n", "a"), "uid-of-a")
    store.put(thing("a", 2))
    assert store.get(("n", "a")) is None


def test_the_answer_to_a_write_does_not_bring_back_what_the_watch_saw_deleted():
    store = make_store()
    store.put(thing("a", 7))
    store.remove(thing("a", 9))
    store.put(thing("a", 8))  # our write came between, its answer comes last
    assert store.get(("n", "a")) is None


def test_a_predecessor_does_not_come_back_once_its_successor_is_gone_too():
    store = make_store(thing("a", 1, "old"))
    store.put(thing("a", 5, "new"))
    store.removed_by_us(("n", "a"), "new")
    store.put(thing("a", 2, "old"))
    assert store.get(("n", "a")) is None


def test_the_answer_to_a_write_does_not_bring_back_what_a_later_list_did_not_find():
    store = make_store()
    store.replace({}, "", 10)
    store.put(thing("a", 8))
    assert store.get(("n", "a")) is None
    store.put(thing("a", 11))
    assert store.get(("n", "a")).version == 11


def test_a_deletion_missed_while_the_watch_was_cut_is_told():
    store = make_store(thing("a", 1), thing("b", 2))
    told = heard(store)
    store.replace({("n", "b"): thing("b", 2)}, "", 9)
    assert told[2:] == [("1", None)]


def test_a_list_that_brings_nothing_new_tells_nothing():
    store = make_store(thing("a", 1), thing("b", 2))
    told = heard(store)
    store.replace({("n", "a"): thing("a", 1), ("n", "b"): thing("b", 2)}, "", 9)
    assert len(told) == 2


def test_what_we_wrote_after_a_list_was_made_outlives_the_list():
    store = make_store(thing("a", 12))
    store.replace({}, "", 10)
    assert store.get(("n", "a")).version == 12


def test_a_list_made_before_we_made_an_object_anew_does_not_bring_the_old_one_back():
    store = make_store(thing("a", 3, "old"))
    store.removed_by_us(("n", "a"), "old")
    store.put(thing("a", 12, "new"))
    store.replace({("n", "a"): thing("a", 3, "old")}, "", 10)
    assert store.get(("n", "a")).metadata.uid == "new"


def test_a_list_of_one_namespace_leaves_the_others_alone():
    store = make_store(thing("a", 1, namespace="n"), thing("a", 2, namespace="m"))
    store.replace({}, "n", 9)
    assert [obj.key for obj in store] == [("m", "a")]


def test_objects_are_found_by_their_owner():
    store = make_store(thing("a", 1, owner="p"), thing("b", 2, owner="q"), thing("c", 3, owner="p"))
    assert [obj.metadata.name for obj in store.owned_by("p")] == ["a", "c"]
    assert store.owned_by("nobody") == []


def test_an_object_that_changed_hands_is_found_by_the_new_owner_only():
    store = make_store(thing("a", 1, owner="p"))
    store.put(thing("a", 2, owner="q"))
    assert store.owned_by("p") == []
    assert len(store.owned_by("q")) == 1


def test_a_user_defined_index_may_give_several_values():
    store = make_store(thing("ab", 1), thing("bc", 2), letter=lambda obj: list(obj.metadata.name))
    assert [obj.metadata.name for obj in store.by("letter", "b")] == ["ab", "bc"]
    assert [obj.metadata.name for obj in store.by("letter", "c")] == ["bc"]


def test_a_listener_may_change_the_store_while_it_is_told():
    store = make_store(thing("a", 1), thing("b", 2))
    store.listen(lambda _, after: after and store.removed_by_us(after.key, after.metadata.uid))
    assert len(store) == 0


def test_synced_is_when_the_last_one_is():
    synced = Synced(2)
    synced.one()
    assert not synced.all
    synced.one()
    assert synced.all
    assert Synced(0).all


# -- properties: a world, a watch that lags behind it, and answers to our writes in any order

NAMES, SPACES, OWNERS = "abc", ("n", "m"), ("p", "q")
keys = st.tuples(st.sampled_from(SPACES), st.sampled_from(NAMES))


@dataclass
class Line:
    """One reflector: how far it has come, and the list it is about to hand over."""

    cursor: int = 0
    listed: tuple[dict[Key, Resource], int] | None = None


@dataclass
class World:
    """The API server: objects, and everything that ever happened to them."""

    objects: dict[Key, Resource] = field(default_factory=dict)
    log: list[tuple[str, Resource]] = field(default_factory=list)
    version: int = 10
    uids: itertools.count = field(default_factory=itertools.count)

    def write(self, key: Key, owner: str) -> Resource:
        known = self.objects.get(key)
        uid = known.metadata.uid if known else f"u{next(self.uids)}"
        self.version += 1
        obj = thing(key[1], self.version, uid, owner=owner, namespace=key[0])
        self.objects[key] = obj
        self.log.append(("put", obj))
        return obj

    def delete(self, key: Key) -> Resource:
        self.version += 1
        last = self.objects.pop(key)
        uid = last.metadata.uid
        self.log.append(("gone", thing(key[1], self.version, uid, namespace=key[0])))
        return last


class StoreAgainstTheWorld(RuleBasedStateMachine):
    """Whatever the interleaving: never back in time, nothing missed, indexes as recomputed."""

    @initialize(per_namespace=st.booleans())
    def begin(self, per_namespace):
        self.world = World()
        self.store = make_store()
        self.lines = {space: Line() for space in (SPACES if per_namespace else ("",))}
        self.answers: list[tuple[str, Resource]] = []
        self.told: dict[Key, Resource] = {}
        self.high: dict[str, int] = {}  # uid -> the newest version the store has shown
        self.ended: set[str] = set()  # uids that were there and went
        self.store.listen(self.hear)
        for space in self.lines:
            self.relist(space)

    def hear(self, before, after):
        key = (before or after).key
        assert self.told.get(key) == before, "a listener was told a past that it did not know"
        if before is not None and (after is None or after.metadata.uid != before.metadata.uid):
            self.ended.add(before.metadata.uid)
        if after is None:
            del self.told[key]
            return
        uid = after.metadata.uid
        assert uid not in self.ended, "came back from the dead"
        assert after.version > self.high.get(uid, 0), "went back in time"
        self.high[uid] = after.version
        self.told[key] = after

    # -- the world moves

    @rule(key=keys, owner=st.sampled_from(OWNERS))
    def somebody_writes(self, key, owner):
        self.world.write(key, owner)

    @rule(key=keys)
    def somebody_deletes(self, key):
        if key in self.world.objects:
            self.world.delete(key)

    @rule(key=keys, owner=st.sampled_from(OWNERS))
    def we_write(self, key, owner):
        self.answers.append(("wrote", self.world.write(key, owner)))

    @rule(key=keys)
    def we_delete_what_we_see(self, key):
        seen, there = self.store.get(key), self.world.objects.get(key)
        if seen and there and seen.metadata.uid == there.metadata.uid:
            self.answers.append(("deleted", self.world.delete(key)))

    # -- the news arrive

    @precondition(lambda self: self.answers)
    @rule(data=st.data())
    def an_answer_arrives(self, data):
        which = data.draw(st.integers(0, len(self.answers) - 1))
        what, obj = self.answers.pop(which)
        if what == "wrote":
            self.store.put(obj)
            # Read your writes: it is there, or was deleted and the store knows.
            seen = self.store.get(obj.key)
            if obj.metadata.uid not in self.ended and self.world.objects.get(obj.key) == obj:
                assert seen is not None
                assert seen.version >= obj.version
        else:
            self.store.removed_by_us(obj.key, obj.metadata.uid)
            self.ended.add(obj.metadata.uid)
            seen = self.store.get(obj.key)
            assert seen is None or seen.metadata.uid != obj.metadata.uid

    @rule(data=st.data())
    def the_watch_delivers(self, data):
        space = data.draw(st.sampled_from(sorted(self.lines)))
        line = self.lines[space]
        if line.listed is None:
            self.deliver(space, line, data.draw(st.integers(1, 4)))

    def deliver(self, space: str, line: Line, count: int):
        for what, obj in self.world.log[line.cursor : line.cursor + count]:
            if space in ("", obj.metadata.namespace):
                self.store.put(obj) if what == "put" else self.store.remove(obj)
        line.cursor = min(line.cursor + count, len(self.world.log))

    @rule(data=st.data())
    def a_list_is_made(self, data):
        space = data.draw(st.sampled_from(sorted(self.lines)))
        there = {k: o for k, o in self.world.objects.items() if space in ("", k[0])}
        self.lines[space].listed = (there, self.world.version)
        self.lines[space].cursor = len(self.world.log)

    @rule(data=st.data(), back=st.integers(1, 6))
    def a_list_from_the_past_is_made(self, data, back):
        """Another replica of the API server answers, and it lags behind."""
        space = data.draw(st.sampled_from(sorted(self.lines)))
        past = self.world.log[: max(len(self.world.log) - back, 0)]
        there: dict[Key, Resource] = {}
        for what, obj in past:
            there.pop(obj.key, None)
            if what == "put" and space in ("", obj.metadata.namespace):
                there[obj.key] = obj
        version = past[-1][1].version if past else 10
        self.lines[space].listed = (there, version)
        self.lines[space].cursor = len(past)

    @rule(data=st.data())
    def a_list_arrives(self, data):
        space = data.draw(st.sampled_from(sorted(self.lines)))
        if (line := self.lines[space]).listed is not None:
            there, version = line.listed
            self.store.replace(there, space, version)
            line.listed = None

    def relist(self, space: str):
        there = {k: o for k, o in self.world.objects.items() if space in ("", k[0])}
        self.store.replace(there, space, self.world.version)

    # -- what holds

    @invariant()
    def what_listeners_were_told_is_what_the_store_has(self):
        if hasattr(self, "store"):
            assert self.told == {obj.key: obj for obj in self.store}

    @invariant()
    def the_owner_index_equals_a_recomputation(self):
        if hasattr(self, "store"):
            for owner in OWNERS:
                mine = [o for o in self.store if o.metadata.owner_references[0].uid == owner]
                assert sorted(o.key for o in self.store.owned_by(owner)) == sorted(
                    o.key for o in mine
                )
            assert set(self.store._indexes[OWNER]) <= set(OWNERS)

    def teardown(self):
        if not hasattr(self, "store"):
            return
        for space, line in self.lines.items():
            if line.listed is not None:
                self.store.replace(line.listed[0], space, line.listed[1])
            self.deliver(space, line, len(self.world.log))
        for what, obj in self.answers:
            if what == "wrote":
                self.store.put(obj)
            else:
                self.store.removed_by_us(obj.key, obj.metadata.uid)
        assert {obj.key: obj for obj in self.store} == self.world.objects


TestStoreAgainstTheWorld = StoreAgainstTheWorld.TestCase
TestStoreAgainstTheWorld.settings = settings(max_examples=150, stateful_step_count=40)
