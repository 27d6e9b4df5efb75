"""What each version can do, and who says so."""

import pytest

from fakes.loop import VirtualLoop
from fakes.slurmrestd.clients import fake_client
from fakes.slurmrestd.paths import ROUTES
from fakes.slurmrestd.slurm import FakeSlurm
from shoal.slurmapi.errors import MissingError
from shoal.slurmapi.nodes import NodeChange
from shoal.slurmapi.reservations import ReservationWish
from shoal.slurmapi.versions import RELEASES, SPOKEN, Capability, path_of

LOOP = VirtualLoop

WISH = ReservationWish("m", 1_800_000_000, 60, ("w-0",), ("root",), flags=("MAINT",))

# One call that needs it.
CALLS = {
    Capability.DATABASE_PING: lambda client: client.accounting.ping(),
    Capability.NODE_TOPOLOGY: lambda client: client.nodes.update(
        ["w-0"], NodeChange(topology_str="default:s1")
    ),
    Capability.RESERVATION_WRITES: lambda client: client.reservations.write(WISH),
    Capability.RESERVATION_DELETION: lambda client: client.reservations.delete("m"),
    Capability.NODE_CREATION: lambda client: client.nodes.create("NodeName=d-0 State=CLOUD"),
    Capability.PARTITION_WRITES: lambda client: client.partitions.write({"name": "p"}),
    Capability.CONFIG_READ: lambda client: client.controller.configuration(),
    Capability.REQUEUE: lambda client: client.jobs.requeue([1]),
}


def make(*versions: int) -> FakeSlurm:
    slurm = FakeSlurm("26.05")
    slurm.series = slurm.slurmctld.series = _serving(slurm, versions)
    slurm.slurmctld.add("w-[0-1]")
    slurm.slurmctld.start("w-1")
    slurm.slurmctld.reserve("root", WISH.body())
    return slurm


def _serving(slurm: FakeSlurm, versions: tuple[int, ...]):
    fields = vars(slurm.series) | {"versions": versions}
    return type(slurm.series)(**fields)


def test_every_capability_is_tried_here():
    assert set(CALLS) == set(Capability)


@pytest.mark.parametrize("capability", Capability)
async def test_what_a_version_has_works_from_that_version_on(capability):
    client = fake_client(make(capability.since))
    assert await client.can(capability)
    await CALLS[capability](client)


@pytest.mark.parametrize("capability", Capability)
async def test_what_a_version_lacks_is_not_asked_for_and_names_the_release_that_has_it(capability):
    slurm = make(capability.since - 1)
    client = fake_client(slurm)
    assert not await client.can(capability)
    before = len(slurm.requests)
    with pytest.raises(MissingError, match=capability.words) as caught:
        await CALLS[capability](client)
    assert f"needs Slurm {capability.release} or newer, this is 26.05.5" in str(caught.value)
    assert slurm.requests[before:] == []


@pytest.mark.parametrize(
    ("served", "spoken"),
    [
        ((40, 41, 42), 42),
        ((42, 43, 44, 45), 45),
        ((44, 45, 46, 47), 45),
        ((40, 41), 41),
        ((43,), 43),
    ],
)
async def test_the_newest_version_that_both_know_is_spoken(served, spoken):
    client = fake_client(make(*served))
    assert (await client.known()).version == spoken


@pytest.mark.parametrize("served", [(39, 40), (46, 47)])
async def test_a_slurmrestd_without_a_common_version_is_told_so(served):
    client = fake_client(make(*served))
    with pytest.raises(
        MissingError, match=r"none of v0\.0\.41 to v0\.0\.45; Slurm 24\.05 or newer"
    ):
        await client.nodes.all()
    assert not await _any(client)


async def _any(client) -> bool:
    try:
        return bool(await client.known())
    except MissingError:
        return False


def test_releases_are_newest_first_and_each_path_is_slurmrestds():
    assert list(SPOKEN) == sorted(RELEASES, reverse=True)
    assert path_of(SPOKEN[0]) == "v0.0.45"


def test_the_fake_serves_each_capability_from_its_version_on():
    since = {(route.method, route.path): route.since for route in ROUTES}
    assert since["POST", "new/node"] == Capability.NODE_CREATION.since
    assert since["POST", "reservation"] == Capability.RESERVATION_WRITES.since
    assert since["POST", "partitions"] == Capability.PARTITION_WRITES.since
