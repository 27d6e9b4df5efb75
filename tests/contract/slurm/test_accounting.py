"""What slurmdbd keeps: jobs, accounts, users, QOS, associations, clusters."""

import pytest

from shoal.runtime import clock
from shoal.slurmapi.accounting import Account, Association, Defaults, Qos, User, Wanted
from shoal.slurmapi.client import Client
from shoal.slurmapi.errors import NotAllowedError

from .places import Slurm, only_real


async def test_a_ping_says_that_slurmdbd_is_up(client: Client) -> None:
    (ping,) = await client.accounting.ping()
    assert ping.up


async def test_accounts_users_qos_associations_and_clusters_are_told(client: Client) -> None:
    accounting = client.accounting
    assert {"root", "lab"} <= {account.name for account in await accounting.accounts()}
    users = {user.name: user for user in await accounting.users()}
    assert users["carol"].administrator_level == ("Administrator",)
    assert "normal" in [qos.name for qos in await accounting.qos()]
    pairs = {(each.account, each.user) for each in await accounting.associations()}
    assert {("lab", "alice"), ("lab", "bob"), ("lab", "carol"), ("lab", "")} <= pairs
    assert [cluster.name for cluster in await accounting.clusters()] == ["lab"]


async def test_all_of_it_comes_in_one_answer_too(client: Client) -> None:
    content = await client.accounting.content()
    assert {"root", "lab"} <= {account.name for account in content.accounts}
    assert "alice" in [user.name for user in content.users]
    assert "normal" in [qos.name for qos in content.qos]
    assert [cluster.name for cluster in content.clusters] == ["lab"]
    assert content.associations


@only_real
@pytest.mark.parametrize("path", ["job/999999", "account/nope", "user/nope", "qos/nope"])
async def test_what_is_not_there_is_an_empty_list_and_a_warning(slurm: Slurm, path: str) -> None:
    said = await slurm.ask_database("GET", path)
    assert (said.code, said.numbers) == (200, [])
    assert "found nothing" in said.warnings
    (items,) = [v for k, v in said.body.items() if k not in ("meta", "errors", "warnings")]
    assert items == []


async def test_what_is_written_twice_is_there_once(client: Client) -> None:
    accounting = client.accounting
    for _ in range(2):
        await accounting.write_accounts([Account("physics", "Physics", "science")])
        await accounting.write_users([User("dave", default=Defaults("physics"))])
        await accounting.write_qos([Qos("fast", "Fast")])
        await accounting.write_associations(
            [
                Association("physics", "lab", parent_account="root"),
                Association("physics", "lab", "dave"),
            ]
        )
    assert [a for a in await accounting.accounts() if a.name == "physics"] == [
        Account("physics", "Physics", "science")
    ]
    assert len([user for user in await accounting.users() if user.name == "dave"]) == 1
    assert [qos.description for qos in await accounting.qos() if qos.name == "fast"] == ["Fast"]
    pairs = [(each.account, each.user) for each in await accounting.associations()]
    assert pairs.count(("physics", "dave")) == 1


@only_real
async def test_nothing_new_is_an_empty_304(slurm: Slurm) -> None:
    body = {
        "association_condition": {
            "accounts": ["lab"], "users": ["alice"], "clusters": ["lab"], "association": {},
        },
        "user": {},
    }  # fmt: skip
    said = await slurm.ask_database("POST", "users_association/", body)
    assert (said.code, said.text) == (304, "")
    gone = await slurm.ask_database("DELETE", "account/nope")
    assert (gone.code, gone.text) == (304, "")


@only_real
async def test_an_accounts_association_without_a_parent_is_not_made_and_no_error(
    slurm: Slurm, client: Client
) -> None:
    await client.accounting.write_accounts([Account("orphan", "o", "o")])
    wish = {"account": "orphan", "cluster": "lab", "user": ""}
    said = await slurm.ask_database("POST", "associations/", {"associations": [wish]})
    assert (said.code, said.numbers) == (200, [])
    listed = (await slurm.ask_database("GET", "associations/")).body["associations"]
    assert "orphan" not in [each["account"] for each in listed]


@only_real
async def test_an_association_with_an_account_that_is_not_there_is_not_made_and_no_error(
    slurm: Slurm,
) -> None:
    wish = {"account": "nowhere", "cluster": "lab", "user": "alice"}
    said = await slurm.ask_database("POST", "associations/", {"associations": [wish]})
    assert (said.code, said.numbers) == (200, [])
    listed = (await slurm.ask_database("GET", "associations/")).body["associations"]
    assert "nowhere" not in [each["account"] for each in listed]


async def test_who_may_not_write_is_told_so(slurm: Slurm) -> None:
    async with slurm.connect(slurm.signed("bob")) as client:
        with pytest.raises(NotAllowedError):
            await client.accounting.write_accounts([Account("mine", "m", "m")])


async def test_slurmdbd_hears_of_a_job_that_runs(slurm: Slurm, client: Client) -> None:
    number = await slurm.running(required_nodes=["w-0"], account="lab")
    hour = 3600
    now = int(clock.now().timestamp())
    wanted = Wanted("lab", now - hour, now + hour, states=("RUNNING", "SUSPENDED"))

    async def found() -> bool:
        return number in [job.job_id for job in await client.accounting.jobs(wanted)]

    await slurm.eventually(found)
    (job,) = [each for each in await client.accounting.jobs(wanted) if each.job_id == number]
    assert (job.user, job.account, job.nodes) == ("alice", "lab", "w-0")
    assert job.state.current == ("RUNNING",)
    assert job.time.start > 0
    assert job.time.end == 0
