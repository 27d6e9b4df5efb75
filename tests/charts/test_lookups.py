"""What the charts ask the cluster when they are installed, and say then."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import yaml

from shoal.kube.kinds import CUSTOM_RESOURCE_DEFINITION as DEFINITION
from shoal.kube.kinds import KUBERNETES_OWN

from .helm import CHARTS, HelmError

NAME = "controllers.slinky.slurm.net"
UNCONVERTED = {
    "slurm-operator-crds": ("--set=conversion.enabled=false",),
    "slurm-operator": ("--set=webhook.enabled=false", "--set=crds.enabled=true"),
}


def discovery():
    """Return as much of an API as Helm looks at before it asks for an object."""
    answers = {
        "/version": {"major": "1", "minor": "34", "gitVersion": "v1.34.4"},
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
    }
    groups = {}
    for kind in KUBERNETES_OWN:
        version = {"groupVersion": kind.api_version, "version": kind.version}
        if kind.group:
            groups[kind.group] = {"name": kind.group, "versions": [version]}
        path = kind.path().removesuffix(f"/{kind.plural}")
        served = {"name": kind.plural, "kind": kind.kind, "namespaced": kind.namespaced}
        listed = answers.setdefault(path, {"kind": "APIResourceList", **version, "resources": []})
        listed["resources"].append({**served, "singularName": "", "verbs": ["get", "create"]})
    answers["/apis"] = {"kind": "APIGroupList", "groups": list(groups.values())}
    return answers


@pytest.fixture
def cluster(tmp_path):
    """Give a cluster that has the answers which a test puts into it, and its kubeconfig."""
    answers = discovery()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            found = answers.get(self.path.partition("?")[0])
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            gone = {"kind": "Status", "apiVersion": "v1", "reason": "NotFound", "code": 404}
            self.wfile.write(json.dumps(found or gone).encode())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,)).start()
    file = tmp_path / "kubeconfig"
    entry = {"server": f"http://127.0.0.1:{server.server_port}"}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": entry}],
        "contexts": [{"name": "c", "context": {"cluster": "c"}}],
        "current-context": "c",
    }
    file.write_text(yaml.safe_dump(config))
    yield answers, file
    server.shutdown()
    server.server_close()


def definition(stored=("v1beta1",), namespace="slinky"):
    service = {"namespace": namespace, "name": "slurm-operator-webhook"}
    conversion = {"strategy": "Webhook", "webhook": {"clientConfig": {"service": service}}}
    return {
        "apiVersion": DEFINITION.api_version,
        "kind": DEFINITION.kind,
        "metadata": {"name": NAME},
        "spec": {"conversion": conversion},
        "status": {"storedVersions": list(stored)},
    }


def asked(helm, cluster, chart, *options):
    """Return what a chart makes of a cluster."""
    where = (f"--kubeconfig={cluster[1]}", "--namespace=slinky")
    options = ("--dry-run=server", "--disable-openapi-validation", *options)
    return helm.run("install", chart, CHARTS / chart, *where, *options)


@pytest.mark.parametrize("chart", UNCONVERTED)
def test_objects_of_the_old_version_are_never_left_without_a_converter(helm, cluster, chart):
    cluster[0][DEFINITION.path(name=NAME)] = definition(("v1alpha1", "v1beta1"))
    with pytest.raises(HelmError, match="stored as v1alpha1"):
        asked(helm, cluster, chart, *UNCONVERTED[chart])


@pytest.mark.parametrize("chart", UNCONVERTED)
def test_where_none_is_stored_the_old_version_can_go(helm, cluster, chart):
    cluster[0][DEFINITION.path(name=NAME)] = definition()
    made = asked(helm, cluster, chart, "--take-ownership", *UNCONVERTED[chart])
    assert "strategy: None" in made


def test_a_definition_of_another_release_is_not_taken_unless_the_user_says_so(helm, cluster):
    cluster[0][DEFINITION.path(name=NAME)] = definition()
    with pytest.raises(HelmError, match="cannot be imported into the current release"):
        asked(helm, cluster, "slurm-operator-crds")


def test_the_notes_tell_of_a_converter_in_another_place(helm, cluster):
    cluster[0][DEFINITION.path(name=NAME)] = definition(namespace="default")
    assert "--set operator.namespace=slinky" in asked(helm, cluster, "slurm-operator")


def test_the_notes_keep_quiet_when_all_is_well(helm, cluster):
    cluster[0][DEFINITION.path(name=NAME)] = definition()
    assert "--set" not in asked(helm, cluster, "slurm-operator").partition("NOTES:")[2]
