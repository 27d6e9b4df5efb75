"""A process of controllers on the fake API server: started, asked to stop, or killed."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from shoal.kube.kinds import Kind
from shoal.kubeapi.client import Client, Observe, Request, Through
from shoal.runtime import process as real
from shoal.runtime.controller import Controller
from shoal.runtime.port import Fenced
from shoal.runtime.process import Setup
from shoal.runtime.store import Store

from .network import Network
from .port import Harness
from .wire import ACCESS, FakeClient

Controllers = Callable[[Client, Mapping[Kind, Store[Any]]], Sequence[Controller]]


class _Mortal(FakeClient):
    """A client whose process may be dead, or cut off."""

    alive: Callable[[], bool] = staticmethod(lambda: True)

    async def _open(self, request: Request, limits: aiohttp.ClientTimeout) -> Any:
        if not self.alive():
            raise aiohttp.ClientConnectionError("this process is cut off")
        return await super()._open(request, limits)


@dataclass
class Process:
    """One replica of an operator. What it remembers goes with it."""

    network: Network
    setup: Callable[[], Setup]
    controllers: Controllers
    harness: Harness = field(default_factory=Harness)
    cut_off: bool = False
    inner: real.Process = field(init=False)
    _task: "asyncio.Task[bool] | None" = None

    def start(self) -> "Process":
        """Begin."""
        self.inner = real.Process(
            ACCESS,
            self.setup(),
            self.controllers,
            port=self.harness.before(Fenced),
            connect=self._connect,
        )
        self._task = asyncio.create_task(self.inner.run())
        return self

    def _connect(self, _: Any, manager: str, through: Through, observe: Observe) -> Client:
        client = _Mortal(self.network, manager, through, observe)
        client.alive = lambda: not self.cut_off
        return client

    async def ended(self) -> bool:
        """Return what the process ended with."""
        assert self._task is not None
        return await self._task

    async def stop(self) -> bool:
        """Ask it to end, as SIGTERM does; return what it ended with."""
        self.inner.stop()
        return await self.ended()

    async def kill(self) -> None:
        """End it as SIGKILL does: it writes nothing more."""
        assert self._task is not None
        self.cut_off = True
        self.harness.crashed.set()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
