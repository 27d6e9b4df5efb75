"""What a contract test needs of a Slurm cluster, for those that it runs on."""

import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeVar

import pytest

from fakes.slurmrestd.faults import Late
from fakes.slurmrestd.records import Partition
from fakes.slurmrestd.server import FakeServer
from fakes.slurmrestd.slurm import Daemon, FakeSlurm
from shoal.runtime import clock
from shoal.slurmapi.client import Access, Client
from shoal.slurmapi.jobs import JobDescription
from shoal.slurmapi.signatures import Concealed, Hs256
from shoal.slurmapi.tokens import Claims, Signed, Tokens
from slurm_lab import Lab, tokens

from .wire import Asked, Said, ask

T = TypeVar("T")

OLD, NEW = "24.11", "26.05"
# The real ones first: a test that names only these then shares their labs.
PLACES = [f"{kind} {series}" for kind in ("real", "fake") for series in (OLD, NEW)]
# For what slurmrestd does and our client never asks for, so that the fake has no need of it.
only_real = pytest.mark.parametrize("place", PLACES[:2], indirect=True)
NEWEST = {OLD: 42, NEW: 45}
WORKERS = ("w-0", "w-1")
PATIENCE_S = 120.0
SLEEP: dict[str, Any] = {
    "name": "sleep",
    "script": "#!/bin/sh\nexec sleep 600\n",
    "current_working_directory": "/tmp",
    "environment": ["PATH=/usr/bin:/bin"],
}
UNFIT = {"DRAIN", "NOT_RESPONDING", "COMPLETING"}
ENDED = {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "BOOT_FAIL", "DEADLINE"}


def sleep(**more: Any) -> JobDescription:
    """Return a job that sleeps, as the client describes one."""
    return JobDescription("sleep", SLEEP["script"], **more)


@dataclass
class Slurm:
    """A cluster: workers w-0 and w-1; alice and bob may run jobs, carol may change nodes too."""

    series: str
    url: str
    key: bytes = field(repr=False)

    @property
    def old(self) -> bool:
        """Whether this is the older of the two series."""
        return self.series == OLD

    @property
    def newest(self) -> int:
        """The newest version of the API that is served here."""
        return NEWEST[self.series]

    def token(self, user: str = "slurm", **claims: Any) -> str:
        """Return a token; a claim that is None is left out."""
        said = tokens.claims(user) | claims
        return tokens.sign(self.key, {name: v for name, v in said.items() if v is not None})

    def signed(self, user: str = "slurm") -> Signed:
        """Return the source of good tokens that shoal's own processes use."""
        lifetime = timedelta(minutes=10)
        signer = Hs256(Concealed(self.key), "the lab's jwt.key")
        return Signed(signer, Claims(user, "test", lifetime), clock.now)

    def connect(self, source: Tokens | None = None) -> Client:
        """Return a client, to be entered."""
        return Client(Access(self.url, source or self.signed()))

    async def ask(
        self, method: str, path: str, body: Any = None, version: int = 42, **more: Any
    ) -> Said:
        """Send a request as it is; a path without a slash before it is slurmctld's."""
        tree = "" if path.startswith("/") else f"/slurm/v0.0.{version}/"
        return await ask(
            self.url, Asked(method, tree + path, body, **{"token": self.token(), **more})
        )

    async def ask_database(self, method: str, path: str, body: Any = None, **more: Any) -> Said:
        """Send a request to slurmdbd's tree."""
        return await self.ask(method, f"/slurmdb/v0.0.42/{path}", body, **more)

    async def node(self, name: str = "w-0") -> Any:
        """Return a node as it is told."""
        return (await self.ask("GET", f"node/{name}")).body["nodes"][0]

    async def submit(self, user: str = "alice", **more: Any) -> int:
        """Submit a job that sleeps."""
        said = await self.ask("POST", "job/submit", {"job": SLEEP | more}, token=self.token(user))
        assert said.code == 200, said
        return int(said.body["job_id"])

    async def state_of(self, job: int) -> list[str]:
        """Return a job's state."""
        found: list[str] = (await self.ask("GET", f"job/{job}")).body["jobs"][0]["job_state"]
        return found

    async def running(self, **more: Any) -> int:
        """Submit a job and wait until it runs."""
        await self.idle()
        job = await self.submit(**more)
        await self.eventually(lambda: self.state_of(job), lambda state: state == ["RUNNING"])
        return job

    async def idle(self) -> None:
        """Wait until both workers could run a job."""

        async def states() -> list[list[str]]:
            nodes = (await self.ask("GET", "nodes/")).body["nodes"]
            return [node["state"] for node in nodes if node["name"] in WORKERS]

        def good(seen: list[list[str]]) -> bool:
            return all("IDLE" in state and not set(state) & UNFIT for state in seen)

        await self.eventually(states, good)

    async def eventually(
        self, look: Callable[[], Awaitable[T]], good: Callable[[T], object] = bool
    ) -> T:
        """Look until it is good."""
        deadline = clock.ticks() + PATIENCE_S
        while not good(seen := await look()):
            assert clock.ticks() < deadline, f"waited {PATIENCE_S:g} s; seen last: {seen}"
            await clock.sleep(0.05)
        return seen

    # -- what each place does its own way

    async def stop(self, daemon: str) -> None:
        """End a daemon."""
        raise NotImplementedError

    async def start(self, daemon: str) -> None:
        """Start it again."""
        raise NotImplementedError

    async def freeze(self, daemon: str) -> None:
        """Let a daemon hang."""
        raise NotImplementedError

    async def thaw(self, daemon: str) -> None:
        """Let it go on."""
        raise NotImplementedError

    async def replace_key(self, key: bytes) -> None:
        """Put another key where slurmctld and slurmdbd read theirs."""
        raise NotImplementedError


