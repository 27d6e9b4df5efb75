import asyncio
import json
import threading

import pytest

from shoal.kube import kinds
from shoal.kube.crds import InCluster, Outside
from shoal.kube.kinds import Kind
from shoal.runtime.admission import Allowed
from shoal.runtime.webhook import Converting, Mutating, Validating, configurations, routes

BOAT = Kind("sea.example", "v1", "Boat", "boats")
REVIEW = json.dumps(
    {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {"uid": "u", "operation": "CREATE", "object": {"a": 1}},
    }
).encode()


def checked(validate, **more):
    return Validating("boats.sea.example", "/validate-boats", BOAT, validate, **more)


async def ask(webhook, body=REVIEW, limit_s=5.0):
    return await routes([webhook], limit_s)[webhook.path](body, {})


async def test_a_path_answers_reviews():
    answer = await ask(checked(lambda _: Allowed()))
    assert answer.status == 200
    assert json.loads(answer.body)["response"] == {"uid": "u", "allowed": True}


async def test_what_is_no_review_is_a_bad_request():
    answer = await ask(checked(lambda _: Allowed()), b"hello")
    assert (answer.status, answer.content_type) == (400, "text/plain")
    assert answer.body.startswith(b"no AdmissionReview")


async def test_a_handler_that_never_ends_is_answered_in_time():
    release = threading.Event()

    def forever(_):
        release.wait(30)
        return Allowed()

    answer = await ask(checked(forever), limit_s=0.05)
    release.set()
    assert answer.status == 500
    assert answer.body == b"/validate-boats: no answer in 0.05 s\n"


async def test_a_slow_handler_does_not_hold_up_the_loop():
    release = threading.Event()

    def slow(_):
        assert release.wait(30)
        return Allowed()

    asking = asyncio.create_task(ask(checked(slow)))
    await asyncio.sleep(0)  # noqa: TID251 - lets the request begin
    release.set()
    assert (await asking).status == 200


async def test_a_handler_that_raises_is_the_servers_to_answer():
    def broken(_):
        raise KeyError("spec")

    with pytest.raises(KeyError):
        await ask(checked(broken))


TABLE = [
    checked(lambda _: Allowed(), settings={"failurePolicy": "Ignore"}),
    Mutating("fill.sea.example", "/mutate-boats", BOAT, lambda r: r.object, ("CREATE",)),
    Converting("/convert-boats", BOAT, lambda o, _: o),
]


def test_a_table_has_the_configurations_that_call_it():
    checks, fills = configurations("shoal", TABLE, InCluster("ops", "shoal", 9443))
    assert (checks["kind"], fills["kind"]) == (
        kinds.VALIDATING_WEBHOOK.kind,
        kinds.MUTATING_WEBHOOK.kind,
    )
    (check,), (fill,) = checks["webhooks"], fills["webhooks"]
    assert check["name"] == "boats.sea.example"
    assert check["clientConfig"]["service"]["path"] == "/validate-boats"
    assert fill["rules"] == [
        {
            "apiGroups": ["sea.example"],
            "apiVersions": ["v1"],
            "resources": ["boats"],
            "operations": ["CREATE"],
            "scope": "Namespaced",
        }
    ]


def test_a_row_can_set_any_field_of_its_configuration():
    checks, fills = configurations("shoal", TABLE, Outside("https://127.0.0.1:1"))
    assert checks["webhooks"][0]["failurePolicy"] == "Ignore"
    assert fills["webhooks"][0]["failurePolicy"] == "Fail"


def test_a_table_without_webhooks_of_a_sort_has_no_configuration_for_it():
    assert configurations("shoal", TABLE[2:], Outside("https://127.0.0.1:1")) == []
