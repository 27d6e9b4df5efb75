import base64
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from shoal.kube import kinds
from shoal.kube.kinds import Kind
from shoal.runtime.admission import Allowed
from shoal.runtime.certificates import Lifetimes, authority
from shoal.runtime.trust import Bundle, Configuration, Definition, Target, changes, targets
from shoal.runtime.webhook import Converting, Mutating, Validating

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
BOAT = Kind("sea.example", "v1", "Boat", "boats")
OURS = Bundle(b"ours")


def encoded(pem):
    return base64.b64encode(pem).decode()


def certificate(days=30):
    lasts = Lifetimes(authority=timedelta(days=days), overlap=timedelta(hours=1))
    return authority(NOON, lasts).certificate


def configuration(*bundles, **annotations):
    hooks = [
        {"name": f"hook-{i}", "clientConfig": {"url": "https://x", "caBundle": encoded(pem)}}
        for i, pem in enumerate(bundles)
    ]
    whole = {"metadata": {"name": "shoal", "annotations": annotations}, "webhooks": hooks}
    return msgspec.convert(whole, Configuration)


def definition(strategy="Webhook", **config):
    conversion = {"strategy": strategy, "webhook": {"clientConfig": config}}
    return msgspec.convert({"spec": {"conversion": conversion}}, Definition)


def test_only_bundles_that_differ_are_changed():
    assert changes(configuration(b"ours", b"theirs"), OURS, NOON) == [
        {"op": "test", "path": "/webhooks/1/name", "value": "hook-1"},
        {"op": "add", "path": "/webhooks/1/clientConfig/caBundle", "value": encoded(b"ours")},
    ]
    assert changes(configuration(b"ours"), OURS, NOON) == []


def test_a_definition_that_is_converted_by_a_webhook_trusts_it():
    assert changes(definition(url="https://x"), OURS, NOON)[1] == {
        "op": "add",
        "path": "/spec/conversion/webhook/clientConfig/caBundle",
        "value": encoded(b"ours"),
    }
    assert changes(definition(caBundle=encoded(b"ours")), OURS, NOON) == []
    assert changes(definition("None"), OURS, NOON) == []


def test_what_cert_manager_fills_is_left_to_it():
    injected = configuration(b"theirs", **{"cert-manager.io/inject-ca-from": "ops/shoal"})
    assert changes(injected, OURS, NOON) == []


def test_replicas_that_see_different_folders_do_not_take_turns():
    old, new = certificate(), certificate()
    both = Bundle(new, only=False).beside(old, NOON)
    assert old in both
    assert new in both
    assert Bundle(old, only=False).beside(both, NOON) == both
    assert Bundle(new, only=False).beside(both, NOON) == both


def test_an_ended_authority_goes_when_a_new_one_comes():
    ended, new = certificate(days=1), certificate()
    assert Bundle(new, only=False).beside(ended, NOON + timedelta(days=2)) == new


@pytest.mark.parametrize("placeholder", [b"", b"\n", b"placeholder"])
def test_a_placeholder_gives_way(placeholder):
    new = certificate()
    assert Bundle(new, only=False).beside(placeholder, NOON) == new


def test_every_object_that_names_a_webhook_is_a_target_once():
    table = [
        Validating("a.sea.example", "/a", BOAT, lambda _: Allowed()),
        Validating("b.sea.example", "/b", BOAT, lambda _: Allowed()),
        Mutating("c.sea.example", "/c", BOAT, lambda r: r.object),
        Converting("/d", BOAT, lambda o, _: o),
    ]
    assert targets("shoal", table) == [
        Target(kinds.VALIDATING_WEBHOOK, "shoal"),
        Target(kinds.MUTATING_WEBHOOK, "shoal"),
        Target(kinds.CUSTOM_RESOURCE_DEFINITION, "boats.sea.example"),
    ]
