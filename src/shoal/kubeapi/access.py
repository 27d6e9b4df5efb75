"""How to reach an API server and who to be there: in the cluster, or as a kubeconfig says."""

import asyncio
import base64
import ssl
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

import msgspec
import yaml

from .errors import UnreachableError
from .pairs import load_pair

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
TOKEN_RELOAD_S = 30.0  # the kubelet renews a mounted token long before it ends
EXEC_TIMEOUT_S = 60.0
RENEW_EARLY_S = 30.0


class AccessError(Exception):
    """The way to the API server is not described well; the message says what to fix, and where."""


class Credentials(Protocol):
    """Gives the headers of a request."""

    async def headers(self) -> Mapping[str, str]:
        """Return them, renewed where needed."""
        ...

    def forget(self) -> None:
        """Drop what was remembered: the server did not accept it."""
        ...


@dataclass(frozen=True)
class Access:
    """One API server, and us there."""

    server: str
    credentials: Credentials
    tls: ssl.SSLContext | None = None
    namespace: str = "default"
    origin: str = ""  # where all this is written down, for whoever has to mend it


class Fixed:
    """Headers that never change."""

    def __init__(self, headers: Mapping[str, str] | None = None) -> None:
        self._headers = dict(headers or {})

    async def headers(self) -> Mapping[str, str]:
        """Return them."""
        return self._headers

    def forget(self) -> None:
        """Keep them: there are no others."""


@dataclass
class TokenFile:
    """A bearer token in a file that somebody renews."""

    path: Path
    _token: str = ""
    _read: float = field(default=float("-inf"))

    async def headers(self) -> Mapping[str, str]:
        """Return the token, read again now and then."""
        if time.monotonic() - self._read > TOKEN_RELOAD_S:
            try:
                self._token = self.path.read_text().strip() or self._token
            except OSError as error:
                # While it is replaced, the old one is still good.
                if not self._token:
                    raise AccessError(f"token file {self.path}: {error.strerror}") from error
            if not self._token:
                raise AccessError(f"token file {self.path}: it is empty")
            self._read = time.monotonic()
        return {"Authorization": f"Bearer {self._token}"}

    def forget(self) -> None:
        """Read the file next time."""
        self._read = float("-inf")


class _ExecStatus(msgspec.Struct, rename="camel"):
    token: str = ""
    expiration_timestamp: datetime | None = None
    client_certificate_data: str = ""
    client_key_data: str = ""


class _ExecCredential(msgspec.Struct):
    status: _ExecStatus = msgspec.field(default_factory=_ExecStatus)


@dataclass
class Plugin:
    """A program that prints credentials (client.authentication.k8s.io)."""

    command: list[str]
    environment: Mapping[str, str]
    api_version: str
    tls: ssl.SSLContext | None = None
    _token: str = ""
    _until: float = float("-inf")
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def headers(self) -> Mapping[str, str]:
        """Return the token, from the program when there is none or it ends soon."""
        async with self._asking:  # many requests at once are one run of the program
            if time.time() > self._until - RENEW_EARLY_S:  # noqa: TID251 - the program's is wall time
                await self._renew()
        return {"Authorization": f"Bearer {self._token}"} if self._token else {}

    def forget(self) -> None:
        """Ask the program next time."""
        self._until = float("-inf")

    async def _renew(self) -> None:
        out = await self._run()
        try:
            status = msgspec.json.decode(out, type=_ExecCredential).status
        except msgspec.DecodeError as error:
            raise self._unfit(f"no ExecCredential: {error}") from error
        if not status.token and not status.client_certificate_data:
            raise self._unfit("it gave neither token nor certificate")
        if status.client_certificate_data and self.tls:
            certificate, key = status.client_certificate_data, status.client_key_data
            try:
                load_pair(self.tls, certificate.encode(), key.encode())
            except ssl.SSLError as error:
                raise self._unfit(f"certificate: {error}") from error
        self._token = status.token
        ends = status.expiration_timestamp
        self._until = ends.timestamp() if ends else float("inf")

    async def _run(self) -> bytes:
        name = self.command[0]
        info = {"apiVersion": self.api_version, "kind": "ExecCredential", "spec": {}}
        environment = {
            **self.environment,
            "KUBERNETES_EXEC_INFO": msgspec.json.encode(info).decode(),
        }
        try:
            process = await asyncio.create_subprocess_exec(
                *self.command, env=environment, stdout=-1, stderr=-1, stdin=-3
            )
        except FileNotFoundError as error:
            raise self._unfit("not found; install it") from error
        except OSError as error:
            raise self._unfit(str(error.strerror)) from error
        try:
            async with asyncio.timeout(EXEC_TIMEOUT_S):
                out, err = await process.communicate()
        except TimeoutError as error:
            process.kill()
            await process.wait()
            waited = f"no answer in {EXEC_TIMEOUT_S:g} s"
            raise UnreachableError(f"credential plugin {name}: {waited}") from error
        if process.returncode != 0:
            said = err.decode(errors="replace").strip()[-500:]
            raise UnreachableError(f"credential plugin {name}: exit {process.returncode}: {said}")
        return out

    def _unfit(self, why: str) -> AccessError:
        return AccessError(f"credential plugin {self.command[0]}: {why}")