@dataclass
class RealSlurm(Slurm):
    """A lab's."""

    lab: Lab = field(kw_only=True)
    away: set[str] = field(default_factory=set)
    hung: set[str] = field(default_factory=set)

    async def stop(self, daemon: str) -> None:
        """Send it SIGTERM."""
        self.away.add(daemon)
        self.lab.stop(daemon)

    async def start(self, daemon: str) -> None:
        """Start its container."""
        self.lab.start(daemon)
        self.away.discard(daemon)

    async def freeze(self, daemon: str) -> None:
        """Send it SIGSTOP."""
        self.hung.add(daemon)
        self.lab.freeze(daemon)

    async def thaw(self, daemon: str) -> None:
        """Send it SIGCONT."""
        self.lab.thaw(daemon)
        self.hung.discard(daemon)

    async def replace_key(self, key: bytes) -> None:
        """Replace the files."""
        self.lab.replace_jwt_key(key)
        self.key = key

    async def tidy(self) -> None:
        """Take back what a test did to the workers, jobs and daemons."""
        for daemon in sorted(self.hung):
            await self.thaw(daemon)
        for daemon in sorted(self.away):
            await self.start(daemon)
        jobs = (await self.ask("GET", "jobs/state/")).body["jobs"]
        left = [job["job_id"] for job in jobs if not set(job["state"]) & ENDED]
        if left:
            await self.ask("DELETE", "jobs/", {"jobs": left})
        states = [(await self.node(name))["state"] for name in WORKERS]
        if any("DRAIN" in state for state in states):
            await self.ask("POST", "nodes/", {"name": ["w-[0-1]"], "state": ["UNDRAIN"]})


@dataclass
class FakePlace(Slurm):
    """A fake's; what slurmrestd does not show, such as a hang, is said to it directly."""

    fake: FakeSlurm = field(kw_only=True)
    server: FakeServer = field(kw_only=True)

    async def stop(self, daemon: str) -> None:
        """Let nobody listen."""
        await self._set(daemon, Daemon.DOWN)

    async def start(self, daemon: str) -> None:
        """Let it listen again."""
        await self._set(daemon, Daemon.UP)

    async def freeze(self, daemon: str) -> None:
        """Let it say nothing."""
        await self._set(daemon, Daemon.HUNG)

    async def thaw(self, daemon: str) -> None:
        """Let it speak again."""
        await self._set(daemon, Daemon.UP)

    async def replace_key(self, key: bytes) -> None:
        """Replace the file."""
        self.fake.key_file = self.key = key

    async def _set(self, daemon: str, how: Daemon) -> None:
        match daemon, how:
            case "slurmctld", _:
                self.fake.controller = how
            case "slurmdbd", _:
                self.fake.database = how
            case "slurmrestd", Daemon.DOWN:
                await self.server.stop()
            case "slurmrestd", Daemon.HUNG:
                self.fake.plan(Late(math.inf), times=-1)
            case "slurmrestd", _:
                self.fake.heal()
                await self.server.stop()
                await self.server.start()


@asynccontextmanager
async def fake(series: str) -> AsyncIterator[FakePlace]:
    """Give a fake with what a lab has."""
    made = FakeSlurm(series)
    made.waits_s = 0.2  # instead of ten seconds
    made.slurmctld.add("w-[0-1]", features=["all"], features_act=["all"])
    made.slurmctld.partitions["spare"] = Partition("spare")
    made.slurmctld.administrators.add("carol")
    made.slurmctld.users.add("carol")
    made.slurmdbd.write("accounts", [{"name": "lab", "description": "lab", "organization": "lab"}])
    made.slurmdbd.write("associations", [{"account": "lab", "cluster": "lab", "user": ""}])
    for user in ("alice", "bob", "carol"):
        level = "Administrator" if user == "carol" else "None"
        made.slurmdbd.write("users", [{"name": user, "administrator_level": [level]}])
        made.slurmdbd.write("associations", [{"account": "lab", "cluster": "lab", "user": user}])
    async with FakeServer(made) as server:
        yield FakePlace(series, server.url, made.key, fake=made, server=server)


@asynccontextmanager
async def real(lab: Lab) -> AsyncIterator[RealSlurm]:
    """Give a lab's cluster to one test."""
    made = RealSlurm(lab.series, lab.url, lab.jwt_key, lab=lab)
    try:
        yield made
    finally:
        await made.tidy()
