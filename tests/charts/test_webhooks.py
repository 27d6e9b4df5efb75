"""What the API server is told of the operator's webhooks."""

import pytest

from shoal.controllers import nebius_webhooks
from shoal.controllers.operator import NAME
from shoal.controllers.webhooks import table
from shoal.dialects.nebius import crds as nebius
from shoal.dialects.nebius.types import GROUP
from shoal.dialects.slinky import crds
from shoal.kube.crds import InCluster
from shoal.kube.findings import Known
from shoal.runtime import trust
from shoal.runtime.webhook import configurations

HERE = InCluster("slinky", "slurm-operator-webhook")
SILENT = {
    "webhooks off": {"webhook": {"enabled": False}},
    "operator off": {"operator": {"enabled": False}},
    "no replica": {"operator": {"replicas": 0}},
}
EVERYTHING = {"webhook": {"podsBinding": True}}
CONFIGURATIONS = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")


BY_DIALECT = {
    "slinky": table(Known(), bindings=True),
    "nebius": nebius_webhooks.table(Known()),
}
ALL = [row for rows in BY_DIALECT.values() for row in rows]


def bare(hook):
    return {k: v for k, v in hook.items() if k not in ("namespaceSelector", "matchPolicy")}


@pytest.mark.parametrize("kind", CONFIGURATIONS)
def test_the_configurations_are_those_of_the_table_that_is_served(helm, kind):
    found = helm.render(EVERYTHING).one(kind)
    (wanted,) = (obj for obj in configurations(NAME, ALL, HERE) if obj["kind"] == kind)
    assert found["metadata"]["name"] == wanted["metadata"]["name"]
    by_name = {hook["name"]: hook for hook in wanted["webhooks"]}
    assert {hook["name"]: bare(hook) for hook in found["webhooks"]} == by_name


@pytest.mark.parametrize("dialect", BY_DIALECT)
def test_an_operator_of_one_api_is_asked_about_that_alone(helm, dialect):
    release = helm.render(merged(EVERYTHING, {"operator": {"dialects": [dialect]}}))
    assert f"--dialects={dialect}" in release.container["args"]
    found = {
        hook["name"]
        for kind in CONFIGURATIONS
        for obj in release.every(kind)
        for hook in obj["webhooks"]
    }
    wanted = configurations(NAME, BY_DIALECT[dialect], HERE)
    assert found == {hook["name"] for obj in wanted for hook in obj["webhooks"]}


def merged(*values):
    return {key: value for each in values for key, value in each.items()}


def test_whom_to_trust_is_filled_in_by_the_operator_everywhere(helm):
    release = helm.render({**EVERYTHING, "crds": {"enabled": True}})
    for target in trust.targets(NAME, ALL):
        found = release.one(target.kind.kind, target.name)
        annotations = found["metadata"].get("annotations", {})
        # Where cert-manager is asked to, the operator does not.
        assert not [key for key in annotations if key.startswith(trust.CERT_MANAGER)]


def test_another_name_of_the_configurations_is_the_one_that_the_operator_may_fill_in(helm):
    release = helm.render({"webhook": {"podsBinding": True, "configuration": "ours"}})
    assert {release.one(kind)["metadata"]["name"] for kind in CONFIGURATIONS} == {"ours"}
    assert "--webhook-configuration=ours" in release.container["args"]
    rules = release.one("ClusterRole", "slurm-operator-webhooks")["rules"]
    named = {rule["resources"][0]: rule["resourceNames"] for rule in rules}
    assert named["validatingwebhookconfigurations"] == ["ours"]
    assert named["mutatingwebhookconfigurations"] == ["ours"]
    assert "slurm-operator" not in named["customresourcedefinitions"]


def test_pods_are_scheduled_without_asking_unless_the_user_wants_it(helm):
    assert not helm.render().every("MutatingWebhookConfiguration")
    (hook,) = helm.render(EVERYTHING).one("MutatingWebhookConfiguration")["webhooks"]
    assert hook["failurePolicy"] == "Ignore"
    assert hook["timeoutSeconds"] <= 3


