from dataclasses import replace

import pytest

from shoal.model.maintenance import Mode
from shoal.model.part import Files, Marks, ServiceWishes
from shoal.render.jailed import login

from ..builders import container_of, notes_of, spec_of, the
from .worlds import make_cluster, make_fittings, make_gate, make_jail


def made(gate=None, **cluster):
    cluster = make_cluster(**cluster)
    return login.objects(cluster, cluster.jail, gate or make_gate())


def service(gate):
    return next(o for o in made(gate) if o["metadata"]["name"] == "one-login-svc")


def test_people_come_in_where_the_user_wants():
    balanced = ServiceWishes(
        22,
        marks=Marks(annotations={"a": "b"}),
        spec={"type": "LoadBalancer", "loadBalancerSourceRanges": ["10.0.0.0/8"]},
    )
    found = service(make_gate(service=balanced))
    assert found["spec"]["type"] == "LoadBalancer"
    assert found["spec"]["loadBalancerSourceRanges"] == ["10.0.0.0/8"]
    assert found["metadata"]["annotations"] == {"a": "b"}
    on_nodes = service(make_gate(service=ServiceWishes(22, 30022, spec={"type": "NodePort"})))
    assert on_nodes["spec"]["ports"][0]["nodePort"] == 30022


def test_each_pod_has_a_name():
    found = next(o for o in made() if o["metadata"]["name"] == "one-login-headless-svc")
    assert found["spec"]["clusterIP"] == "None"
    assert the("StatefulSet", made())["spec"]["serviceName"] == "one-login-headless-svc"


def test_workers_and_other_login_nodes_are_found_by_their_bare_names():
    searches = spec_of(the("StatefulSet", made()))["dnsConfig"]["searches"]
    assert searches == [
        "one-worker-svc.research.svc.cluster.local",
        "one-login-headless-svc.research.svc.cluster.local",
    ]


def test_no_probe_throws_people_out():
    sshd = container_of(the("StatefulSet", made()), "sshd")
    assert "livenessProbe" not in sshd
    assert "tcpSocket" in sshd["readinessProbe"]


@pytest.mark.parametrize(
    "change",
    [
        {"host_keys_digest": "new"},
        {"public_keys": ("ssh-rsa B b",)},
        {"port": 2222},
    ],
    ids=str,
)
def test_what_sshd_reads_at_its_start_restarts_it(change):
    jail = make_jail()
    other = replace(jail, ssh=replace(jail.ssh, **change))
    one, two = (notes_of(the("StatefulSet", made(jail=j))) for j in (jail, other))
    assert one != two


def test_a_new_configuration_of_slurm_throws_nobody_out():
    one, two = (the("StatefulSet", made(extra=extra)) for extra in ("", "KillWait=7"))
    assert one == two


def test_the_users_own_sshd_config_takes_the_place_of_ours():
    gate = make_gate(sshd=Files("mine", digest="x"))
    assert "one-ssh-configs" not in [o["metadata"]["name"] for o in made(gate)]
    volumes = {v["name"]: v for v in spec_of(the("StatefulSet", made(gate)))["volumes"]}
    assert volumes["ssh-configs"]["configMap"]["name"] == "mine"
    assert notes_of(the("StatefulSet", made(gate)))["slurm.nebius.ai/sshd-conf-hash"] == "x"


def test_limits_are_the_images_own_where_nobody_names_a_map_for_them():
    names = [o["metadata"]["name"] for o in made(make_gate(fittings=make_fittings()))]
    assert "one-login-security-limits" not in names


def test_a_cluster_that_is_down_lets_nobody_in():
    found = the("StatefulSet", made(jail=make_jail(mode=Mode.DOWNSCALE)))
    assert found["spec"]["replicas"] == 0
