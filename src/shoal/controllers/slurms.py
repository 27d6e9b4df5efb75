"""A client for the slurmrestd of each cluster, opened when it is first needed."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from ..kube.objects import Key
from ..model.cluster import Cluster
from ..model.rest import RestApi
from ..model.workers import Batch, SlurmNode
from ..runtime import clock
from ..slurm import hostlists, nodes
from ..slurm.durations import Open
from ..slurm.hostlists import HostlistError
from ..slurm.nodes import NodeState
from ..slurmapi.calls import Through, directly
from ..slurmapi.client import Access, Client
from ..slurmapi.errors import SlurmError
from ..slurmapi.nodes import Node
from ..slurmapi.reads import NodeReads, NodeSnapshot
from ..slurmapi.signatures import Concealed, Hs256
from ..slurmapi.sources import ChosenJobs, Holder
from ..slurmapi.tokens import Claims, Run, Signed
from ..slurmapi.versions import Capability

ISSUER, LIFETIME = "slurm-operator", timedelta(minutes=15)
# A job without a time limit ends after all that have one.
NEVER = datetime.max.replace(tzinfo=UTC)
Connect = Callable[[Access, Through], Client]
Nodes = Mapping[str, SlurmNode]


@dataclass
class Slurm:
    """One cluster's Slurm."""

    url: str
    tokens: Signed
    client: Client
    reads: NodeReads
    jobs: ChosenJobs
    seen: Nodes | None = None  # its nodes as they were last read; None: it did not answer then
    run: Run | None = None  # runs Slurm's own tools
    _of: NodeSnapshot | None = None  # that `seen` was made of

    async def nodes(self, newer_than: float = float("-inf")) -> Nodes | None:
        """Return what Slurm says about its nodes, the very same when none of it changed.

        None: it does not answer.
        """
        try:
            read = await self.reads.nodes(newer_than)
        except SlurmError:
            self.seen = self._of = None
            return None
        if self.seen is None or self._of is None:
            self.seen = {name: _node(node) for name, node in read.nodes.items()}
        elif self._of.nodes is not read.nodes:
            # Of thousands a few have changed, and to compare them is a tenth of the work.
            seen, before = self.seen, self._of.nodes
            told = {
                name: seen[name] if node == before.get(name) else _renewed(seen.get(name), node)
                for name, node in read.nodes.items()
            }
            if told != seen:
                self.seen = told
        self._of = read
        return self.seen

    async def ends(self) -> Mapping[str, datetime] | None:
        """Return when the time limits of the jobs on each node run out; None: nobody knows."""
        try:
            found = await self.jobs.holders()
        except SlurmError:
            return None
        ends: dict[str, datetime] = {}
        try:
            for job in found.jobs:
                end = _end(job)
                for name in hostlists.expand(job.nodes):
                    ends[name] = max(ends.get(name, end), end)
        except HostlistError:
            return None  # of one job nobody can say where it is
        return ends if found.complete else None

    async def batches(self) -> tuple[Batch, ...]:
        """Return the batch jobs that run; none where nobody knows."""
        try:
            found = await self.jobs.holders()
        except SlurmError:
            return ()
        return tuple(
            Batch(job.job_id, job.batch_host, job.start)
            for job in found.jobs
            if job.batch_host and job.start and job.state.base == "RUNNING" and not job.state.flags
        )

    async def places(self) -> bool:
        """Say whether it takes a node's place in the topology; not while it does not answer."""
        try:
            return await self.client.can(Capability.NODE_TOPOLOGY)
        except SlurmError:
            return False

    async def close(self) -> None:
        """Close its connections."""
        await self.jobs.close()
        await self.reads.close()
        await self.client.__aexit__(None, None, None)


@dataclass
class Slurms:
    """The clients of this process, one for each cluster."""

    through: Through = directly
    connect: Connect = Client
    tools: Callable[[Cluster], Run | None] = lambda _: None  # runs Slurm's own tools
    _open: dict[Key, Slurm] = field(default_factory=dict)

    def __iter__(self) -> Iterator[tuple[Key, Slurm]]:
        """Give all that are open, by the cluster's key."""
        return iter(list(self._open.items()))

    async def of(self, cluster: Cluster, rest: RestApi | None, key: bytes | None) -> Slurm | None:
        """Return a cluster's Slurm; None: it has no slurmrestd, or no key to ask it with."""
        where = (cluster.namespace, cluster.name)
        if rest is None:
            await self.forget(where)
            return None
        if key is None:
            # Slurm knows its key for as long as it runs, though the Secret is gone.
            return self._open.get(where)
        # Without the cluster's domain, which resolvers know and we are only told.
        url = f"http://{rest.name}.{rest.part.namespace}.svc:{rest.service.port}"
        signer = Hs256(Concealed(key), str(cluster.keys.jwt))
        known = self._open.get(where)
        if known is not None and known.url == url:
            known.tokens.rekey(signer)
            return known
        await self.forget(where)
        # SlurmUser may do everything in Slurm, and exists without accounting.
        claims = Claims(cluster.slurm_user, ISSUER, LIFETIME)
        tokens = Signed(signer, claims, clock.now)
        client = await self.connect(Access(url, tokens), self.through).__aenter__()
        run = self.tools(cluster)
        jobs = ChosenJobs(client, run)
        slurm = self._open[where] = Slurm(url, tokens, client, NodeReads(client), jobs, run=run)
        return slurm

    async def forget(self, where: Key) -> None:
        """Close the client of a cluster that is gone or has moved."""
        if (slurm := self._open.pop(where, None)) is not None:
            await slurm.close()

    async def close(self) -> None:
        """Close all."""
        for where in list(self._open):
            await self.forget(where)


def now() -> float:
    """Return the time on the clock that reads are dated by."""
    return asyncio.get_running_loop().time()


def _renewed(known: SlurmNode | None, node: Node) -> SlurmNode:
    """Return what is used of a node, the very same where only its load, or the like, is new."""
    made = _node(node)
    return known if known is not None and made == known else made


def _node(node: Node) -> SlurmNode:
    return SlurmNode(
        node.name,
        _state(node.state),
        node.reason,
        _moment(node.reason_changed_at.time),
        _moment(node.slurmd_start_time.time),
        node.comment,
        node.features,
        node.active_features,
        node.topology,
        node.reservation,
    )


@lru_cache(256)
def _state(words: tuple[str, ...]) -> NodeState:
    return nodes.parse(words)


def _moment(seconds: int | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _end(job: Holder) -> datetime:
    if job.start is None or isinstance(job.limit, Open):
        return NEVER
    try:
        return job.start + job.limit
    except OverflowError:
        return NEVER
