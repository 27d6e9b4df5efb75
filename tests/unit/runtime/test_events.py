"""Few events out of many happenings, and a recorder that never disturbs."""

import asyncio
import itertools
from contextlib import asynccontextmanager

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from fakes.loop import VirtualLoop
from shoal.kube.kinds import EVENT, NODE, POD
from shoal.kube.objects import Meta, Resource
from shoal.kubeapi.errors import (
    ExistsError,
    ForbiddenError,
    NotFoundError,
    Status,
    UnreachableError,
)
from shoal.runtime import clock, events
from shoal.runtime.errors import DeposedError
from shoal.runtime.events import About, Complaints, Digest, Happening, Post, Recorder, Repeat
from shoal.runtime.store import Store

LOOP = VirtualLoop

FLEET = About(POD, "ns", "fleet", "uid-1")
OTHER = About(POD, "ns", "other", "uid-2")
FAILED = Happening("Failed", "Apply", "refused", type="Warning")


def created(number: int, *, many: str = "created {} pods") -> Happening:
    return Happening("Created", "Create", f"created pod w-{number}", many=many)


def taken(digest: Digest, now: float) -> list[Post | Repeat]:
    """Return what is sent now, and tell the digest that it was."""
    out = digest.take(now)
    for number, item in enumerate(out):
        if isinstance(item, Post):
            digest.sent(item, f"event-{now:g}-{number}", now)
    return out


# -- the digest


def test_a_thousand_pods_created_are_one_event_that_says_so():
    digest = Digest()
    for number in range(1000):
        digest.add(FLEET, created(number), now=number * 0.007)
    (post,) = digest.take(9.0)
    assert (post.note, post.times) == ("created 1000 pods", 1)


def test_one_pod_created_is_named():
    digest = Digest()
    digest.add(FLEET, created(7), 0)
    assert digest.take(2)[0].note == "created pod w-7"


def test_a_number_can_be_told_at_once():
    digest = Digest()
    digest.add(FLEET, created(0), 0, count=1000)
    assert digest.take(2)[0].note == "created 1000 pods"


def test_several_without_words_for_many_still_say_how_many():
    digest = Digest()
    for number in range(3):
        digest.add(FLEET, created(number, many=""), 0)
    (post,) = digest.take(2)
    assert (post.note, post.times) == ("created pod w-0 (and 2 more like it)", 1)


def test_the_same_words_at_once_are_one_event_seen_so_often():
    digest = Digest()
    for _ in range(3):
        digest.add(FLEET, FAILED, 0)
    assert digest.take(2) == [Post((FLEET, "Warning", "Failed", "Apply"), "refused", 3)]


def test_nothing_is_sent_while_more_of_it_comes():
    digest = Digest()
    digest.add(FLEET, FAILED, 0)
    digest.add(FLEET, FAILED, 0.9)
    assert digest.take(1.5) == []


def test_gathering_has_an_end():
    digest = Digest()
    for tenth in range(400):
        digest.add(FLEET, FAILED, tenth / 10)
    assert digest.take(40.0) != []


def test_other_objects_reasons_and_actions_are_other_events():
    digest = Digest()
    for of, what in [
        (FLEET, FAILED),
        (OTHER, FAILED),
        (FLEET, Happening("Failed", "Delete", "refused", type="Warning")),
        (FLEET, Happening("Refused", "Apply", "refused", type="Warning")),
    ]:
        digest.add(of, what, 0)
    assert len(digest.take(2)) == 4


def test_the_same_again_is_counted_in_a_series():
    digest = Digest()
    digest.add(FLEET, FAILED, 0)
    taken(digest, 2)
    digest.add(FLEET, FAILED, 60)
    (repeat,) = taken(digest, 62)
    assert isinstance(repeat, Repeat)
    assert (repeat.name, repeat.times) == ("event-2-0", 2)


def test_a_series_is_told_less_and_less_often():
    digest = Digest()
    told = []
    for second in range(3600):
        digest.add(FLEET, FAILED, second)
        digest.add(FLEET, FAILED, second + 0.01)
        told += [second for item in taken(digest, second) if isinstance(item, Repeat)]
    pauses = [b - a for a, b in itertools.pairwise(told)]
    assert len(told) < 25
    assert max(pauses) <= events.LONGEST_PAUSE_S + events.LONGEST_GATHER_S


def test_a_series_that_was_silent_begins_anew():
    digest = Digest()
    digest.add(FLEET, FAILED, 0)
    taken(digest, 2)
    digest.add(FLEET, FAILED, 2 + events.SERIES_S + 1)
    (item,) = taken(digest, 500)
    assert isinstance(item, Post)


