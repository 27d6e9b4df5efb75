"""An API server in memory, for controllers in virtual time; tests/contract holds it to a real one.

It knows versions, pages, watches, conflicts, server-side apply, subresources, finalizers, graceful
deletion, garbage collection and budgets. It fills in no defaults and checks no schema: whoever
needs one of these says so by an admission function.
"""

import asyncio
import re
import uuid
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from shoal.kube import kinds
from shoal.kube.objects import Key, Object

from . import budgets, deletions, lists, managers, patches, refusals, rules
from .history import History
from .managers import Manager
from .refusals import Refusal
from .shapes import Served, built_in

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)  # when an event loop's clock stands at 0
GARBAGE_S = 0.05
_PATH = re.compile(
    r"/(?:api/(?P<core>v1)|apis/(?P<group>[^/]+)/(?P<version>[^/]+))"
    r"(?:/namespaces/(?P<namespace>[^/]+))?/(?P<plural>[^/]+)(?:/(?P<name>[^/]+)(?:/(?P<part>.+))?)?"
)
_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


@dataclass(frozen=True)
class Call:
    """A request that was understood."""

    served: Served
    verb: str
    key: Key
    part: str
    query: Mapping[str, str]
    content_type: str
    brief: bool  # metadata only
    body: Any
    user: str

    @property
    def name(self) -> str:
        """Return the object's name."""
        return self.key[1]

    @property
    def manager(self) -> Manager:
        """Return who owns what this request writes."""
        applies = "apply-patch" in self.content_type
        name = self.query.get("fieldManager") or "shoal"
        return Manager(
            name, "Apply" if applies else "Update", self.served.kind.api_version, self.part
        )


@dataclass(frozen=True)
class Review:
    """What an admission function is asked about; it returns the object, changed or not."""

    operation: str  # CREATE, UPDATE, DELETE
    served: Served
    before: Object | None
    after: Object | None
    user: str


Admission = Callable[[Review], Object | None]
# What a command does: the pod's key, the container, the words; exit code, stdout, stderr.
Program = Callable[[Key, str, tuple[str, ...]], Awaitable[tuple[int, str, str]]]


async def no_program(_key: Key, _container: str, words: tuple[str, ...]) -> tuple[int, str, str]:
    """Refuse: a test that runs commands says what they do."""
    raise Refusal(500, "InternalError", f"exec: {words[0]!r}: not in the fake")


