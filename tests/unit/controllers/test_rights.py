import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
import structlog
import yaml

from fakes import loop
from fakes.apiserver import EPOCH, FakeApi
from fakes.network import Network
from fakes.process import Process
from fakes.shapes import Served
from fakes.wire import FakeClient
from shoal.controllers import accounting, controller, login, nodeset, rest, rights, slinky
from shoal.controllers.passes import Hands
from shoal.controllers.slinky_reader import Settings
from shoal.controllers.world import IN_BRIEF, OPTIONAL, READ, World, stores
from shoal.dialects.slinky.types import CONTROLLER, KINDS, NODE_SET, TOKEN
from shoal.kube import kinds
from shoal.kube.kinds import Kinds
from shoal.kubeapi.client import Ref
from shoal.kubeapi.errors import ForbiddenError
from shoal.runtime import clock
from shoal.runtime.apply import Applier, Rules
from shoal.runtime.lease import Terms
from shoal.runtime.process import Setup

ROOT = Path(__file__).parents[3]
SETS = sorted((ROOT / "tests/data/slinky-chart").glob("*.yaml"))
GENERATED = (
    "deploy/rbac",
    "charts/slurm-operator/files/rbac",
    "charts/slurm-operator/templates/crds",
    "charts/slurm-operator-crds/templates/crds",
)
SEEN = {"get", "list", "watch"}


def held(folder):
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}


def test_roles_and_charts_are_what_the_code_declares(tmp_path):
    subprocess.run([sys.executable, ROOT / "charts/generate.py", tmp_path], check=True)
    for folder in GENERATED:
        assert held(ROOT / folder) == held(tmp_path / folder), "run make generate"


@pytest.mark.parametrize("kind", [*KINDS, *READ], ids=lambda kind: kind.plural)
def test_what_is_read_may_be_listed_and_watched(kind):
    parts = ("watched",) if kind.namespaced else ("everywhere",)
    assert {(verb, kind.plural) for verb in SEEN} <= rights.pairs(*parts)


def ruled(module):
    return [
        kind
        for rules in vars(module).values()
        if isinstance(rules, Rules)
        for kind in (*rules.prune, *rules.post, *rules.recreate)
    ]


@pytest.mark.parametrize(
    "module", [accounting, controller, login, nodeset, rest], ids=lambda m: m.__name__
)
def test_what_a_reconciler_prunes_posts_or_recreates_it_may_write(module):
    written = ruled(module)
    assert written
    for kind in written:
        wanted = {(verb, kind.plural) for verb in ("create", "patch", "delete")}
        assert wanted <= rights.pairs("watched")


def test_no_rule_allows_everything():
    words = [word for part in rights.PARTS.values() for r in part() for word in (*r.verbs, r.group)]
    assert words
    assert "*" not in words


def test_the_users_objects_are_reported_on_and_never_made_or_deleted():
    allowed = {v for v, resource in rights.pairs() if resource in {k.plural for k in KINDS}}
    assert allowed == {*SEEN, "patch"}
    assert ("patch", "tokens/status") in rights.pairs("watched")
    assert ("patch", "tokens") not in rights.pairs()


def test_what_has_no_namespace_is_only_changed_by_name():
    for rule in (*rights.everywhere(), *rights.webhooks(), *rights.binding()):
        assert set(rule.verbs) <= SEEN or rule.names


def test_at_home_only_the_certificate_and_the_lease_are_seen():
    named = {rule.resources: rule.names for rule in rights.home() if "get" in rule.verbs}
    assert named == {
        ("leases",): ("slurm-operator",),
        ("secrets",): ("slurm-operator-webhook-ca",),
    }


def test_without_webhooks_nothing_is_needed_in_the_whole_cluster_but_to_see_nodes():
    assert rights.pairs("everywhere") == {(verb, "nodes") for verb in rights.SEE}


def test_a_role_of_a_namespace_is_for_what_is_in_one():
    roles = rights.manifests()
    assert {part for part, role in roles.items() if role["kind"] == "Role"} == {"watched", "home"}


# -- the controllers themselves, on an API server that refuses what is not in the rules


