"""Who may ask: tokens that are good, that are not, and that were."""

import secrets
from typing import Any

import pytest

from shoal.slurmapi.client import Client
from shoal.slurmapi.errors import BadTokenError, NotAllowedError
from shoal.slurmapi.signatures import Concealed, Hs256
from shoal.slurmapi.tokens import Nobody, Static
from slurm_lab import tokens

from .places import SLEEP, Slurm, only_real, sleep

BAD = {
    "expired": {"exp": 1_000_000_000},
    "without an end": {"exp": None},
    "without a user": {"sun": None},
}
ODD: dict[str, dict[str, Any]] = {
    "without iat": {"iat": None},
    "issued in the future": {"iat": 4_000_000_000, "nbf": 4_000_000_000},
    "username for sun": {"sun": None, "username": "slurm"},
    "of an unknown user": {"sun": "stranger"},
}


def forged(slurm: Slurm) -> dict[str, str]:
    """Return tokens that are refused, by what is wrong with them."""
    good = tokens.claims("slurm")
    return {name: slurm.token(**claims) for name, claims in BAD.items()} | {
        "of another key": tokens.sign(secrets.token_bytes(32), good),
        "unsigned": tokens.sign(slurm.key, good, "none"),
        "of another algorithm": tokens.sign(slurm.key, good, "HS512"),
        "no token": "abc",
        "empty": "",
    }


FORGED = (*BAD, "of another key", "unsigned", "of another algorithm", "no token", "empty")


@pytest.mark.parametrize("what", FORGED)
async def test_a_bad_token_is_refused_by_slurmctld_alone(slurm: Slurm, what: str) -> None:
    token = forged(slurm)[what]
    said = await slurm.ask("GET", "node/w-0", token=token)
    assert (said.code, said.numbers) == (511, [1007])
    # A ping says that slurmctld is down, and slurmdbd's tree that slurmdbd is.
    ping = await slurm.ask("GET", "ping/", token=token)
    assert (ping.code, ping.body["pings"][0]["pinged"]) == (200, "DOWN")
    database = await slurm.ask_database("GET", "accounts/", token=token)
    assert (database.code, database.numbers) == (502, [7000])
    assert ("authentication error" in database.text) is slurm.old


@pytest.mark.parametrize("what", ODD)
async def test_slurmctld_reads_less_of_a_token_than_one_thinks(slurm: Slurm, what: str) -> None:
    said = await slurm.ask("GET", "node/w-0", token=slurm.token(**ODD[what]))
    assert (said.code, said.numbers) == (200, [])


async def test_an_unknown_user_reads_but_submits_nothing(slurm: Slurm) -> None:
    said = await slurm.ask("POST", "job/submit", {"job": SLEEP}, token=slurm.token("stranger"))
    assert (said.code, said.numbers) == (500, [2045] if slurm.old else [6010])


async def test_no_token_is_refused_by_slurmrestd_itself(slurm: Slurm) -> None:
    for path in ("ping/", "node/w-0", "/slurmdb/v0.0.42/accounts/"):
        said = await slurm.ask("GET", path, token=None)
        assert (said.code, said.text) == (401, "Authentication failure")


@only_real
async def test_a_bearer_header_serves_as_well(slurm: Slurm) -> None:
    headers = {"Authorization": f"Bearer {slurm.token()}"}
    said = await slurm.ask("GET", "node/w-0", token=None, headers=headers)
    assert said.code == 200


async def test_only_slurms_own_user_acts_for_others(slurm: Slurm) -> None:
    as_bob = {"X-SLURM-USER-NAME": "bob"}
    for user in ("alice", "carol"):
        said = await slurm.ask("GET", "node/w-0", token=slurm.token(user), headers=as_bob)
        assert (said.code, said.numbers) == (511, [1007])
    async with slurm.connect() as client:
        job = await client.jobs.submit(sleep(), user="bob")
        assert (await client.jobs.one(job)).user_name == "bob"


async def test_only_an_administrator_changes_nodes(slurm: Slurm) -> None:
    drain = {"state": ["DRAIN"], "reason": "x"}
    said = await slurm.ask("POST", "node/w-0", drain, token=slurm.token("alice"))
    assert (said.code, said.numbers) == (500 if slurm.old else 422, [2010])
    async with slurm.connect(slurm.signed("alice")) as client:
        with pytest.raises(NotAllowedError):
            await client.nodes.drain(["w-0"], "x")
        with pytest.raises(NotAllowedError):
            await client.controller.reconfigure()
    assert "DRAIN" not in (await slurm.node())["state"]
    async with slurm.connect(slurm.signed("carol")) as client:
        await client.nodes.drain(["w-0"], "x")
    assert "DRAIN" in (await slurm.node())["state"]


@pytest.mark.parametrize("what", [*BAD, "of another key", "of another algorithm"])
async def test_the_client_tells_a_bad_token_from_a_controller_that_is_down(
    slurm: Slurm, what: str
) -> None:
    async with slurm.connect(Static(forged(slurm)[what], "a test")) as client:
        with pytest.raises(BadTokenError):
            await client.nodes.all()
        with pytest.raises(BadTokenError):
            await client.accounting.accounts()


async def test_the_client_says_that_a_token_is_missing(slurm: Slurm) -> None:
    async with slurm.connect(Nobody()) as client:
        with pytest.raises(BadTokenError):
            await client.nodes.all()


async def test_a_new_key_counts_from_the_reconfigure_on_and_the_old_one_no_longer(
    slurm: Slurm,
) -> None:
    source, old = slurm.signed(), slurm.key
    async with slurm.connect(source) as client:
        await client.nodes.all()
        await slurm.replace_key(secrets.token_bytes(32))
        # The files alone change nothing.
        assert (await slurm.ask("GET", "node/w-0", token=signed_with(old))).code == 200
        assert (await slurm.ask("GET", "node/w-0")).code == 511
        await client.controller.reconfigure()
        await slurm.eventually(lambda: accepted(slurm))
        assert (await slurm.ask("GET", "node/w-0", token=signed_with(old))).code == 511
        with pytest.raises(BadTokenError):
            await client.nodes.all()
        source.rekey(Hs256(Concealed(slurm.key), "a test"))
        # The refusal of a moment ago counts for a second, so that nobody asks again and again.
        assert await slurm.eventually(lambda: listed(client)) == 2
        # slurmdbd reads its key when it starts.
        assert (await slurm.ask_database("GET", "accounts/")).code == 502
        assert (await slurm.ask_database("GET", "accounts/", token=signed_with(old))).code == 200
        await slurm.stop("slurmdbd")
        await slurm.start("slurmdbd")
        assert (await slurm.ask_database("GET", "accounts/")).code == 200


async def listed(client: Client) -> int:
    """Return how many nodes the client sees; none while it is refused."""
    try:
        return len((await client.nodes.all()).nodes)
    except BadTokenError:
        return 0


async def accepted(slurm: Slurm) -> bool:
    return (await slurm.ask("GET", "node/w-0")).code == 200


def signed_with(key: bytes) -> str:
    return tokens.sign(key, tokens.claims("slurm"))
