"""What a contract test needs of an API server, for both that it runs on."""

import base64
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self, TypeVar

import aiohttp
import msgspec

from fakes import refusals
from fakes.apiserver import FakeApi, Review
from fakes.network import Network
from fakes.shapes import NAME, SETS, Served, Shape
from fakes.wire import FakeClient
from shoal.kube import kinds
from shoal.kube.kinds import Kind
from shoal.kube.objects import Object, Resource
from shoal.kubeapi.access import Access, Fixed
from shoal.kubeapi.client import MERGE, Client, Ref, Request, Which
from shoal.kubeapi.errors import InvalidError, NotFoundError, refusal
from shoal.runtime import clock

from .real import compacted

T = TypeVar("T")

# kube-controller-manager looks every 30 s whether there are new kinds, whose objects own others.
PATIENCE_S = 90.0
PARENT = Kind("example.com", "v1", "Parent", "parents")
SERVED = Served(
    PARENT,
    scale=True,
    shape=Shape(
        keyed={"spec.items": NAME, "status.conditions": {"type": None}},
        sets=SETS | {"spec.tags"},
        whole=frozenset({"metadata.ownerReferences", "spec.whole"}),
    ),
)


def _keyed(*keys: str) -> Object:
    return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)}


_MAP = {"type": "object", "additionalProperties": {"type": "string"}}
_SPEC = {
    "replicas": {"type": "integer"},
    "word": {"type": "string"},
    "inner": {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
    },
    "map": _MAP,
    "whole": {**_MAP, "x-kubernetes-map-type": "atomic"},
    "list": {"type": "array", "items": {"type": "string"}},
    "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
    "items": {
        "type": "array",
        "items": {
            "type": "object",
            "required": ["name"],
            "properties": {name: {"type": "string"} for name in ("name", "a", "b")},
        },
        **_keyed("name"),
    },
}
_STATUS = {
    "replicas": {"type": "integer"},
    "selector": {"type": "string"},
    "word": {"type": "string"},
    "conditions": {
        "type": "array",
        "items": {
            "type": "object",
            "required": ["type"],
            "properties": {name: {"type": "string"} for name in ("type", "status", "reason")},
        },
        **_keyed("type"),
    },
}
CRD: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "parents.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"kind": "Parent", "plural": "parents", "singular": "parent"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {
                    "status": {},
                    "scale": {
                        "specReplicasPath": ".spec.replicas",
                        "statusReplicasPath": ".status.replicas",
                        "labelSelectorPath": ".status.selector",
                    },
                },
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {"type": "object", "properties": _SPEC},
                            "status": {"type": "object", "properties": _STATUS},
                        },
                    }
                },
            }
        ],
    },
}


