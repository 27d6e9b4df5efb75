import msgspec
import pytest

from shoal.controllers.owned import Owned
from shoal.kube.kinds import LEASE, SECRET
from shoal.kubeapi.access import Access, Fixed
from shoal.kubeapi.errors import ForbiddenError, Status, UnreachableError

ACCOUNT = {"username": "system:serviceaccount:ops:operator", "uid": "u-1"}
OWNER = [{"apiVersion": "v1", "kind": "ServiceAccount", "name": "operator", "uid": "u-1"}]


class Api(Owned):
    """Notes what it would send, and says who it is, or fails to."""

    def __init__(self, *answers):
        own = frozenset({(LEASE, "mine"), (SECRET, "certificate")})
        super().__init__(Access("http://nowhere", Fixed()), "test", own=own)
        self.answers = list(answers)
        self.sent = []

    async def _write(self, request, type_):
        if not request.path.endswith("selfsubjectreviews"):
            self.sent.append((request.method, msgspec.json.decode(request.body)))
            return msgspec.convert({}, type_)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return msgspec.convert({"status": {"userInfo": answer}}, type_)


def lease(name="mine", namespace="ops"):
    return {"metadata": {"name": name, "namespace": namespace}, "spec": {}}


async def owners(api, obj, kind=LEASE):
    """Return the owners of an object that is made, and of the same one that is replaced."""
    await api.create(kind, obj, dict)
    await api.replace(kind, obj, dict)
    (_, made), (_, replaced) = api.sent[-2:]
    assert made == replaced
    assert made["spec"] == obj["spec"]
    return made["metadata"].get("ownerReferences", [])


@pytest.mark.parametrize(("kind", "name"), [(LEASE, "mine"), (SECRET, "certificate")])
async def test_what_the_operator_makes_for_itself_belongs_to_its_account(kind, name):
    assert await owners(Api(ACCOUNT), lease(name), kind) == OWNER


async def test_who_it_is_is_asked_once():
    api = Api(ACCOUNT)
    for _ in range(3):
        assert await owners(api, lease()) == OWNER


async def test_what_it_makes_for_others_is_theirs_and_needs_no_question():
    assert await owners(Api(), lease("theirs")) == []
    assert await owners(Api(), lease("mine"), SECRET) == []


@pytest.mark.parametrize(
    "user",
    [
        {"username": "admin", "uid": "u-1"},
        {"username": "system:serviceaccount:elsewhere:operator", "uid": "u-1"},
        {"username": "system:serviceaccount:ops:operator", "uid": ""},
    ],
)
async def test_an_owner_that_kubernetes_would_not_find_is_none(user):
    assert await owners(Api(user), lease()) == []


async def test_a_cluster_that_tells_nobody_who_they_are_is_not_asked_again():
    api = Api(ForbiddenError("no", Status()))
    assert await owners(api, lease()) == []
    assert await owners(api, lease()) == []


async def test_while_nobody_answers_the_lease_is_written_all_the_same_and_mended_later():
    api = Api(UnreachableError("no"), ACCOUNT)
    await api.create(LEASE, lease(), dict)
    assert "ownerReferences" not in api.sent[-1][1]["metadata"]
    assert await owners(api, lease()) == OWNER
