"""How slurmctld is found."""

import pytest

from shoal.model.controller import Endpoint, ExistingClaim, Metrics, Monitor
from shoal.model.part import ServiceWishes
from shoal.render import controller

from .builders import OLDEST, container_of, make_cluster, make_controller, the

HA = {"replicas": 2, "state": ExistingClaim("state")}


def named(name, objects):
    (found,) = [obj for obj in objects if obj["metadata"]["name"] == name]
    return found


def test_one_slurmctld_is_in_its_service_without_the_operators_help():
    """Upstream's Service has no endpoint until the operator has labelled the pod."""
    service = named("slurm-controller", controller.objects(make_cluster())[:2])
    assert service["spec"]["selector"] == make_controller().part.selector


def test_of_several_slurmctlds_the_service_has_the_one_that_serves():
    made = make_cluster(controller=make_controller(**HA))
    service = named("slurm-controller", controller.objects(made)[:2])
    assert service["spec"]["selector"]["controller.slinky.slurm.net/active"] == "true"


def test_workers_of_several_slurmctlds_ask_each_of_them():
    made = make_cluster(controller=make_controller(**HA))
    assert made.conf_server == (
        "slurm-controller-0.slurm-controller-internal.research:6817,"
        "slurm-controller-1.slurm-controller-internal.research:6817"
    )


def test_the_users_port_is_on_the_service_and_slurmctlds_on_the_container():
    made = make_cluster(controller=make_controller(service=ServiceWishes(7817)))
    objects = controller.objects(made)
    assert named("slurm-controller", objects[:2])["spec"]["ports"][0]["port"] == 7817
    main = container_of(the("StatefulSet", objects), "slurmctld")
    assert main["ports"][0]["containerPort"] == 6817


@pytest.mark.parametrize("number", [0, 1])
def test_each_of_several_slurmctlds_has_an_address_that_outlives_its_pod(number):
    objects = controller.objects(make_cluster(controller=make_controller(**HA)))
    (service,) = [
        obj
        for obj in objects
        if obj["kind"] == "Service" and obj["metadata"]["name"] == f"slurm-controller-{number}"
    ]
    spec = service["spec"]
    assert "clusterIP" not in spec
    assert spec["selector"]["statefulset.kubernetes.io/pod-name"] == f"slurm-controller-{number}"
    assert spec["selector"].items() >= make_controller().part.selector.items()
    assert spec["publishNotReadyAddresses"] is True
    (config,) = [o["data"]["slurm.conf"] for o in objects if "slurm.conf" in o.get("data", {})]
    host = f"slurm-controller-{number}"
    assert f"SlurmctldHost={host}({host}.research)\n" in config


# -- Prometheus


MONITOR = Monitor((Endpoint("/metrics/jobs", "30s"),), labels={"release": "prometheus"})


def monitored(**changes):
    made = make_controller(metrics=Metrics(MONITOR), **changes)
    return controller.objects(make_cluster(controller=made))


def test_metrics_are_read_once_though_two_services_have_the_labels():
    monitor = the("ServiceMonitor", monitored())
    (endpoint,) = monitor["spec"]["endpoints"]
    (once,) = endpoint["relabelings"]
    assert (once["action"], once["regex"]) == ("keep", "slurm-controller")
    assert endpoint["interval"] == "30s"
    assert "scrapeTimeout" not in endpoint
    assert monitor["metadata"]["labels"]["release"] == "prometheus"


def test_a_slurmctld_without_metrics_has_no_monitor():
    made = make_cluster(controller=make_controller(metrics=Metrics(MONITOR)), version=OLDEST)
    for objects in (controller.objects(made), controller.objects(make_cluster())):
        assert "ServiceMonitor" not in [obj["kind"] for obj in objects]