@pytest.mark.parametrize("values", SILENT.values(), ids=SILENT)
def test_where_nobody_answers_nothing_is_asked(helm, values):
    release = helm.render(values)
    assert not [kind for kind in CONFIGURATIONS if release.every(kind)]


@pytest.mark.parametrize("cause", ["operator off", "no replica"])
def test_an_operator_that_will_be_back_is_still_the_one_that_converts(helm, cause):
    release = helm.render({**SILENT[cause], "crds": {"enabled": True}})
    assert specs(release) == wanted(HERE)


def test_what_asks_the_operator_goes_with_its_release(helm):
    release = helm.render(EVERYTHING)
    for kind in CONFIGURATIONS:
        assert "helm.sh/resource-policy" not in release.one(kind)["metadata"].get("annotations", {})
        assert "helm.sh/hook" not in release.one(kind)["metadata"].get("annotations", {})


def selectors(release, kind="ValidatingWebhookConfiguration"):
    (found,) = {
        str(hook["namespaceSelector"]): hook for hook in release.one(kind)["webhooks"]
    }.values()
    return {
        (row["operator"], *row["values"]) for row in found["namespaceSelector"]["matchExpressions"]
    }


SYSTEM = ("NotIn", "kube-system", "kube-public", "kube-node-lease")


def test_system_namespaces_are_left_alone(helm):
    assert selectors(helm.render()) == {SYSTEM}


def test_only_namespaces_that_are_looked_after_are_checked(helm):
    assert selectors(helm.render({"operator": {"namespaces": "a,b"}})) == {SYSTEM, ("In", "a", "b")}


def test_the_webhooks_may_have_namespaces_of_their_own(helm):
    values = {"operator": {"namespaces": "a,b"}, "webhook": {"namespaces": "a"}}
    assert selectors(helm.render(values)) == {SYSTEM, ("In", "a")}


def test_pods_beside_the_operator_are_scheduled_without_it(helm):
    found = selectors(helm.render(EVERYTHING), "MutatingWebhookConfiguration")
    assert found == {(*SYSTEM, "slinky")}


def test_a_selector_of_the_users_is_taken_as_it_is(helm):
    wanted = {"matchLabels": {"slurm": "yes"}}
    values = {"webhook": {"validating": {"namespaceSelector": wanted}}}
    hooks = helm.render(values).one("ValidatingWebhookConfiguration")["webhooks"]
    assert [hook["namespaceSelector"] for hook in hooks] == [wanted] * len(hooks)
    assert len(hooks) > len(crds.definitions())


def test_conditions_and_annotations_of_the_users_arrive(helm):
    condition = {"name": "x", "expression": "true"}
    values = {
        "webhook": {
            "validating": {"matchConditions": [condition]},
            "validatingAnnotations": {"example.com/a": "b"},
        }
    }
    found = helm.render(values).one("ValidatingWebhookConfiguration")
    assert found["metadata"]["annotations"] == {"example.com/a": "b"}
    assert found["webhooks"][0]["matchConditions"] == [condition]


# -- certificates


def test_by_default_the_operator_makes_its_own_certificate(helm):
    release = helm.render()
    assert "--webhook-secret=slurm-operator-webhook-ca" in release.container["args"]
    assert not release.every("Certificate")
    assert "volumeMounts" not in release.container


def test_cert_manager_makes_it_for_the_names_by_which_the_api_server_calls(helm):
    release = helm.render({"certManager": {"enabled": True}})
    made = release.one("Certificate", "slurm-operator-webhook-ca")["spec"]
    assert made["dnsNames"][0] == "slurm-operator-webhook.slinky.svc"
    mounted(release, made["secretName"])


# What cert-manager.io/v1 calls the fields that we use, and what they hold.
FIELDS = {
    "Issuer": {"selfSigned": dict, "ca": dict},
    "Certificate": {
        "secretName": str,
        "issuerRef": dict,
        "dnsNames": list,
        "commonName": str,
        "isCA": bool,
        "duration": str,
        "renewBefore": str,
    },
}
NAMES = {"nameOverride": "n" * 55}  # the longest that is not cut


