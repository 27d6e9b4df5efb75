"""The operator of slurm.nebius.ai in virtual time, beside the one of slinky.slurm.net."""

import asyncio
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from fakes.apiserver import FakeApi
from fakes.history import Change, History
from fakes.network import Network
from fakes.shapes import Served, Shape
from fakes.slurmrestd.transport import FakeTransport
from fakes.wire import FakeClient
from shoal.controllers import nebius, rights, slinky
from shoal.controllers.passes import Hands
from shoal.controllers.slinky_reader import Settings
from shoal.controllers.slurms import Slurms
from shoal.controllers.world import (
    IN_BRIEF,
    LABELS,
    OPTIONAL,
    READ,
    READ_TOO,
    TOO_IN_BRIEF,
    World,
    stores,
)
from shoal.dialects.nebius import naming
from shoal.dialects.nebius.naming import NAMING, Names
from shoal.dialects.nebius.types import KINDS, NODE_SET, SLURM_CLUSTER
from shoal.dialects.slinky import types as slinky_types
from shoal.host.ssh_keys import host_keys
from shoal.kube import kinds
from shoal.kube.kinds import Kind, Kinds
from shoal.kube.objects import Key, Object
from shoal.kubeapi.client import Client, Ref
from shoal.runtime.apply import Applier
from shoal.runtime.controller import Controller
from shoal.runtime.process import Setup
from shoal.runtime.store import Store
from shoal.slurmapi import client as slurmapi

from .slinky import Scene, timeless
from .toys import Toys

SPACE = "default"
CLUSTERS = (*KINDS, *slinky_types.KINDS)
WATCHED = (
    *CLUSTERS,
    kinds.POD,
    kinds.SERVICE,
    kinds.CONFIG_MAP,
    kinds.SECRET,
    kinds.STATEFUL_SET,
    kinds.DEPLOYMENT,
    kinds.DAEMON_SET,
    kinds.POD_DISRUPTION_BUDGET,
    kinds.JOB,
    kinds.CONTROLLER_REVISION,
)
ANY = {"k8sNodeFilterName": "any"}
MUNGE = {"image": "munge:26.05"}
ROOT = {"volumeSourceName": "jail"}


def image(program: str, **resources: str) -> Object:
    asked = {"resources": resources} if resources else {}
    return {"image": f"{program}:26.05", **asked}


def cluster(name: str = "one", **spec: Any) -> Object:
    """Return a SlurmCluster with all parts but an exporter, and two workers of its own."""
    whole: Object = {
        "clusterType": "cpu",
        "populateJail": {"image": "populate:26.05", **ANY},
        "k8sNodeFilters": [{"name": "any"}],
        "volumeSources": [
            {"name": "jail", "persistentVolumeClaim": {"claimName": "jail"}},
            {"name": "spool", "persistentVolumeClaim": {"claimName": "spool"}},
        ],
        "secrets": {},
        "slurmNodes": {
            "accounting": {
                **ANY, "enabled": True, "size": 1, "slurmdbd": image("slurmdbd"), "munge": MUNGE,
                "mariadbOperator": {"enabled": True, "image": "mariadb:11"},
            },
            "controller": {
                **ANY,
                "slurmctld": image("slurmctld"),
                "munge": MUNGE,
                "volumes": {"jail": ROOT, "spool": {"volumeSourceName": "spool"}},
            },
            "login": {
                **ANY, "size": 1, "sshd": image("sshd"), "munge": MUNGE,
                "sshdServiceType": "LoadBalancer",
                "sshRootPublicKeys": ["ssh-ed25519 AAAA me@here"],
                "volumes": {"jail": ROOT},
            },
            "exporter": {**ANY, "exporterContainer": image("exporter")},
            "rest": {**ANY, "enabled": True, "size": 1, "rest": image("slurmrestd")},
            "worker": {
                **ANY, "size": 2, "slurmd": image("slurmd", cpu="1", memory="1Gi"),
                "munge": MUNGE,
                "volumes": {"jail": ROOT, "spool": {"volumeSourceName": "spool"}},
            },
        },
    }  # fmt: skip
    return _object(SLURM_CLUSTER, name, laid_over(whole, spec))


def nodeset(name: str = "cpu", of: str = "one", **spec: Any) -> Object:
    """Return a NodeSet."""
    whole: Object = {
        "clusterName": of,
        "replicas": 2,
        "slurmd": {
            "image": {"repository": "slurmd", "tag": "26.05"},
            "resources": {"cpu": "1", "memory": "1Gi"},
            "volumes": {"jail": {"persistentVolumeClaim": {"claimName": "jail"}}},
        },
        "munge": {"image": {"repository": "munge", "tag": "26.05"}, "resources": {}},
        "updateStrategy": "rollingUpdate",
    }
    return _object(NODE_SET, name, laid_over(whole, spec))


