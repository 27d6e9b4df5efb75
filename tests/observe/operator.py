"""An operator's numbers, without an operator."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field

from shoal.kube.kinds import POD
from shoal.kube.objects import Resource
from shoal.kubeapi.client import Which
from shoal.kubeapi.errors import UnreachableError
from shoal.runtime.controller import Controller, Done, Trouble
from shoal.runtime.errors import DeposedError
from shoal.runtime.metrics import Metrics
from shoal.runtime.reflector import Reflector
from shoal.runtime.store import Store

PASSES = ("done", "failed", "terminal", "bug")
CODES = (0, 200, 409, 500)
FATES = (None, UnreachableError("x"), DeposedError("x"), RuntimeError("x"))


async def nothing(_key) -> Done:
    return Done()


@dataclass
class Operator:
    """Everything happens to it that it counts, once for each time that it is asked."""

    metrics: Metrics = field(default_factory=Metrics)
    leading: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        store = Store(POD, Resource)
        self.stores = [store]
        self.reflectors = [Reflector(store, Which(POD, ""), lambda: None)]
        self.reflectors[0].failing = "reset"
        self.running = [Controller("nodeset", (), nothing, workers=4)]
        self.running[0]._trouble["ns", "a"] = Trouble(0.0, "refused", reported=True)
        self.events = {"recorded": 10, "sent": 3, "dropped": 1}
        self.leading.set()
        self.metrics.attend(self)

    def text(self) -> str:
        """Return its numbers after all has happened once more."""
        for outcome in PASSES:
            self.metrics.passed("nodeset", outcome, 0.02, 0.001)
        for code in CODES:
            self.metrics.request("apply", "pods", code, 0.01)
            self.metrics.calls("slurmrestd")("GET", "nodes", code, 0.01)
        for fate in FATES:
            self._effect(fate)
        self.reflectors[0].lists += 1
        self.reflectors[0].failures += 1
        return self.metrics.text().decode()

    def _effect(self, fate: Exception | None) -> None:
        async def port(_name, _effect):
            if fate:
                raise fate

        # It waits for nothing, so one step is all of it; the end of it is an exception too.
        with suppress(StopIteration, UnreachableError, DeposedError, RuntimeError):
            self.metrics.counted(port)("PATCH /x", nothing).send(None)
