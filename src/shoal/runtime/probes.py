"""Whether a process lives, whether it is ready, and its numbers, for whoever asks by HTTP.

/healthz fails only where a restart helps: a watchdog that no longer looks. The loop itself needs no
check, as a loop that stands answers nobody. /readyz fails until the caches hold the world. Both
list every check with its reason, whether or not ?verbose asks for it.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import msgspec

from ..kubeapi.client import Client
from ..kubeapi.errors import ApiError
from ..kubeapi.server import Answer, Handler, Listening, plain
from . import clock
from .controller import WATCHDOG_S
from .logs import hide
from .metrics import Attended, Metrics

SILENT_S = 4 * WATCHDOG_S  # a watchdog that has not looked for so long never will
ALLOWED_S, REFUSED_S = 60.0, 10.0  # how long a verdict on a token holds
MOST_VERDICTS = 256
TOKEN_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


class Probed(Attended, Protocol):
    """What is asked how it is."""

    @property
    def ready(self) -> bool:
        """Say whether the caches hold the world."""


@dataclass(frozen=True)
class Check:
    """One thing that was looked at; `wrong` says what is, "" while all is well."""

    name: str
    wrong: str = ""


def alive(process: Probed, now: float) -> list[Check]:
    """Look whether every controller is still watched over."""
    checks = [Check("loop")]
    for controller in process.running:
        silent_s = now - controller.checked_at
        wrong = f"its watchdog has not looked for {silent_s:.0f} s" if silent_s > SILENT_S else ""
        checks.append(Check(f"controller {controller.name}", wrong))
    return checks


def ready(process: Probed) -> list[Check]:
    """Look whether the caches are filled; one that was filled and lost its watch still counts."""
    checks = [
        Check(f"cache {r.kind.plural}", "" if r.lists else r.failing or "not listed yet")
        for r in process.reflectors
    ]
    return [*checks, Check("caches", "" if process.ready else "not filled yet")]


def answer(name: str, checks: Iterable[Check]) -> Answer:
    """Return what a prober gets, in the words of Kubernetes' own components."""
    seen = list(checks)
    # What the API server says may be in here, and anybody may ask.
    lines = [f"[-]{c.name} failed: {hide(c.wrong)}" if c.wrong else f"[+]{c.name} ok" for c in seen]
    well = not any(check.wrong for check in seen)
    lines.append(f"{name} check {'passed' if well else 'failed'}")
    return plain(200 if well else 503, "\n".join(lines))


def probes(process: Probed) -> Mapping[str, Handler]:
    """Return the paths that the kubelet asks."""

    async def healthz(_body: bytes, _headers: Mapping[str, str]) -> Answer:
        return answer("healthz", alive(process, clock.ticks()))

    async def readyz(_body: bytes, _headers: Mapping[str, str]) -> Answer:
        return answer("readyz", ready(process))

    return {"/healthz": healthz, "/readyz": readyz}


def metrics(numbers: Metrics, guard: "Guard | None" = None) -> Mapping[str, Handler]:
    """Return the path that Prometheus asks; with a `guard`, not everybody gets an answer."""

    async def tell(_body: bytes, headers: Mapping[str, str]) -> Answer:
        refusal = await guard.refusal(headers) if guard else None
        return refusal or Answer(200, numbers.text(), "text/plain")

    return {"/metrics": tell}


class _User(msgspec.Struct, frozen=True):
    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, list[str]] = {}


class _Known(msgspec.Struct, frozen=True):
    authenticated: bool = False
    user: _User = _User()


class _TokenReview(msgspec.Struct, frozen=True):
    status: _Known = _Known()


class _Allowed(msgspec.Struct, frozen=True):
    allowed: bool = False


class _AccessReview(msgspec.Struct, frozen=True):
    status: _Allowed = _Allowed()


@dataclass(frozen=True)
class Verdict:
    """What was found of a token, and until when that holds."""

    until: float
    refusal: Answer | None


class Guard:
    """Lets pass whom the API server knows and allows to get `path`, as kube-rbac-proxy did.

    `client` must not be fenced: a standby has numbers, too.
    """

    def __init__(self, client: Client, path: str = "/metrics") -> None:
        self._client = client
        self._path = path
        self._verdicts: dict[bytes, Verdict] = {}

    async def refusal(self, headers: Mapping[str, str]) -> Answer | None:
        """Return the answer to somebody who may not, None to somebody who may."""
        scheme, _, token = headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return plain(401, "a bearer token is needed")
        # Not the token itself: whoever reads our memory shall not find it.
        digest = hashlib.sha256(token.encode()).digest()
        now = clock.ticks()
        if (known := self._verdicts.get(digest)) and known.until > now:
            return known.refusal
        try:
            refusal = await self._ask(token.strip())
        except ApiError as error:
            return plain(503, f"nobody can say who you are: {hide(str(error))}")
        self._remember(digest, refusal, now)
        return refusal

    async def _ask(self, token: str) -> Answer | None:
        review = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token},
        }
        known = (await self._client.post(TOKEN_REVIEWS, review, _TokenReview)).status
        if not known.authenticated:
            return plain(401, "the token is not accepted")
        wish = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": known.user.username,
                "uid": known.user.uid,
                "groups": known.user.groups,
                "extra": known.user.extra,
                "nonResourceAttributes": {"path": self._path, "verb": "get"},
            },
        }
        verdict = (await self._client.post(ACCESS_REVIEWS, wish, _AccessReview)).status
        if not verdict.allowed:
            return plain(403, f"{known.user.username} may not get {self._path}")
        return None

    def _remember(self, digest: bytes, refusal: Answer | None, now: float) -> None:
        if len(self._verdicts) >= MOST_VERDICTS:
            self._verdicts = {k: v for k, v in self._verdicts.items() if v.until > now}
        if len(self._verdicts) >= MOST_VERDICTS:
            self._verdicts.clear()  # somebody tries tokens: the honest are asked for again
        holds_s = REFUSED_S if refusal else ALLOWED_S
        self._verdicts[digest] = Verdict(now + holds_s, refusal)


def listening(address: str) -> Listening | None:
    """Understand ":8080", "127.0.0.1:8080", "[::1]:8080" or "8080"; "0" and "" are nowhere."""
    if address in ("", "0"):
        return None
    host, _, port = address.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise ValueError(f"address {address!r}: HOST:PORT, :PORT, or 0 for none")
    return Listening(host.strip("[]") or None, int(port))
