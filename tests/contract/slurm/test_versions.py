"""Which versions of the API are served, and which of them is spoken."""

import pytest

from shoal.slurmapi.client import Client
from shoal.slurmapi.versions import Capability

from .places import Slurm, only_real

SERVED = {"24.11": range(40, 43), "26.05": range(42, 46)}


@pytest.mark.parametrize("version", range(39, 47))
async def test_a_version_is_served_or_an_unknown_path(slurm: Slurm, version: int) -> None:
    said = await slurm.ask("GET", "ping/", version=version)
    assert said.code == (200 if version in SERVED[slurm.series] else 404)


async def test_the_newest_common_version_is_spoken(slurm: Slurm, client: Client) -> None:
    known = await client.known()
    assert known.version == slurm.newest
    assert known.slurm.release.startswith(slurm.series)
    assert known.slurm.cluster == "lab"


@only_real
@pytest.mark.parametrize("capability", Capability)
async def test_a_capability_is_claimed_where_it_is_served(
    slurm: Slurm, client: Client, capability: Capability
) -> None:
    version = f"v0.0.{slurm.newest}"
    found = (await slurm.ask("GET", "/openapi/v3")).body
    for word in WHERE[capability].split():
        found = found.get(word.replace("V", version), {})
    assert await client.can(capability) is bool(found)


WHERE = {
    Capability.DATABASE_PING: "paths /slurmdb/V/ping/ get",
    Capability.NODE_TOPOLOGY: "components schemas V_update_node_msg properties topology_str",
    Capability.RESERVATION_WRITES: "paths /slurm/V/reservation post",
    Capability.RESERVATION_DELETION: "paths /slurm/V/reservation/{reservation_name} delete",
    Capability.NODE_CREATION: "paths /slurm/V/new/node/ post",
    Capability.PARTITION_WRITES: "paths /slurm/V/partitions/ post",
    Capability.CONFIG_READ: "paths /slurm/V/conf get",
    Capability.REQUEUE: "paths /slurm/V/jobs/requeue post",
}


@only_real
async def test_the_description_is_given_to_whoever_has_any_token(slurm: Slurm) -> None:
    assert (await slurm.ask("GET", "/openapi/v3", token="abc")).code == 200
    assert (await slurm.ask("GET", "/openapi/v3", token=None)).code == 401
