"""The way to an API server, and messages that say what to fix where it is described badly."""

import asyncio
import base64
import os
import ssl
import stat
import tempfile
import time
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address

import pytest
import yaml
from aiohttp import web
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from shoal.kube import kinds
from shoal.kubeapi import access as accesses
from shoal.kubeapi import client as clients
from shoal.kubeapi.access import (
    Access,
    AccessError,
    Fixed,
    Plugin,
    TokenFile,
    from_kubeconfig,
    in_cluster,
)
from shoal.kubeapi.client import Client, Ref
from shoal.kubeapi.errors import UnreachableError
from shoal.local.pki import Authority, Identity

NOW = datetime.now(UTC)  # noqa: TID251 - certificates are checked by the wall clock
TOKEN_USER = {"token": "secret"}


@pytest.fixture(scope="module")
def pki(tmp_path_factory):
    """Give a folder with two authorities, and a server's certificate from the first."""
    folder = tmp_path_factory.mktemp("pki")
    for name in ("ca", "other"):
        Authority(folder, name).ensure(NOW)
    server = Identity("server", "server", addresses=(IPv4Address("127.0.0.1"),))
    Authority(folder, "ca").issue([server, Identity("admin", "admin")], NOW)
    Authority(folder, "other").issue([Identity("stranger", "stranger")], NOW)
    return folder


