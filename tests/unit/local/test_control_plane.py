from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from shoal.local import control_plane
from shoal.local.cluster import EXTRAS, Cluster, Loopback, Networked

WHOLE = Cluster("a", Path("/s/a"), Networked(0, 2))
ALONE = Cluster("b", Path("/s/b"), Loopback(20000, 20001, 20002))


def started(cluster):
    return {
        program.name: program.argv
        for program in control_plane.programs(cluster, Path("/bin-folder"), Path("/logs"))
    }


def test_a_control_plane_alone_is_etcd_and_the_api_server():
    assert list(started(ALONE)) == ["etcd", "kube-apiserver"]


def test_a_whole_cluster_has_everything_that_kubernetes_is_made_of():
    assert set(started(WHOLE)) == {
        "etcd",
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "kube-proxy",
        "coredns",
        "storage",
    }


@pytest.mark.parametrize("extra", EXTRAS)
def test_whatever_can_be_asked_for_is_started_once(extra):
    asked = Cluster("b", Path("/s/b"), ALONE.place, (extra,))
    names = [p.name for p in control_plane.programs(asked, Path("/x"), Path("/l"))]
    assert len(names) == len(set(names)) == 3


def test_control_planes_on_loopback_claim_no_fixed_port():
    asked = Cluster("b", Path("/s/b"), ALONE.place, EXTRAS)
    words = " ".join(word for argv in started(asked).values() for word in argv)
    assert "2379" not in words
    assert "6443" not in words
    assert words.count("--secure-port=0") == 2  # controller manager, scheduler


@pytest.mark.parametrize("cluster", [WHOLE, ALONE], ids=["whole", "alone"])
def test_rbac_and_node_authorization_are_on(cluster):
    assert "--authorization-mode=Node,RBAC" in started(cluster)["kube-apiserver"]


@pytest.mark.parametrize("cluster", [WHOLE, ALONE], ids=["whole", "alone"])
def test_requests_are_written_down_only_where_that_was_asked_for(cluster):
    audited = replace(cluster, audited=True)
    words = started(audited)["kube-apiserver"]
    assert f"--audit-log-path={audited.audit_log}" in words
    policy = next(word for word in words if word.startswith("--audit-policy-file="))
    assert Path(policy.partition("=")[2]) in control_plane.config_files(audited)
    assert not any("audit" in word for word in started(cluster)["kube-apiserver"])


def test_service_accounts_are_demanded_only_where_somebody_makes_them():
    lax = "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition"
    managed = Cluster("b", Path("/s/b"), ALONE.place, ("controller-manager",))
    assert lax in started(ALONE)["kube-apiserver"]
    assert lax not in started(managed)["kube-apiserver"]
    assert lax not in started(WHOLE)["kube-apiserver"]


def test_the_api_servers_certificate_covers_every_way_to_it():
    identity = control_plane.server_identity(WHOLE)
    assert [str(a) for a in identity.addresses] == [
        "127.0.0.1",
        "10.66.0.1",
        "10.64.0.1",
        "10.64.255.2",
    ]
    assert "kubernetes.default.svc" in identity.hosts


def test_dns_knows_the_cluster_and_says_no_to_all_other_names():
    text = control_plane.corefile(WHOLE)
    assert "kubernetes cluster.local" in text
    assert "rcode NXDOMAIN" in text
    assert "forward" not in text


def test_kube_proxy_leaves_the_hosts_connection_table_alone():
    config = yaml.safe_load(control_plane.proxy_config(WHOLE, "n0", Path("/k")))
    assert config["conntrack"] == {"maxPerCore": 0, "min": 0}


def test_kwok_finds_the_configuration_that_it_is_told_of():
    asked = Cluster("b", Path("/s/b"), ALONE.place, ("kwok",))
    told = next(word for word in started(asked)["kwok"] if word.startswith("--config="))
    assert Path(told.partition("=")[2]) in control_plane.config_files(asked)


def lease_s(*extras):
    asked = Cluster("b", Path("/s/b"), ALONE.place, ("kwok", *extras))
    words = started(asked)["kwok"]
    (found,) = [word for word in words if word.startswith("--node-lease-duration-seconds=")]
    return int(found.partition("=")[2])


def test_kwoks_nodes_renew_their_leases_where_a_controller_manager_would_give_them_up():
    assert lease_s() == 0
    assert 0 < lease_s("controller-manager") / 4 * 2 <= control_plane.NODE_GRACE_S
