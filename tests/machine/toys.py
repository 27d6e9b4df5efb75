"""A toy cluster around the fake API server: StatefulSets and Deployments get pods, pods get ready.

A pod begins only once all that it mounts is there. One that tries a configuration ends with what
`judge` says of it. One of slurmctld's looks for its state first, which `emptied` takes away.
"""

import asyncio
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import msgspec

from fakes.apiserver import FakeApi
from fakes.history import Change, Cursor
from shoal.kube import kinds
from shoal.kube.kinds import Kind
from shoal.kube.objects import Key, Object
from shoal.model.controller import STATE_GUARD, STATE_LOST
from shoal.render import state_guard, trial

WORKLOADS = (kinds.STATEFUL_SET, kinds.DEPLOYMENT)
MOUNTED = {"secret": kinds.SECRET, "configMap": kinds.CONFIG_MAP}
READY = [{"type": "Ready", "status": "True"}]
EVICTED: Object = {
    "phase": "Failed",
    "reason": "Evicted",
    "message": "The node was low on resource: memory.",
}


def ended(code: int, message: str = "") -> Object:
    """Return the status of a pod whose trial ended so."""
    state = {"terminated": {"exitCode": code, "message": message}}
    phase = "Failed" if code else "Succeeded"
    return {"phase": phase, "containerStatuses": [{"name": trial.NAME, "state": state}]}


def fair(conf: str) -> Object:
    """Refuse what holds the word Nonsense, and accept the rest."""
    return ended(1, "error: Parsing error: Nonsense") if "Nonsense" in conf else ended(0)


@dataclass
class Toys:
    """The scheduler, the kubelet and the workload controllers of one fake API server."""

    api: FakeApi
    begins_after_s: float = 1.0
    ends_after_s: float = 1.0
    judge: Callable[[str], Object] = fair  # slurm.conf as it is tried -> the status of the pod
    started: Callable[[Object], None] = lambda _: None
    ending: Callable[[Object], None] = lambda _: None
    tried: list[float] = field(default_factory=list)  # when trials began
    emptied: set[Key] = field(default_factory=set)  # pods whose state is gone
    shown: Callable[[Object], Object] = lambda _: {}  # what else is in a running pod's status

    async def run(self) -> None:
        """Look after everything until cancelled."""
        cursor = Cursor(self.api.history, self.api.history.compacted)
        while True:
            while change := cursor.take():
                self._see(change)
            await cursor.wait(float("inf"))

    def _see(self, change: Change) -> None:
        if change.kind is kinds.POD:
            if change.after is not None:
                self._attend(change.key, change.after)
            for kind, key in _owners(change.after or change.before or {}):
                self._keep(kind, key)
        elif change.kind in WORKLOADS:
            self._keep(change.kind, change.key)
        elif change.kind in MOUNTED.values() and change.after is not None:
            for key, pod in list(self.api.history.all(kinds.POD).items()):
                if key[0] == change.key[0] and "deletionTimestamp" not in pod["metadata"]:
                    self._begin(key, pod["metadata"]["uid"])

    # -- workloads

    def _keep(self, kind: Kind, key: Key) -> None:
        workload = self.api.history.get(kind, key)
        if workload is None or "deletionTimestamp" in workload["metadata"]:
            return
        replicas = workload["spec"].get("replicas", 1)
        revision = _digest(workload["spec"]["template"])
        names = _names(kind, key[1], revision, replicas)
        pods = {pod["metadata"]["name"]: pod for pod in self._pods(workload)}
        for name in names:
            if name not in pods:
                self._create(kind, workload, name, revision)
        ready = [name for name in names if _serves(pods.get(name, {}), revision)]
        for name, pod in pods.items():
            # The pods of a StatefulSet are replaced under their names; those of a Deployment go
            # when the new ones serve.
            old = pod["metadata"].get("labels", {}).get("revision") != revision
            surplus = name not in names and len(ready) == replicas
            if (surplus or (old and name in names)) and "deletionTimestamp" not in pod["metadata"]:
                self._delete(name, key[0])
        self._tell(kind, key, workload, (len(pods), len(ready)))

    def _tell(self, kind: Kind, key: Key, workload: Object, counts: tuple[int, int]) -> None:
        pods, ready = counts
        status = {
            "observedGeneration": workload["metadata"]["generation"],
            "replicas": pods,
            "readyReplicas": ready,
            "updatedReplicas": ready,
        }
        now = self.api.history.get(kind, key)
        if now is not None and now.get("status") != status:
            self.api.history.write(kind, key, {**now, "status": status})

    def _pods(self, workload: Object) -> list[Object]:
        uid = workload["metadata"]["uid"]
        return [
            pod
            for pod in self.api.history.all(kinds.POD).values()
            if any(o["uid"] == uid for o in pod["metadata"].get("ownerReferences", ()))
        ]

    def _create(self, kind: Kind, workload: Object, name: str, revision: str) -> None:
        meta, template = workload["metadata"], workload["spec"]["template"]
        owner = {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "name": meta["name"],
            "uid": meta["uid"],
            "controller": True,
        }
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": meta["namespace"],
                "labels": {**template["metadata"]["labels"], "revision": revision},
                "annotations": template["metadata"]["annotations"],
                "ownerReferences": [owner],
            },
            "spec": template["spec"],
        }
        self._ask("POST", kinds.POD.path(meta["namespace"]), pod)

    def _delete(self, name: str, namespace: str) -> None:
        self._ask("DELETE", kinds.POD.path(namespace, name), {})

    def _ask(self, method: str, path: str, body: Object) -> None:
        call = self.api.understand(method, path, {}, {}, msgspec.json.encode(body))
        self.api.carry_out(call)

    # -- pods

    def _attend(self, key: Key, pod: Object) -> None:
        loop, meta = asyncio.get_running_loop(), pod["metadata"]
        if "deletionTimestamp" in meta:
            self.ending(pod)
            grace_s = min(meta["deletionGracePeriodSeconds"], self.ends_after_s)
            loop.call_later(grace_s, self._end, key, meta["uid"])
        elif not pod["spec"].get("nodeName"):
            loop.call_later(self.begins_after_s, self._bind, key, meta["uid"])

    def _same(self, key: Key, uid: str) -> Object | None:
        pod = self.api.history.get(kinds.POD, key)
        return pod if pod is not None and pod["metadata"]["uid"] == uid else None

    def _bind(self, key: Key, uid: str) -> None:
        pod = self._same(key, uid)
        if pod is None or pod["spec"].get("nodeName") or "deletionTimestamp" in pod["metadata"]:
            return
        bound = {**pod["spec"], "nodeName": _required(pod) or f"node-of-{key[1]}"}
        self.api.history.write(
            kinds.POD, key, {**pod, "spec": bound, "status": {"phase": "Pending"}}
        )
        self._begin(key, uid)

    def _begin(self, key: Key, uid: str) -> None:
        pod = self._same(key, uid)
        if pod is None or pod.get("status", {}).get("phase") != "Pending":
            return
        if any(self.api.history.get(kind, (key[0], name)) is None for kind, name in _mounts(pod)):
            return
        looked = self._looked(key, pod)
        if looked and not looked[0]["ready"]:
            if pod["status"].get("initContainerStatuses") != looked:
                blocked = {"phase": "Pending", "initContainerStatuses": looked}
                self.api.history.write(kinds.POD, key, {**pod, "status": blocked})
            return
        running = {"phase": "Running", "conditions": READY, **self.shown(pod)}
        if looked:
            self.emptied.discard(key)  # slurmctld writes another one
            running["initContainerStatuses"] = looked
        self.api.history.write(kinds.POD, key, {**pod, "status": running})
        self.started(pod)
        if pod["spec"]["containers"][0]["name"] == trial.NAME:
            self.tried.append(asyncio.get_running_loop().time())
            asyncio.get_running_loop().call_later(2.0, self._judge, key, uid)

    def _looked(self, key: Key, pod: Object) -> list[Object]:
        """Return what became of the look for slurmctld's state, in a pod that has one."""
        before = pod.get("status", {}).get("initContainerStatuses")
        if before:
            return before  # kubelet would look again by itself after minutes
        if all(one["name"] != STATE_GUARD for one in pod["spec"].get("initContainers", ())):
            return []
        found = [self.api.history.get(kind, (key[0], name)) for kind, name in _mounts(pod)]
        maps = [obj["data"] for obj in found if obj and state_guard.SCRIPT in obj.get("data", {})]
        lost = key in self.emptied and maps[0][state_guard.EXPECTED] != "false\n"
        state = {"terminated": {"exitCode": STATE_LOST if lost else 0}}
        return [{"name": STATE_GUARD, "ready": not lost, "state": state}]

    def _judge(self, key: Key, uid: str) -> None:
        pod = self._same(key, uid)
        if pod is None or "deletionTimestamp" in pod["metadata"]:
            return
        maps = (self.api.history.get(kind, (key[0], name)) for kind, name in _mounts(pod))
        texts = [
            found["data"]["slurm.conf"] for found in maps if found and "digest" in found["data"]
        ]
        self.api.history.write(kinds.POD, key, {**pod, "status": self.judge(texts[0])})

    def _end(self, key: Key, uid: str) -> None:
        if self._same(key, uid):
            self.api.finish(key)