@pytest.mark.parametrize("values", [{}, NAMES], ids=["usual names", "long names"])
@pytest.mark.parametrize("kind", FIELDS)
def test_cert_manager_knows_every_field_that_it_is_given(helm, kind, values):
    found = helm.render({"certManager": {"enabled": True}, **values}).every(kind)
    assert len(found) == 2
    for obj in found:
        assert obj["apiVersion"] == "cert-manager.io/v1"
        assert {key: type(value) for key, value in obj["spec"].items()}.items() <= FIELDS[
            kind
        ].items()
        # A longer one is no name of a subject (RFC 5280, ub-common-name).
        assert len(obj["spec"].get("commonName", "")) <= 64


def test_an_authority_signs_the_certificate_and_itself_is_signed_by_nobody_else(helm):
    release = helm.render({"certManager": {"enabled": True}})
    serving = release.one("Certificate", "slurm-operator-webhook-ca")["spec"]
    issuer = release.one("Issuer", serving["issuerRef"]["name"])["spec"]
    (root,) = (c["spec"] for c in release.every("Certificate") if c["spec"].get("isCA"))
    assert issuer == {"ca": {"secretName": root["secretName"]}}
    assert release.one("Issuer", root["issuerRef"]["name"])["spec"] == {"selfSigned": {}}


def test_a_certificate_of_the_users_is_mounted(helm):
    values = {"externalCertInjection": {"enabled": True, "secretName": "mine"}}
    release = helm.render(values)
    mounted(release, "mine")
    assert not release.every("Certificate")


def mounted(release, secret):
    (mount,) = release.container["volumeMounts"]
    assert f"--cert-dir={mount['mountPath']}" in release.container["args"]
    (volume,) = release.one("Deployment")["spec"]["template"]["spec"]["volumes"]
    assert volume["secret"]["secretName"] == secret
    assert volume["secret"]["defaultMode"] == 0o440


# -- definitions


def specs(release):
    return {
        obj["metadata"]["name"]: obj["spec"] for obj in release.every("CustomResourceDefinition")
    }


def wanted(endpoint):
    every = [*crds.definitions(endpoint), *nebius.definitions()]
    return {obj["metadata"]["name"]: obj["spec"] for obj in every}


def test_the_definitions_are_those_of_the_types_converted_by_the_releases_namespace(helm):
    release = helm.render(chart="slurm-operator-crds")
    assert specs(release) == wanted(HERE)


def test_an_operator_elsewhere_can_be_named(helm):
    values = {"operator": {"namespace": "ops", "service": "ours-webhook"}}
    release = helm.render(values, chart="slurm-operator-crds", namespace="default")
    assert specs(release) == wanted(InCluster("ops", "ours-webhook"))


def test_the_operators_release_may_have_the_definitions_and_knows_where_it_is(helm):
    release = helm.render({"crds": {"enabled": True}, "nameOverride": "ours"}, namespace="ops")
    assert specs(release) == wanted(InCluster("ops", "ours-webhook"))
    assert not specs(helm.render())


UNCONVERTED = {
    "slurm-operator-crds": {"conversion": {"enabled": False}},
    "slurm-operator": {"webhook": {"enabled": False}, "crds": {"enabled": True}},
}


@pytest.mark.parametrize("chart", UNCONVERTED)
def test_without_a_converter_only_the_stored_version_is_served(helm, chart):
    found = specs(helm.render(UNCONVERTED[chart], chart=chart))
    assert found
    for name, spec in found.items():
        (served,) = [v for v in spec["versions"] if v["served"]]
        assert served["storage"]
        # What has one version only is never converted.
        converted = None if name.endswith(GROUP) else {"strategy": "None"}
        assert spec.get("conversion") == converted


@pytest.mark.parametrize("chart", ["slurm-operator-crds", "slurm-operator"])
def test_the_definitions_stay_when_a_release_goes_as_every_cluster_would_go_with_them(helm, chart):
    values = {} if chart == "slurm-operator-crds" else {"crds": {"enabled": True}}
    found = helm.render(values, chart=chart).every("CustomResourceDefinition")
    assert {obj["metadata"]["name"] for obj in found} == set(wanted(HERE))
    for definition in found:
        assert definition["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"
