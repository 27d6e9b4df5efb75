"""Who may do what: nodes, pods, strangers."""

import json
import ssl
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest

from .clusters import Local, run
from .objects import pod, secret
from .python_image import command

ASK = """
import json, ssl, sys, urllib.error, urllib.request
here = "/var/run/secrets/kubernetes.io/serviceaccount"
token, context = open(f"{here}/token").read(), ssl.create_default_context(cafile=f"{here}/ca.crt")
def ask(url):
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request, context=context, timeout=5) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        return refused.code
print(json.dumps([ask(url) for url in sys.argv[1:]]))
"""
IDLE = "import time; time.sleep(3600)"


def as_node(cluster: Local, node: str, folder: Path) -> Local:
    """Return the cluster as a node sees it, with that node's own credentials."""
    config = folder / f"{node}.kubeconfig"
    config.write_text(cluster.shoal("exec", node, "cat", "/etc/kubernetes/kubelet.kubeconfig").out)
    other = replace(cluster)
    other.__dict__["shell"] = {**cluster.shell, "KUBECONFIG": str(config)}
    return other


def test_a_node_reads_only_the_secrets_that_its_own_pods_use(ns, tmp_path):
    n0, n1 = (as_node(ns, node, tmp_path) for node in ("n0", "n1"))
    ns.apply(secret("used", word="x"), secret("unused", word="x"))
    volumes = [{"name": "word", "secret": {"secretName": "used"}}]
    ns.apply(pod("user", "n0", volumes=volumes))
    ns.wait("condition=Ready", "pod/user")
    assert n0.kubectl("get", "secret", "used", check=False).code == 0
    for node, name in ((n0, "unused"), (n1, "used"), (n1, "unused")):
        refused = node.kubectl("get", "secret", name, check=False)
        assert refused.code == 1
        assert "Forbidden" in refused.err


def test_a_node_changes_no_other_node(ns, tmp_path):
    n0 = as_node(ns, "n0", tmp_path)
    refused = n0.kubectl("label", "node", "n1", "mine=yes", check=False)
    assert refused.code == 1
    assert "Forbidden" in refused.err


def status_of(url: str) -> int:
    """Return what a server says to somebody without credentials."""
    nothing = urllib.request.ProxyHandler({})
    anyone = ssl.create_default_context()
    anyone.check_hostname, anyone.verify_mode = False, ssl.CERT_NONE
    opener = urllib.request.build_opener(nothing, urllib.request.HTTPSHandler(context=anyone))
    try:
        with opener.open(url, timeout=5) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        return refused.code


@pytest.mark.parametrize("path", ["pods", "metrics", "runningpods/", "logs/"])
def test_a_kubelet_refuses_strangers(t3, path):
    for node in t3.get("nodes"):
        address = node["status"]["addresses"][0]["address"]
        assert status_of(f"https://{address}:10250/{path}") == 401


def test_the_api_server_shows_strangers_nothing(t3):
    server = t3.kubectl("config", "view", "--output=jsonpath={.clusters[0].cluster.server}").out
    assert status_of(f"{server}/api/v1/secrets") == 403
    assert status_of(f"{server}/api/v1/nodes") == 403
    assert status_of(f"{server}/readyz") == 200


def test_a_pods_token_works_at_the_api_servers_service_and_gives_what_rbac_gives(ns, python):
    ns.kubectl("create", "serviceaccount", "reader")
    ns.kubectl("create", "role", "reader", "--verb=list", "--resource=configmaps")
    ns.kubectl(
        "create", "rolebinding", "reader", "--role=reader",
        f"--serviceaccount={ns.namespace}:reader",
    )  # fmt: skip
    idle = {"image": python, "command": command(IDLE), "serviceAccountName": "reader"}
    ns.apply(pod("reader", **idle))
    ns.wait("condition=Ready", "pod/reader")
    address = ns.kubectl(
        "get", "service", "kubernetes", "--namespace=default", "--output=jsonpath={.spec.clusterIP}"
    ).out
    urls = [
        f"https://{host}/api/v1/namespaces/{ns.namespace}/{kind}"
        for host in (address, "kubernetes.default.svc")
        for kind in ("configmaps", "secrets")
    ]
    said = ns.kubectl("exec", "reader", "--", *command(ASK, *urls)).out
    assert json.loads(said) == [200, 403, 200, 403]


def test_the_keys_of_a_cluster_are_for_its_owner_alone(t3):
    private = [*t3.folder.rglob("*.key"), *t3.folder.rglob("*kubeconfig")]
    assert len(private) > 10
    assert [str(path) for path in private if path.stat().st_mode & 0o077] == []


def test_etcd_is_reached_by_nobody_outside_its_machine(t3):
    listening = run(
        *t3.words("exec", "cp", "cat", "/proc/net/tcp", "/proc/net/tcp6"), env=t3.environment
    ).out
    ports = {
        int(words[1].rpartition(":")[2], 16): words[1].partition(":")[0]
        for line in listening.splitlines()
        if (words := line.split())[3] == "0A"
    }
    assert {ports[2379], ports[2380]} == {"0100007F"}
