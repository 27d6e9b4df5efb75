"""Reservations: read everywhere, written where slurmrestd can."""

import math

import pytest

from fakes.loop import VirtualLoop
from fakes.slurmrestd.clients import fake_client
from fakes.slurmrestd.slurm import FakeSlurm
from shoal.slurmapi.errors import NotFoundError
from shoal.slurmapi.reservations import ReservationWish

LOOP = VirtualLoop
START = 1_900_000_000
WISH = ReservationWish(
    "m1", START, 60, ("w-[0-1]",), users=("root", "slurm"), flags=("MAINT", "IGNORE_JOBS")
)


def make(series: str = "26.05") -> FakeSlurm:
    slurm = FakeSlurm(series)
    slurm.slurmctld.add("w-[0-3]")
    return slurm


@pytest.mark.parametrize("series", ["24.11", "26.05"])
async def test_a_reservation_is_read_with_its_lists_as_strings(series):
    slurm = make(series)
    slurm.slurmctld.reserve("root", WISH.body())
    client = fake_client(slurm)
    seen = await client.reservations.one("m1")
    assert (seen.node_list, seen.users, seen.node_count) == ("w-0,w-1", "root,slurm", 2)
    assert set(seen.flags) == {"MAINT", "IGNORE_JOBS", "SPEC_NODES"}
    assert (seen.start_time.time, seen.end_time.time) == (START, START + 3600)
    assert [one.name for one in await client.reservations.all()] == ["m1"]


@pytest.mark.parametrize("series", ["24.11", "26.05"])
async def test_a_reservation_that_is_not_there_is_an_error_or_none(series):
    client = fake_client(make(series))
    with pytest.raises(NotFoundError, match="GET /reservation/nope: "):
        await client.reservations.one("nope")
    assert await client.reservations.find("nope") is None


async def test_a_reservation_is_made_changed_and_deleted():
    slurm = make()
    client = fake_client(slurm)
    await client.reservations.write(WISH)
    await client.reservations.write(ReservationWish("m1", START, math.inf, ("w-2",), ("root",)))
    seen = await client.reservations.one("m1")
    assert (seen.node_list, seen.end_time.value) == ("w-2", math.inf)
    await client.reservations.delete("m1")
    assert await client.reservations.all() == []
    with pytest.raises(NotFoundError):
        await client.reservations.delete("m1")


def test_an_empty_list_is_left_out_of_what_is_written():
    body = ReservationWish("m", START, 60, users=("root",)).body()
    assert set(body) == {"name", "start_time", "duration", "users"}


def test_a_time_that_is_left_out_stays_as_it_is():
    assert ReservationWish("m", node_list=("w-0",)).body() == {"name": "m", "node_list": ("w-0",)}