def _names(kind: Kind, name: str, revision: str, replicas: int) -> list[str]:
    start = name if kind is kinds.STATEFUL_SET else f"{name}-{revision}"
    return [f"{start}-{number}" for number in range(replicas)]


def _serves(pod: Object, revision: str) -> bool:
    if not pod or "deletionTimestamp" in pod["metadata"]:
        return False
    current = pod["metadata"]["labels"].get("revision") == revision
    return current and pod.get("status", {}).get("phase") == "Running"


def _owners(pod: Object) -> Iterator[tuple[Kind, Key]]:
    for owner in pod["metadata"].get("ownerReferences", ()):
        for kind in WORKLOADS:
            if owner["kind"] == kind.kind:
                yield kind, (pod["metadata"]["namespace"], owner["name"])


def _required(pod: Object) -> str:
    """Return the one node that a pod may run on; empty: any will do."""
    affinity = pod["spec"].get("affinity", {}).get("nodeAffinity", {})
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {})
    terms = required.get("nodeSelectorTerms", ())
    fields = [field for term in terms for field in term.get("matchFields", ())]
    return str(fields[0]["values"][0]) if fields else ""


def _mounts(pod: Object) -> Iterator[tuple[Kind, str]]:
    for volume in pod["spec"].get("volumes", ()):
        for source in volume.get("projected", {}).get("sources", ()):
            for word, kind in MOUNTED.items():
                if word in source:
                    yield kind, source[word]["name"]


def _digest(value: Object) -> str:
    return hashlib.sha256(msgspec.json.encode(value, order="sorted")).hexdigest()[:8]
