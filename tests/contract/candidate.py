"""A process that fights for a Lease and, while it leads, never stops writing.

Called with the API server's URL, a namespace, its own name, and how many writes each pass makes. It
rewrites the ConfigMaps of the namespace whose names begin with "job-", over and over, and says in
them who wrote. Exit code 3 is that of a leader who was deposed.
"""

import asyncio
import itertools
import signal
import sys
from collections.abc import Mapping
from typing import Any

from shoal.kube.kinds import CONFIG_MAP, Kind
from shoal.kube.objects import Key, Resource
from shoal.kubeapi.access import Access, Fixed
from shoal.kubeapi.client import Client
from shoal.runtime import watches
from shoal.runtime.controller import Controller, Done
from shoal.runtime.lease import Terms
from shoal.runtime.process import Process, Setup
from shoal.runtime.store import Store

DURATION_S, DEADLINE_S, RETRY_S = 3.0, 2.0, 0.5
DEPOSED = 3
NUMBERS = itertools.count(1)


async def main(server: str, namespace: str, identity: str, burst: str) -> int:
    """Run until told to stop, or deposed."""

    def controllers(client: Client, _: Mapping[Kind, Store[Any]]) -> list[Controller]:
        async def reconcile(key: Key) -> Done:
            if key[1].startswith("job-"):
                for _ in range(int(burst)):
                    meta = {"name": key[1], "namespace": namespace}
                    data = {"by": identity, "n": str(next(NUMBERS))}
                    wish = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}
                    await client.apply(CONFIG_MAP, wish, Resource, force=True)
            return Done(0.0)

        return [Controller("jobs", (watches.main(CONFIG_MAP),), reconcile, workers=8)]

    terms = Terms(namespace, "jobs", identity, DURATION_S, DEADLINE_S, RETRY_S)
    setup = Setup((Store(CONFIG_MAP, Resource),), namespaces=(namespace,), terms=terms)
    process = Process(Access(server, Fixed()), setup, controllers)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, process.stop)
    return 0 if await process.run() else DEPOSED


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))  # noqa: TID251 - a program of its own