@dataclass
class FakeApi:
    """One cluster's API server. `allowed` are (verb, resource): what nobody declared is refused."""

    custom: Iterable[Served] = ()
    allowed: Collection[tuple[str, str]] | None = None  # None: everything
    admission: list[Admission] = field(default_factory=list)
    history: History = field(default_factory=History)
    requests: list[str] = field(default_factory=list)  # "verb resource", in order
    program: Program = no_program  # what commands in pods do
    _collecting: bool = False

    def __post_init__(self) -> None:
        self._served: dict[tuple[str, str, str], Served] = {}
        self.serve(*built_in(), *self.custom)
        self.pages = lists.Pages(self.history)

    # -- for tests

    def serve(self, *more: Served) -> None:
        """Know more kinds from now on."""
        self._served |= {(s.kind.group, s.kind.version, s.kind.plural): s for s in more}

    def objects(self, kind: kinds.Kind) -> list[Object]:
        """Return all objects of a kind, by name."""
        return [obj for _, obj in sorted(self.history.all(kind).items())]

    def now(self, after_s: float = 0) -> str:
        """Return the time as an object has it."""
        ticks = asyncio.get_running_loop().time() + after_s
        return (EPOCH + timedelta(seconds=ticks)).strftime("%Y-%m-%dT%H:%M:%SZ")

    # -- requests

    def understand(
        self, method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str],
        body: bytes | None,
    ) -> Call:  # fmt: skip
        """Return what is asked for, or refuse it: there is no such kind, or no right to it."""
        found = _PATH.fullmatch(path)
        served = found and self._served.get(
            (found["group"] or "", found["core"] or found["version"], found["plural"])
        )
        if found and not served:  # /api/v1/namespaces/x is an object, not a scope
            found = re.fullmatch(r"/api/v1/(?P<plural>namespaces)/(?P<name>[^/]+)(?P<part>)", path)
            served = found and self._served["", "v1", "namespaces"]
        if not found or not served:
            raise Refusal(404, "NotFound", "the server could not find the requested resource")
        parts = found.groupdict()
        one = bool(parts["name"])
        verb = _VERBS.get(method) or ("get" if one else "list")
        if query.get("watch") == "true":
            verb = "watch"
        call = Call(
            served,
            verb,
            (parts.get("namespace") or "", parts["name"] or ""),
            parts["part"] or "",
            query,
            headers.get("Content-Type", "application/json"),
            "PartialObjectMetadata" in headers.get("Accept", ""),
            msgspec.json.decode(body) if body else None,
            headers.get("User", "tester"),
        )
        self._authorize(call, verb)
        return call

    def _authorize(self, call: Call, verb: str) -> None:
        resource = "/".join(part for part in (call.served.kind.plural, call.part) if part)
        self.requests.append(f"{verb} {resource}")
        if self.allowed is not None and (verb, resource) not in self.allowed:
            raise refusals.forbidden(call.user, verb, call.served, call.part)

    def carry_out(self, call: Call, ago: int = 0) -> tuple[int, Object]:
        """Return the answer to a request that is no watch; reads see the state so long `ago`."""
        match call.verb:
            case "get":
                return 200, self._get(call, ago)
            case "list":
                return 200, self.pages.page(call, ago)
            case "create" if call.part == "eviction":
                return 201, self._evict(call)
            case "create":
                return 201, self._create(call)
            case "update":
                return 200, self._update(call)
            case "patch":
                return self._patch(call)
            case _:
                return 200, self._delete(call)

    def _found(self, call: Call) -> Object:
        found = self.history.get(call.served.kind, call.key)
        if found is None:
            raise refusals.not_found(call.served, call.name)
        return found

    def _get(self, call: Call, ago: int) -> Object:
        found = self.history.get(call.served.kind, call.key, ago)
        if found is None:
            raise refusals.not_found(call.served, call.name)
        if call.part == "scale":
            return lists.scale(found)
        return lists.brief(found) if call.brief else found

    # -- writes

    def _create(self, call: Call, wanted: Object | None = None) -> Object:
        obj = dict(wanted or call.body)
        meta = dict(obj["metadata"])
        number = self.history.number()
        if not meta.get("name"):
            meta["name"] = f"{meta['generateName']}{number:05x}"
        key = (call.key[0], meta["name"])
        if call.served.kind.namespaced:
            self._check_namespace(key[0])
            meta["namespace"] = key[0]
        if key in self.history.all(call.served.kind):
            raise refusals.exists(call.served, meta["name"])
        if call.served.status:
            obj.pop("status", None)
        meta.pop("managedFields", None)
        meta |= {
            "uid": str(uuid.UUID(int=number, version=4)),
            "creationTimestamp": self.now(),
            **({"generation": 1} if call.served.generation else {}),
        }
        obj = {**obj, "metadata": meta}
        # Who applies owns what it said, even what is then stored in another form or not at all.
        owners = managers.update(None, obj, call.manager, call.served.shape)
        obj = self._admitted(call, "CREATE", None, obj)
        return self._store(call, key, managers.written(obj, owners, None, self.now()))

    def _check_namespace(self, name: str) -> None:
        if name in ("default", "kube-system"):
            return
        space = self.history.get(kinds.NAMESPACE, ("", name))
        if space is None:
            raise Refusal(404, "NotFound", f'namespaces "{name}" not found')
        if "deletionTimestamp" in space["metadata"]:
            message = f"unable to create new content in namespace {name} because it is being"
            raise Refusal(403, "Forbidden", f"{message} terminated")

    def _update(self, call: Call) -> Object:
        before, wanted = self._found(call), call.body
        named = wanted["metadata"].get("name", "")
        if call.part != "scale" and named != call.name:
            words = f"the name of the object ({named}) does not match the name on the URL"
            raise refusals.bad_request(f"{words} ({call.name})")
        version = wanted["metadata"].get("resourceVersion")
        if not version and not call.served.unconditional:
            message = "Invalid value: 0: must be specified for an update"
            raise refusals.invalid(call.served, call.name, "metadata.resourceVersion", message)
        return self._write(call, before, wanted)

    def _patch(self, call: Call) -> tuple[int, Object]:
        if "apply-patch" in call.content_type:
            return self._apply(call)
        before = self._found(call)
        target = lists.scale(before) if call.part == "scale" else before
        if "merge-patch" in call.content_type:
            wanted = patches.merge_patch(target, call.body)
        elif "json-patch" in call.content_type:
            wanted = patches.json_patch(target, call.body)
        else:
            raise Refusal(415, "UnsupportedMediaType", f"{call.content_type}: not in the fake")
        return 200, self._write(call, before, wanted)

    def _write(self, call: Call, before: Object, wanted: Object) -> Object:
        """Replace `before`, as far as the path of the request reaches, by `wanted`."""
        meta, known = wanted["metadata"], before["metadata"]
        if meta.get("uid", known["uid"]) != known["uid"]:
            raise refusals.precondition(call.served, call.name, "UID", meta["uid"], known["uid"])
        if (meta.get("resourceVersion") or known["resourceVersion"]) != known["resourceVersion"]:
            raise refusals.modified(call.served, call.name)
        after = self._admitted(call, "UPDATE", before, lists.replaced(call, before, wanted))
        owners = managers.update(before, after, call.manager, call.served.shape)
        return self._changed(call, before, after, owners)

    def _apply(self, call: Call) -> tuple[int, Object]:
        wanted = {k: v for k, v in call.body.items() if k != "status" or call.part == "status"}
        if "managedFields" in wanted["metadata"]:
            raise refusals.bad_request("metadata.managedFields must be nil")
        if not call.query.get("fieldManager"):
            message = "fieldManager: Required value: is required for apply patch"
            raise Refusal(422, "Invalid", f'PatchOptions.meta.k8s.io "" is invalid: {message}')
        before = self.history.get(call.served.kind, call.key)
        if before is None:
            self._authorize(call, "create")
            return 201, self._create(call, wanted)
        meta, known = wanted["metadata"], before["metadata"]
        if meta.get("uid", known["uid"]) != known["uid"]:
            message = f"Invalid value: {meta['uid']!r}: field is immutable"
            raise refusals.invalid(call.served, call.name, "metadata.uid", message)
        if meta.get("resourceVersion", known["resourceVersion"]) != known["resourceVersion"]:
            raise refusals.modified(call.served, call.name)
        force = call.query.get("force") == "true"
        part = {"metadata": {}, "status": wanted.get("status", {})}
        made = managers.apply(
            before,
            part if call.part == "status" else wanted,
            call.manager,
            call.served.shape,
            force=force,
        )
        after = self._admitted(call, "UPDATE", before, made.obj)
        return 200, self._changed(call, before, after, made.owners)

    def _changed(
        self, call: Call, before: Object, after: Object, owners: managers.Owners
    ) -> Object:
        """Store what a write made of an object, if it made anything of it."""
        rules.check(call.served, before, after)
        after = managers.written(after, owners, before, self.now())
        if call.served.generation and lists.spec(call.served, before) != lists.spec(
            call.served, after
        ):
            meta = after["metadata"]
            after = {**after, "metadata": {**meta, "generation": meta["generation"] + 1}}
        if after == before:
            return self._answer(call, before)
        if deletions.over(after):
            self._end(call.served, call.key)
            return self._answer(call, after)
        return self._store(call, call.key, after)

    def _store(self, call: Call, key: Key, obj: Object) -> Object:
        stored = self.history.write(call.served.kind, key, obj)
        if any("uid" in owner for owner in obj["metadata"].get("ownerReferences", ())):
            self._collect_later()
        return self._answer(call, stored)

    def _answer(self, call: Call, obj: Object) -> Object:
        if call.part == "scale":
            return lists.scale(obj)
        return lists.brief(obj) if call.brief else obj

    def _admitted(self, call: Call, operation: str, before: Object | None, after: Object) -> Object:
        for function in self.admission:
            review = Review(operation, call.served, before, after, call.user)
            after = function(review) or after
        return lists.normal(call.served, after)

    # -- deletions

    def _delete(self, call: Call) -> Object:
        before = self._found(call)
        options = deletions.Options.read(call.body)
        options.check(call.served, before)
        for function in self.admission:
            function(Review("DELETE", call.served, before, None, call.user))
        return self._condemn(call.served, call.key, options)

    def _condemn(self, served: Served, key: Key, options: deletions.Options) -> Object:
        """Delete an object, or mark it as one that will be."""
        before = self.history.objects[served.kind][key]
        ending = deletions.begun(served, before, options, self.now)
        if served.kind is kinds.NAMESPACE:
            self._later(lambda: self._empty(key[1]))
            return self.history.write(served.kind, key, ending)
        if deletions.over(ending):
            self._end(served, key)
            return deletions.answer(served, ending)
        return before if ending == before else self.history.write(served.kind, key, ending)

    def _end(self, served: Served, key: Key) -> None:
        self.history.write(served.kind, key, None)
        self._collect_later()

    def _collect_later(self) -> None:
        if not self._collecting:
            self._collecting = True
            self._later(self._collect)

    def _later(self, what: Callable[[], None]) -> None:
        asyncio.get_running_loop().call_later(GARBAGE_S, what)

    def _collect(self) -> None:
        """Delete what belongs to nobody who is still there, in the background."""
        self._collecting = False
        there = self.history.uids()
        for served in self._served.values():
            for key, obj in list(self.history.all(served.kind).items()):
                owners = obj["metadata"].get("ownerReferences", ())
                orphan = owners and not any(owner["uid"] in there for owner in owners)
                if orphan and "deletionTimestamp" not in obj["metadata"]:
                    self._condemn(served, key, deletions.Options())

    def _empty(self, namespace: str) -> None:
        """Delete what is in a namespace that ends, and then the namespace."""
        left = False
        for served in self._served.values():
            for key in list(self.history.all(served.kind)):
                if served.kind.namespaced and key[0] == namespace:
                    self._condemn(served, key, deletions.Options())
                    left |= key in self.history.all(served.kind)
        if left:
            self._later(lambda: self._empty(namespace))
        else:
            self.history.write(kinds.NAMESPACE, ("", namespace), None)

    def finish(self, key: Key) -> None:
        """End a pod that was told to end, as its kubelet does when its containers are gone."""
        served = self._served["", "v1", "pods"]
        self._condemn(served, key, deletions.Options(grace_s=0))

    def _evict(self, call: Call) -> Object:
        pod = self._found(call)
        options = deletions.Options.read(call.body.get("deleteOptions"))
        options.check(call.served, pod)
        space = call.key[0]
        pods = [o for k, o in self.history.all(kinds.POD).items() if k[0] == space]
        there = self.history.all(kinds.POD_DISRUPTION_BUDGET).items()
        if refused := budgets.refusal(pod, pods, [o for k, o in there if k[0] == space]):
            raise refused
        self._condemn(call.served, call.key, options)
        return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
