"""Where operators race: an API server, kwok's nodes and a real Slurm, which come and go.

Only those controllers run that turn a StatefulSet, a Deployment or a Job into pods: kwok's nodes
write no Leases (of thousands that would be the load), so nobody may watch over them.
"""

import asyncio
import base64
import json
import os
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from bench.measured.bare import PODS, Bare, all_of
from bench.measured.scale_audit import Audit
from bench.measured.scale_objects import (
    CONTROLLER,
    NODES,
    REST_API,
    SPACE,
    WORKER,
    definitions,
    node,
    path,
)
from shoal.host import files
from shoal.kube.objects import Object
from shoal.local import control_plane, programs
from shoal.local.api import Api
from shoal.local.bar import progress
from shoal.local.cluster import Cluster
from shoal.local.down import down
from shoal.local.pki import Identity, kubeconfig
from shoal.local.settings import Settings
from shoal.local.up import Wanted, up
from shoal.runtime import clock
from tests.slurm_lab import Lab, provide
from tests.slurm_lab.conf import Conf
from tests.slurm_lab.lab import Options

SERIES = "26.05"
SLURM_API = "slurm/v0.0.45"
USER = "bench:operator"
SPARE = 5  # nodes beyond one for each worker
CONTROLLERS = "statefulset-controller,deployment-controller,replicaset-controller,job-controller"
AT_ONCE = 500  # node records in one request
RECORDED = "REQUEST_STATS_INFO"  # what a look at slurmctld's counters is itself
GIB = 1 << 30


class _Listed(msgspec.Struct, frozen=True, rename="camel"):
    remaining_item_count: int = 0


class _Page(msgspec.Struct, frozen=True):
    items: list[msgspec.Raw]
    metadata: _Listed = _Listed()


class _Condition(msgspec.Struct, frozen=True):
    type: str
    status: str


class _NodeStatus(msgspec.Struct, frozen=True):
    conditions: tuple[_Condition, ...] = ()


class _Node(msgspec.Struct, frozen=True):
    status: _NodeStatus = _NodeStatus()


class _Nodes(msgspec.Struct, frozen=True):
    items: list[_Node]


@dataclass(frozen=True)
class Ground:
    """The place, and the ways to it."""

    api: Api
    lab: Lab
    folder: Path

    @property
    def audit(self) -> Audit:
        """What the operator asks of the API server."""
        return Audit(self.api.cluster.audit_log, USER)

    @property
    def kubeconfig(self) -> Path:
        """The operator's way in: as an administrator with a name of its own."""
        return self.folder / "operator.kubeconfig"

    @property
    def hosts(self) -> Path:
        """Where the operator finds slurmrestd's Service, as nobody routes Services here."""
        return self.folder / "hosts"

    def rpcs(self) -> dict[str, int]:
        """Return how often slurmctld was asked for what, this look aside."""
        said = self._slurm("diag/")["statistics"]["rpcs_by_message_type"]
        return {one["message_type"]: one["count"] for one in said}

    def register(self, prefix: str, count: int, state: str) -> None:
        """Make the records of workers in Slurm: idle at once, though no slurmd stands behind."""
        for first in range(0, count, AT_ONCE):
            last = min(first + AT_ONCE, count) - 1
            names = f"{prefix}[{first}-{last}]"
            line = f"NodeName={names} CPUs=64 RealMemory=256000 State={state} Feature=slinky"
            self._slurm("new/node/", {"node_conf": line})

    def forget(self, name: str) -> None:
        """Delete a worker's record, unless the operator has."""
        try:
            self._slurm(f"node/{name}", method="DELETE")
        except urllib.error.HTTPError as error:
            # Slurm's errors come with a 500 or a 422, whichever node it is that it does not know.
            error.close()

    def states(self) -> set[str]:
        """Return every state that a node has in Slurm."""
        return {"+".join(node["state"]) for node in self._slurm("nodes/")["nodes"]}

    def _slurm(self, path: str, body: Object | None = None, method: str | None = None) -> Object:
        headers = {"X-SLURM-USER-TOKEN": self.lab.token(), "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        url = f"{self.lab.url}/{SLURM_API}/{path}"
        asked = urllib.request.Request(url, data, headers, method=method)
        with urllib.request.urlopen(asked, timeout=120) as answer:
            said: Object = json.load(answer)
        if said.get("errors"):
            raise RuntimeError(f"slurmrestd, {path}: {said['errors']}")
        return said


# -- the objects


async def prepare(ground: Ground, bare: Bare, crds: Path, workers: int) -> None:
    """Make the nodes, the kinds, the keys and the cluster, all but its workers."""
    for definition in definitions(crds):
        await bare.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
    await all_of(bare.post(NODES, node(f"kwok-{i}")) for i in range(workers + SPARE))
    await until_ready(bare, workers + SPARE)
    await bare.namespace(SPACE)
    keys = {"slurm.key": ground.lab.keys.slurm, "jwt.key": ground.lab.keys.jwt}
    data = {name: base64.b64encode(value).decode() for name, value in keys.items()}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}, "data": data}
    await bare.post(f"/api/v1/namespaces/{SPACE}/secrets", secret)
    for obj in (CONTROLLER, REST_API):
        await bare.post(path(obj), obj)


