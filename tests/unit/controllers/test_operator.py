import asyncio
from dataclasses import dataclass, field

from shoal.controllers import operator
from shoal.controllers.operator import Options, Webhooks
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
