"""The operator's Deployment and what stands around it."""

import pytest

from shoal.cli.operator import operator
from shoal.controllers.operator import NAME

ALL_OF_IT = {
    "operator": {
        "namespaces": "a,b",
        "clusterDomain": "example.org",
        "slurmImages": {"registry": "docker.io/shoal", "tag": "24.11"},
        "metricsSecure": True,
        "serviceMonitor": {"enabled": True},
        "profile": True,
    },
    "propagatedNodeConditions": ["GpuUnhealthy", "DiskPressure"],
    "networkPolicy": {"enabled": True},
}
SETS = {
    "defaults": {},
    "everything": ALL_OF_IT,
    "no webhooks": {"webhook": {"enabled": False}},
    "no ports": {"operator": {"healthPort": 0, "metricsPort": 0}},
    "cert-manager": {"certManager": {"enabled": True}},
    "alone": {"operator": {"leaderElection": False}},
}


def options(release):
    """Return the operator's options as it would understand them; an unknown flag raises."""
    program, *flags = release.container["args"]
    assert program == "operator"
    return operator.make_context("operator", flags, resilient_parsing=False).params


@pytest.mark.parametrize("values", SETS.values(), ids=SETS)
def test_the_operator_understands_every_flag(helm, values):
    assert options(helm.render(values))["log_level"] == "info"


def test_the_operator_gets_what_the_values_say(helm):
    told = options(helm.render(ALL_OF_IT))
    assert told["namespaces"] == "a,b"
    assert told["cluster_domain"] == "example.org"
    assert (told["image_registry"], told["image_tag"]) == ("docker.io/shoal", "24.11")
    assert told["metrics_secure"]
    assert told["leader_elect"]
    assert told["nodeset_workers"] == 4
    assert told["propagated_node_conditions"] == "GpuUnhealthy,DiskPressure"
    assert (told["profile"], told["profile_addr"]) == (True, "localhost:6060")


def test_names_are_those_that_users_know(helm):
    assert helm.render().names >= {
        ("Deployment", "slurm-operator"),
        ("Service", "slurm-operator-webhook"),
        ("ServiceAccount", "slurm-operator"),
        ("ValidatingWebhookConfiguration", NAME),
    }


def test_the_pod_fits_the_restricted_standard(helm):
    release = helm.render()
    pod = release.one("Deployment")["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert "hostNetwork" not in pod
    mine = release.container["securityContext"]
    assert mine["allowPrivilegeEscalation"] is False
    assert mine["capabilities"] == {"drop": ["ALL"]}
    assert mine["readOnlyRootFilesystem"] is True


def test_empty_maps_of_an_old_file_leave_the_pod_restricted(helm):
    values = {"operator": {"securityContext": {}, "podSecurityContext": {}}}
    assert helm.render(values).container["securityContext"]["readOnlyRootFilesystem"] is True


def test_while_it_is_replaced_one_that_answers_is_always_there(helm):
    strategy = helm.render().one("Deployment")["spec"]["strategy"]
    assert strategy["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}


def test_without_a_lease_the_old_one_ends_before_the_new_one_begins(helm):
    release = helm.render(SETS["alone"])
    assert release.one("Deployment")["spec"]["strategy"] == {"type": "Recreate"}


def test_several_replicas_of_the_webhook_are_several_of_the_one_process(helm):
    release = helm.render({"webhook": {"replicas": 3}})
    assert release.one("Deployment")["spec"]["replicas"] == 3


def test_probes_ask_where_the_operator_answers(helm):
    container = helm.render({"operator": {"healthPort": 9000}}).container
    assert "--health-addr=:9000" in container["args"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports[container["livenessProbe"]["httpGet"]["port"]] == 9000
    assert "livenessProbe" not in helm.render(SETS["no ports"]).container


def test_the_pods_of_the_services_are_the_operators(helm):
    release = helm.render(ALL_OF_IT)
    labels = release.one("Deployment")["spec"]["template"]["metadata"]["labels"]
    selectors = [service["spec"]["selector"] for service in release.every("Service")]
    selectors.append(release.one("NetworkPolicy")["spec"]["podSelector"]["matchLabels"])
    assert len(selectors) == 3
    for selector in selectors:
        assert selector.items() <= labels.items()


def test_numbers_are_collected_once(helm):
    release = helm.render(ALL_OF_IT)
    wanted = release.one("ServiceMonitor")["spec"]["selector"]["matchLabels"].items()
    found = [s for s in release.every("Service") if wanted <= s["metadata"]["labels"].items()]
    assert [service["metadata"]["name"] for service in found] == ["slurm-operator-metrics"]


def test_without_a_port_there_are_no_numbers(helm):
    release = helm.render({"operator": {"metricsPort": 0, "serviceMonitor": {"enabled": True}}})
    assert "--metrics-addr=0" in release.container["args"]
    assert ("Service", "slurm-operator-metrics") not in release.names
    assert not release.every("ServiceMonitor")


@pytest.mark.parametrize(
    ("pdb", "spec"),
    [
        ({"enabled": True}, {"minAvailable": 1}),
        ({"enabled": True, "minAvailable": "50%"}, {"minAvailable": "50%"}),
        ({"enabled": True, "maxUnavailable": 0}, {"maxUnavailable": 0}),
    ],
)
def test_a_budget_says_what_was_asked_for(helm, pdb, spec):
    for values in ({"operator": {"pdb": pdb}}, {"webhook": {"pdb": pdb}}):
        found = helm.render(values).one("PodDisruptionBudget")["spec"]
        assert {key: found[key] for key in found if key != "selector"} == spec


def test_other_names_and_another_namespace_reach_everything(helm):
    values = {"nameOverride": "ours", "fullnameOverride": "ours-all", "namespaceOverride": "there"}
    release = helm.render(values)
    spaces = {obj["metadata"].get("namespace", "there") for obj in release.objects}
    assert spaces == {"there"}
    assert "--webhook-service=ours-webhook" in release.container["args"]
    assert ("ClusterRole", "ours-all-watched") in release.names


def test_an_operator_that_is_switched_off_leaves_nothing(helm):
    assert helm.render({"operator": {"enabled": False}}).objects == ()
