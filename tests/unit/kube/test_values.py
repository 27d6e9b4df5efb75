from datetime import timedelta

import pytest

from shoal.kube import values
from shoal.kube.findings import Known
from shoal.kube.kinds import CONFIG_MAP


def words(findings):
    return [found.message for found in findings]


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (values.label, "0-a", "a.b"),
        (values.service_name, "a-0", "0-a"),
        (values.subdomain, "a.b-c", "a_b"),
    ],
)
def test_a_name_is_what_kubernetes_takes_for_one(check, good, bad):
    assert words(check("metadata.name", good, "the pod")) == []
    (message,) = words(check("metadata.name", bad, "the pod"))
    assert f"makes the pod {bad!r}, which Kubernetes refuses" in message


def test_a_name_that_is_too_long_says_by_how_much():
    assert words(values.label("a", "b" * 63, "the pod")) == []
    (message,) = words(values.label("a", "b" * 65, "the pod"))
    assert message.endswith("2 characters too long; shorten it by 2")


def test_what_is_certainly_not_there_is_waited_for():
    refs = {"spec.a": "x", "spec.b": ""}
    assert words(values.existing(CONFIG_MAP, "prod", refs, Known())) == []
    nothing = Known(all_of=frozenset({CONFIG_MAP}))
    (found,) = values.existing(CONFIG_MAP, "prod", refs, nothing)
    assert str(found) == "spec.a: there is no ConfigMap 'x' yet; it waits for one"


@pytest.mark.parametrize(("value", "wrong"), [(None, False), (0, False), (-1, True)])
def test_a_number_is_large_enough(value, wrong):
    assert bool(words(values.at_least(0, {"a": value}))) is wrong


@pytest.mark.parametrize(("port", "wrong"), [(0, False), (65535, False), (65536, True), (-1, True)])
def test_a_port_is_one(port, wrong):
    assert bool(words(values.ports({"a": port}))) is wrong


@pytest.mark.parametrize(("text", "wrong"), [("1m", False), ("1s", True), ("soon", True)])
def test_a_duration_is_long_enough(text, wrong):
    assert bool(words(values.lasting("a", text, timedelta(seconds=10)))) is wrong


@pytest.mark.parametrize(
    ("value", "wrong"), [(1, False), ("1%", False), (0, True), ("0%", True), ("one", True)]
)
def test_a_share_is_of_something(value, wrong):
    assert bool(words(values.share("a", value))) is wrong


@pytest.mark.parametrize(
    ("interval", "timeout", "wrong"),
    [
        ("1m", "30s", False),
        ("1m", "60s", False),
        ("1m", "1m1ms", True),
        ("soon", None, True),
        (None, "1y", False),
    ],
)
def test_prometheus_does_not_wait_longer_than_it_pauses(interval, timeout, wrong):
    assert bool(words(values.scraped("a", interval, timeout))) is wrong


def test_a_nul_is_found_wherever_it_is():
    (found,) = values.nul("spec", {"a": [{"b": "x\0y"}], "c": 1})
    assert found.field == "spec.a[0].b"