def test_other_words_are_told_while_the_object_has_tokens():
    digest = Digest()
    notes = []
    for number in range(3):
        digest.add(FLEET, Happening("Failed", "Apply", f"refused by {number}"), 10 * number)
        notes += [item.note for item in taken(digest, 10 * number + 5)]
    assert notes == ["refused by 0", "refused by 1", "refused by 2"]


def test_two_messages_in_turns_are_two_series():
    digest = Digest()
    out = []
    for second in range(0, 300, 5):
        digest.add(FLEET, Happening("Failed", "Apply", f"refused by {second % 2}"), second)
        out += taken(digest, second + 2)
    assert sum(isinstance(item, Post) for item in out) == 2


def test_an_object_whose_words_always_change_runs_out_of_tokens_but_is_counted():
    digest = Digest()
    posts, repeats = [], []
    for second in range(0, 600, 2):
        digest.add(FLEET, Happening("Failed", "Apply", f"try {second}"), second)
        for item in taken(digest, second + 1.5):
            (posts if isinstance(item, Post) else repeats).append(item)
    assert events.BURST <= len(posts) <= events.BURST + 3
    assert repeats[-1].times > 100
    assert digest.dropped == 0


def spend(digest: Digest, now: float) -> float:
    """Let the fleet use all its tokens up, and return the time by then."""
    for number in range(events.BURST):
        digest.add(FLEET, Happening("Failed", "Apply", f"try {number}"), now)
        taken(digest, now + 1.5)
        now += 2
    return now


def test_tokens_come_back_one_by_one():
    digest = Digest()
    now = spend(digest, 0) + events.REFILL_S
    for number in range(5):
        digest.add(FLEET, Happening("Failed", "Apply", f"later {number}"), now)
        posts = [item for item in taken(digest, now + 1.5) if isinstance(item, Post)]
        assert len(posts) == (number == 0)
        now += 2


def test_tokens_do_not_pile_up():
    digest = Digest()
    now = spend(digest, 0) + 100 * events.BURST * events.REFILL_S
    now = spend(digest, now)
    digest.add(FLEET, Happening("Failed", "Apply", "one more"), now)
    assert not [item for item in taken(digest, now + 1.5) if isinstance(item, Post)]


def test_what_has_neither_a_token_nor_a_series_is_counted_as_lost():
    digest = Digest()
    now = spend(digest, 0)
    digest.add(FLEET, Happening("Refused", "Apply", "something new"), now, count=3)
    assert taken(digest, now + 1.5) == []
    assert digest.dropped == 3


def test_a_series_is_told_though_nothing_more_happens():
    digest = Digest()
    digest.add(FLEET, FAILED, 0)
    taken(digest, 2)
    assert digest.next_in(2) is None
    digest.add(FLEET, FAILED, 2)
    taken(digest, 3)
    digest.add(FLEET, FAILED, 3.1)  # too soon after the last telling
    assert taken(digest, 4.2) == []
    wait_s = digest.next_in(4.2)
    assert 0 < wait_s <= 2 * events.GATHER_S
    assert [item.times for item in taken(digest, 4.2 + wait_s)] == [3]


def test_an_event_that_is_gone_is_not_told_of_again():
    digest = Digest()
    digest.add(FLEET, FAILED, 0)
    taken(digest, 2)
    digest.add(FLEET, FAILED, 60)
    (repeat,) = digest.take(62)
    digest.add(FLEET, FAILED, 62.5)
    assert digest.take(63.6) == []  # counted, to be told later
    post = digest.lost(repeat)
    assert digest.take(80) == []
    assert (post.note, post.times) == ("refused", 3)
    digest.sent(post, "anew", 81)
    digest.add(FLEET, FAILED, 82)
    assert {item.name for item in taken(digest, 90)} == {"anew"}


def test_whoever_still_speaks_is_remembered_longest():
    digest = Digest()
    old = FAILED
    for number in range(events.MOST_REMEMBERED + 10):
        digest.add(About(POD, "ns", f"p-{number}", str(number)), old, 0)
        if number % 500 == 0:
            digest.add(FLEET, old, 0)
        taken(digest, 2)
    digest.add(FLEET, old, 2)
    assert [type(item) for item in taken(digest, 10)] == [Repeat]


def test_the_last_words_are_known_until_they_are_forgotten():
    digest = Digest()
    for now, words in ((0, "first"), (10, "second")):
        digest.add(FLEET, Happening("Failed", "Apply", words), now)
        taken(digest, now + 2)
    topic = (FLEET, "Normal", "Failed", "Apply")
    digest.lost(Repeat(topic, "first", 1, "x"))
    assert digest._latest[topic] == "second"
    digest.lost(Repeat(topic, "second", 1, "x"))
    assert topic not in digest._latest