def objects(path):
    return [obj for obj in yaml.safe_load_all(path.read_text()) if obj]


async def made_by(path, allowed):
    """Return an API server on which the controllers have seen to the objects in `path`."""
    served = [Served(kind, scale=True) for kind in KINDS]
    api = FakeApi(custom=served, allowed=allowed)
    user = FakeClient(Network(FakeApi(custom=served, history=api.history)), "user")
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "slinky"}}
    await user.create(kinds.NAMESPACE, space, dict)
    wanted = objects(path)
    for name in {obj["metadata"]["namespace"] for obj in wanted}:
        await user.create(kinds.NAMESPACE, {**space, "metadata": {"name": name}}, dict)
    for obj in [*wanted, token(wanted)]:
        await user.create(Kinds(*KINDS).of(obj), obj, dict)
    process = started(Network(api))
    await clock.sleep(60)
    for node_set in api.objects(NODE_SET):
        where = Ref(NODE_SET, node_set["metadata"]["namespace"], node_set["metadata"]["name"])
        await user.patch(where, {"spec": {"replicas": 0}}, dict)
    await clock.sleep(60)
    await process.kill()
    return api


def token(wanted):
    """Return a Token beside the other objects, as the chart makes none."""
    (found,) = (obj for obj in wanted if obj["kind"] == CONTROLLER.kind)
    key = found["spec"].get("jwtKeyRef") or found["spec"]["jwtHs256KeyRef"]
    meta = {"name": "t", "namespace": found["metadata"]["namespace"]}
    spec = {"jwtKeyRef": key, "username": "alice"}
    return {
        "apiVersion": TOKEN.api_version, "kind": TOKEN.kind, "metadata": meta, "spec": spec,
    }  # fmt: skip


class NoSlurm:
    """No slurmrestd answers here."""

    def __iter__(self):
        return iter(())

    async def of(self, *_):
        return None


def started(network):
    """Start the operator's controllers as its process does, with a Lease."""
    found = stores(slinky.OWN, slinky.references)
    settings = Settings()

    def controllers(client, _):
        hands = Hands(client, World(found), Applier(client, found, Kinds(*slinky.OWN)))
        return slinky.controllers(hands, NoSlurm(), settings)

    terms = Terms("slinky", "slurm-operator", "me")

    def setup():
        return Setup(tuple(found.values()), (), IN_BRIEF, OPTIONAL, terms)

    return Process(network, setup, controllers).start()


async def at_once(function, *words):
    return function(*words)


@pytest.fixture
def quiet(monkeypatch):
    """Keep the time of day with the event loop's, and the logs off the screen."""
    monkeypatch.setattr(clock, "now", lambda: EPOCH + timedelta(seconds=clock.ticks()))
    # Host keys take long and a thread, for which virtual time does not wait.
    monkeypatch.setattr(login, "host_keys", lambda: {"key": b"x"})
    monkeypatch.setattr(login, "to_thread", at_once)
    with structlog.testing.capture_logs() as logs:
        yield logs


def refused(logs):
    return [entry for entry in logs if "forbidden" in str(entry).lower()]


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_a_cluster_is_brought_about_with_the_declared_rights_alone(path, quiet):
    allowed = rights.pairs("watched", "everywhere", "home")
    api = loop.run(made_by(path, allowed))
    asked = {tuple(request.split(" ")) for request in api.requests}
    assert asked <= allowed
    assert not refused(quiet)
    made = ("configmaps", "deployments", "pods", "secrets", "services")
    assert {("create", resource) for resource in made} <= asked


def test_one_right_less_is_found_out(quiet):
    allowed = rights.pairs("watched", "everywhere", "home") - {("create", "services")}
    loop.run(made_by(SETS[0], allowed))
    assert refused(quiet)


def test_the_fake_refuses_as_the_rules_say():
    async def ask():
        api = FakeApi(allowed=rights.pairs("home"))
        async with FakeClient(Network(api)) as client:
            await client.get(Ref(kinds.POD, "default", "x"), dict)

    with pytest.raises(ForbiddenError, match="cannot get resource"):
        loop.run(ask())
