"""The operator of slinky.slurm.net in virtual time, with its API server, its user and its Slurm."""

import asyncio
from base64 import b64decode
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any, Self, TypeVar

import msgspec
import pytest
import structlog

from fakes.apiserver import EPOCH, FakeApi
from fakes.history import History
from fakes.loop import VirtualLoop, run
from fakes.network import Network
from fakes.port import Harness
from fakes.process import Process
from fakes.shapes import Served, Shape
from fakes.slurmrestd.slurm import FakeSlurm
from fakes.slurmrestd.transport import FakeTransport
from fakes.wire import FakeClient
from shoal.controllers import rights, slinky
from shoal.controllers.passes import Hands
from shoal.controllers.slinky_reader import Settings
from shoal.controllers.slurms import Slurms
from shoal.controllers.world import IN_BRIEF, LABELS, OPTIONAL, World, stores
from shoal.dialects.slinky.naming import NAMING
from shoal.dialects.slinky.types import KINDS, REST_API
from shoal.host.ssh_keys import host_keys
from shoal.kube import kinds
from shoal.kube.kinds import Kind, Kinds
from shoal.kube.objects import Object, Resource
from shoal.kubeapi.client import Client, Ref
from shoal.render.login import host_key_files
from shoal.runtime import clock
from shoal.runtime.apply import DIGEST, Applier
from shoal.runtime.controller import Controller
from shoal.runtime.events import Recorder
from shoal.runtime.process import Setup
from shoal.runtime.store import Store
from shoal.slurmapi import client as slurmapi

from .example import EXAMPLE, KIND, ROWS, SPACE
from .toys import Toys

T = TypeVar("T")

WATCHED = (
    *KINDS,
    kinds.POD,
    kinds.SERVICE,
    kinds.CONFIG_MAP,
    kinds.SECRET,
    kinds.STATEFUL_SET,
    kinds.DEPLOYMENT,
    kinds.POD_DISRUPTION_BUDGET,
)
MOVING = (DIGEST, NAMING.annotations.has_state)  # which has a uid in it
QUIET_S = 130.0  # longer than the longest pause between two tries
PATIENCE = 20


