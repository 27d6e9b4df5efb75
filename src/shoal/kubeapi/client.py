"""Calls of the Kubernetes API: read slim, write full.

Every write passes through one gate (`Through`), so that whoever owns the client can count, delay,
refuse or fake each effect. Reads do not.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import cache
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import aiohttp
import msgspec

from ..kube.kinds import Kind
from ..kube.objects import Object, Resource, key_of
from . import lines
from .access import Access
from .body import Body
from .errors import (
    BusyError,
    ServerError,
    UnauthorizedError,
    UnreachableError,
    UnreadableError,
    refusal,
)
from .watch_pace import Pace

R = TypeVar("R", bound=Resource)
T = TypeVar("T")

PAGE = 500
TRIES = 5
FIRST_WAIT_S = 0.2
LONGEST_WAIT_S = 10.0
LONGEST_ASKED_S = 60.0
REQUEST_TIMEOUT_S = 30.0
CONNECTIONS = 64

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
METADATA = "application/json;as=PartialObjectMetadata{};g=meta.k8s.io;v=v1"

Through = Callable[[str, Callable[[], Awaitable[Any]]], Awaitable[Any]]
Observe = Callable[[str, str, int, float], None]  # verb, plural, HTTP code (0: none), seconds


async def directly(_: str, call: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401 - passes on what the call returns
    """Do the call: the gate that is always open."""
    return await call()


def unobserved(*_: object) -> None:
    """Take no notice of a request."""


def freely() -> None:
    """Let a write leave."""


class ListMeta(
    msgspec.Struct, frozen=True, rename={"resource_version": "resourceVersion", "next": "continue"}
):
    """A list's own metadata."""

    resource_version: str = ""
    next: str = ""


class Page(msgspec.Struct, Generic[R], frozen=True, gc=False):
    """Some of a list."""

    found: list[R] | None = msgspec.field(name="items", default=None)
    metadata: ListMeta = ListMeta()

    @property
    def items(self) -> list[R]:
        """Return the objects; an API server that has none in brief says null, not an empty list."""
        return self.found or []


@dataclass(frozen=True)
class Which:
    """Which objects of a kind: of all namespaces or one, by label and field, whole or in brief."""

    kind: Kind
    namespace: str = ""
    labels: str = ""
    fields: str = ""
    metadata_only: bool = False

    def query(self) -> dict[str, str]:
        """Return the selectors as the API has them."""
        named = {"labelSelector": self.labels, "fieldSelector": self.fields}
        return {key: value for key, value in named.items() if value}


@dataclass(frozen=True)
class Ref:
    """One object, or a part of it that has a path of its own."""

    kind: Kind
    namespace: str
    name: str
    subresource: str = ""

    @property
    def path(self) -> str:
        """Return its URL path."""
        return self.kind.path(self.namespace, self.name, self.subresource)


def ref(kind: Kind, obj: Object, subresource: str = "") -> Ref:
    """Return where `obj` is."""
    return Ref(kind, *key_of(obj), subresource)


@dataclass(frozen=True)
class Demand:
    """How a deletion is meant: of that very object as it was seen, and how gently."""

    uid: str = ""
    version: str = ""
    grace_s: int | None = None
    propagation: str = "Background"

    def options(self) -> Object:
        """Return it as the API has it."""
        seen = {"uid": self.uid, "resourceVersion": self.version}
        options: Object = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": self.propagation,
            "preconditions": {key: value for key, value in seen.items() if value},
        }
        if self.grace_s is not None:
            options["gracePeriodSeconds"] = self.grace_s
        return options


@dataclass(frozen=True)
class Request:
    """One request to the API server."""

    method: str
    path: str
    query: Mapping[str, str]
    body: bytes | None = None
    content_type: str = "application/json"
    accept: str = "application/json"
    verb: str = ""
    plural: str = ""
    again: bool = True  # may be sent a second time when it is not known whether the first arrived
    name: str = ""  # of what is made, as the path does not say

    def __str__(self) -> str:
        return f"{self.method} {self.path}{'/' if self.name else ''}{self.name}"


