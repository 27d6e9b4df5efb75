"""Where the daemons of a cluster find each other."""

from shoal.model.part import ServiceWishes

from ..render.builders import external_controller, make_cluster, make_controller


def test_daemons_ask_the_service_for_their_configuration():
    assert make_cluster().conf_server == "slurm-controller.research:6817"


def test_a_port_of_the_users_counts():
    cluster = make_cluster(controller=make_controller(service=ServiceWishes(7817)))
    assert cluster.conf_server == "slurm-controller.research:7817"


def test_where_several_stand_by_all_of_them_are_asked_directly():
    cluster = make_cluster(
        controller=make_controller(replicas=2, service=ServiceWishes(7817)),
    )
    assert cluster.conf_server == (
        "slurm-controller-0.slurm-controller-internal.research:6817,"
        "slurm-controller-1.slurm-controller-internal.research:6817"
    )


def test_a_controller_elsewhere_is_asked_there_and_none_is_ours():
    cluster = make_cluster(controller=external_controller("ctl.example.com", 7000))
    assert cluster.conf_server == "ctl.example.com:7000"
    assert cluster.controllers == ()
