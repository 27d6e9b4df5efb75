"""The client of one Slurm cluster's slurmrestd: a family of calls per kind of thing.

Read slim, write full. Every call ends: a ping goes first, and time and size are bounded.
"""

from dataclasses import dataclass, field
from ssl import SSLContext
from types import TracebackType
from typing import Self

from .accounting import Accounting
from .calls import Calls, Through, directly
from .controller import Controller
from .jobs import Jobs
from .nodes import Nodes
from .partitions import Partitions
from .peer import Known
from .reservations import Reservations
from .tokens import Tokens
from .transport import Http, Transport
from .versions import Capability
from .wire import Observe, Wire, unobserved


@dataclass(frozen=True)
class Access:
    """Where slurmrestd is, and how to identify oneself there."""

    url: str
    tokens: Tokens = field(repr=False)
    tls: SSLContext | None = field(default=None, repr=False)


class Client:
    """A client of one slurmrestd; a context manager that closes its connections."""

    def __init__(
        self,
        access: Access,
        through: Through = directly,
        observe: Observe = unobserved,
        transport: Transport | None = None,
    ) -> None:
        self._transport = transport or Http(access.url, access.tls)
        self._calls = Calls(Wire(self._transport, access.tokens, observe), through)
        self.nodes = Nodes(self._calls)
        self.jobs = Jobs(self._calls)
        self.reservations = Reservations(self._calls)
        self.partitions = Partitions(self._calls)
        self.controller = Controller(self._calls)
        self.accounting = Accounting(self._calls)

    async def __aenter__(self) -> Self:
        """Open the connections."""
        await self._transport.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close them."""
        await self._calls.peer.close()
        await self._transport.close()

    async def can(self, capability: Capability) -> bool:
        """Return whether the Slurm at hand has `capability`."""
        return await self._calls.peer.can(capability)

    async def known(self) -> Known:
        """Return which version is spoken, and which Slurm answers."""
        return await self._calls.peer.known()

    def written_at(self, *families: str) -> float:
        """Return when, on the loop's clock, we last ended a write to one of `families`."""
        return self._calls.written_at(*families)