@dataclass
class Api:
    """An API server and a namespace in it that only one test uses."""

    namespace: str
    _stack: AsyncExitStack = field(init=False, default_factory=AsyncExitStack, repr=False)
    client: Client = field(init=False, repr=False)

    async def __aenter__(self) -> Self:
        self.client = await self._stack.enter_async_context(self.connect("tester"))
        space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}
        await self.client.create(kinds.NAMESPACE, space, dict)
        await self.ready()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    def connect(self, manager: str, user: str = "") -> Client:
        """Return a client, to be entered, that owns fields as `manager`; it may be another user."""
        raise NotImplementedError

    async def ready(self) -> None:
        """Wait until the namespace can be used."""

    async def forget(self) -> None:
        """Make everything up to now history that is no longer known."""
        raise NotImplementedError

    def aged(self, token: str) -> str:
        """Return the token of a page as one of a list made long ago."""
        return token

    async def allow(self, user: str, verbs: str, resources: str) -> None:
        """Let `user` do that in the namespace, and nothing else."""
        raise NotImplementedError

    async def refuse(self, word: str) -> None:
        """Let admission refuse Parents in the namespace whose spec.word is `word`."""
        raise NotImplementedError

    # -- short forms

    def parent(self, name: str = "p", **spec: Any) -> Object:
        """Make a Parent."""
        return self.obj(PARENT, name, spec=spec)

    def config_map(self, name: str = "c", **data: str) -> Object:
        """Make a ConfigMap."""
        return self.obj(kinds.CONFIG_MAP, name, **({"data": data} if data else {}))

    def pod(self, name: str = "w", labels: Mapping[str, str] | None = None, **spec: Any) -> Object:
        """Make a pod that nobody will run."""
        containers = [{"name": "main", "image": "x"}]
        made = self.obj(kinds.POD, name, spec={"containers": containers, **spec})
        made["metadata"]["labels"] = dict(labels or {"app": name})
        return made

    def obj(self, kind: Kind, name: str, **parts: Any) -> Object:
        """Make an object of a kind."""
        meta = {"name": name, **({"namespace": self.namespace} if kind.namespaced else {})}
        return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **parts}

    def ref(self, kind: Kind, name: str, part: str = "") -> Ref:
        """Name an object in the namespace."""
        return Ref(kind, self.namespace, name, part)

    async def create(self, obj: Object) -> Object:
        """Create an object as "tester"."""
        return await self.client.create(self.kind(obj), obj, dict)

    async def get(self, kind: Kind, name: str) -> Object:
        """Return an object as it is."""
        return await self.client.get(self.ref(kind, name), dict)

    async def gone(self, kind: Kind, name: str) -> bool:
        """Say whether there is no such object."""
        try:
            await self.get(kind, name)
        except NotFoundError:
            return True
        return False

    async def apply(self, manager: str, obj: Object, *, force: bool = False) -> Object:
        """Apply an object as `manager`."""
        async with self.connect(manager) as client:
            return await client.apply(self.kind(obj), obj, dict, force=force)

    def kind(self, obj: Object) -> Kind:
        """Return the kind of `obj`."""
        return kinds.Kinds(PARENT).of(obj)

    async def raw(
        self, method: str, path: str, body: Any = None, content_type: str = MERGE, **query: str
    ) -> Object:  # fmt: skip
        """Send what the client does not, and return the answer or raise."""
        encoded = None if body is None else msgspec.json.encode(body)
        request = Request(method, path, query, encoded, content_type)
        limits = aiohttp.ClientTimeout(total=PATIENCE_S)
        async with await self.client._open(request, limits) as answer:
            said = await answer.read()
            if answer.status >= 400:
                raise refusal(str(request), answer.status, said)
            return msgspec.json.decode(said)

    @asynccontextmanager
    async def events(
        self, path: str, version: str, accept: str = "application/json", **query: str
    ) -> AsyncIterator[AsyncIterator[Object]]:
        """Watch `path`, and give its events one by one."""
        query = {"watch": "true", "resourceVersion": version, "timeoutSeconds": "4", **query}
        limits = aiohttp.ClientTimeout(total=PATIENCE_S)
        request = Request("GET", path, query, accept=accept)

        async def lines(answer: Any) -> AsyncIterator[Object]:
            rest = b""
            async for chunk in answer.content.iter_any():
                *whole, rest = (rest + chunk).split(b"\n")
                for line in whole:
                    yield json.loads(line)

        async with await self.client._open(request, limits) as answer:
            assert answer.status == 200
            yield lines(answer)

    async def eventually(
        self, look: Callable[[], Awaitable[T]], good: Callable[[T], object] = bool
    ) -> T:
        """Look until it is good."""
        deadline = clock.ticks() + PATIENCE_S
        while not good(seen := await look()):
            assert clock.ticks() < deadline, f"waited {PATIENCE_S:g} s; seen last: {seen}"
            await clock.sleep(0.05)
        return seen


@dataclass
class FakeOne(Api):
    """The fake."""

    fake: FakeApi = field(default_factory=lambda: FakeApi(custom=[SERVED]))

    def __post_init__(self) -> None:
        self.network = Network(self.fake, latency_s=(0, 0), lag_s=(0, 0))

    def connect(self, manager: str, user: str = "") -> Client:
        """Return a client; a user is a server that lets only that user in."""
        network = self.network
        if user:
            limited = replace(self.fake, allowed=self.rights[user])
            network = replace(self.network, api=limited)
        return FakeClient(network, manager)

    async def forget(self) -> None:
        """Compact."""
        self.fake.history.compact()

    async def allow(self, user: str, verbs: str, resources: str) -> None:
        """Take note of it."""
        pairs = {(verb, r) for verb in verbs.split() for r in resources.split()}
        self.rights = {user: pairs}

    async def refuse(self, word: str) -> None:
        """Ask a function."""

        def ask(review: Review) -> None:
            if (review.after or {}).get("spec", {}).get("word") == word:
                message = f"the word is {word}"
                raise refusals.invalid(review.served, "p", "spec.word", message)

        self.fake.admission.append(ask)


