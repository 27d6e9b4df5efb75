"""Our client on the fake: everything but the sockets is the real one."""

from collections.abc import Mapping

from shoal.slurmapi.calls import Through, directly
from shoal.slurmapi.client import Access, Client
from shoal.slurmapi.tokens import Tokens
from shoal.slurmapi.wire import Observe, unobserved

from .slurm import HEADER, FakeSlurm
from .transport import FakeTransport


class FakeTokens:
    """Tokens signed with slurmctld's key as it is when one is needed."""

    def __init__(self, slurm: FakeSlurm, user: str = "slurm", lifetime_s: float = 600) -> None:
        self._slurm = slurm
        self._user = user
        self._lifetime_s = lifetime_s
        self._token: str | None = None
        self.forgotten = 0

    async def header(self) -> Mapping[str, str]:
        """Return the one in use."""
        self._token = self._token or self._slurm.token(self._user, self._lifetime_s)
        return {HEADER: self._token}

    def forget(self) -> None:
        """Make a new one next time."""
        self._token = None
        self.forgotten += 1


def fake_client(
    slurm: FakeSlurm,
    through: Through = directly,
    observe: Observe = unobserved,
    tokens: Tokens | None = None,
) -> Client:
    """Return a client of `slurm`; it needs no opening."""
    access = Access("http://fake", tokens or FakeTokens(slurm))
    return Client(access, through, observe, FakeTransport(slurm))
