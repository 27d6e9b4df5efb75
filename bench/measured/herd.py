"""Many pods, and a cheap way to change each of them.

A pod that is being deleted changes whenever it is asked to go sooner. One request does that to a
whole collection, so that the API server, and not whoever asks, sets the pace of the events.
"""

import time
from collections.abc import Iterable

import msgspec

from bench.measured import pods
from bench.measured.bare import CONFIG_MAPS, PODS, Bare, all_of
from shoal.kube.kinds import CONFIG_MAP
from shoal.kube.objects import Object, Resource, owner_reference

LONGEST_S = 1_000_000_000  # a pod's grace period: never over
# The API server gives a request one minute, which is long enough for a part of a herd.
PARTS, AT_ONCE = 50, 4


class Herd:
    """Pods in a namespace, `each` in a row with one owner."""

    def __init__(self, bare: Bare, space: str, keys: int, each: int) -> None:
        self.space = space
        self.keys = keys
        self.each = each
        self._bare = bare
        self._owners: list[Object] = []
        self._grace_s = LONGEST_S

    async def grow(self, numbers: Iterable[int]) -> None:
        """Create pods."""
        if not self._owners:
            await self._make_owners()
        where = PODS.format(self.space)
        await all_of(self._bare.post(where, self._pod(number)) for number in numbers)

    async def stir(self, within_s: float) -> float:
        """Change every pod once; return the share of them that there was time for."""
        self._grace_s -= 1
        deadline = time.monotonic() + within_s
        done = 0

        async def one(part: int) -> None:
            nonlocal done
            if time.monotonic() < deadline:
                await self._stir(f"part={part}")
                done += 1

        await all_of((one(part) for part in range(PARTS)), AT_ONCE)
        return done / PARTS

    async def stir_by_owner(self) -> None:
        """Change every pod once, one owner's after the other's."""
        self._grace_s -= 1
        await all_of((self._stir(f"flock={key}") for key in range(self.keys)), at_once=2)

    async def _stir(self, labels: str) -> None:
        query = f"gracePeriodSeconds={self._grace_s}&labelSelector={labels.replace('=', '%3D')}"
        await self._bare.send("DELETE", f"{PODS.format(self.space)}?{query}")

    async def _make_owners(self) -> None:
        where = CONFIG_MAPS.format(self.space)
        for number in range(self.keys):
            made = await self._bare.post(where, pods.flock(self.space, f"flock-{number}"))
            found = CONFIG_MAP.identity(msgspec.json.decode(made, type=Resource))
            self._owners.append(owner_reference(found, block=False))

    def _pod(self, number: int) -> Object:
        key = number // self.each % self.keys
        pod = pods.pod(self.space, f"w-{number}", self._owners[key])
        pod["metadata"]["labels"] |= {"flock": str(key), "part": str(key % PARTS)}
        # Only a pod that has a node is deleted gently.
        pod["spec"] |= {"nodeName": "nowhere", "terminationGracePeriodSeconds": LONGEST_S}
        return pod