def test_one_object_without_tokens_does_not_silence_another():
    digest = Digest()
    for second in range(0, 200, 2):
        digest.add(FLEET, Happening("Failed", "Apply", f"try {second}"), second)
        taken(digest, second + 1.5)
    digest.add(OTHER, FAILED, 300)
    assert [item.topic[0] for item in taken(digest, 302) if isinstance(item, Post)] == [OTHER]


def test_what_finds_no_room_is_counted():
    digest = Digest()
    for number in range(events.MOST_PENDING + 5):
        digest.add(About(POD, "ns", f"p-{number}", str(number)), FAILED, 0)
    assert digest.dropped == 5
    assert len(digest.take(2)) == events.MOST_PENDING


def test_what_is_remembered_has_a_bound():
    digest = Digest()
    for number in range(3 * events.MOST_REMEMBERED):
        digest.add(About(POD, "ns", f"p-{number}", str(number)), FAILED, number)
        taken(digest, number + 2)
    sizes = [len(digest._series), len(digest._latest), len(digest._buckets)]
    assert max(sizes) <= events.MOST_REMEMBERED


@given(
    st.lists(
        st.tuples(
            st.sampled_from([FLEET, OTHER]),
            st.sampled_from(["Failed", "Refused"]),
            st.floats(0, 400, allow_nan=False),
        ),
        max_size=60,
    )
)
def test_nothing_is_lost_and_nothing_is_told_twice(happenings):
    digest, now, told = Digest(), 0.0, {}
    for of, reason, wait in happenings:
        digest.add(of, Happening(reason, "Apply", "the same words"), now)
        now += wait
        tell(digest, digest.take(now), now, told)
    tell(digest, digest.take(now, all_of_it=True), now, told)
    assert sum(told.values()) + digest.dropped == len(happenings)


def tell(digest: Digest, out: list[Post | Repeat], now: float, told: dict[str, int]) -> None:
    for number, item in enumerate(out):
        if isinstance(item, Post):
            name = f"event-{now}-{number}-{len(told)}"
            digest.sent(item, name, now)
            told[name] = item.times
        else:
            assert item.times > told[item.name]
            told[item.name] = item.times


# -- the recorder


def refused(kind: type[Exception]) -> Exception:
    return kind("POST /events", Status(message="no"))


class Wire:
    """Takes events as the API server does, and fails as it is told to."""

    def __init__(self, *failures: Exception | None) -> None:
        self.failures = list(failures)
        self.created: list[dict] = []
        self.patched: list[tuple[str, dict]] = []

    def fail(self) -> None:
        if self.failures and (failure := self.failures.pop(0)):
            raise failure

    async def create(self, kind, obj, _type):
        assert kind is EVENT
        self.fail()
        self.created.append(obj)

    async def patch(self, what, change, _type):
        self.fail()
        self.patched.append((what.name, change))


@asynccontextmanager
async def recording(wire: Wire):
    recorder = Recorder("shoal", "pod-1")
    task = asyncio.create_task(recorder.run(wire))
    yield recorder
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_an_event_has_all_that_the_api_wants():
    async with recording(wire := Wire()) as recorder:
        recorder.record(FLEET, created(1), 1000)
        await clock.sleep(3)
    (event,) = wire.created
    name, stamp = event["metadata"].pop("name"), event.pop("eventTime")
    assert name.startswith("fleet.")
    assert len(stamp) == len("2026-01-01T00:00:00.000000Z")
    assert event == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"namespace": "ns"},
        "reportingController": "shoal",
        "reportingInstance": "pod-1",
        "action": "Create",
        "reason": "Created",
        "note": "created 1000 pods",
        "type": "Normal",
        "regarding": {
            "apiVersion": "v1", "kind": "Pod", "namespace": "ns", "name": "fleet", "uid": "uid-1",
        },
    }  # fmt: skip


async def test_an_event_of_an_object_without_namespace_is_in_default():
    async with recording(wire := Wire()) as recorder:
        recorder.record(About(NODE, "", "n0", "uid"), FAILED)
        await clock.sleep(3)
    assert wire.created[0]["metadata"]["namespace"] == "default"


async def test_a_repetition_is_a_patch_of_the_series():
    async with recording(wire := Wire()) as recorder:
        for _ in range(3):
            recorder.record(FLEET, FAILED)
            await clock.sleep(20)
    assert len(wire.created) == 1
    name, change = wire.patched[-1]
    assert name == wire.created[0]["metadata"]["name"]
    assert change["series"]["count"] == 3