def kubeconfig(folder, cluster=None, user=None, **more):
    """Write a kubeconfig with one of each."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://x:1", **(cluster or {})}}],
        "users": [{"name": "u", "user": TOKEN_USER if user is None else user}],
        **more,
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump({k: v for k, v in config.items() if v is not None}))
    return path


def refused(path, context=None) -> str:
    with pytest.raises(AccessError) as caught:
        from_kubeconfig(path, {}, context)
    assert str(path) in str(caught.value)
    return str(caught.value)


# -- kubeconfig


async def test_a_kubeconfig_says_where_and_who(tmp_path):
    path = kubeconfig(tmp_path)
    found = from_kubeconfig(path, {})
    assert found.server == "https://x:1"
    assert found.namespace == "default"
    assert await found.credentials.headers() == {"Authorization": "Bearer secret"}


def test_another_context_can_be_named(tmp_path):
    contexts = [
        {"name": "here", "context": {"cluster": "c", "user": "u"}},
        {"name": "there", "context": {"cluster": "c", "user": "u", "namespace": "n"}},
    ]
    path = kubeconfig(tmp_path, contexts=contexts)
    assert from_kubeconfig(path, {}, "there").namespace == "n"


def test_a_slash_behind_the_server_is_not_doubled(tmp_path):
    path = kubeconfig(tmp_path, {"server": "https://x:1/"})
    assert from_kubeconfig(path, {}).server == "https://x:1"


def test_plain_http_has_no_tls(tmp_path):
    assert from_kubeconfig(kubeconfig(tmp_path, {"server": "http://x:1"}), {}).tls is None


def test_verification_can_be_switched_off_by_the_user_only(tmp_path):
    assert from_kubeconfig(kubeconfig(tmp_path), {}).tls.verify_mode == ssl.CERT_REQUIRED
    path = kubeconfig(tmp_path, {"insecure-skip-tls-verify": True})
    assert from_kubeconfig(path, {}).tls.verify_mode == ssl.CERT_NONE


async def test_name_and_password_are_sent_as_such(tmp_path):
    path = kubeconfig(tmp_path, user={"username": "a", "password": "b"})
    sent = await from_kubeconfig(path, {}).credentials.headers()
    assert sent == {"Authorization": "Basic " + base64.b64encode(b"a:b").decode()}


def test_certificates_may_be_files_beside_the_kubeconfig_or_inside_it(pki, tmp_path):
    beside = kubeconfig(
        pki,
        {"certificate-authority": "ca.crt"},
        {"client-certificate": "admin.crt", "client-key": "admin.key"},
    )
    assert from_kubeconfig(beside, {}).tls.cert_store_stats()["x509_ca"] == 1

    def data(name):
        return base64.b64encode((pki / name).read_bytes()).decode()

    inside = kubeconfig(
        tmp_path,
        {"certificate-authority-data": data("ca.crt")},
        {"client-certificate-data": data("admin.crt"), "client-key-data": data("admin.key")},
    )
    assert from_kubeconfig(inside, {}).tls.cert_store_stats()["x509_ca"] == 1


def test_a_missing_kubeconfig_is_named(tmp_path):
    assert "No such file" in refused(tmp_path / "absent")


def test_a_folder_is_no_kubeconfig(tmp_path):
    assert "Is a directory" in refused(tmp_path)


@pytest.mark.parametrize("text", ["{", "a: [", "\ta: b"])
def test_what_is_no_yaml_is_said_to_be_none(tmp_path, text):
    path = tmp_path / "kubeconfig"
    path.write_text(text)
    assert "not YAML" in refused(path)


@pytest.mark.parametrize("text", ["", "just words", "[1, 2]", "7"])
def test_what_holds_nothing_is_said_to_hold_nothing(tmp_path, text):
    path = tmp_path / "kubeconfig"
    path.write_text(text)
    assert "no clusters, users and contexts" in refused(path)


def test_bytes_are_no_kubeconfig(tmp_path):
    path = tmp_path / "kubeconfig"
    path.write_bytes(b"\xff\xfe\x00")
    assert "kubeconfig" in refused(path)


def test_without_a_current_context_those_that_exist_are_named(tmp_path):
    words = refused(kubeconfig(tmp_path, **{"current-context": None}))
    assert "current-context is not set (there: here)" in words


def test_an_unknown_context_is_named_with_those_that_exist(tmp_path):
    assert "no context 'nope' in contexts (there: here)" in refused(kubeconfig(tmp_path), "nope")


@pytest.mark.parametrize(("section", "singular"), [("clusters", "cluster"), ("users", "user")])
def test_a_context_that_leads_nowhere_names_what_is_missing(tmp_path, section, singular):
    words = refused(kubeconfig(tmp_path, **{section: None}))
    assert f"no {singular} '{singular[0]}' in {section} (there: none)" in words


def test_a_cluster_without_a_server_is_named(tmp_path):
    path = kubeconfig(tmp_path, {"server": ""})
    assert "clusters[c].server is not set" in refused(path)


@pytest.mark.parametrize(
    ("cluster", "user", "words"),
    [
        ({"certificate-authority": "no.crt"}, None, "certificate-authority no.crt: No such file"),
        ({"certificate-authority-data": "%%"}, None, "certificate-authority-data is not base64"),
        ({"certificate-authority-data": "AAAA"}, None, "certificate-authority: "),
        ({}, {"client-certificate": "no", "client-key": "no"}, "client-certificate no: No such"),
        ({}, {"client-certificate-data": "AAAA"}, "client-key is not set"),
        ({}, {"client-key-data": "AAAA"}, "client-certificate is not set"),
        (
            {},
            {"client-certificate-data": "AAAA", "client-key-data": "AAAA"},
            "client-certificate: ",
        ),
        ({}, {"exec": {"command": "x"}}, "exec.apiVersion of the user is not set"),
        ({}, {"exec": {"apiVersion": "x"}}, "exec.command of the user is not set"),
    ],
)
def test_what_is_wrong_with_certificates_and_plugins_is_named(tmp_path, cluster, user, words):
    assert words in refused(kubeconfig(tmp_path, cluster, user))


def test_a_key_that_is_not_the_certificates_is_refused(pki, tmp_path):
    user = {
        "client-certificate": str(pki / "admin.crt"),
        "client-key": str(pki / "stranger.key"),
    }
    assert "client-certificate: " in refused(kubeconfig(tmp_path, user=user))


def test_a_key_with_a_passphrase_is_refused_and_nobody_is_asked_for_it(pki, tmp_path):
    key = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"word"),
    )
    (tmp_path / "locked.key").write_bytes(key)
    user = {"client-certificate": str(pki / "admin.crt"), "client-key": "locked.key"}
    assert "client-certificate: " in refused(kubeconfig(tmp_path, user=user))


def test_a_private_key_is_written_to_no_folder(pki, tmp_path, monkeypatch):
    user = {"client-certificate": str(pki / "admin.crt"), "client-key": str(pki / "admin.key")}
    path = kubeconfig(tmp_path, user=user)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    before = sorted(tmp_path.rglob("*"))
    assert from_kubeconfig(path, {}).tls is not None
    assert sorted(tmp_path.rglob("*")) == before


# -- in the cluster

ENVIRONMENT = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


def service_account(folder, pki):
    (folder / "ca.crt").write_bytes((pki / "ca.crt").read_bytes())
    (folder / "namespace").write_text("slurm\n")
    (folder / "token").write_text("t1\n")
    return folder


async def test_in_a_pod_the_service_account_is_used(tmp_path, pki):
    found = in_cluster(ENVIRONMENT, service_account(tmp_path, pki))
    assert (found.server, found.namespace) == ("https://10.0.0.1:443", "slurm")
    assert await found.credentials.headers() == {"Authorization": "Bearer t1"}


def test_an_address_of_the_sixth_version_is_put_in_brackets(tmp_path, pki):
    environment = {**ENVIRONMENT, "KUBERNETES_SERVICE_HOST": "fd00::1"}
    found = in_cluster(environment, service_account(tmp_path, pki))
    assert found.server == "https://[fd00::1]:443"


@pytest.mark.parametrize("missing", ["ca.crt", "namespace"])
def test_a_file_that_is_not_mounted_is_named(tmp_path, pki, missing):
    (service_account(tmp_path, pki) / missing).unlink()
    with pytest.raises(AccessError, match="mount the service account") as caught:
        in_cluster(ENVIRONMENT, tmp_path)
    assert missing in str(caught.value)


def test_outside_of_a_cluster_the_way_out_is_named(tmp_path):
    with pytest.raises(AccessError, match="name a kubeconfig") as caught:
        in_cluster({}, tmp_path)
    assert "KUBERNETES_SERVICE_HOST" in str(caught.value)


def test_an_authority_that_is_none_is_named(tmp_path, pki):
    (service_account(tmp_path, pki) / "ca.crt").write_text("no certificate")
    with pytest.raises(AccessError) as caught:
        in_cluster(ENVIRONMENT, tmp_path)
    assert str(tmp_path / "ca.crt") in str(caught.value)


# -- tokens in files


async def test_a_token_that_was_renewed_is_read_after_a_while_or_a_refusal(tmp_path, monkeypatch):
    file = tmp_path / "token"
    file.write_text("old")
    token = TokenFile(file)
    await token.headers()
    file.write_text("new\n")
    assert (await token.headers())["Authorization"] == "Bearer old"
    token.forget()
    assert (await token.headers())["Authorization"] == "Bearer new"
    file.write_text("newer")
    monkeypatch.setattr(accesses, "TOKEN_RELOAD_S", -1.0)
    assert (await token.headers())["Authorization"] == "Bearer newer"


async def test_a_token_file_that_is_away_for_a_moment_does_no_harm(tmp_path):
    file = tmp_path / "token"
    file.write_text("old")
    token = TokenFile(file)
    await token.headers()
    file.unlink()
    token.forget()
    assert (await token.headers())["Authorization"] == "Bearer old"


@pytest.mark.parametrize("text", [None, "", " \n"])
async def test_a_token_file_without_a_token_is_named(tmp_path, text):
    file = tmp_path / "token"
    if text is not None:
        file.write_text(text)
    with pytest.raises(AccessError) as caught:
        await TokenFile(file).headers()
    assert str(file) in str(caught.value)


# -- plugins


def plugin(folder, body: str, **environment: str) -> Plugin:
    """Make a credential plugin out of a line of shell."""
    program = folder / "plugin"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    path = {"PATH": os.defpath, **environment}
    return Plugin([str(program)], path, "client.authentication.k8s.io/v1")


def printed(**status: str) -> str:
    pairs = ", ".join(f'"{key}": "{value}"' for key, value in status.items())
    return f"echo '{{\"status\": {{{pairs}}}}}'"


async def test_a_plugin_gives_a_token_and_is_asked_once(tmp_path):
    found = plugin(tmp_path, f"echo x >> {tmp_path}/runs; {printed(token='t')}")
    for _ in range(3):
        assert await found.headers() == {"Authorization": "Bearer t"}
    assert (tmp_path / "runs").read_text() == "x\n"


async def test_many_requests_at_once_ask_a_plugin_once(tmp_path):
    found = plugin(tmp_path, f"echo x >> {tmp_path}/runs; sleep 0.1; {printed(token='t')}")
    await asyncio.gather(*(found.headers() for _ in range(20)))
    assert (tmp_path / "runs").read_text() == "x\n"


async def test_a_token_that_ends_soon_is_renewed(tmp_path):
    soon = (NOW + timedelta(seconds=10)).strftime("%Y-%m-%dT%H:%M:%SZ")
    body = f"echo x >> {tmp_path}/runs; {printed(token='t', expirationTimestamp=soon)}"
    found = plugin(tmp_path, body)
    await found.headers()
    await found.headers()
    assert (tmp_path / "runs").read_text() == "x\nx\n"


async def test_a_refused_token_is_renewed(tmp_path):
    found = plugin(tmp_path, f"echo x >> {tmp_path}/runs; {printed(token='t')}")
    await found.headers()
    found.forget()
    await found.headers()
    assert (tmp_path / "runs").read_text() == "x\nx\n"


async def test_a_plugin_learns_what_is_asked_of_it(tmp_path):
    found = plugin(tmp_path, f'echo "$KUBERNETES_EXEC_INFO $MORE" > {tmp_path}/asked; '
                   + printed(token="t"), MORE="word")  # fmt: skip
    await found.headers()
    asked = (tmp_path / "asked").read_text()
    assert "ExecCredential" in asked
    assert "word" in asked


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("echo no json", "no ExecCredential"),
        ("echo '{}'", "neither token nor certificate"),
        ("echo '{\"status\": {}}'", "neither token nor certificate"),
    ],
)
async def test_a_plugin_that_gives_nothing_is_named(tmp_path, body, words):
    with pytest.raises(AccessError, match=words) as caught:
        await plugin(tmp_path, body).headers()
    assert "plugin" in str(caught.value)


async def test_a_plugin_that_fails_is_quoted(tmp_path):
    with pytest.raises(UnreachableError, match="exit 3: please log in") as caught:
        await plugin(tmp_path, "echo please log in >&2; exit 3").headers()
    assert "credential plugin" in str(caught.value)


async def test_a_plugin_that_hangs_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(accesses, "EXEC_TIMEOUT_S", 0.2)
    began = time.monotonic()
    with pytest.raises(UnreachableError, match=r"no answer in 0\.2 s"):
        await plugin(tmp_path, "exec sleep 30").headers()
    assert time.monotonic() - began < 10


async def test_a_plugin_that_is_not_installed_is_named():
    with pytest.raises(AccessError, match="no-such-plugin: not found; install it") as caught:
        await Plugin(["no-such-plugin"], {"PATH": "/nowhere"}, "v1").headers()
    assert isinstance(caught.value.__cause__, FileNotFoundError)


async def test_a_plugin_that_cannot_be_run_is_named(tmp_path):
    (tmp_path / "data").write_text("no program")
    with pytest.raises(AccessError, match="data: Permission denied") as caught:
        await Plugin([str(tmp_path / "data")], {}, "v1").headers()
    assert "credential plugin" in str(caught.value)


async def test_a_plugin_beside_the_kubeconfig_is_found(tmp_path):
    plugin(tmp_path, printed(token="t"))
    user = {"exec": {"command": "./plugin", "apiVersion": "client.authentication.k8s.io/v1"}}
    found = from_kubeconfig(kubeconfig(tmp_path, user=user), {"PATH": os.defpath})
    assert await found.credentials.headers() == {"Authorization": "Bearer t"}


# -- over TLS


@pytest.fixture
async def server(pki):
    """Give the address of a server that tells who asks."""

    async def answer(request: web.Request) -> web.Response:
        peer = request.transport.get_extra_info("peercert") or {}
        names = [value for part in peer.get("subject", ()) for _, value in part]
        return web.json_response({"who": names, "sent": request.headers.get("Authorization")})

    app = web.Application()
    app.router.add_get("/{tail:.*}", answer)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=pki / "ca.crt")
    tls.load_cert_chain(pki / "server.crt", pki / "server.key")
    tls.verify_mode = ssl.CERT_OPTIONAL
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    yield f"https://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def asked(access: Access) -> dict:
    async with Client(access, "x") as client:
        return await client.get(Ref(kinds.POD, "n", "p"), dict)


async def test_a_client_certificate_tells_who_we_are(server, pki, tmp_path):
    cluster = {"server": server, "certificate-authority": str(pki / "ca.crt")}
    user = {"client-certificate": str(pki / "admin.crt"), "client-key": str(pki / "admin.key")}
    found = from_kubeconfig(kubeconfig(tmp_path, cluster, user), {})
    assert (await asked(found))["who"] == ["admin"]


async def test_a_server_of_another_authority_is_not_trusted_and_the_message_says_why(
    server, pki, tmp_path, monkeypatch
):
    monkeypatch.setattr(clients, "FIRST_WAIT_S", 0.001)
    cluster = {"server": server, "certificate-authority": str(pki / "other.crt")}
    found = from_kubeconfig(kubeconfig(tmp_path, cluster), {})
    with pytest.raises(UnreachableError, match="certificate-authority") as caught:
        await asked(found)
    assert "CERTIFICATE_VERIFY_FAILED" in str(caught.value)


async def test_a_server_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr(clients, "FIRST_WAIT_S", 0.001)
    with pytest.raises(UnreachableError, match="GET /api/v1/namespaces/n/pods/p: ") as caught:
        await asked(Access("http://127.0.0.1:1", Fixed()))
    assert "127.0.0.1:1" in str(caught.value)


async def test_headers_are_sent_with_each_request(server, pki, tmp_path):
    cluster = {"server": server, "certificate-authority": str(pki / "ca.crt")}
    found = from_kubeconfig(kubeconfig(tmp_path, cluster), {})
    assert (await asked(found))["sent"] == "Bearer secret"