class AtOnce(ThreadPoolExecutor):
    """Does at once what is meant for a thread, for which virtual time would not wait.

    Host keys take seconds to make, so they are ready-made.
    """

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Return what `fn` returned."""
        done: Future[Any] = Future()
        meant = fn.args[0] if isinstance(fn, partial) else fn
        done.set_result(HOST_KEYS if meant is host_keys else fn(*args, **kwargs))
        return done


HOST_KEYS = {name: name.encode() for name in host_key_files()}


@dataclass(frozen=True)
class Snapshot:
    """What there was at one time, to begin with again and again."""

    at: float
    version: int
    made: int
    objects: Mapping[Kind, Mapping[tuple[str, str], Object]]
    slurms: Mapping[tuple[str, str], FakeSlurm]

    def history(self) -> History:
        """Return what an API server remembers of it."""
        return History(self.version, self.version, {k: {**v} for k, v in self.objects.items()},
                       made=self.made)  # fmt: skip


def played(scenario: Coroutine[Any, Any, T]) -> T:
    """Run `scenario` in virtual time, outside a test."""
    with pytest.MonkeyPatch.context() as patch, structlog.testing.capture_logs():
        patch.setattr(clock, "now", lambda: EPOCH + timedelta(seconds=clock.ticks()))
        return run(scenario)


@dataclass
class Scene:
    """A cluster in memory, its user, its Slurm clusters, and the operator's processes.

    A context manager that ends all that runs.
    """

    seed: int = 0
    namespaces: tuple[str, ...] = ()  # that the operator looks after; none: all
    begin: Snapshot | None = None
    recorder: Recorder | None = None  # who takes events; by default nobody does
    lost: list[str] = field(default_factory=list)  # workers that ended with a job on them

    def __post_init__(self) -> None:
        shape = Shape({"conditions": {"type": None}})
        served = [Served(kind, shape=shape) for kind in KINDS]
        # What the operator has not declared is refused.
        past = self.begin.history() if self.begin else History()
        self.api = FakeApi(custom=served, allowed=rights.pairs(), history=past)
        self.network = Network(self.api, seed=self.seed)
        free = FakeApi(custom=served, history=self.api.history)
        self.user = FakeClient(Network(free), "user")
        self.toys = Toys(free, started=self._started, ending=self._ending)
        self.slurms = deepcopy(dict(self.begin.slurms)) if self.begin else {}
        self.unheard = False  # no slurmrestd answers
        self.processes: list[Process] = []

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(AtOnce())
        self._living = asyncio.create_task(self.toys.run())
        if self.begin is not None:
            assert isinstance(loop, VirtualLoop)
            loop.freeze(self.begin.at - loop.time())
        return self

    async def __aexit__(self, *_: object) -> None:
        for process in self.processes:
            await process.kill()
        if not self._living.done():
            self._living.cancel()
        with suppress(asyncio.CancelledError):
            await self._living

    # -- the operator

    def process(self, harness: Harness | None = None) -> Process:
        """Start a process of the operator."""
        made = Process(self.network, self._setup, self._controllers, harness or Harness())
        self.processes.append(made)
        return made.start()

    async def rise(self, *objects: Object, harness: Harness | None = None) -> Process:
        """Let the user make objects, by default the whole example, and wait until they are up."""
        process = self.process(harness)
        await self.make(*(objects or EXAMPLE))
        await self.settle()
        return process

    def _setup(self) -> Setup:
        every = tuple(stores(slinky.OWN, slinky.references).values())
        return Setup(every, self.namespaces, IN_BRIEF, OPTIONAL, labels=LABELS)

    def _controllers(
        self, client: Client, found: Mapping[Kind, Store[Any]]
    ) -> Sequence[Controller]:
        slurms = Slurms(client.through, self._connect)
        applier = Applier(client, found, Kinds(*slinky.OWN))
        hands = Hands(client, World(found), applier, self.recorder)
        return slinky.controllers(hands, slurms, Settings())

    # -- Slurm

    def slurm(self, cluster: str = "slurm", namespace: str = SPACE) -> FakeSlurm:
        """Return the Slurm of a cluster."""
        return self.slurms.setdefault((namespace, cluster), FakeSlurm())

    def _connect(self, access: slurmapi.Access, through: slurmapi.Through) -> slurmapi.Client:
        host = access.url.removeprefix("http://").partition(":")[0]
        service, namespace = host.split(".")[:2]
        rest = self.find(REST_API.kind, service.removesuffix("-restapi"), namespace)
        transport = FakeTransport(self.slurm(rest["spec"]["controllerRef"]["name"], namespace))
        transport.down = self.unheard
        return slurmapi.Client(access, through, transport=transport)

    def _started(self, pod: Object) -> None:
        labels = pod["metadata"].get("labels", {})
        if cluster := labels.get(NAMING.labels.cluster):
            slurm = self.slurm(cluster, pod["metadata"]["namespace"])
            if (node := _slurm_name(pod)) and node not in slurm.slurmctld.nodes:
                slurm.slurmctld.add(node)

    def _ending(self, pod: Object) -> None:
        labels = pod["metadata"].get("labels", {})
        node, cluster = _slurm_name(pod), labels.get(NAMING.labels.cluster)
        if node and cluster:
            jobs = self.slurm(cluster, pod["metadata"]["namespace"]).slurmctld.jobs.values()
            self.lost += [node for job in jobs if job.holds and node in job.nodes]

    # -- the user

    async def make(self, *objects: Object, namespace: str = SPACE) -> None:
        """Let the user make objects."""
        for obj in objects:
            placed = {**obj, "metadata": {**obj["metadata"], "namespace": namespace}}
            await self.user.create(_kind(obj), placed, dict)

    async def edit(self, kind: str, name: str, **spec: Any) -> None:
        """Let the user change the spec of an object."""
        await self.user.patch(Ref(KIND[kind], SPACE, name), {"spec": spec}, dict)

    async def rewrite(self, kind: str, name: str, **data: Any) -> None:
        """Let the user change what a Secret or a ConfigMap holds."""
        await self.user.patch(Ref(KIND[kind], SPACE, name), {"data": data}, dict)

    async def remove(self, kind: Kind, name: str) -> None:
        """Let the user delete an object."""
        await self.user.delete(Ref(kind, SPACE, name), Resource)

    async def hold(self, kind: Kind, obj: Object) -> None:
        """Let somebody own an object that is there before us."""
        owner = obj["metadata"]["ownerReferences"][0]
        made = await self.user.create(kinds.JOB, _bare(kinds.JOB, owner["name"]), dict)
        owner["uid"] = made["metadata"]["uid"]
        await self.user.create(kind, obj, dict)

    async def settle(self) -> None:
        """Wait until nobody has written anything for a while."""
        for _ in range(PATIENCE):
            seen = self.written
            await clock.sleep(QUIET_S)
            if seen == self.written:
                return
        last = [f"{c.kind.kind} {c.key[1]}" for c in self.api.history.log[-10:]]
        raise AssertionError(f"there is no rest: {', '.join(last)}")

    # -- what there is

    def snapshot(self) -> Snapshot:
        """Return what there is, once nobody is at work on it."""
        past = self.api.history
        objects = {kind: {**there} for kind, there in past.objects.items()}
        return Snapshot(clock.ticks(), past.version, past.made, objects, deepcopy(self.slurms))

    @property
    def written(self) -> int:
        """Return how much has been written, but for events and leases."""
        return sum(change.kind in WATCHED for change in self.api.history.log)

    def serve(self, kind: Kind) -> None:
        """Let somebody install a kind."""
        self.api.serve(Served(kind))

    def objects(self, kind: Kind, namespace: str = SPACE) -> dict[str, Object]:
        """Return all objects of a kind by name."""
        found = (obj for obj in self.api.objects(kind) if obj["metadata"]["namespace"] == namespace)
        return {obj["metadata"]["name"]: obj for obj in found}

    def kind(self, name: str) -> Kind:
        """Return a kind by its name."""
        return next(kind for kind in WATCHED if kind.kind == name)

    def find(self, kind: str, name: str, namespace: str = SPACE) -> Object:
        """Return one object."""
        return self.objects(self.kind(kind), namespace)[name]

    def ready(self, kind: str, name: str, namespace: str = SPACE) -> tuple[str, str, str]:
        """Return the status, the reason and the message of an object's only condition."""
        (found,) = self.find(kind, name, namespace)["status"]["conditions"]
        return found["status"], found["reason"], found["message"]

    def unready(self, rows: Iterable[tuple[str, str]] = ROWS) -> list[tuple[str, str]]:
        """Return the objects that are not ready."""
        return [row for row in rows if self.ready(*row)[0] != "True"]

    def pods(self) -> dict[str, str]:
        """Return the uids of all pods by name."""
        return {name: pod["metadata"]["uid"] for name, pod in self.objects(kinds.POD).items()}

    def conf(self, name: str = "slurm-config") -> str:
        """Return slurm.conf as it is published."""
        return str(self.find("ConfigMap", name)["data"]["slurm.conf"])

    def seen(self) -> dict[str, Object]:
        """Return all there is, without what is different in every run."""
        return {
            f"{kind.kind} {'/'.join(key)}": timeless(kind, obj)
            for kind in WATCHED
            for key, obj in sorted(self.api.history.all(kind).items())
        }