async def test_an_event_that_the_api_server_forgot_is_made_anew():
    async with recording(wire := Wire(None, refused(NotFoundError))) as recorder:
        recorder.record(FLEET, FAILED)
        await clock.sleep(20)
        recorder.record(FLEET, FAILED)
        await clock.sleep(20)
    assert [event.get("series", {}).get("count") for event in wire.created] == [None, 2]


async def test_a_lost_line_is_tried_again():
    async with recording(wire := Wire(UnreachableError("reset"))) as recorder:
        recorder.record(FLEET, FAILED)
        await clock.sleep(20)
    assert len(wire.created) == 1


async def test_an_event_whose_answer_was_lost_is_not_made_twice():
    async with recording(Wire(UnreachableError("reset"), refused(ExistsError))) as recorder:
        recorder.record(FLEET, FAILED)
        await clock.sleep(20)
        assert recorder.tally == {"recorded": 1, "sent": 1, "dropped": 0}


@pytest.mark.parametrize("failure", [refused(ForbiddenError), DeposedError("we do not lead")])
async def test_what_cannot_be_sent_is_counted_and_does_not_stop_the_rest(failure):
    async with recording(wire := Wire(failure)) as recorder:
        recorder.record(FLEET, FAILED)
        await clock.sleep(5)
        recorder.record(OTHER, FAILED)
        await clock.sleep(5)
        assert recorder.tally == {"recorded": 2, "sent": 1, "dropped": 1}
    assert len(wire.created) == 1


async def test_nothing_that_happened_is_no_event():
    async with recording(wire := Wire()) as recorder:
        recorder.record(FLEET, FAILED, 0)
        await clock.sleep(5)
        assert recorder.tally["recorded"] == 0
    assert wire.created == []


async def test_the_same_failure_is_complained_of_once_until_an_event_is_sent_again():
    no = [refused(ForbiddenError)] * 3
    with structlog.testing.capture_logs() as logged:
        async with recording(Wire(*no, None, refused(ForbiddenError))) as recorder:
            for number in range(5):
                recorder.record(About(POD, "ns", f"p-{number}", str(number)), FAILED)
                await clock.sleep(5)
    assert [(entry["event"], entry["about"]) for entry in logged] == [
        ("event not sent", "p-0"),
        ("event not sent", "p-4"),
    ]


async def test_that_we_no_longer_lead_is_no_complaint():
    with structlog.testing.capture_logs() as logged:
        async with recording(Wire(DeposedError("we do not lead"))) as recorder:
            recorder.record(FLEET, FAILED)
            await clock.sleep(5)
    assert logged == []
    assert recorder.tally["dropped"] == 1


async def test_a_repetition_is_told_without_further_news():
    async with recording(wire := Wire()) as recorder:
        recorder.record(FLEET, FAILED)
        await clock.sleep(3)
        for _ in range(2):
            recorder.record(FLEET, FAILED)
            await clock.sleep(1.1)
        await clock.sleep(30)
    assert wire.patched[-1][1]["series"]["count"] == 3


async def test_what_waits_is_sent_at_the_end():
    recorder, wire = Recorder(), Wire()
    recorder.record(FLEET, FAILED)
    await recorder.flush(wire)
    assert len(wire.created) == 1


async def test_the_end_does_not_wait_for_ever():
    recorder = Recorder()
    recorder.record(FLEET, FAILED)
    began = clock.ticks()
    await recorder.flush(Wire(*[UnreachableError("down")] * 9))
    assert clock.ticks() - began <= events.FLUSH_S


async def test_a_note_is_cut_to_what_the_api_server_takes():
    async with recording(wire := Wire()) as recorder:
        recorder.record(FLEET, Happening("Failed", "Apply", "ä" * 2000))
        await clock.sleep(3)
    assert len(wire.created[0]["note"].encode()) <= events.NOTE_BYTES


async def test_a_recorder_without_news_sleeps():
    async with recording(Wire()) as recorder:
        recorder.record(FLEET, FAILED)
        await clock.sleep(30)
        assert recorder._digest.next_in(clock.ticks()) is None


async def test_a_key_that_gets_nowhere_is_told_at_its_object():
    store = Store(POD, Resource)
    store.put(Resource(Meta(name="w-0", namespace="ns", uid="u", resource_version="1")))
    async with recording(wire := Wire()) as recorder:
        complaints = Complaints(recorder, {"pods": store})
        complaints.stuck("pods", ("ns", "w-0"), 700.0, "PATCH /x: no")
        complaints.stuck("pods", ("ns", "gone"), 700.0, "PATCH /x: no")
        complaints.stuck("another", ("ns", "w-0"), 700.0, "PATCH /x: no")
        await clock.sleep(3)
    (event,) = wire.created
    assert (event["reason"], event["type"], event["note"]) == (
        "NoProgress",
        "Warning",
        "PATCH /x: no",
    )