def nodes(**parts: Any) -> Object:
    """Return a change of the parts of a cluster."""
    return {"slurmNodes": parts}


def laid_over(whole: Object, patch: Object) -> Object:
    made = dict(whole)
    for key, value in patch.items():
        there = made.get(key)
        if isinstance(value, dict) and isinstance(there, dict):
            made[key] = laid_over(there, value)
        else:
            made[key] = value
    return made


def _object(kind: Kind, name: str, spec: Object) -> Object:
    meta = {"name": name, "namespace": SPACE}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, "spec": spec}


class AtOnce(ThreadPoolExecutor):
    """Does at once what is meant for a thread; what is secret is the same each time."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Return what `fn` returned, or what stands for its keys."""
        done: Future[Any] = Future()
        meant = fn.args[0] if isinstance(fn, partial) else fn
        made = HOST_KEYS if meant is host_keys else fn(*args, **kwargs)
        if isinstance(made, dict) and all(isinstance(value, bytes) for value in made.values()):
            made = {name: name.encode().ljust(32, b"x") for name in made}
        done.set_result(made)
        return done


HOST_KEYS = {
    f"ssh_host_{kind}_key{end}": b"x"
    for kind in ("rsa", "ecdsa", "ed25519")
    for end in ("", ".pub")
}


@dataclass
class JobToys(Toys):
    """Toys that run Jobs, too."""

    fills_after_s: float = 5.0
    stuck: bool = False  # no Job ends

    def _see(self, change: Change) -> None:
        super()._see(change)
        if change.kind is kinds.JOB and change.after is not None and change.before is None:
            uid = change.after["metadata"]["uid"]
            loop = asyncio.get_running_loop()
            loop.call_later(self.fills_after_s, self._complete, change.key, uid)

    def _complete(self, key: Key, uid: str) -> None:
        job = self.api.history.get(kinds.JOB, key)
        if not self.stuck and job is not None and job["metadata"]["uid"] == uid:
            self.finish(key)

    def finish(self, key: Key) -> None:
        """Let a Job be complete."""
        job = self.api.history.get(kinds.JOB, key)
        assert job is not None
        status = {"conditions": [{"type": "Complete", "status": "True"}]}
        self.api.history.write(kinds.JOB, key, {**job, "status": status})


