"""Login nodes, slurmrestd and the exporter."""

from dataclasses import replace

import pytest

from .objects import nodes
from .readings import ALONE, the

OUR_REST = replace(ALONE, images={"rest_slurmrestd": "here/rest:1"})


# -- login


def test_there_is_no_gate_without_login_nodes():
    assert the(**nodes(login={"size": 0})).gate is None
    assert the(**nodes(login={"size": 3})).gate.replicas == 3


@pytest.mark.parametrize(
    ("kind", "port", "spec"),
    [
        (
            "LoadBalancer",
            None,
            {
                "type": "LoadBalancer",
                "loadBalancerIP": "10.0.0.7",
                "loadBalancerSourceRanges": ["10.0.0.0/8"],
            },
        ),
        ("NodePort", 30022, {"type": "NodePort"}),
    ],
)
def test_a_service_has_of_the_users_wishes_those_that_its_type_knows(kind, port, spec):
    asked = {
        "sshdServiceType": kind,
        "sshdServiceNodePort": 30022,
        "sshdServiceLoadBalancerIP": "10.0.0.7",
        "sshdServiceLoadBalancerSourceRanges": ["10.0.0.0/8"],
        "sshdServiceAnnotations": {"a": "b"},
    }
    service = the(**nodes(login=asked)).gate.service
    assert (service.node_port, service.spec) == (port, spec)
    assert service.marks.annotations == {"a": "b"}


def test_sshd_listens_on_the_same_port_everywhere():
    made = the(**nodes(login={"sshd": {"port": 2222}}))
    assert made.cluster.jail.ssh.port == made.gate.service.port == 2222
    assert the(**nodes(login={"sshd": {"port": 0}})).gate.service.port == 22


def test_workers_and_login_nodes_are_found_by_bare_names_also_those_of_node_sets():
    logins = "slurm-login-headless-svc"
    assert the().cluster.jail.subdomains == ("slurm-worker-svc", "slurm-nodeset-svc", logins)
    sets_only = the(**nodes(worker=None))
    assert sets_only.cluster.jail.subdomains == ("slurm-nodeset-svc", logins)


# -- slurmrestd


def test_slurmrestd_is_there_for_ourselves_where_the_user_wants_none():
    asked = the(**nodes(rest={"enabled": True, "size": 3})).rest
    none = the(**nodes(rest={"enabled": False, "size": 3})).rest
    assert (asked.replicas, none.replicas) == (3, 1)
    assert (
        (none.name, none.workload)
        == (asked.name, asked.workload)
        == ("slurm-rest-svc", "slurm-rest")
    )


def test_slurmrestd_that_is_asked_for_is_there_though_nobody_says_how_often():
    assert the(**nodes(rest={"enabled": True, "size": None})).rest.replicas == 1


def test_slurmrestd_of_ours_is_run_from_our_image_where_the_user_names_none():
    spec = nodes(rest={"rest": None})
    assert the(around=OUR_REST, **spec).rest.part.pods.containers["rest"] == {
        "image": "here/rest:1"
    }
    assert the(**spec).rest is None
    # One that is asked for is not dropped in silence.
    assert the(**nodes(rest={"enabled": True, "rest": None})).rest is not None


def test_what_is_switched_off_may_name_a_filter_that_is_not_there():
    filters = [{"name": "any", "nodeSelector": {"a": "1"}}]
    spec = nodes(rest={"enabled": False, "k8sNodeFilterName": "gone"})
    made = the(k8sNodeFilters=filters, **spec).rest
    assert made.part.pods.spec == {"nodeSelector": {"a": "1"}}


def test_slurmrestd_needs_no_accounting():
    assert the(**nodes(rest={"enabled": True}, accounting={"enabled": False})).rest is not None


# -- the exporter


def exporter(**asked):
    return the(**nodes(exporter={"enabled": True, **asked})).exporter


def test_there_is_no_exporter_unless_it_is_asked_for():
    assert the().exporter is None


def test_an_exporter_of_an_earlier_release_is_not_run():
    assert exporter(exporterContainer=None, exporter={"image": "old"}) is None
    assert (
        exporter(exporter={"image": "old"}).part.pods.containers["exporter"]["image"] == "exporter"
    )


def test_prometheus_is_told_what_the_user_says_and_the_usual_where_he_does_not():
    rule = {"action": "drop", "regex": "a"}
    plain = exporter(podMonitorConfig={}).monitor
    assert (plain.job_label, plain.interval, plain.scrape_timeout) == (
        "slurm-exporter",
        "30s",
        "20s",
    )
    told = exporter(podMonitorConfig={"interval": "1m", "relabelConfig": [rule, {}]}).monitor
    assert (told.interval, told.relabel) == ("1m", (rule, {"action": "replace"}))


def test_an_exporter_is_told_what_is_not_as_usual():
    asked = {"jobSource": "accounting", "accountingJobsLookback": "2h", "maxCollectorInflight": 2}
    usual = {"enabled": True, "serviceAccountName": "mine"}
    made = the(**nodes(accounting={"enabled": True}, exporter={**usual, **asked})).exporter
    assert made.settings == {
        "job-source": "accounting",
        "accounting-jobs-lookback": "2h",
        "max-collector-inflight": "2",
    }
    assert the(**nodes(accounting={"enabled": True}, exporter=usual)).exporter.settings == {}


def test_an_exporter_does_not_ask_a_cluster_without_accounting_for_records():
    told = exporter(serviceAccountName="mine").settings
    assert told == {"collectors": "nodes,jobs,diag,topology"}


def test_an_exporter_asks_for_machines_only_by_an_account_of_the_users():
    made = the(**nodes(accounting={"enabled": True}, exporter={"enabled": True})).exporter
    assert made.settings == {"collectors": "nodes,jobs,diag,accounting"}
    assert exporter().settings == {"collectors": "nodes,jobs,diag"}
