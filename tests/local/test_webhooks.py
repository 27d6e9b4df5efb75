"""Admission webhooks are called, in a pod behind a Service and on this machine."""

import base64
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from . import judge
from .certificates import Pair, self_signed
from .clusters import Local, wait_for
from .objects import config_map, pod, secret, service
from .python_image import command

PORT = 8443
SERVE = f"""
import sys
sys.path.append("/code")
import judge
judge.Court(("", {PORT}), "/keys/certificate", "/keys/key", "a pod").serve_forever()
"""


def webhook(cluster: Local, client: dict, certificate: str) -> dict:
    """Return the configuration that asks `client` about the ConfigMaps of the namespace."""
    bundle = base64.b64encode(certificate.encode()).decode()
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["configmaps"],
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": cluster.namespace},
        "webhooks": [
            {
                "name": "judge.test.local",
                "clientConfig": {**client, "caBundle": bundle},
                "rules": [rule],
                "namespaceSelector": {
                    "matchLabels": {"kubernetes.io/metadata.name": cluster.namespace}
                },
                "failurePolicy": "Fail",
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
                "timeoutSeconds": 5,
            }
        ],
    }


@pytest.fixture
def watched(ns: Local) -> Iterator[Local]:
    """Give a namespace whose webhook goes with it."""
    yield ns
    ns.kubectl("delete", "validatingwebhookconfiguration", ns.namespace, "--ignore-not-found")


def create(cluster: Local, name: str, *words: str):
    """Create a ConfigMap, or see it refused."""
    return cluster.kubectl("create", "configmap", name, *words, check=False)


def judged(cluster: Local, by: str) -> None:
    """See that the bad is refused by the webhook itself and the good is let through."""
    bad = config_map("evil")
    bad["metadata"]["labels"] = {"bad": "yes"}
    # A new configuration reaches the API server's admission a moment after it is stored.
    refused = wait_for(
        "the webhook to be asked",
        lambda: cluster.kubectl("create", "--filename=-", stdin=json.dumps(bad), check=False).err,
        lambda said: "evil is bad" in said,
        timeout_s=30,
    )
    assert f"says {by}" in refused
    assert not cluster.exists("configmap", "evil")
    assert create(cluster, "good").code == 0


def test_a_webhook_in_a_pod_is_called_through_its_service(watched, python):
    pair = self_signed(f"judge.{watched.namespace}.svc")
    script = Path(judge.__file__).read_text()
    volumes = [
        {"name": "code", "configMap": {"name": "code"}},
        {"name": "keys", "secret": {"secretName": "keys"}},
    ]
    mounts = [{"name": name, "mountPath": f"/{name}"} for name in ("code", "keys")]
    probe = {"tcpSocket": {"port": PORT}, "periodSeconds": 1}
    watched.apply(
        config_map("code", **{"judge.py": script}),
        secret("keys", certificate=pair.certificate, key=pair.key),
        pod(
            "judge", image=python, command=command(SERVE), volumes=volumes,
            container={"volumeMounts": mounts, "readinessProbe": probe},
        ),
        service("judge", {"pod": "judge"}, ports=[{"port": 443, "targetPort": PORT}]),
    )  # fmt: skip
    watched.wait("condition=Ready", "pod/judge")
    client = {"service": {"namespace": watched.namespace, "name": "judge"}}
    watched.apply(webhook(watched, client, pair.certificate))
    judged(watched, by="a pod")


@pytest.fixture
def court(ns: Local, tmp_path: Path) -> Iterator[tuple[str, Pair]]:
    """Give the URL and the certificate of a webhook server on this machine."""
    pair = self_signed(ns.host)
    certificate, key = tmp_path / "certificate", tmp_path / "key"
    certificate.write_text(pair.certificate)
    key.write_text(pair.key)
    with judge.Court((ns.host, 0), str(certificate), str(key), "this machine") as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"https://{ns.host}:{server.server_port}/", pair
        server.shutdown()
        thread.join()


def test_a_webhook_on_this_machine_is_called_at_its_address(watched, court):
    url, pair = court
    watched.apply(webhook(watched, {"url": url}, pair.certificate))
    judged(watched, by="this machine")


def test_a_webhook_that_does_not_answer_refuses_as_its_policy_says(watched):
    pair = self_signed("nobody")
    client = {"service": {"namespace": watched.namespace, "name": "nobody"}}
    watched.apply(webhook(watched, client, pair.certificate))
    wait_for(
        "the missing webhook to be missed",
        lambda: create(watched, "any", "--dry-run=server").err,
        lambda said: "failed calling webhook" in said,
        timeout_s=30,
    )
