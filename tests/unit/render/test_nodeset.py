from dataclasses import replace

import pytest

from shoal.model.nodeset import Mode
from shoal.model.part import Marks
from shoal.render.nodeset import Mould, claims, objects, shared
from shoal.render.revisions import data

from .builders import (
    container_of,
    make_cluster,
    make_nodeset,
    make_part,
    make_ssh,
    notes_of,
    spec_of,
    wishing,
)

CLUSTER = make_cluster()
LABEL = "nodeset.slinky.slurm.net"
SCRATCH = {
    "metadata": {"name": "scratch", "labels": {"tier": "fast"}, "annotations": {"a": "b"}},
    "spec": {"accessModes": ["ReadWriteOnce"]},
}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def wished(spec, **changes):
    return make_nodeset(part=wishing(make_part("NodeSet", "cpu"), spec=spec), **changes)


def pod(cluster, workers, number, node=""):
    return Mould(cluster, workers).pod(number, node)


def pod_on(cluster, workers, node, hostname):
    return Mould(cluster, workers).pod_on(node, hostname)


# -- who it is


def test_a_worker_has_a_name_a_hostname_and_its_place_in_the_cluster():
    part = wishing(make_part("NodeSet", "slurm-worker-gpu"), spec={"hostname": "gpu-"})
    made = pod(CLUSTER, make_nodeset("gpu", part=part, padding=3), 7)
    labels = made["metadata"]["labels"]
    assert made["metadata"]["name"] == labels[f"{LABEL}/pod-name"] == "slurm-worker-gpu-007"
    assert made["spec"]["hostname"] == labels[f"{LABEL}/pod-hostname"] == "gpu-007"
    assert labels[f"{LABEL}/pod-index"] == "007"
    assert labels[f"{LABEL}/scaling-mode"] == "StatefulSet"
    assert labels["slinky.slurm.net/cluster"] == "slurm"
    assert made["spec"]["subdomain"] == "slurm-workers-slurm"


def test_the_worker_of_a_node_is_named_after_it_and_runs_nowhere_else():
    made = pod_on(CLUSTER, make_nodeset(mode=Mode.EVERY_NODE), "n1.example", "n1")
    labels = made["metadata"]["labels"]
    assert made["metadata"]["name"] == "cpu-n1.example"
    assert made["spec"]["hostname"] == labels[f"{LABEL}/pod-hostname"] == "n1"
    assert labels[f"{LABEL}/scaling-mode"] == "DaemonSet"
    assert not {f"{LABEL}/pod-name", f"{LABEL}/pod-index"} & labels.keys()
    assert runs_on(made) == ["n1.example"]


