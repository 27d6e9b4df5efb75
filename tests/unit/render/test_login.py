from dataclasses import replace

import pytest

from shoal.model.controller import ExistingClaim, Keys
from shoal.render import login

from .builders import (
    SLURM_KEY,
    container_of,
    environment,
    external_controller,
    make_cluster,
    make_controller,
    make_login,
    make_nodeset,
    make_part,
    notes_of,
    spec_of,
    the,
)


def pods(cluster=None, made=None):
    return the("Deployment", login.objects(cluster or make_cluster(), made or make_login()))


def test_login_nodes_consist_of_their_files_a_service_and_pods():
    found = [
        (o["kind"], o["metadata"]["name"]) for o in login.objects(make_cluster(), make_login())
    ]
    assert found == [
        ("ConfigMap", "login-ssh-config"),
        ("Service", "login"),
        ("Deployment", "login"),
    ]


@pytest.mark.parametrize(
    ("controller", "where"),
    [
        (make_controller(), "slurm-controller.research:6817"),
        (external_controller("ctl.example.com", 7), "ctl.example.com:7"),
        (
            make_controller(replicas=2, state=ExistingClaim("x")),
            "slurm-controller-0.slurm-controller-internal.research:6817,"
            "slurm-controller-1.slurm-controller-internal.research:6817",
        ),
    ],
)
def test_sackd_asks_every_slurmctld_there_is(controller, where):
    made = container_of(pods(make_cluster(controller=controller)), "login")
    assert environment(made)["SACKD_OPTIONS"] == f"--conf-server {where}"


def test_a_login_node_is_ready_once_sackd_is_and_never_ended_for_it():
    made = container_of(pods(), "login")
    assert made["readinessProbe"]["exec"]["command"] == ["test", "-S", "/run/slurm/sack.socket"]
    assert not {"livenessProbe", "startupProbe"} & made.keys()


def test_the_host_keys_are_mounted_where_sshd_looks_and_private_ones_for_root_alone():
    made = pods()
    mounted = {m["mountPath"] for m in container_of(made, "login")["volumeMounts"]}
    for kind in ("rsa", "ed25519", "ecdsa"):
        assert {f"/etc/ssh/ssh_host_{kind}_key", f"/etc/ssh/ssh_host_{kind}_key.pub"} <= mounted
    (volume,) = [v for v in spec_of(made)["volumes"] if v["name"] == "ssh-host-keys"]
    items = volume["projected"]["sources"][0]["secret"]["items"]
    assert {item["mode"] for item in items if not item["key"].endswith(".pub")} == {0o600}


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"host_keys_digest": "x"}, "ssh-host-keys"),
        ({"extra_sshd": "MaxStartups 3"}, "sshd-conf"),
        ({"root_keys": "ssh-rsa x"}, "sshd-conf"),
        ({"sssd": replace(make_login().sssd, digest="x")}, "sssd-conf"),
    ],
)
def test_a_login_node_is_made_anew_when_a_file_of_it_changes(changes, what):
    note = f"slinky.slurm.net/{what}-hash"
    assert notes_of(pods())[note] != notes_of(pods(made=make_login(**changes)))[note]


def test_a_new_key_makes_login_nodes_anew():
    made = make_cluster(keys=Keys(replace(SLURM_KEY, digest="x"), None))
    assert notes_of(pods(made))["slinky.slurm.net/slurm-key-hash"] == "x"


def test_no_login_node_is_ended_because_of_workers_or_configuration():
    """People are logged in there."""
    before = pods()
    assert pods(make_cluster(nodesets=(make_nodeset(), make_nodeset("gpu")))) == before
    assert pods(make_cluster("MinJobAge=2")) == before


def test_workers_are_found_by_the_bare_names_of_their_nodes():
    searches = spec_of(pods())["dnsConfig"]["searches"]
    assert searches == ["slurm-workers-slurm.research.svc.cluster.local"]


def test_a_cluster_with_another_domain_is_found_too():
    """https://github.com/SlinkyProject/slurm-operator/issues/37"""
    (search,) = spec_of(pods(make_cluster(domain="k8s.example")))["dnsConfig"]["searches"]
    assert search.endswith(".svc.k8s.example")


def test_the_key_is_copied_to_where_only_its_owner_reads_it():
    made = container_of(pods(), "initconf")
    assert environment(made) == {"SLURM_USER": "slurm", "SLURM_ID": "401"}
    assert made["image"] == container_of(pods(), "login")["image"]


def test_the_users_strategy_and_the_container_port_named_login_count():
    strategy = {"type": "Recreate"}
    part = make_part("LoginSet", "login", login={"ports": [{"name": "ssh2", "containerPort": 2}]})
    found = login.objects(make_cluster(), make_login(part=part, strategy=strategy))
    assert the("Deployment", found)["spec"]["strategy"] == strategy
    assert the("Service", found)["spec"]["ports"][0]["targetPort"] == "login"
    assert "strategy" not in pods()["spec"]


def test_login_nodes_are_not_told_of_other_services():
    assert spec_of(pods())["enableServiceLinks"] is False
