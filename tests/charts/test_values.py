"""Values: those of SchedMD's chart are taken, a typo is not."""

import pytest
import yaml

from shoal.local.images import REGISTRY, VERSION

from .helm import ROOT, HelmError

HERE = ROOT / "tests/charts"
IMAGE = f"{REGISTRY}/shoal:{VERSION}"


@pytest.mark.parametrize("chart", ["slurm-operator", "slurm-operator-crds"])
def test_a_chart_passes_lint(helm, chart):
    assert "0 chart(s) failed" in helm.run("lint", "--strict", ROOT / "charts" / chart)


@pytest.mark.parametrize("file", ["upstream-values.yaml", "upstream-values-in-use.yaml"])
def test_a_file_written_for_the_other_chart_is_taken_and_runs_our_program(helm, file):
    release = helm.render((HERE / file).read_text())
    assert release.container["image"] == IMAGE


def test_every_wish_of_such_a_file_that_we_can_fulfil_is_fulfilled(helm):
    release = helm.render((HERE / "upstream-values-in-use.yaml").read_text())
    pod = release.one("Deployment")["spec"]["template"]["spec"]
    assert release.one("Deployment")["spec"]["replicas"] == 3
    assert pod["imagePullSecrets"] == [{"name": "regcred"}]
    assert pod["priorityClassName"] == "system-cluster-critical"
    assert pod["tolerations"][0]["key"] == "node-role.kubernetes.io/control-plane"
    assert release.container["resources"]["requests"] == {"cpu": 1, "memory": "1Gi"}
    words = release.container["args"]
    assert {"--nodeset-workers=8", "--log-level=5", "--metrics-addr=:9090"} <= set(words)
    assert "--namespaces=slurm-a,slurm-b" in words
    (hook, *_) = release.one("ValidatingWebhookConfiguration")["webhooks"]
    assert (hook["failurePolicy"], hook["matchPolicy"]) == ("Ignore", "Exact")
    assert hook["timeoutSeconds"] == 5
    assert release.one("PodDisruptionBudget")["spec"]["minAvailable"] == 1


TYPOS = [
    ("operatr: {}", "operatr"),
    ("operator: {replcas: 2}", "replcas"),
    ("operator: {image: {repo: x}}", "repo"),
    ("operator: {replicas: two}", "/operator/replicas"),
    ("operator: {metricsPort: 99999}", "/operator/metricsPort"),
    ("operator: {namespaces: Prod_1}", "/operator/namespaces"),
    ("webhook: {validating: {failurePolicy: Sometimes}}", "/webhook/validating/failurePolicy"),
    ("webhook: {timeoutSeconds: 31}", "/webhook/timeoutSeconds"),
    ("certManager: {secretname: x}", "secretname"),
    ("propagatedNodeConditions: ['a,b']", "/propagatedNodeConditions/0"),
    ("webhook: {configuration: ''}", "/webhook/configuration"),
]


@pytest.mark.parametrize(("text", "named"), TYPOS, ids=[named for _, named in TYPOS])
def test_a_typo_is_refused_with_the_fields_name(helm, text, named):
    with pytest.raises(HelmError, match=named):
        helm.render(text)


def test_a_typo_in_the_other_chart_is_refused_too(helm):
    with pytest.raises(HelmError, match="namspace"):
        helm.render("operator: {namspace: x}", chart="slurm-operator-crds")


def test_the_values_of_both_charts_may_come_with_globals_of_a_chart_around_them(helm):
    assert helm.render({"global": {"team": "x"}}).objects
    assert helm.render({"global": {"team": "x"}}, chart="slurm-operator-crds").objects


MISTAKES = [
    ("operator: {leaderElection: false, replicas: 2}", "operator.leaderElection"),
    ("operator: {leaderElection: false}\nwebhook: {replicas: 2}", "operator.leaderElection"),
    (
        "certManager: {enabled: true}\nexternalCertInjection: {enabled: true, secretName: x}",
        "certManager.enabled",
    ),
    ("externalCertInjection: {enabled: true}", "externalCertInjection.secretName"),
    (
        "operator: {image: {repository: registry.example/slinkyproject/slurm-operator}}",
        "operator.image.repository",
    ),
]


@pytest.mark.parametrize(("text", "named"), MISTAKES)
def test_what_would_go_wrong_later_is_refused_now_with_the_fields_name(helm, text, named):
    with pytest.raises(HelmError, match=named):
        helm.render(text)


@pytest.mark.parametrize(
    ("image", "used"),
    [
        ({}, IMAGE),
        ({"tag": "1.0"}, f"{REGISTRY}/shoal:1.0"),
        ({"repository": "registry.example/shoal"}, f"registry.example/shoal:{VERSION}"),
        ({"digest": "sha256:0123"}, f"{REGISTRY}/shoal@sha256:0123"),
    ],
)
def test_the_image_is_the_one_that_is_built_here_unless_another_is_named(helm, image, used):
    assert helm.render({"operator": {"image": image}}).container["image"] == used


def test_the_charts_have_the_version_of_the_program(helm):
    assert f'version = "{VERSION}"' in (ROOT / "pyproject.toml").read_text()
    for chart in ("slurm-operator", "slurm-operator-crds"):
        told = yaml.safe_load((ROOT / "charts" / chart / "Chart.yaml").read_text())
        assert told["appVersion"] == VERSION


def test_more_objects_may_hold_templates(helm):
    extra = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "x", "namespace": "{{ .Release.Namespace }}"},
    }
    assert helm.render({"extraObjects": [extra]}).one("ConfigMap")["metadata"] == {
        "name": "x",
        "namespace": "slinky",
    }