def runs_on(made):
    (term,) = made["spec"]["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]
    (field,) = term["matchFields"]
    assert field["key"] == "metadata.name"
    return field["values"]


def test_a_worker_may_be_bound_to_a_node_and_still_goes_only_where_the_user_wants():
    expression = {"key": "zone", "operator": "In", "values": ["a"]}
    theirs = {
        "nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    }
    made = pod(CLUSTER, wished({"affinity": theirs}), 0, node="n1")
    assert runs_on(made) == ["n1"]
    (term,) = made["spec"]["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [expression]


def test_the_scheduler_decides_where_a_worker_runs():
    assert "nodeName" not in pod(CLUSTER, wished({"nodeName": "n1"}), 0)["spec"]


def test_two_workers_never_share_a_node_unless_the_user_says_so():
    """https://github.com/SlinkyProject/slurm-operator/issues/86"""
    (term,) = pod(CLUSTER, make_nodeset(), 0)["spec"]["affinity"]["podAntiAffinity"][REQUIRED]
    assert term["labelSelector"]["matchLabels"] == {"app.kubernetes.io/name": "slurmd"}
    assert "affinity" not in pod(CLUSTER, make_nodeset(oversubscribe=True), 0)["spec"]


def test_the_users_tolerations_do_not_take_away_ours():
    found = pod(CLUSTER, wished({"tolerations": [{"key": "gpu"}]}), 0)["spec"]["tolerations"]
    stays = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]
    assert [one["key"] for one in found] == [f"{LABEL}/worker", *stays, "gpu"]


def test_a_kubelet_that_is_away_costs_no_worker():
    """Kubernetes' own toleration of it ends after five minutes, and the jobs with it."""
    found = pod(CLUSTER, make_nodeset(), 0)["spec"]["tolerations"]
    away = [one for one in found if one["key"].startswith("node.kubernetes.io/")]
    assert [one["effect"] for one in away] == ["NoExecute", "NoExecute"]
    assert not any("tolerationSeconds" in one for one in away)


def test_a_worker_on_the_nodes_network_still_finds_slurmctld():
    assert "dnsPolicy" not in pod(CLUSTER, make_nodeset(), 0)["spec"]
    made = pod(CLUSTER, wished({"hostNetwork": True}), 0)
    assert made["spec"]["dnsPolicy"] == "ClusterFirstWithHostNet"
    asked = pod(CLUSTER, wished({"hostNetwork": True, "dnsPolicy": "Default"}), 0)
    assert asked["spec"]["dnsPolicy"] == "Default"


def test_workers_find_each_other_by_the_bare_names_of_their_nodes():
    """https://github.com/SlinkyProject/slurm-operator/issues/51"""
    spec = pod(CLUSTER, make_nodeset(), 0)["spec"]
    assert spec["dnsConfig"]["searches"] == ["slurm-workers-slurm.research.svc.cluster.local"]


def test_users_code_in_a_worker_learns_nothing_of_kubernetes():
    spec = pod(CLUSTER, make_nodeset(), 0)["spec"]
    assert (spec["automountServiceAccountToken"], spec["enableServiceLinks"]) == (False, False)


def test_a_worker_prints_what_slurmd_logs():
    made = pod(CLUSTER, make_nodeset(), 0)
    socket = container_of(made, "logfile")["env"][0]["value"]
    assert socket == "/var/log/slurm/slurmd.log"


# -- its volumes


def test_a_worker_has_volumes_of_its_own():
    made = make_nodeset(claims=(SCRATCH,), padding=2)
    (claim,) = claims(made, "03")
    assert claim["metadata"]["name"] == "scratch-cpu-03"
    assert claim["metadata"]["labels"] == {"tier": "fast", **made.part.selector}
    assert claim["metadata"]["annotations"] == {"a": "b"}
    assert claim["spec"] == SCRATCH["spec"]
    volume = pod(CLUSTER, made, 3)["spec"]["volumes"][0]
    assert volume["persistentVolumeClaim"] == {"claimName": "scratch-cpu-03"}


def test_a_volume_of_its_own_goes_before_one_that_all_have_under_that_name():
    made = wished({"volumes": [{"name": "scratch", "emptyDir": {}}]}, claims=(SCRATCH,))
    found = [v for v in pod(CLUSTER, made, 0)["spec"]["volumes"] if v["name"] == "scratch"]
    assert [list(volume) for volume in found] == [["name", "persistentVolumeClaim"]]


def test_the_worker_of_a_node_has_volumes_named_after_it():
    made = pod_on(CLUSTER, make_nodeset(claims=(SCRATCH,)), "n1", "n1")
    claim = made["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"]
    assert (
        claim
        == "scratch-cpu-n1"
        == claims(make_nodeset(claims=(SCRATCH,)), "n1")[0]["metadata"]["name"]
    )


def test_a_worker_has_the_key_and_no_other_secret_of_the_cluster():
    named = str(spec_of(pod(CLUSTER, make_nodeset(), 0))["volumes"])
    assert "slurm-auth" in named
    assert "slurm-jwt" not in named


# -- ssh


def test_without_ssh_a_nodeset_needs_nothing_beside_its_pods():
    assert objects(CLUSTER, make_nodeset()) == []


def test_with_ssh_there_is_a_configuration_of_sshd():
    (config,) = objects(CLUSTER, make_nodeset(ssh=make_ssh(extra_sshd="MaxStartups 3")))
    assert config["metadata"]["name"] == "cpu-ssh-config"
    assert "MaxStartups 3\n" in config["data"]["sshd_config"]


def test_a_worker_says_what_it_was_started_with():
    notes = notes_of(pod(CLUSTER, make_nodeset(ssh=make_ssh()), 0))
    assert notes["slinky.slurm.net/slurm-key-hash"] == "d1"
    assert notes["slinky.slurm.net/sssd-conf-hash"] == "d4"
    assert "slinky.slurm.net/sshd-conf-hash" in notes


# -- revisions


@pytest.mark.parametrize(
    "changed",
    [
        make_nodeset(extra="Weight=1"),
        make_nodeset(padding=2),
        make_nodeset(oversubscribe=True),
        make_nodeset(ssh=make_ssh()),
        make_nodeset(part=make_part("NodeSet", "cpu", slurmd={"image": "new"})),
        make_nodeset(part=make_part("NodeSet", "cpu", logfile={"image": "new"})),
        wished({"nodeSelector": {"a": "b"}}),
        make_nodeset(
            part=wishing(make_part("NodeSet", "cpu"), marks=Marks({}, {"restarted": "1"}))
        ),
    ],
)
def test_workers_are_replaced_when_the_user_wants_them_otherwise(changed):
    assert data(changed) != data(make_nodeset())


def test_a_worker_is_labelled_with_the_revision_that_it_is_made_by():
    made = pod(CLUSTER, make_nodeset(revision="abc"), 0)
    assert made["metadata"]["labels"]["controller.kubernetes.io/hash"] == "abc"


@pytest.mark.parametrize(
    "changed",
    [
        make_nodeset(replicas=5),
        make_nodeset(protect=False),
        make_nodeset(claims=(SCRATCH,)),
        make_nodeset(part=make_part("NodeSet", "cpu", marks=Marks({"chart": "2"}, {"x": "y"}))),
    ],
)
def test_workers_are_not_replaced_for_anything_else(changed):
    assert data(changed) == data(make_nodeset())


def test_a_new_content_of_a_secret_replaces_no_worker():
    one = make_ssh()
    other = replace(one, sssd=replace(one.sssd, digest="x"))
    assert data(make_nodeset(ssh=one)) == data(make_nodeset(ssh=other))


# -- what all share


def test_all_workers_of_a_cluster_share_one_service_and_one_budget():
    made = make_cluster(nodesets=(make_nodeset("a"), make_nodeset("b")))
    assert [(obj["kind"], obj["metadata"]["name"]) for obj in shared(made)] == [
        ("PodDisruptionBudget", "slurm-workers-pdb-slurm"),
        ("Service", "slurm-workers-slurm"),
    ]


def test_what_is_shared_does_not_depend_on_who_is_there():
    both = (make_nodeset("a"), make_nodeset("b"))
    assert shared(make_cluster(nodesets=both)) == shared(make_cluster(nodesets=both[:1]))
    assert shared(make_cluster()) == []


def test_every_worker_is_in_the_service():
    made = make_cluster(nodesets=(make_nodeset("a"),))
    service = shared(made)[1]["spec"]
    labels = pod(made, made.nodesets[0], 0)["metadata"]["labels"]
    assert service["selector"].items() <= labels.items()
    assert service["clusterIP"] == "None"


def test_no_worker_that_is_protected_is_evicted():
    budget = shared(make_cluster(nodesets=(make_nodeset("a"),)))[0]["spec"]
    assert budget == {
        "maxUnavailable": 0,
        "selector": {
            "matchLabels": {f"{LABEL}/pod-protect": "true", "slinky.slurm.net/cluster": "slurm"}
        },
    }
