"""Maintenance windows: slurmrestd and scontrol make the same reservation of the same decision."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from shoal.controllers import windows as controller
from shoal.decide.windows import (
    CREATED,
    Absence,
    Asked,
    ChangeReservation,
    CreateReservation,
    DeleteReservation,
    Kept,
    keep,
)
from shoal.host.run import Finished
from shoal.kube.conditions import Condition
from shoal.model.nodeset import Window
from shoal.runtime import clock
from shoal.slurm.reservations import Reservation
from shoal.slurmapi.client import Client
from shoal.slurmapi.errors import MissingError, RefusedError
from shoal.slurmapi.versions import Capability

from .places import RealSlurm, Slurm, only_real

NAME = "SlurmOperatorMaint-w"
BOTH, ONE = frozenset({"w-0", "w-1"}), frozenset({"w-0"})


def later(**offset: float) -> datetime:
    return clock.now().replace(microsecond=0) + timedelta(**offset)


def asking(
    start: datetime, nodes: frozenset[str] = BOTH, *flags: str, minutes: float = 30
) -> Asked:
    window = Window(NAME, start, timedelta(minutes=minutes), flags)
    return Asked(NAME, window, nodes, held=True, generation=1)


class Site:
    """Decides and does, by slurmrestd or by scontrol."""

    def __init__(self, slurm: RealSlurm, client: Client) -> None:
        self.slurm, self.client = slurm, client
        self.condition: Condition | None = None

    async def run(self, words: Sequence[str]) -> Finished:
        return self.slurm.lab.run(*words, check=False)

    async def step(self, asked: Asked) -> Kept:
        seen = await controller.look(self.client, asked.name)
        asked = replace(asked, forcible=await controller.forcible(self.client))
        kept = keep(asked, seen, self.condition, clock.now())
        for action in kept.plan:
            assert isinstance(action, CreateReservation | ChangeReservation | DeleteReservation)
            await controller.carry_out(action, self.client, self.run)
        self.condition = kept.condition
        return kept

    async def seen(self) -> Reservation:
        found = await controller.look(self.client, NAME)
        assert isinstance(found, Reservation)
        return found


@pytest.fixture
def site(slurm: Slurm, client: Client) -> Site:
    assert isinstance(slurm, RealSlurm)
    slurm.lab.run("scontrol", "delete", f"ReservationName={NAME}", check=False)
    return Site(slurm, client)


@only_real
async def test_a_window_is_made_kept_changed_and_taken_away(slurm: Slurm, site: Site) -> None:
    # The older has no way but scontrol, the newer one takes slurmrestd.
    assert await site.client.can(Capability.RESERVATION_WRITES) is not slurm.old
    start = later(hours=2)
    asked = asking(start)
    assert [type(a) for a in (await site.step(asked)).plan] == [CreateReservation]
    seen = await site.seen()
    assert (seen.start, seen.duration, seen.nodes) == (start, timedelta(minutes=30), BOTH)
    assert seen.users == {"slurm"}
    assert seen.flags == {"MAINT", "IGNORE_JOBS", "SPEC_NODES"}
    kept = await site.step(asked)
    assert kept.plan == ()
    assert kept.condition is not None
    assert (kept.condition.type, kept.condition.status) == (CREATED, "True")

    moved = asking(start + timedelta(hours=1), ONE, "FLEX", minutes=45)
    assert [type(a) for a in (await site.step(moved)).plan] == [ChangeReservation]
    seen = await site.seen()
    assert (seen.start, seen.duration) == (start + timedelta(hours=1), timedelta(minutes=45))
    assert (seen.nodes, "FLEX" in seen.flags) == (ONE, True)
    assert (await site.step(moved)).plan == ()

    # A flag that is no longer wanted goes.
    plain = asking(start + timedelta(hours=1), ONE, minutes=45)
    await site.step(plain)
    assert "FLEX" not in (await site.seen()).flags
    assert (await site.step(plain)).plan == ()

    gone = replace(asked, window=None)
    assert (await site.step(gone)).hold
    assert await controller.look(site.client, NAME) is Absence.NONE
    assert (await site.step(gone)).hold is False
    # Somebody else was quicker.
    await controller.carry_out(DeleteReservation("", NAME), site.client, site.run)


@only_real
async def test_in_a_window_that_runs_only_the_nodes_are_changed(site: Site) -> None:
    start = later(seconds=3)
    await site.step(asking(start, ONE))

    async def active() -> bool:
        return "MAINTENANCE" in (await site.slurm.node("w-0"))["state"]

    await site.slurm.eventually(active)
    wider = asking(start, BOTH, "FLEX", minutes=90)
    (change,) = (await site.step(wider)).plan
    assert isinstance(change, ChangeReservation)
    seen = await site.seen()
    assert (seen.start, seen.duration, seen.nodes) == (start, timedelta(minutes=30), BOTH)
    assert (await site.step(wider)).plan == ()
    assert (await site.slurm.node("w-1"))["reservation"] == NAME
    await site.step(replace(wider, deleting=True))
    assert await controller.look(site.client, NAME) is Absence.NONE


@only_real
@pytest.mark.parametrize("flag", ["HOURLY", "DAILY", "WEEKLY", "WEEKDAY", "WEEKEND"])
async def test_a_window_that_comes_back_begins_at_its_next_time(site: Site, flag: str) -> None:
    # Half an hour from now in every hour: one that should have begun just now is begun.
    minute = (clock.now() + timedelta(minutes=30)).minute
    start = datetime(2024, 3, 1, 1, minute, tzinfo=UTC)
    asked = asking(start, BOTH, flag)
    await site.step(asked)
    seen = await site.seen()
    assert seen.start > clock.now()
    assert (seen.start.minute, flag in seen.flags) == (minute, True)
    assert (await site.step(asked)).plan == ()
    # To an earlier time of the day, which Slurm's own moves would never come to.
    moved = asking(start - timedelta(minutes=20), BOTH, flag)
    await site.step(moved)
    assert (await site.seen()).start.minute == (minute - 20) % 60
    assert (await site.step(moved)).plan == ()
    await site.step(replace(asked, window=None))


@only_real
async def test_a_forced_window_that_comes_back_begins_at_once_where_slurm_can(
    slurm: Slurm, site: Site
) -> None:
    start = later(days=-3, minutes=-20)
    asked = asking(start, BOTH, "DAILY", "FORCE_START")
    await site.step(asked)
    days = 4 if slurm.old else 3
    assert (await site.seen()).start == start + timedelta(days=days)
    assert (await site.step(asked)).plan == ()
    await site.step(replace(asked, window=None))


@only_real
async def test_a_forced_window_that_does_not_come_back_gets_what_is_left_of_it(site: Site) -> None:
    start = later(minutes=-20)
    asked = asking(start, BOTH, "FORCE_START", minutes=60)
    await site.step(asked)
    seen = await site.seen()
    assert seen.active_at(clock.now())
    assert seen.end is not None
    assert timedelta() <= seen.end - (start + timedelta(hours=1)) < timedelta(minutes=1)
    assert (await site.step(asked)).plan == ()
    await site.step(replace(asked, window=None))


@only_real
async def test_a_window_that_has_just_begun_is_still_made(site: Site) -> None:
    start = later(minutes=-4)
    asked = asking(start)
    await site.step(asked)
    assert (await site.seen()).start == start
    await site.step(replace(asked, window=None))


@only_real
async def test_a_start_that_has_passed_is_told_and_not_asked_for(site: Site) -> None:
    kept = await site.step(asking(later(minutes=-6)))
    assert kept.plan == ()
    assert kept.condition is not None
    assert kept.condition.reason == "NotExists"


@only_real
async def test_what_slurm_refuses_is_told_in_its_words(site: Site) -> None:
    nobody = frozenset({"nobody-1"})
    with pytest.raises(RefusedError, match=r"(?i)invalid node"):
        await site.step(asking(later(hours=1), nobody))


@only_real
async def test_without_any_means_the_cure_is_told(slurm: Slurm, site: Site) -> None:
    kept = keep(asking(later(hours=1)), Absence.NONE, None, clock.now())
    (create,) = kept.plan
    assert isinstance(create, CreateReservation)
    if slurm.old:
        with pytest.raises(MissingError, match=r"25\.05"):
            await controller.carry_out(create, site.client, None)
    else:
        await controller.carry_out(create, site.client, None)
        await controller.carry_out(DeleteReservation("", NAME), site.client, None)
    assert await controller.look(site.client, NAME) is Absence.NONE
