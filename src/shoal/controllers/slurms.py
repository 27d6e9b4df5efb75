"""A client for the slurmrestd of each cluster, opened when it is first needed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from ..kube.objects import Key
from ..model.cluster import Cluster
from ..model.rest import RestApi
from ..runtime import clock
from ..slurm import nodes
from ..slurm.nodes import Drain
from ..slurmapi.calls import Through, directly
from ..slurmapi.client import Access, Client
from ..slurmapi.errors import SlurmError
from ..slurmapi.reads import NodeReads
from ..slurmapi.signatures import Concealed, Hs256
from ..slurmapi.tokens import Claims, Signed

# SlurmUser may do everything in Slurm, and exists without accounting.
CLAIMS = Claims("slurm", "slurm-operator", timedelta(minutes=15))
Connect = Callable[[Access, Through], Client]


@dataclass(frozen=True)
class Slurm:
    """One cluster's Slurm."""

    url: str
    tokens: Signed
    client: Client
    reads: NodeReads

    async def drains(self) -> Mapping[str, Drain] | None:
        """Return what Slurm says about its nodes; None: it does not answer."""
        try:
            seen = await self.reads.nodes()
        except SlurmError:
            return None
        return {name: nodes.parse(node.state).drain for name, node in seen.nodes.items()}

    async def close(self) -> None:
        """Close its connections."""
        await self.reads.close()
        await self.client.__aexit__(None, None, None)


@dataclass
class Slurms:
    """The clients of this process, one for each cluster."""

    through: Through = directly
    connect: Connect = Client
    _open: dict[Key, Slurm] = field(default_factory=dict)

    async def of(self, cluster: Cluster, rest: RestApi | None, key: bytes | None) -> Slurm | None:
        """Return a cluster's Slurm; None: it has no slurmrestd, or no key to ask it with."""
        where = (cluster.namespace, cluster.name)
        if rest is None or key is None:
            await self.forget(where)
            return None
        url = f"http://{rest.name}.{rest.part.namespace}.svc.{cluster.domain}:{rest.service.port}"
        signer = Hs256(Concealed(key), str(cluster.keys.jwt))
        known = self._open.get(where)
        if known is not None and known.url == url:
            known.tokens.rekey(signer)
            return known
        await self.forget(where)
        tokens = Signed(signer, CLAIMS, clock.now)
        client = await self.connect(Access(url, tokens), self.through).__aenter__()
        slurm = self._open[where] = Slurm(url, tokens, client, NodeReads(client))
        return slurm

    async def forget(self, where: Key) -> None:
        """Close the client of a cluster that is gone or has moved."""
        if (slurm := self._open.pop(where, None)) is not None:
            await slurm.close()

    async def close(self) -> None:
        """Close all."""
        for where in list(self._open):
            await self.forget(where)