def in_cluster(environment: Mapping[str, str], folder: Path = SERVICE_ACCOUNT) -> Access:
    """Return the access that a pod's service account has."""
    try:
        host, port = environment["KUBERNETES_SERVICE_HOST"], environment["KUBERNETES_SERVICE_PORT"]
        authority = (folder / "ca.crt").read_text()
        namespace = (folder / "namespace").read_text().strip()
    except (KeyError, OSError) as error:
        raise AccessError(
            f"not in a cluster ({error}): name a kubeconfig, or mount the service account"
        ) from error
    try:
        tls = _trusting(authority)
    except (ssl.SSLError, ValueError) as error:
        raise AccessError(f"{folder / 'ca.crt'}: {error}") from error
    host = f"[{host}]" if ":" in host else host
    token = TokenFile(folder / "token")
    origin = f"the service account in {folder}"
    return Access(f"https://{host}:{port}", token, tls, namespace, origin)


def from_kubeconfig(
    path: Path, environment: Mapping[str, str], context: str | None = None
) -> Access:
    """Return the access that `path` describes."""
    config = _config(path)
    wanted = context or config.get("current-context")
    if not wanted:
        there = ", ".join(_names(config, "contexts")) or "none"
        raise AccessError(f"kubeconfig {path}: current-context is not set (there: {there})")
    chosen = _named(path, config, "contexts", wanted)
    cluster = _named(path, config, "clusters", chosen.get("cluster", ""))
    user = _named(path, config, "users", chosen.get("user", "")) if chosen.get("user") else {}
    if not (server := cluster.get("server")):
        raise AccessError(f"kubeconfig {path}: clusters[{chosen['cluster']}].server is not set")
    tls = _tls(path, cluster, user) if server.startswith("https:") else None
    credentials = _credentials(path, user, environment, tls)
    namespace = chosen.get("namespace") or "default"
    origin = f"context {wanted} of kubeconfig {path}"
    return Access(server.rstrip("/"), credentials, tls, namespace, origin)


def _config(path: Path) -> dict[str, Any]:
    try:
        config = yaml.load(path.read_text(), yaml.CSafeLoader)
    except (OSError, UnicodeDecodeError) as error:
        raise AccessError(f"kubeconfig {path}: {getattr(error, 'strerror', error)}") from error
    except yaml.YAMLError as error:
        raise AccessError(f"kubeconfig {path}: not YAML: {error}") from error
    if not isinstance(config, dict):
        raise AccessError(f"kubeconfig {path}: it has no clusters, users and contexts")
    return config


def _names(config: Mapping[str, Any], section: str) -> list[str]:
    return [str(entry.get("name")) for entry in config.get(section) or ()]


def _named(path: Path, config: Mapping[str, Any], section: str, name: str) -> dict[str, Any]:
    singular = section[:-1]
    for entry in config.get(section) or ():
        if entry.get("name") == name:
            found: dict[str, Any] = entry.get(singular) or {}
            return found
    there = ", ".join(_names(config, section)) or "none"
    raise AccessError(f"kubeconfig {path}: no {singular} {name!r} in {section} (there: {there})")


def _tls(path: Path, cluster: Mapping[str, Any], user: Mapping[str, Any]) -> ssl.SSLContext:
    authority = _data(path, cluster, "certificate-authority")
    try:
        tls = _trusting(authority.decode() if authority else None)
    except (ssl.SSLError, ValueError) as error:
        raise AccessError(f"kubeconfig {path}: certificate-authority: {error}") from error
    if cluster.get("insecure-skip-tls-verify"):
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    certificate, key = _data(path, user, "client-certificate"), _data(path, user, "client-key")
    if bool(certificate) != bool(key):
        missing = "client-key" if certificate else "client-certificate"
        raise AccessError(f"kubeconfig {path}: {missing} is not set, only its counterpart")
    if certificate:
        try:
            load_pair(tls, certificate, key)
        except ssl.SSLError as error:
            raise AccessError(f"kubeconfig {path}: client-certificate: {error}") from error
    return tls


def _trusting(authority: str | None) -> ssl.SSLContext:
    """Return what trusts that authority, or those of the machine."""
    tls = ssl.create_default_context(cadata=authority)
    # From Python 3.13 on also what RFC 5280 asks for beyond a valid signature is checked. The
    # authorities of many clusters were made without it, and Kubernetes' own clients do not mind.
    tls.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return tls


def _data(path: Path, section: Mapping[str, Any], name: str) -> bytes:
    if inline := section.get(f"{name}-data"):
        with suppress(ValueError):
            return base64.b64decode(inline, validate=True)
        raise AccessError(f"kubeconfig {path}: {name}-data is not base64")
    if not (named := section.get(name)):
        return b""
    try:
        return Path(path.parent, str(named)).read_bytes()
    except OSError as error:
        raise AccessError(f"kubeconfig {path}: {name} {named}: {error.strerror}") from error


def _credentials(
    path: Path, user: Mapping[str, Any], environment: Mapping[str, str], tls: ssl.SSLContext | None
) -> Credentials:
    if token := user.get("token"):
        return Fixed({"Authorization": f"Bearer {token}"})
    if named := user.get("tokenFile"):
        return TokenFile(path.parent / named)
    if plugin := user.get("exec"):
        for name in ("command", "apiVersion"):
            if not plugin.get(name):
                raise AccessError(f"kubeconfig {path}: exec.{name} of the user is not set")
        added = {e["name"]: e["value"] for e in plugin.get("env") or ()}
        program = plugin["command"]
        if "/" in program:  # as kubectl has it: seen from where the kubeconfig is
            program = str(path.parent / program)
        command = [program, *(plugin.get("args") or ())]
        return Plugin(command, {**environment, **added}, plugin["apiVersion"], tls)
    if "username" in user:
        pair = base64.b64encode(f"{user['username']}:{user.get('password', '')}".encode()).decode()
        return Fixed({"Authorization": f"Basic {pair}"})
    return Fixed()
