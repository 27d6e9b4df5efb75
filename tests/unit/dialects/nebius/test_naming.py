"""Names that users' tooling knows: none of them is ours to change."""

import dataclasses

import pytest

from shoal.dialects.nebius import naming
from shoal.dialects.nebius.naming import COMPONENTS, Names
from shoal.kube.objects import Meta, Resource


def workload(name="controller", **labels):
    instance = {"app.kubernetes.io/instance": labels["instance"]} if labels else {}
    return Resource(Meta(name, labels=instance))


def test_a_new_cluster_has_its_name_in_front_of_its_workloads():
    found = naming.names("c", [])
    assert [found.workload(part) for part in COMPONENTS[:6]] == [
        "c-controller",
        "c-login",
        "c-accounting",
        "c-rest",
        "c-slurm-exporter",
        "c-sconfigcontroller",
    ]
    assert (found.workload("worker"), found.placeholder) == (
        "c-worker",
        "c-controller-placeholder",
    )


def test_a_cluster_that_has_workloads_without_its_name_keeps_them():
    found = naming.names("c", [workload(instance="c")])
    assert [found.workload(part) for part in COMPONENTS[:6]] == [
        "controller",
        "login",
        "accounting",
        "rest",
        "slurm-exporter",
        "sconfigcontroller",
    ]
    assert (found.workload("worker"), found.placeholder) == ("worker", "controller-placeholder")
    assert (found.database_password, found.database_root) == ("mariadb-password", "mariadb-root")


@pytest.mark.parametrize(
    "others",
    [
        [workload(instance="other")],
        [workload("login", instance="c")],
        [workload()],
    ],
    ids=["another cluster's", "another workload", "no label"],
)
def test_workloads_of_others_do_not_make_a_cluster_an_old_one(others):
    assert naming.names("c", others) == Names("c")


def test_objects_are_called_as_they_always_were():
    c = Names("c")
    assert c.service("controller") == "c-controller-svc"
    assert c.service("accounting") == "c-accounting-svc"
    assert c.service("rest") == "c-rest-svc"
    assert c.service("login") == "c-login-svc"
    assert c.service("worker") == "c-worker-svc"
    assert c.login_headless == "c-login-headless-svc"
    assert c.workers_service == "c-nodeset-svc"
    assert c.nodeset_service("n") == "c-nodeset-n-svc"
    assert (c.slurm_configs, c.ssh_configs) == ("c-slurm-configs", "c-ssh-configs")
    assert (c.worker_ssh_configs, c.root_keys) == ("c-ssh-configs-worker", "c-ssh-root-keys")
    assert c.security_limits("login") == "c-login-security-limits"
    assert c.security_limits("nodeset", "n") == "c-nodeset-n-security-limits"
    assert (c.sysctl, c.supervisord) == ("c-sysctl", "c-supervisord")
    assert (c.munge, c.jwt, c.sshd_keys) == ("c-munge", "c-rest-jwt-key", "c-sshd-keys")
    assert (c.slurmdbd, c.database) == ("c-slurmdbd-configs", "c-acct-db")
    assert c.populate == "c-populate-jail"
    assert c.app_armor("ns") == "soperator-cluster-c-ns-ns"
    assert c.host(c.service("rest"), "ns") == "c-rest-svc.ns.svc.cluster.local"


def every_name(names):
    """Return all names of a cluster's objects."""
    flat = [
        value
        for name in dir(names)
        if not name.startswith("_") and isinstance(value := getattr(names, name), str)
    ]
    parts = [f(part) for f in (names.workload, names.service) for part in COMPONENTS]
    limits = [names.security_limits(part) for part in COMPONENTS]
    groups = [dataclasses.astuple(names.controller), dataclasses.astuple(names.gate)]
    return {*flat, *parts, *limits, *(name for group in groups for name in group)}


def test_two_clusters_of_a_namespace_share_no_name():
    assert every_name(Names("a")) & every_name(Names("b")) == set()
    assert every_name(Names("a")) & every_name(Names("b", legacy=True)) == set()


def test_pods_are_found_by_the_labels_that_they_always_had():
    assert naming.selector("c", "login") == {
        "app.kubernetes.io/name": "slurmcluster",
        "app.kubernetes.io/instance": "c",
        "app.kubernetes.io/component": "login",
    }
    assert naming.labels("c", "nodeset", "n") == {
        **naming.selector("c", "nodeset"),
        "slurm.nebius.ai/nodeset": "n",
        "slurm.nebius.ai/worker": "true",
        "app.kubernetes.io/part-of": "slurm-operator",
        "app.kubernetes.io/managed-by": "slurm-operator",
    }
    for part in COMPONENTS:
        assert naming.selector("c", part).items() < naming.labels("c", part).items()


def test_every_worker_is_found_by_the_labels_that_all_of_them_have():
    found = naming.workers("c").items()
    of_workers = [part for part in COMPONENTS if found <= naming.labels("c", part).items()]
    assert of_workers == ["worker", "nodeset"]


def test_no_two_node_sets_select_each_others_pods():
    assert naming.selector("c", "nodeset", "a") != naming.selector("c", "nodeset", "b")
    assert naming.written({"b": "2", "a": "1"}) == "a=1,b=2"


def test_keys_are_of_this_group_and_none_is_there_twice():
    labels = dataclasses.asdict(naming.NAMING.labels)
    notes = dataclasses.asdict(naming.NAMING.annotations)
    assert len(set(labels.values())) == len(labels)
    assert len(set(notes.values())) == len(notes)
    ours = {key for key in labels.values() if "kubernetes.io" not in key} - {labels["revision"]}
    assert all(key.startswith("slurm.nebius.ai/") for key in {*ours, *notes.values()})
    assert naming.NAMING.digest("munge") == "slurm.nebius.ai/munge-hash"


def test_what_is_ours_in_slurm_is_marked_as_before():
    assert naming.NAMING.reason_prefix == "slurm-operator: "
