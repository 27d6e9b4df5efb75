"""What was seen, as the status says it."""

from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest

from shoal.dialects.slinky import report
from shoal.dialects.slinky.types import TYPES
from shoal.kube.pods import Pod

from .readings import the

READY = [{"type": "Ready", "status": "True"}]


def pod(phase="Running", conditions=()):
    return msgspec.convert({"status": {"phase": phase, "conditions": conditions}}, Pod)


def fits(kind, told):
    """Return `told` as it is read back; what the type does not know is lost."""
    status = msgspec.structs.fields(TYPES[kind])[2].type
    struct = getattr(status, "__origin__", status)
    return msgspec.to_builtins(msgspec.convert(told, struct))


def test_a_node_sets_pods_are_counted_as_soon_as_they_are_accepted():
    pods = [pod(conditions=READY), pod(), pod(""), pod("Pending")]
    told = report.nodeset(the("NodeSet", "cpu", replicas=4), pods, 7)
    assert told == {
        "desired": 4,
        "replicas": 3,
        "readyReplicas": 1,
        "availableReplicas": 1,
        "unavailableReplicas": 2,
        "observedGeneration": 7,
        "selector": "app.kubernetes.io/instance=cpu,app.kubernetes.io/name=slurmd",
    }


def test_a_node_set_without_pods_says_zero_and_not_nothing():
    told = fits("NodeSet", report.nodeset(the("NodeSet", replicas=0), [], 1))
    assert (told["replicas"], told["readyReplicas"], told["desired"]) == (0, 0, 0)


def test_a_login_set_tells_what_the_scale_subresource_asks():
    told = report.login(the("LoginSet", "login"), 2, 1)
    assert (told["replicas"], told["readyReplicas"]) == (2, 1)
    assert told["selector"] == "app.kubernetes.io/instance=login,app.kubernetes.io/name=login"


def test_a_token_tells_when_it_was_issued_in_utc():
    moment = datetime(2026, 1, 1, 3, tzinfo=timezone(timedelta(hours=2)))
    assert report.token(moment) == {"issuedAt": "2026-01-01T01:00:00Z"}


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("NodeSet", report.nodeset(the("NodeSet"), [pod()], 1)),
        ("LoginSet", report.login(the("LoginSet"), 2, 1)),
        ("Token", report.token(datetime(2026, 1, 1, tzinfo=UTC))),
    ],
)
def test_all_that_is_told_has_a_field_in_the_definition(kind, told):
    assert told.items() <= fits(kind, told).items()