@dataclass
class RealOne(Api):
    """The real one."""

    folder: Path = Path()
    access: Access = None  # type: ignore[assignment]

    def connect(self, manager: str, user: str = "") -> Client:
        """Return a client; the admin may be anybody."""
        headers = {"Impersonate-User": user} if user else {}
        return Client(replace(self.access, credentials=Fixed(headers)), manager)

    async def ready(self) -> None:
        """Make the custom kind known, and wait for the account without which no pod is accepted."""
        await self.client.apply(kinds.CUSTOM_RESOURCE_DEFINITION, CRD, dict)
        await self.eventually(self._served)
        await self.eventually(
            lambda: self.gone(kinds.SERVICE_ACCOUNT, "default"), lambda gone: not gone
        )

    async def _served(self) -> bool:
        try:
            await self.client.every(Which(PARENT), Resource)
        except NotFoundError:
            return False
        return True

    async def forget(self) -> None:
        """Compact etcd behind the API server's back."""
        # A write, so that what was listed just now is older than the newest version.
        made = await self.create(self.config_map("compaction"))
        await compacted(self.folder, made["metadata"]["resourceVersion"])

    def aged(self, token: str) -> str:
        """Change its version: the server keeps what it served lately, etcd or not."""
        text = json.loads(base64.urlsafe_b64decode(token + "=="))
        old = json.dumps({**text, "rv": 2}, separators=(",", ":"))
        return base64.urlsafe_b64encode(old.encode()).decode().rstrip("=")

    async def refuse(self, word: str) -> None:
        """Make a policy; it takes a moment to be heard."""
        group, name = "/apis/admissionregistration.k8s.io/v1", self.namespace
        rule = {
            "apiGroups": ["example.com"],
            "apiVersions": ["*"],
            "operations": ["CREATE", "UPDATE"],
            "resources": ["parents"],
        }
        space = f"object.metadata.namespace == '{self.namespace}'"
        check = f"!({space} && has(object.spec.word) && object.spec.word == '{word}')"
        policy = {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": check, "message": f"the word is {word}"}],
        }
        binding = {"policyName": name, "validationActions": ["Deny"]}
        for kind, spec in (("Policy", policy), ("PolicyBinding", binding)):
            body = {
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": f"ValidatingAdmission{kind}",
                "metadata": {"name": name},
                "spec": spec,
            }
            plural = "policies" if kind == "Policy" else "policybindings"
            await self.client.post(f"{group}/validatingadmission{plural}", body, dict)
        await self.eventually(self._refuses(word))

    def _refuses(self, word: str) -> Callable[[], Awaitable[bool]]:
        async def look() -> bool:
            try:
                await self.create(self.parent("probe", word=word))
            except InvalidError:
                return True
            await self.client.delete(self.ref(PARENT, "probe"), Resource)
            return False

        return look

    async def __aexit__(self, *error: object) -> None:
        await super().__aexit__(*error)
        await clock.sleep(0.05)  # what a test left half read takes a moment to close

    async def allow(self, user: str, verbs: str, resources: str) -> None:
        """Make a Role and a RoleBinding."""
        groups = ["", "example.com", "apps", "policy"]
        rule = {"apiGroups": groups, "resources": resources.split(), "verbs": verbs.split()}
        await self.create(self.obj(kinds.ROLE, user, rules=[rule]))
        api = "rbac.authorization.k8s.io"
        await self.create(
            self.obj(
                kinds.ROLE_BINDING,
                user,
                roleRef={"apiGroup": api, "kind": "Role", "name": user},
                subjects=[{"apiGroup": api, "kind": "User", "name": user}],
            )
        )
        await clock.sleep(0.5)  # the authorizer watches
