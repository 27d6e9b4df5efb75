import pytest

from shoal.model.part import Marks, ServiceWishes
from shoal.render.services import Port, PortError, headless, service

from .builders import make_part

PART = make_part("RestApi", "slurm")
PORT = Port("slurmrestd", 6820)


def make(wishes):
    return service(PART, "slurm-restapi", wishes, PORT, PART.selector)


def test_our_port_leads_to_the_container_whatever_its_number():
    ports = make(ServiceWishes(8080, node_port=30080))["spec"]["ports"]
    assert ports == [
        {
            "name": "slurmrestd",
            "port": 8080,
            "protocol": "TCP",
            "targetPort": "slurmrestd",
            "nodePort": 30080,
        }
    ]


def test_the_users_spec_is_kept_and_our_port_comes_last():
    theirs = {"name": "metrics", "port": 9090}
    spec = make(ServiceWishes(6820, spec={"type": "NodePort", "ports": [theirs]}))["spec"]
    assert spec["type"] == "NodePort"
    assert [port["name"] for port in spec["ports"]] == ["metrics", "slurmrestd"]


def test_external_ips_are_left_out():
    """CVE-2020-8554"""
    assert "externalIPs" not in make(ServiceWishes(6820, spec={"externalIPs": ["1.2.3.4"]}))["spec"]


def test_the_users_selector_cannot_take_away_ours():
    wishes = ServiceWishes(6820, spec={"selector": {"app.kubernetes.io/name": "x", "zone": "a"}})
    assert make(wishes)["spec"]["selector"] == {**PART.selector, "zone": "a"}


@pytest.mark.parametrize(
    ("theirs", "words"),
    [({"name": "slurmrestd", "port": 1}, "name slurmrestd"), ({"port": 6820}, "port 6820")],
)
def test_a_port_that_is_ours_is_refused_with_its_field(theirs, words):
    with pytest.raises(PortError, match=rf"slurm-restapi: service\.spec\.ports.*{words}"):
        make(ServiceWishes(6820, spec={"ports": [theirs]}))


def test_the_same_number_of_another_protocol_is_another_port():
    theirs = {"name": "u", "port": 6820, "protocol": "UDP"}
    assert len(make(ServiceWishes(6820, spec={"ports": [theirs]}))["spec"]["ports"]) == 2


def test_the_users_marks_are_on_the_service_and_ours_win():
    marks = Marks({"team": "a", "app.kubernetes.io/name": "x"}, {"note": "b"})
    meta = make(ServiceWishes(6820, marks=marks))["metadata"]
    assert meta["labels"] == {"team": "a", **PART.labels}
    assert meta["annotations"] == {"note": "b"}


def test_a_pod_has_a_name_before_it_is_ready():
    spec = headless(PART, "x", PORT, PART.selector)["spec"]
    assert (spec["clusterIP"], spec["publishNotReadyAddresses"]) == ("None", True)
