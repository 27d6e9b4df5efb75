import asyncio

import pytest

from shoal.controllers import webhooks
from shoal.controllers.webhooks import Asking, table
from shoal.controllers.world import World, stores
from shoal.dialects.slinky.types import CONTROLLER, KINDS, TYPES, Controller
from shoal.kube.findings import Known, Unknown
from shoal.kube.kinds import CONFIG_MAP, NODE
from shoal.kube.objects import Meta
from shoal.kubeapi.errors import ForbiddenError, NotFoundError, Status, UnreachableError
from shoal.runtime.admission import Allowed, Denied, Review
from shoal.runtime.webhook import Converting, Mutating, Validating

KEY = {"name": "keys", "key": "k"}
OBJECT = {
    "apiVersion": CONTROLLER.api_version,
    "kind": "Controller",
    "metadata": {"name": "slurm", "namespace": "prod"},
    "spec": {"slurmKeyRef": KEY, "jwtKeyRef": KEY},
}


class Api:
    """Answers one question, or fails."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    async def get(self, what, _):
        self.asked.append(what.name)
        if isinstance(self.answer, Exception):
            raise self.answer
        if self.answer is None:
            await asyncio.Event().wait()
        return self.answer


async def found(api, kind=NODE, namespace="", name="n1"):
    world = World(stores({k: TYPES[k.kind] for k in KINDS}, lambda _: ()))
    world.stores[CONTROLLER].put(Controller(metadata=Meta(name="held", namespace="prod")))
    asking = Asking(world, api, asyncio.get_running_loop())
    return await asyncio.to_thread(asking.find, kind, namespace, name)


async def test_what_the_stores_hold_is_not_asked_for():
    api = Api({})
    held = await found(api, CONTROLLER, "prod", "held")
    assert held["metadata"]["name"] == "held"
    assert api.asked == []


async def test_what_the_stores_do_not_hold_is_asked_for_as_they_may_be_behind():
    api = Api({"metadata": {"name": "new"}})
    assert await found(api, CONFIG_MAP, "prod", "new") == {"metadata": {"name": "new"}}
    assert api.asked == ["new"]


async def test_only_the_api_server_can_say_that_something_is_not_there():
    assert await found(Api(NotFoundError("no", Status()))) is None


@pytest.mark.parametrize(
    "error", [ForbiddenError("no", Status()), UnreachableError("no"), TimeoutError("no")]
)
async def test_no_answer_is_no_knowledge(error):
    assert await found(Api(error)) is Unknown.UNKNOWN


async def test_a_question_is_given_up_before_the_api_server_gives_us_up(monkeypatch):
    monkeypatch.setattr(webhooks, "PATIENCE_S", 0.05)
    assert await found(Api(None)) is Unknown.UNKNOWN


def row(path):
    return next(row for row in table(Known()) if row.path == path)


def test_a_refusal_names_every_field_that_is_wrong():
    check = row("/validate-slinky-slurm-net-v1beta1-controller").validate
    wrong = {**OBJECT, "spec": {}}
    verdict = check(Review("CREATE", wrong, {}, "prod", "slurm"))
    assert isinstance(verdict, Denied)
    assert [cause.field for cause in verdict.causes] == ["spec.slurmKeyRef", "spec.jwtKeyRef"]
    assert "spec.slurmKeyRef: slurmKeyRef must be set" in verdict.message


def test_warnings_are_passed_on():
    check = row("/validate-slinky-slurm-net-v1beta1-controller").validate
    doubtful = {**OBJECT, "spec": {**OBJECT["spec"], "clusterName": "Sea"}}
    verdict = check(Review("CREATE", doubtful, {}, "prod", "slurm"))
    assert verdict == Allowed(
        ("spec.clusterName: Slurm will call it 'sea': it has no upper-case names",)
    )


def test_bindings_are_watched_only_by_those_who_ask_for_it_and_hold_nobody_up():
    assert not [one for one in table(Known()) if isinstance(one, Mutating)]
    (binding,) = [one for one in table(Known(), bindings=True) if isinstance(one, Mutating)]
    assert binding.settings["failurePolicy"] == "Ignore"
    assert binding.operations == ("CREATE",)


def test_every_kind_is_checked_and_converted():
    rows = table(Known(), {"timeoutSeconds": 7})
    checked = [one for one in rows if isinstance(one, Validating)]
    assert [one.kind for one in checked] == list(KINDS)
    assert {one.settings["timeoutSeconds"] for one in checked} == {7}
    assert [one.kind for one in rows if isinstance(one, Converting)] == list(KINDS)
    assert {one.path for one in rows if isinstance(one, Converting)} == {"/convert"}
