from pathlib import Path

from shoal.local.addons import PROVISIONER, addons
from shoal.local.cluster import Cluster, Loopback, Networked

CLUSTER = Cluster("a", Path("/s/a"), Networked(0, 1))
GO = Path(__file__).parents[3] / "src/shoal/local/go/kubernetes"


def of_kind(kind):
    return [o for o in addons(CLUSTER) if o["kind"] == kind]


def test_a_control_plane_alone_begins_empty():
    assert addons(Cluster("a", Path("/s/a"), Loopback(1, 2, 3))) == []


def test_there_is_one_default_storage_class_and_our_provisioner_serves_it():
    (only,) = of_kind("StorageClass")
    assert only["metadata"]["annotations"]["storageclass.kubernetes.io/is-default-class"] == "true"
    assert only["provisioner"] == PROVISIONER
    assert f'Name = "{PROVISIONER}"' in (GO / "storage/main.go").read_text()


def test_the_dns_service_leads_to_the_control_plane():
    (service,), (endpoints,) = of_kind("Service"), of_kind("EndpointSlice")
    assert service["spec"]["clusterIP"] == "10.66.0.10"
    assert endpoints["endpoints"][0]["addresses"] == ["10.64.0.1"]
    assert endpoints["metadata"]["labels"]["kubernetes.io/service-name"] == "kube-dns"


def test_our_programs_may_do_only_what_they_do():
    verbs = {
        role["metadata"]["name"]: {v for rule in role["rules"] for v in rule["verbs"]}
        for role in of_kind("ClusterRole")
    }
    assert verbs == {
        "shoal:coredns": {"list", "watch"},
        "shoal:storage": {"get", "list", "watch", "create", "delete"},
    }
