from shoal.model.exporter import PodMonitor
from shoal.model.maintenance import Mode
from shoal.render.jailed import exporter

from ..builders import container_of, environment, spec_of, the
from .worlds import make_cluster, make_exporter, make_jail, make_rest


def made(wished=None, **jail):
    cluster = make_cluster(jail=make_jail(**jail))
    return exporter.objects(cluster, cluster.jail, wished or make_exporter(), make_rest())


def test_the_exporter_is_told_by_variables_that_both_images_know():
    env = environment(container_of(the("Deployment", made()), "exporter"))
    assert env == {
        "SLURM_EXPORTER_CLUSTER_NAMESPACE": "research",
        "SLURM_EXPORTER_CLUSTER_NAME": "one",
        "SLURM_EXPORTER_SLURM_API_SERVER": "http://one-rest-svc.research:6820",
        "SLURM_EXPORTER_COLLECTION_INTERVAL": "30s",
    }


def test_more_settings_are_told_by_the_names_of_their_flags():
    wished = make_exporter(settings={"job-source": "accounting"})
    env = environment(container_of(the("Deployment", made(wished)), "exporter"))
    assert env["SLURM_EXPORTER_JOB_SOURCE"] == "accounting"


def test_the_exporter_may_ask_kubernetes_for_the_key():
    spec = spec_of(the("Deployment", made()))
    assert spec["automountServiceAccountToken"]
    assert spec["serviceAccountName"] == "exporter"


def test_an_exporter_without_an_account_gets_one_that_sees_the_key_and_nothing_else():
    made_ = made(make_exporter(account="one-exporter"))
    account, role, binding = (the(k, made_) for k in ("ServiceAccount", "Role", "RoleBinding"))
    assert role["rules"] == [
        {
            "apiGroups": [""],
            "resources": ["secrets"],
            "resourceNames": ["one-rest-jwt-key"],
            "verbs": ["get"],
        }
    ]
    assert binding["roleRef"]["name"] == role["metadata"]["name"] == "one-exporter-role"
    (subject,) = binding["subjects"]
    assert (subject["name"], subject["namespace"]) == ("one-exporter-sa", "research")
    assert account["metadata"]["name"] == "one-exporter-sa"
    assert account["automountServiceAccountToken"] is False


def test_an_account_of_the_users_is_left_to_the_user():
    assert {o["kind"] for o in made()} == {"Deployment", "PodMonitor"}


def test_prometheus_finds_the_exporter_of_this_cluster_alone():
    spec = the("PodMonitor", made())["spec"]
    assert spec["selector"]["matchLabels"]["app.kubernetes.io/instance"] == "one"
    assert [e["port"] for e in spec["podMetricsEndpoints"]] == ["metrics", "monitoring"]


def test_a_new_pod_begins_no_new_series():
    wished = make_exporter(monitor=PodMonitor(metric_relabel=({"action": "drop"},)))
    for endpoint in the("PodMonitor", made(wished))["spec"]["podMetricsEndpoints"]:
        assert endpoint["relabelings"][0]["action"] == "labeldrop"
        assert endpoint["metricRelabelings"] == [{"action": "drop"}]


def test_where_nobody_knows_pod_monitors_there_is_none():
    assert [o["kind"] for o in made(make_exporter(monitor=None))] == ["Deployment"]


def test_a_cluster_that_is_down_has_no_exporter():
    assert the("Deployment", made(mode=Mode.DOWNSCALE))["spec"]["replicas"] == 0