def _slurm_name(pod: Object) -> str | None:
    """Return what a worker calls itself: its hostname, or its node's on the network of that."""
    if pod["spec"].get("hostNetwork"):
        return str(pod["spec"]["nodeName"])
    found: str | None = pod["metadata"].get("labels", {}).get(NAMING.labels.pod_hostname)
    return found


def _bare(kind: Kind, name: str) -> Object:
    meta = {"name": name, "namespace": SPACE}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta}


def _kind(obj: Object) -> Kind:
    return Kinds(*KINDS).of(obj)


def timeless(kind: Kind, obj: Object) -> Object:
    """Return an object without what is different in every run."""
    meta = obj["metadata"]
    notes = {k: v for k, v in meta.get("annotations", {}).items() if k not in MOVING}
    owners = [(owner["kind"], owner["name"]) for owner in meta.get("ownerReferences", ())]
    kept = {
        "labels": meta.get("labels", {}),
        "annotations": notes,
        "owners": owners,
        "ending": "deletionTimestamp" in meta,
    }
    rest = {k: v for k, v in obj.items() if k not in ("metadata", "apiVersion", "kind", "status")}
    if kind is kinds.SECRET and owners and owners[0][0] == "Token":
        rest["data"] = {name: _claims(text) for name, text in obj["data"].items()}
    return {"metadata": kept, "status": _status(obj.get("status", {})), **rest}


def _status(status: Object) -> Object:
    moving = ("observedGeneration", "issuedAt", "lastTransitionTime")
    conditions = [
        {k: v for k, v in condition.items() if k not in moving}
        for condition in status.get("conditions", ())
    ]
    return {**{k: v for k, v in status.items() if k not in moving}, "conditions": conditions}


def _claims(text: str) -> Object:
    body = b64decode(text).decode().split(".")[1]
    said: Object = msgspec.json.decode(b64decode(body + "=" * (-len(body) % 4), altchars=b"-_"))
    return {"sun": said["sun"], "iss": said["iss"], "lifetime": said["exp"] - said["iat"]}
