"""Metrics behind the API server's own authentication, asked over TLS as Prometheus does."""

import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from shoal.kube import kinds
from shoal.kube.objects import Object
from shoal.kubeapi.access import from_kubeconfig
from shoal.kubeapi.client import Client
from shoal.kubeapi.server import Listening, Server, Tls
from shoal.runtime import probes
from shoal.runtime.metrics import Metrics
from shoal.runtime.probes import Guard

from .real import client_in_namespace

ROLE = "contract-metrics-reader"


@pytest.fixture
async def space(cluster: Path) -> AsyncIterator[tuple[Client, str]]:
    """Give a client and a namespace."""
    access = from_kubeconfig(cluster / "kubeconfig", {})
    async with client_in_namespace(access) as (client, namespace):
        yield client, namespace


async def token(client: Client, namespace: str, name: str) -> str:
    """Make a service account, and return a token of it."""
    meta = {"name": name, "namespace": namespace}
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta}
    await client.create(kinds.SERVICE_ACCOUNT, account, dict)
    wish = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    path = kinds.SERVICE_ACCOUNT.path(namespace, name, "token")
    made: Object = await client.post(path, wish, dict)
    return made["status"]["token"]


async def allow(client: Client, namespace: str, name: str) -> None:
    """Let a service account get /metrics."""
    group = "rbac.authorization.k8s.io"
    rule = {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}
    role = {"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": {"name": ROLE}}
    await client.apply(kinds.CLUSTER_ROLE, {**role, "rules": [rule]}, dict)
    binding = {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": f"{ROLE}-{namespace}"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": ROLE},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
    }
    await client.create(kinds.CLUSTER_ROLE_BINDING, binding, dict)


async def test_metrics_are_for_whom_the_api_server_allows(space, cluster):
    client, namespace = space
    allowed = await token(client, namespace, "prometheus")
    known = await token(client, namespace, "somebody")
    await allow(client, namespace, "prometheus")
    tls = Tls()
    pki = cluster / "pki"
    tls.load((pki / "apiserver.crt").read_bytes(), (pki / "apiserver.key").read_bytes())
    trust = ssl.create_default_context(cafile=str(pki / "ca.crt"))
    routes = probes.metrics(Metrics(), Guard(client))
    async with (
        Server(routes, Listening("127.0.0.1"), tls) as server,
        aiohttp.ClientSession() as http,
    ):

        async def scraped(bearer: str) -> tuple[int, str]:
            headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
            url = f"https://127.0.0.1:{server.port}/metrics"
            async with http.get(url, headers=headers, ssl=trust) as answer:
                return answer.status, await answer.text()

        assert (await scraped(""))[0] == 401
        assert (await scraped("forged"))[0] == 401
        refused = await scraped(known)
        assert refused[0] == 403
        assert "somebody may not get /metrics" in refused[1]
        told = await scraped(allowed)
        assert told[0] == 200
        assert "process_cpu_seconds_total" in told[1]
