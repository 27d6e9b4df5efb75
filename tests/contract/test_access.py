"""Ways to the real API server, described badly: the message says what to mend, and where."""

import asyncio
import base64
import copy
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from shoal.kube import kinds
from shoal.kube.objects import Resource
from shoal.kubeapi import client as clients
from shoal.kubeapi.access import Fixed, from_kubeconfig
from shoal.kubeapi.client import Client, Ref, Which
from shoal.kubeapi.errors import ApiError
from shoal.local.pki import Authority, Identity
from shoal.runtime import probes
from shoal.runtime.process import Process, Setup
from shoal.runtime.store import Store

from .real import eventually


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Give the certificates of another authority, as a kubeconfig has them."""
    folder = tmp_path_factory.mktemp("stranger")
    now = datetime.now(UTC)  # noqa: TID251 - OpenSSL asks the real clock
    authority = Authority(folder, "ca")
    authority.ensure(now)
    authority.issue([Identity("admin", "kubernetes-admin", "system:masters")], now)
    files = ("ca.crt", "admin.crt", "admin.key")
    return {name: base64.b64encode((folder / name).read_bytes()).decode() for name in files}


def spoiled(cluster: Path, folder: Path, part: str, **change: str) -> Path:
    """Return a kubeconfig that is good but for a change of its cluster or user."""
    config = copy.deepcopy(yaml.safe_load((cluster / "kubeconfig").read_text()))
    if part == "user":
        config["users"][0]["user"] = change
    else:
        config["clusters"][0]["cluster"] |= change
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return path


async def said(path: Path) -> str:
    """Return what a call over that kubeconfig ends with."""
    async with Client(from_kubeconfig(path, {}), "test") as client:
        with pytest.raises(ApiError) as caught:
            await client.every(Which(kinds.POD), Resource)
    return str(caught.value)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "TRIES", 2)


async def test_another_authority_than_the_servers_is_named(cluster, tmp_path, stranger):
    wrong = {"certificate-authority-data": stranger["ca.crt"]}
    path = spoiled(cluster, tmp_path, "cluster", **wrong)
    words = await said(path)
    assert "its certificate is not from the certificate-authority that we trust" in words
    assert words.endswith(f"of kubeconfig {path}")


@pytest.mark.parametrize("user", ["certificate", "token"])
async def test_credentials_that_are_not_accepted_are_named(cluster, tmp_path, stranger, user):
    change = {
        "certificate": {
            "client-certificate-data": stranger["admin.crt"],
            "client-key-data": stranger["admin.key"],
        },
        "token": {"token": "no-such-token"},
    }
    path = spoiled(cluster, tmp_path, "user", **change[user])
    words = await said(path)
    assert "Unauthorized: check the credentials of context shoal-contract of kubeconfig" in words
    assert words.endswith(str(path))
    assert "no-such-token" not in words


async def test_a_user_without_credentials_is_told_to_be_nobody(cluster, tmp_path):
    words = await said(spoiled(cluster, tmp_path, "user"))
    assert 'User "system:anonymous" cannot list resource "pods"' in words


async def test_a_server_that_does_not_listen_is_named(cluster, tmp_path):
    path = spoiled(cluster, tmp_path, "cluster", server="https://127.0.0.1:1")
    words = await said(path)
    assert "127.0.0.1:1 " in words
    assert words.endswith(f"check the server of context shoal-contract of kubeconfig {path}")


async def test_plain_http_to_a_server_that_wants_tls_is_said_to_be_that(cluster, tmp_path, real):
    server = real.server.replace("https:", "http:")
    words = await said(spoiled(cluster, tmp_path, "cluster", server=server))
    assert "Client sent an HTTP request to an HTTPS server" in words


async def test_a_missing_right_is_named_with_verb_kind_and_user_and_a_new_one_is_used(real):
    access = replace(real, credentials=Fixed({"Impersonate-User": "limited"}))
    process = Process(access, Setup((Store(kinds.CONFIG_MAP, Resource),)), lambda *_: [])
    running = asyncio.create_task(process.run())

    async def ready() -> str:
        return probes.answer("readyz", probes.ready(process)).body.decode()

    words = await eventually(ready, lambda found: "cannot list" in found)
    assert 'User "limited" cannot list resource "configmaps" in API group ""' in words
    assert not running.done()
    async with Client(real, "test") as client:
        await allow(client)
        await eventually(ready, lambda found: found.endswith("readyz check passed\n"))
        process.stop()
        assert await running
        for kind in (kinds.CLUSTER_ROLE, kinds.CLUSTER_ROLE_BINDING):
            await client.delete(Ref(kind, "", "limited"), Resource)


async def allow(client: Client) -> None:
    """Let the user `limited` see ConfigMaps."""
    group = "rbac.authorization.k8s.io"
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch"]}
    role = {"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": {"name": "limited"}}
    await client.create(kinds.CLUSTER_ROLE, {**role, "rules": [rule]}, dict)
    binding = {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "limited"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "limited"},
        "subjects": [{"apiGroup": group, "kind": "User", "name": "limited"}],
    }
    await client.create(kinds.CLUSTER_ROLE_BINDING, binding, dict)
