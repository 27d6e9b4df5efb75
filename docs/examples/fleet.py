"""A whole operator: a Fleet has as many ships (ConfigMaps) as it asks for. See controller.md."""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from shoal.kube.conditions import Condition, settled
from shoal.kube.kinds import CONFIG_MAP, Kind, Kinds
from shoal.kube.objects import Key, Object, Resource, Slim
from shoal.kubeapi.access import from_kubeconfig
from shoal.kubeapi.client import Client
from shoal.runtime import clock, events, watches
from shoal.runtime.apply import Applier, Rules
from shoal.runtime.controller import Controller, Done
from shoal.runtime.process import Process, Setup
from shoal.runtime.status import report
from shoal.runtime.store import Store

FLEET = Kind("example.com", "v1", "Fleet", "fleets")
LAUNCHED = events.Happening("Launched", "Launch", "launched a ship", many="launched {} ships")


class Spec(Slim, frozen=True, gc=False):
    """What the user wants."""

    ships: int = 0


class Fleet(Resource, frozen=True, gc=False):
    """What is read of a Fleet."""

    spec: Spec = Spec()
    status: Object = msgspec.field(default_factory=dict)


def ship(fleet: Fleet, number: int) -> Object:
    """Return one ship."""
    meta = {"namespace": fleet.metadata.namespace, "name": f"{fleet.metadata.name}-{number}"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"n": str(number)}}


async def main(kubeconfig: Path) -> None:
    """Run until SIGTERM."""
    fleets, recorder = Store(FLEET, Fleet), events.Recorder("fleet-operator")

    def controllers(client: Client, stores: Mapping[Kind, Store[Any]]) -> list[Controller]:
        applier = Applier(client, stores, Kinds(FLEET))

        async def reconcile(key: Key) -> Done:
            if (fleet := fleets.get(key)) is None or fleet.deleting:
                return Done()  # the garbage collector takes the ships of a Fleet that is gone
            generation = fleet.metadata.generation
            ships = (ship(fleet, number) for number in range(fleet.spec.ships))
            outcome = await applier.apply(FLEET.identity(fleet), ships, Rules(prune=[CONFIG_MAP]))
            recorder.record(events.about(FLEET, fleet), LAUNCHED, outcome.written)
            why = "; ".join(refused.why for refused in outcome.refused)
            good = Condition("Ready", "True", "Afloat", f"{fleet.spec.ships} ships", generation)
            bad = Condition("Ready", "False", "Refused", why, generation)
            status = {"conditions": settled([bad if why else good], fleet.status, clock.now())}
            await report(client, fleets, fleet, fleet.status, status)
            return Done()

        rows = (watches.main(FLEET), watches.owned(CONFIG_MAP, by=FLEET))
        return [Controller("fleet", rows, reconcile)]

    setup = Setup((fleets, Store(CONFIG_MAP, Resource)), metadata_only=frozenset({CONFIG_MAP}))
    access = from_kubeconfig(kubeconfig, os.environ)
    process = Process(access, setup, controllers, recorder=recorder)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, process.stop)
    await process.run()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
