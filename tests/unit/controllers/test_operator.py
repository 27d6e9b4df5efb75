import asyncio
from dataclasses import dataclass, field

from shoal.controllers import operator
from shoal.controllers.operator import Options, Webhooks
from shoal.dialects.nebius import types as nebius
from shoal.dialects.slinky import types as slinky
from shoal.kube.kinds import JOB
from shoal.kubeapi.access import Access, Fixed

NOWHERE = Access("http://nowhere", Fixed())


@dataclass
class Seen:
    """A process as the probes look at it."""

    ready: bool = True
    reflectors: list = field(default_factory=list)


async def asked(*wanted: asyncio.Event) -> tuple[int, str]:
    answer = await operator._probes(Seen(), wanted)["/readyz"](b"", {})
    return answer.status, answer.body.decode()


async def test_who_has_no_certificate_to_serve_webhooks_with_is_not_ready():
    there = asyncio.Event()
    status, text = await asked(there)
    assert (status, "[-]certificate failed: there is none" in text) == (503, True)
    there.set()
    assert (await asked(there))[0] == 200


async def test_who_serves_no_webhooks_needs_no_certificate():
    assert (await asked())[0] == 200


def hosts(**asked) -> tuple[str, ...]:
    options = Options(NOWHERE, "me", "ops", webhooks=Webhooks(**asked))
    return operator._certificates(options, None).hosts


def test_the_certificate_is_for_the_service_that_the_api_server_calls():
    assert hosts() == (
        "slurm-operator-webhook.ops.svc",
        "slurm-operator-webhook.ops.svc.cluster.local",
    )
    assert hosts(service="s", namespace="n")[0] == "s.n.svc"


# -- the APIs that it understands


def setup(**asked):
    options = Options(NOWHERE, "me", "ops", **asked)
    return operator._setup(options, operator._stores(options.spoken))


def kinds_of(made):
    return {store.kind for store in made.stores}


def test_by_default_it_understands_all_apis_and_waits_for_none():
    made = setup()
    assert {*slinky.KINDS, *nebius.KINDS} <= kinds_of(made)
    assert made.awaited == {*slinky.KINDS, *nebius.KINDS}


def test_an_api_that_is_named_has_to_be_there_and_no_other_is_looked_at():
    made = setup(dialects=("slinky",))
    assert not {*nebius.KINDS} & kinds_of(made)
    assert JOB not in kinds_of(made)
    assert made.awaited == frozenset()
    assert {*nebius.KINDS, JOB} <= kinds_of(setup(dialects=("nebius",)))