@dataclass
class Nebius(Scene):
    """Both dialects in one operator, and users of both."""

    toys: JobToys = field(init=False)
    settings: Settings = field(default_factory=Settings)
    spoken: Sequence[Any] = (slinky, nebius)
    late: tuple[Kind, ...] = ()  # kinds that somebody installs later

    def __post_init__(self) -> None:
        shape = Shape({"conditions": {"type": None}})
        served = [Served(kind, shape=shape) for kind in CLUSTERS if kind not in self.late]
        past = self.begin.history() if self.begin else History()
        self.api = FakeApi(custom=served, allowed=rights.pairs(), history=past)
        self.network = Network(self.api, seed=self.seed)
        self.free = free = FakeApi(custom=served, history=self.api.history)
        self.user = FakeClient(Network(free), "user")
        self.toys = JobToys(free, started=self._started, ending=self._ending)
        self.slurms = deepcopy(dict(self.begin.slurms)) if self.begin else {}
        self.unheard = False
        self.silent: set[Key] = set()  # clusters whose slurmrestd never answers
        self.processes = []

    async def __aenter__(self) -> "Nebius":
        await super().__aenter__()
        asyncio.get_running_loop().set_default_executor(AtOnce())
        return self

    def _setup(self) -> Setup:
        made: dict[Kind, Store[Any]] = {}
        for dialect in self.spoken:
            read = {**READ, **READ_TOO} if dialect is nebius else READ
            for kind, store in stores(dialect.OWN, dialect.references, read).items():
                made.setdefault(kind, store)
        brief = IN_BRIEF | TOO_IN_BRIEF
        return Setup(
            tuple(made.values()),
            self.namespaces,
            brief,
            OPTIONAL,
            labels=LABELS,
            awaited=frozenset(self.late),
        )

    def _controllers(
        self, client: Client, found: Mapping[Kind, Store[Any]]
    ) -> Sequence[Controller]:
        hands = Hands(client, World(found), Applier(client, found, Kinds(*CLUSTERS)), self.recorder)
        made: list[Controller] = []
        for dialect in self.spoken:
            connect = self._dial if dialect is nebius else self._connect
            made += dialect.controllers(hands, Slurms(client.through, connect), self.settings)
        return made

    # -- Slurm

    def _dial(self, access: slurmapi.Access, through: slurmapi.Through) -> slurmapi.Client:
        host = access.url.removeprefix("http://").partition(":")[0]
        service, namespace = host.split(".")[:2]
        name = service.removesuffix("-rest-svc")
        slurm = self.slurm(name, namespace)
        secret = self.objects(kinds.SECRET, namespace)[Names(name).jwt]
        slurm.key = slurm.key_file = b64decode(secret["data"]["rest_jwt.key"])
        transport = FakeTransport(slurm)
        transport.down = self.unheard or (namespace, name) in self.silent
        return slurmapi.Client(access, through, transport=transport)

    def _started(self, pod: Object) -> None:
        super()._started(pod)
        labels = pod["metadata"].get("labels", {})
        node = labels.get(NAMING.labels.pod_hostname)
        if node and labels.get(naming.WORKER):
            slurm = self.slurm(labels[NAMING.labels.cluster], pod["metadata"]["namespace"])
            if node not in slurm.slurmctld.nodes:
                slurm.slurmctld.add(node)

    def _ending(self, pod: Object) -> None:
        super()._ending(pod)
        labels = pod["metadata"].get("labels", {})
        node = labels.get(NAMING.labels.pod_hostname)
        if node and labels.get(naming.WORKER):
            where = (labels[NAMING.labels.cluster], pod["metadata"]["namespace"])
            jobs = self.slurm(*where).slurmctld.jobs.values()
            self.lost += [node for job in jobs if job.holds and node in job.nodes]

    def serve(self, kind: Kind) -> None:
        """Let somebody install a kind."""
        shape = Shape({"conditions": {"type": None}})
        for api in (self.api, self.free):
            api.serve(Served(kind, shape=shape) if kind in CLUSTERS else Served(kind))

    # -- the user

    async def make(self, *objects: Object, namespace: str = "") -> None:
        for obj in objects:
            space = namespace or obj["metadata"]["namespace"]
            placed = {**obj, "metadata": {**obj["metadata"], "namespace": space}}
            await self.user.create(Kinds(*CLUSTERS).of(obj), placed, dict)

    async def change(self, name: str = "one", **spec: Any) -> None:
        """Let the user change the spec of a SlurmCluster."""
        await self.user.patch(Ref(SLURM_CLUSTER, SPACE, name), {"spec": spec}, dict)

    async def rescale(self, name: str, replicas: int) -> None:
        """Let the user change the size of a NodeSet."""
        await self.user.patch(Ref(NODE_SET, SPACE, name), {"spec": {"replicas": replicas}}, dict)

    async def drop(self, kind: Kind, name: str, namespace: str = SPACE) -> None:
        """Let the user delete an object."""
        await self.user.delete(Ref(kind, namespace, name), dict)

    # -- what there is

    @property
    def written(self) -> int:
        return sum(change.kind in WATCHED for change in self.api.history.log)

    def there(self, kind: Kind, namespace: str = SPACE) -> dict[str, Object]:
        """Return all objects of a kind by name."""
        return self.objects(kind, namespace)

    def status(self, name: str = "one", kind: Kind = SLURM_CLUSTER) -> Object:
        """Return the status of an object."""
        found: Object = self.there(kind)[name].get("status", {})
        return found

    def condition(self, type_: str, name: str = "one", kind: Kind = SLURM_CLUSTER) -> Object:
        """Return one condition of an object, or nothing."""
        told = self.status(name, kind).get("conditions", ())
        return next((c for c in told if c["type"] == type_), {})

    def pods_of(self, component: str, cluster: str = "one") -> list[str]:
        """Name the pods of a part."""
        wanted = naming.selector(cluster, component).items()
        pods = self.there(kinds.POD)
        return sorted(n for n, pod in pods.items() if wanted <= pod["metadata"]["labels"].items())

    def seen(self) -> dict[str, Object]:
        """Return all there is, without what is different in every run."""
        return {
            f"{kind.kind} {'/'.join(key)}": _plain(kind, obj)
            for kind in WATCHED
            for key, obj in sorted(self.api.history.all(kind).items())
        }


def _plain(kind: Kind, obj: Object) -> Object:
    plain = timeless(kind, obj)
    notes = plain["metadata"]["annotations"]
    kept = {key: note for key, note in notes.items() if key != NAMING.annotations.has_state}
    return {**plain, "metadata": {**plain["metadata"], "annotations": kept}}
