"""Runs pods, as far as anybody can see: bound to a node, then ready, and gone some time after."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from shoal.kube import kinds
from shoal.kube.objects import Key, Object

from .apiserver import FakeApi
from .history import Cursor


@dataclass
class Kubelet:
    """Scheduler and kubelet in one, for all pods of a fake API server."""

    api: FakeApi
    begins_after_s: float = 1.0
    ends_after_s: float = 2.0  # or after the grace period, if that is shorter
    node: Callable[[Key], str] = lambda key: f"node-of-{key[1]}"

    async def run(self) -> None:
        """Look after pods until cancelled."""
        history = self.api.history
        for key, pod in list(history.all(kinds.POD).items()):
            self._attend(key, pod)
        cursor = Cursor(history, history.version)
        while True:
            while change := cursor.take():
                if change.kind is kinds.POD and change.after is not None:
                    self._attend(change.key, change.after)
            await cursor.wait(float("inf"))

    def _attend(self, key: Key, pod: Object) -> None:
        loop, meta = asyncio.get_running_loop(), pod["metadata"]
        if "deletionTimestamp" in meta:
            grace_s = min(meta["deletionGracePeriodSeconds"], self.ends_after_s)
            loop.call_later(grace_s, self._end, key, meta["uid"])
        elif not pod["spec"].get("nodeName"):
            loop.call_later(self.begins_after_s, self._begin, key, meta["uid"])

    def _same(self, key: Key, uid: str) -> Object | None:
        pod = self.api.history.get(kinds.POD, key)
        return pod if pod is not None and pod["metadata"]["uid"] == uid else None

    def _begin(self, key: Key, uid: str) -> None:
        pod = self._same(key, uid)
        if pod is None or pod["spec"].get("nodeName"):
            return
        ready = {"type": "Ready", "status": "True"}
        self.api.history.write(
            kinds.POD,
            key,
            {
                **pod,
                "spec": {**pod["spec"], "nodeName": self.node(key)},
                "status": {"phase": "Running", "conditions": [ready]},
            },
        )

    def _end(self, key: Key, uid: str) -> None:
        if self._same(key, uid):
            self.api.finish(key)