class Client:
    """A client of one API server; a context manager that closes its connections."""

    def __init__(
        self,
        access: Access,
        manager: str,
        through: Through = directly,
        observe: Observe = unobserved,
    ) -> None:
        self.access = access
        self.manager = manager  # the name under which we own fields
        # Asked for each write when its bytes leave, long after the gate: raises if they may not.
        self.may_send: Callable[[], None] = freely
        self._through = through
        self._observe = observe
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        """Open the connections."""
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=CONNECTIONS, ssl=self.access.tls or True),
            headers={"User-Agent": "shoal"},
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close them."""
        assert self._session is not None
        await self._session.close()

    @property
    def through(self) -> Through:
        """Return the gate, for effects of another kind that belong to the same process."""
        return self._through

    # -- reads

    async def get(self, what: Ref, type_: type[T]) -> T:
        """Return one object."""
        request = Request("GET", what.path, {}, verb="get", plural=what.kind.plural)
        return _decode(request, await self._send(request), type_)

    async def pages(
        self, which: Which, type_: type[R], limit: int = PAGE
    ) -> AsyncIterator[Page[R]]:
        """Yield what there is, some at a time, so that no step holds the loop up for long."""
        listed: type[Page[R]] = Page[type_]  # type: ignore[valid-type]
        accept = METADATA.format("List") if which.metadata_only else "application/json"
        path, after = which.kind.path(which.namespace), ""
        while True:
            query = {**which.query(), "limit": str(limit)}
            if after:
                query["continue"] = after
            request = Request(
                "GET", path, query, accept=accept, verb="list", plural=which.kind.plural
            )
            page = _decode(request, await self._send(request), listed)
            yield page
            after = page.metadata.next
            if not after:
                return

    async def every(self, which: Which, type_: type[R]) -> list[R]:
        """Return all at once; for kinds that are few."""
        return [item async for page in self.pages(which, type_) for item in page.items]

    async def stream(self, which: Which, version: str, silence_s: float) -> AsyncIterator[bytes]:
        """Yield the raw bytes of a watch from `version` on; a silence ends it like a lost line."""
        accept = METADATA.format("") if which.metadata_only else "application/json"
        query = {
            **which.query(),
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": version,
            # Not all watches of a process at once.
            "timeoutSeconds": str(random.randint(300, 600)),
        }
        path = which.kind.path(which.namespace)
        request = Request("GET", path, query, accept=accept, verb="watch", plural=which.kind.plural)
        limits = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=silence_s)
        code, began = 0, asyncio.get_running_loop().time()
        try:
            async with await self._open(request, limits) as answer:
                code = answer.status
                if answer.status != 200:
                    raise refusal(str(request), answer.status, await answer.read())
                pace = Pace(answer)
                try:
                    async for chunk in answer.content.iter_any():
                        if b"\n" in chunk:  # else its one event has only begun
                            pace.hold()
                        yield chunk
                finally:
                    pace.end()
                    _abort(answer)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise UnreachableError(f"{request}: {self._words(error)}") from error
        finally:
            took = asyncio.get_running_loop().time() - began
            self._observe(request.verb, request.plural, code, took)

    # -- writes

    async def create(self, kind: Kind, obj: Object, type_: type[T]) -> T:
        """Create `obj` and return what the API server made of it."""
        path = kind.path(obj["metadata"].get("namespace", ""))
        query = {"fieldManager": self.manager}
        request = Request(
            "POST",
            path,
            query,
            _encode(obj),
            verb="create",
            plural=kind.plural,
            again=False,
            name=_name(obj),
        )
        return await self._write(request, type_)

    async def apply(
        self, kind: Kind, obj: Object, type_: type[T], *, force: bool = False, subresource: str = ""
    ) -> T:
        """Server-side apply `obj`; a field of another manager is a ConflictError, or is forced."""
        path = ref(kind, obj, subresource).path
        query = {"fieldManager": self.manager, "force": "true" if force else "false"}
        request = Request(
            "PATCH", path, query, _encode(obj), APPLY, verb="apply", plural=kind.plural
        )
        return await self._write(request, type_)

    async def patch(self, what: Ref, change: Object | Sequence[Object], type_: type[T]) -> T:
        """Patch one object: a mapping is a merge patch, a sequence a JSON patch."""
        merge = isinstance(change, dict)
        request = Request(
            "PATCH",
            what.path,
            {"fieldManager": self.manager},
            _encode(change),
            MERGE if merge else JSON_PATCH,
            verb="patch",
            plural=what.kind.plural,
            # A JSON patch may add to a list: twice is not once.
            again=merge,
        )
        return await self._write(request, type_)

    async def replace(self, kind: Kind, obj: Object, type_: type[T], subresource: str = "") -> T:
        """Replace one object, or its status; `obj` carries the version that it replaces."""
        path = ref(kind, obj, subresource).path
        query = {"fieldManager": self.manager}
        request = Request("PUT", path, query, _encode(obj), verb="update", plural=kind.plural)
        return await self._write(request, type_)

    async def delete(self, what: Ref, type_: type[R], demand: Demand | None = None) -> R | None:
        """Delete one object; return what is left of it while it ends, None when it is gone."""
        options = _encode((demand or Demand()).options())
        plural = what.kind.plural
        request = Request("DELETE", what.path, {}, options, verb="delete", plural=plural)
        answer = await self._through(str(request), lambda: self._send(request))
        # A Status, which is nothing that is deleted; or the object, of some kinds even when gone.
        left = _decode(request, answer, Resource)
        if not left.deleting or left.over:
            return None
        return _decode(request, answer, type_)

    async def evict(self, namespace: str, name: str, uid: str = "") -> None:
        """Ask for a pod's eviction; a disruption budget that does not allow it is a BusyError."""
        body: Object = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": namespace},
        }
        if uid:
            body["deleteOptions"] = {"preconditions": {"uid": uid}}
        path = f"/api/v1/namespaces/{namespace}/pods/{name}/eviction"
        request = Request("POST", path, {}, _encode(body), verb="evict", plural="pods", again=False)
        # Not waited for here: the caller decides whether to ask again.
        await self._through(str(request), lambda: self._once(request))

    async def post(self, path: str, body: Object, type_: type[T]) -> T:
        """Post to a path that is no kind of ours (a review, a scale, a binding)."""
        encoded, name = _encode(body), _name(body)
        request = Request(
            "POST", path, {}, encoded, verb="create", plural=path, again=False, name=name
        )
        return await self._write(request, type_)

    # -- the wire

    @asynccontextmanager
    async def line(
        self, request: Request, query: lines.Pairs, protocols: Sequence[str]
    ) -> AsyncIterator[lines.Socket]:
        """Give a line on which both sides talk; whoever opens it has passed the gate."""
        code, began = 0, asyncio.get_running_loop().time()
        headers = await self.access.credentials.headers()
        wanted = lines.Wanted(str(request), self.access.server + request.path, query, protocols)
        try:
            async with self._dial(wanted, headers) as socket:
                code = 101
                yield socket
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            self.may_send()  # what held it back says more than the line that it broke
            raise UnreachableError(f"{request}: {self._words(error)}") from error
        finally:
            took = asyncio.get_running_loop().time() - began
            self._observe(request.verb, request.plural, code, took)

    def _dial(
        self, wanted: lines.Wanted, headers: Mapping[str, str]
    ) -> AbstractAsyncContextManager[lines.Socket]:
        assert self._session is not None, "the client is used before `async with`"
        return lines.dialled(self._session, wanted, headers, self.may_send)

    async def _write(self, request: Request, type_: type[T]) -> T:
        answer = await self._through(str(request), lambda: self._send(request))
        return _decode(request, answer, type_)

    async def _send(self, request: Request) -> bytes:
        """Send, and again with growing pauses while the server is busy or the line is down."""
        wait_s = FIRST_WAIT_S
        for left in reversed(range(TRIES)):
            asked_s = 0.0
            try:
                return await self._once(request)
            except UnauthorizedError:
                self.access.credentials.forget()
                if left < TRIES - 1:
                    raise
            except BusyError as busy:
                if not left:
                    raise
                asked_s = busy.retry_after_s
            except (ServerError, UnreachableError) as error:
                if not left or not request.again:
                    raise
                asked_s = error.retry_after_s if isinstance(error, ServerError) else 0.0
            # Never sooner than asked, and not all clients at once.
            pause_s = min(asked_s, LONGEST_ASKED_S) + wait_s * random.uniform(0.5, 1.5)
            await asyncio.sleep(pause_s)  # noqa: TID251 - a client waits here
            wait_s = min(2 * wait_s, LONGEST_WAIT_S)
        raise AssertionError("unreachable")

    async def _once(self, request: Request) -> bytes:
        began = asyncio.get_running_loop().time()
        code = 0
        try:
            limits = aiohttp.ClientTimeout(total=REQUEST_TIMEOUT_S, sock_connect=10)
            async with await self._open(request, limits) as answer:
                code = answer.status
                body = await answer.read()
                retry_after = answer.headers.get("Retry-After")
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            if request.body is not None:
                self.may_send()  # what held it back says more than the line that it broke
            raise UnreachableError(f"{request}: {self._words(error)}") from error
        finally:
            took = asyncio.get_running_loop().time() - began
            self._observe(request.verb, request.plural, code, took)
        if code >= 400:
            raise refusal(str(request), code, body, retry_after, self._to_mend(code))
        return body

    def _to_mend(self, code: int) -> str:
        """Return where to look when the server does not know us: it says nothing but that."""
        return f"check the credentials of {self._origin}" if code == 401 else ""

    def _words(self, error: BaseException) -> str:
        """Return what `error` says; a time-out says nothing, so its name has to do."""
        words = str(error) or type(error).__name__
        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            why = "its certificate is not from the certificate-authority that we trust"
            return f"{words}: {why}: check that of {self._origin}"
        if isinstance(error, aiohttp.ClientConnectorError):
            return f"{words}: check the server of {self._origin}"
        return words

    @property
    def _origin(self) -> str:
        return self.access.origin or self.access.server

    async def _open(
        self, request: Request, limits: aiohttp.ClientTimeout
    ) -> aiohttp.ClientResponse:
        assert self._session is not None, "the client is used before `async with`"
        headers = {"Accept": request.accept, **await self.access.credentials.headers()}
        body = None
        if request.body is not None:
            headers["Content-Type"] = request.content_type
            body = Body(request.body, self.may_send)
        return await self._session.request(
            request.method,
            self.access.server + request.path,
            params=request.query,
            data=body,
            headers=headers,
            timeout=limits,
        )


def _abort(answer: aiohttp.ClientResponse) -> None:
    """End the line at once: TLS would wait for a good-bye, which may never come."""
    if (transport := lines.transport_of(answer)) is not None:
        transport.abort()


def _name(obj: Object) -> str:
    """Return the name of what is made, or the beginning of it: the server makes up the rest."""
    meta = obj.get("metadata", {})
    return str(meta.get("name") or meta.get("generateName", ""))


def _encode(value: Any) -> bytes:  # noqa: ANN401 - any JSON
    return msgspec.json.encode(value)


# To make one costs as much as to decode a pod.
_decoder: Callable[[Any], msgspec.json.Decoder[Any]] = cache(msgspec.json.Decoder)


def _decode(request: Request, answer: bytes, type_: type[T]) -> T:
    decoder: msgspec.json.Decoder[T] = _decoder(type_)
    try:
        return decoder.decode(answer)
    except msgspec.DecodeError as error:
        raise UnreadableError(f"{request}: {error}") from error