async def until_ready(bare: Bare, count: int) -> None:
    """Wait until kwok has taken every node over."""
    decoder = msgspec.json.Decoder(_Nodes)
    while True:
        found = decoder.decode(await bare.send("GET", f"{NODES}?resourceVersion=0")).items
        conditions = (c for one in found for c in one.status.conditions)
        if sum(c.type == "Ready" and c.status == "True" for c in conditions) >= count:
            return
        await asyncio.sleep(1)


async def count(bare: Bare, space: str) -> int:
    """Return how many pods a namespace has, without reading them."""
    page = msgspec.json.decode(await bare.send("GET", f"{PODS.format(space)}?limit=1"), type=_Page)
    return len(page.items) + page.metadata.remaining_item_count


async def waiting(bare: Bare, space: str) -> bool:
    """Say whether a pod of a namespace does not run yet."""
    query = "limit=1&fieldSelector=status.phase%21%3DRunning"
    page = await bare.send("GET", f"{PODS.format(space)}?{query}")
    return bool(msgspec.json.decode(page, type=_Page).items)


async def one_worker(bare: Bare) -> Object | None:
    """Return a worker's pod; reads all pods, so ask when there are few."""
    found: list[Object] = json.loads(await bare.send("GET", PODS.format(SPACE)))["items"]
    return next((pod for pod in found if pod["metadata"]["name"].startswith(WORKER)), None)


# -- the place


@contextmanager
def ground(workers: int) -> Iterator[Ground]:
    """Give a place for so many workers; all of it goes after."""
    cache = Path(os.environ.get("SHOAL_CACHE") or Path.home() / ".cache/shoal")
    wanted = Wanted("bench", control_plane_only=True, extras=("scheduler", "kwok"), audited=True)
    keys = {"MaxNodeCount": str(workers + 1000), "SlurmdTimeout": "0"}
    options = Options(0, Conf(keys), slurmrestd_bytes=3 * GIB)
    with tempfile.TemporaryDirectory(prefix="shoal-bench-") as name:
        folder = Path(name)
        settings = Settings(cache=cache, state=folder, environment=dict(os.environ))
        api = up(settings, wanted, progress(sys.stderr))
        try:
            with Lab(provide(SERIES, settings), options) as lab:
                made = Ground(api, lab, folder)
                _let_in(made)
                with _controllers(settings, api.cluster):
                    yield made
        finally:
            down(settings, api.cluster)


def _let_in(made: Ground) -> None:
    """Write what the operator is given."""
    cluster = made.api.cluster
    trusted = control_plane.authority(cluster)
    trusted.issue([Identity("operator", USER, "system:masters")], clock.now())
    text = kubeconfig(cluster.server, "bench", trusted, "operator")
    files.write(made.kubeconfig, text, 0o600)
    short = f"slurm-restapi.{SPACE}"
    names = f"{short}.svc.{control_plane.DOMAIN} {short}.svc {short}"
    own = Path("/etc/hosts").read_text()
    files.write(made.hosts, f"{own}\n{made.lab.space.address} {names}\n")


@contextmanager
def _controllers(settings: Settings, cluster: Cluster) -> Iterator[None]:
    name = "kube-controller-manager"
    program = programs.provide(settings, progress(sys.stderr), (name,)) / name
    words = (
        *("setpriv", "--pdeathsig", "KILL", str(program)),
        f"--kubeconfig={cluster.kubeconfig}",
        f"--controllers={CONTROLLERS}",
        "--leader-elect=false",
        "--secure-port=0",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
    )
    with (cluster.folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def growth(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """Return what slurmctld was asked between two looks; the first look is in the second."""
    grown = {name: number - before.get(name, 0) for name, number in after.items()}
    grown[RECORDED] = grown.get(RECORDED, 0) - 1
    return {name: number for name, number in sorted(grown.items()) if number > 0}
