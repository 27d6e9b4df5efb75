"""Trackable resources as Slurm writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.slurm.tres import Tres, parse, write

NAMES = st.sampled_from(
    ["cpu", "mem", "node", "billing", "gres/gpu", "gres/gpu:h200", "license/x", "bb/lustre"]
)
TRES = st.dictionaries(NAMES, st.integers(0, 2**60)).map(Tres)


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        (
            "cpu=4,mem=16G,gres/gpu:h200=8,billing=4",
            {"cpu": 4, "mem": 16 * 1024, "gres/gpu:h200": 8, "billing": 4},
        ),
        (
            "cpu=16,mem=191356M,billing=16,gres/gpu=1",
            {"cpu": 16, "mem": 191356, "billing": 16, "gres/gpu": 1},
        ),
        ("mem=1000", {"mem": 1000}),
        ("mem=1024K", {"mem": 1}),
        ("mem=2T", {"mem": 2 * 1024**2}),
        ("mem=1P", {"mem": 1024**3}),
        ("mem=1.50T", {"mem": 1536 * 1024}),
        ("mem=3.91G", {"mem": 4004}),
        ("mem=2g", {"mem": 2048}),
        ("cpu=2K,gres/shard=1M", {"cpu": 2048, "gres/shard": 1024**2}),
        ("cpu=0", {"cpu": 0}),
        ("", {}),
        ("(null)", {}),
        ("N/A", {}),
    ],
)
def test_resources_are_counted_and_memory_is_in_mib(text, amounts):
    assert parse(text) == amounts


@pytest.mark.parametrize(
    "text",
    ["cpu", "cpu=", "=4", "cpu=abc", "mem=1X", "cpu=-1", "cpu=4,,mem=1", "cpu=4;mem=1", "cpu=4,",
     "cpu= 4", "mem=1GB", "cpu=00:01:00", "cpu=٣"],
)  # fmt: skip
def test_anything_else_is_refused_by_name(text):
    with pytest.raises(ValueError, match="is no TRES: use name=amount") as caught:
        parse(text)
    assert repr(text) in str(caught.value)


def test_a_resource_named_twice_is_refused():
    with pytest.raises(ValueError, match="cpu stands twice"):
        parse("cpu=1,cpu=2")


@pytest.mark.parametrize("name", ["", "a b", "a,b=1", "a=b"])
def test_a_name_that_would_read_as_something_else_is_refused(name):
    with pytest.raises(ValueError, match="is no TRES name"):
        Tres({name: 1})


def test_an_amount_is_never_negative():
    with pytest.raises(ValueError, match="not negative"):
        Tres({"cpu": -1})


@given(TRES)
def test_what_is_written_is_read_as_the_same(tres):
    assert parse(write(tres)) == tres


@given(st.permutations([("gres/gpu", 8), ("billing", 4), ("mem", 2048), ("cpu", 4), ("a/b", 1)]))
def test_the_order_does_not_depend_on_how_it_came_about(amounts):
    assert write(Tres(dict(amounts))) == "cpu=4,mem=2G,billing=4,a/b=1,gres/gpu=8"


@given(TRES, TRES)
def test_adding_is_counting_both(one, other):
    both = one + other
    assert both == other + one
    assert {n: one.amount(n) + other.amount(n) for n in {*one, *other}} == both
    assert one.fits_in(both)


@given(TRES)
def test_nothing_added_is_nothing_changed(tres):
    assert tres + Tres() == tres
    assert sum([tres, tres], Tres()) == tres + tres


def test_something_fits_only_where_there_is_room_for_all_of_it():
    room = parse("cpu=8,mem=16G,gres/gpu=2")
    assert parse("cpu=8,mem=1G").fits_in(room)
    assert Tres().fits_in(room)
    assert not parse("cpu=1,gres/gpu=3").fits_in(room)
    assert not parse("license/x=1").fits_in(room)


@pytest.mark.parametrize(
    ("text", "gpus"),
    [
        ("cpu=1", 0),
        ("gres/gpu=8", 8),
        ("gres/gpu=8,gres/gpu:h200=8", 8),
        ("gres/gpu:h200=6,gres/gpu:a100=2", 8),
        ("gres/gpumem=80", 0),
    ],
)
def test_a_gpu_is_counted_once(text, gpus):
    assert parse(text).gpus == gpus


@given(TRES)
def test_the_same_amounts_are_the_same_key(tres):
    assert len({tres, Tres(dict(reversed([*tres.items()])))}) == 1


def test_it_shows_what_slurm_would():
    assert repr(parse("mem=1G,cpu=1")) == "Tres('cpu=1,mem=1G')"
