"""Nodes: read, drain, change by hostlist, create, delete."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import msgspec

from ..slurm import hostlists
from .calls import Calls
from .errors import NotFoundError
from .numbers import Number, wrapped
from .transport import LIST
from .versions import Capability
from .wire import Dated, Envelope, Request, present

FAMILY = "nodes"
# slurmrestd's own limit is not documented; a path of this length passes everywhere.
LONGEST_PATH = 4000


class Node(msgspec.Struct, frozen=True, gc=False):
    """As much of a node as is used; the names are slurmrestd's."""

    name: str
    state: tuple[str, ...] = ()
    reason: str = ""
    reason_changed_at: Number = Number()
    reason_set_by_user: str = ""
    comment: str = ""
    extra: str = ""
    address: str = ""
    hostname: str = ""
    instance_id: str = ""
    instance_type: str = ""
    features: tuple[str, ...] = ()
    active_features: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()
    reservation: str = ""
    topology: str = ""  # from v0.0.43 on
    version: str = ""
    gres: str = ""
    gres_used: str = ""
    tres: str = ""
    tres_used: str = ""
    cpus: int = 0
    effective_cpus: int = 0
    alloc_cpus: int = 0
    real_memory: int = 0
    alloc_memory: int = 0
    specialized_memory: int = 0
    free_mem: Number = Number()
    boot_time: Number = Number()
    slurmd_start_time: Number = Number()


class NodeList(Dated, frozen=True, gc=False):
    """Some nodes, and when slurmctld made the list."""

    nodes: list[Node] | msgspec.UnsetType = msgspec.UNSET


@dataclass(frozen=True)
class Listing:
    """All nodes, and the time to name when asking whether anything changed since."""

    nodes: Sequence[Node]
    last_update: int | None


@dataclass(frozen=True)
class NodeChange:
    """What to change of nodes. None leaves a field as it is, an empty one clears it."""

    state: tuple[str, ...] | None = None
    reason: str | None = None
    comment: str | None = None
    extra: str | None = None
    features: tuple[str, ...] | None = None
    features_act: tuple[str, ...] | None = None
    gres: str | None = None
    address: tuple[str, ...] | None = None
    hostname: tuple[str, ...] | None = None
    topology_str: str | None = None
    weight: int | None = None
    resume_after: int | None = None  # seconds

    def body(self) -> dict[str, Any]:
        """Return it as slurmrestd reads it."""
        given = {name: value for name, value in vars(self).items() if value is not None}
        for name in ("weight", "resume_after"):
            if name in given:
                given[name] = wrapped(given[name])
        return given


_LIST = msgspec.json.Decoder(NodeList)
_DONE = msgspec.json.Decoder(Envelope)


def encoded(name: str) -> str:
    """Return a name or a hostlist as it may stand in a path: no comma and no bracket goes plain."""
    return quote(name, safe="")


class Nodes:
    """The calls about nodes."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def all(self) -> Listing:
        """Return every node: 2.5 KB each, 1.5 s for 10,000. For repeated reads see `Reads`."""
        request = Request("GET", "nodes/", FAMILY, limits=LIST)
        return _listing(request, await self._calls.read(request, _LIST))

    async def since(self, last_update: int) -> Listing | None:
        """Return every node, or None when none changed since `last_update`: 8 ms."""
        query = {"update_time": str(last_update)}
        request = Request("GET", "nodes/", FAMILY, query, limits=LIST)
        answer = await self._calls.changed(request, _LIST)
        return None if answer is None else _listing(request, answer)

    async def one(self, name: str) -> Node:
        """Return one node; a NotFoundError when slurmctld has no such node."""
        # An unknown node is a 200 with error number 0.
        request = Request("GET", f"node/{encoded(name)}", FAMILY, absent=(0,))
        found = present(request, (await self._calls.read(request, _LIST)).nodes)
        if not found:
            raise NotFoundError(str(request), "there is no such node")
        return found[0]

    async def find(self, name: str) -> Node | None:
        """Return one node, or None when slurmctld has no such node."""
        try:
            return await self.one(name)
        except NotFoundError:
            return None

    async def update(self, names: Iterable[str], change: NodeChange) -> None:
        """Change all of `names` (hostlists too) in one call; one unknown name refuses it whole."""
        hostlist = folded(names)
        if not hostlist:
            return
        needs = None if change.topology_str is None else Capability.NODE_TOPOLOGY
        request = Request(
            "POST",
            "nodes/",
            FAMILY,
            body={"name": [hostlist], **change.body()},
            about=hostlist,
            needs=needs,
            write=True,
        )
        await self._calls.write(request, _DONE)

    async def drain(self, names: Iterable[str], reason: str) -> None:
        """Drain nodes. It replaces the reason of who drained them before: read first."""
        assert reason, "a drain without a reason tells nobody whose it is"
        await self.update(names, NodeChange(state=("DRAIN",), reason=reason))

    async def undrain(self, names: Iterable[str]) -> None:
        """Take a drain back; harmless to nodes that have none, unlike RESUME."""
        await self.update(names, NodeChange(state=("UNDRAIN",)))

    async def create(self, node_conf: str) -> None:
        """Create dynamic nodes from a line such as `NodeName=w-[0-2] CPUs=2 State=CLOUD`."""
        request = Request(
            "POST",
            "new/node/",
            FAMILY,
            body={"node_conf": node_conf},
            about=node_conf.split(maxsplit=1)[0],
            needs=Capability.NODE_CREATION,
            write=True,
        )
        await self._calls.write(request, _DONE)

    async def delete(self, names: Iterable[str]) -> None:
        """Delete dynamic nodes; a BusyError while jobs run on one of them."""
        for hostlist in pieces(names):
            request = Request("DELETE", f"node/{encoded(hostlist)}", FAMILY, write=True)
            await self._calls.write(request, _DONE)


def folded(names: Iterable[str]) -> str:
    """Return names and hostlists as one hostlist."""
    return hostlists.fold(name for text in names for name in hostlists.expand(text))


def pieces(names: Iterable[str]) -> list[str]:
    """Return names and hostlists as hostlists that each fit into a path."""
    hostlist = folded(names)
    if len(encoded(hostlist)) <= LONGEST_PATH:
        return [hostlist] if hostlist else []
    single = hostlists.expand(hostlist)
    half = len(single) // 2
    return pieces(single[:half]) + pieces(single[half:])


def _listing(request: Request, answer: NodeList) -> Listing:
    return Listing(present(request, answer.nodes), answer.last_update.time)
