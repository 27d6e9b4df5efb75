"""What the API server remembers of our last writes, for a process that has just begun.

A digest in an object says what we applied last, but not that nobody has changed it since, while
nobody looked. managedFields do: they are read once for each kind and namespace where it matters,
some thousands at a time, and forgotten as soon as they have been looked at.
"""

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field

from ..kube.kinds import Kind
from ..kube.managed import Managed, all_ours, fields_of
from ..kube.objects import Object, Resource
from ..kubeapi.client import Client, Which

Place = tuple[Kind, str]  # with a namespace, "" without one


@dataclass(frozen=True)
class Seen:
    """An object as it was found: how far it had come, and what of it was ours."""

    version: str
    fields: tuple[bytes, ...]


@dataclass
class Recall:
    """Knows for a while whose the fields of objects are; `mark` is the annotation of ours."""

    client: Client
    mark: str
    _seen: dict[str, Seen] = field(default_factory=dict)  # by uid
    _asked: set[Place] = field(default_factory=set)
    _asking: dict[Place, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))

    async def untouched(self, kind: Kind, live: Resource, said: Object) -> bool:
        """Say whether `live` has every field of `said` as we wrote it; not knowing is a no."""
        await self._ask((kind, live.metadata.namespace))
        seen = self._seen.pop(live.metadata.uid, None)
        return (
            seen is not None
            and seen.version == version_of(live)
            and shows(live, said)
            and all_ours(seen.fields, said)
        )

    async def _ask(self, place: Place) -> None:
        async with self._asking[place]:  # many ask at once when a process begins
            if place in self._asked:
                return
            # A thousand pods of one template have the same fields: kept once.
            same: dict[tuple[bytes, ...], tuple[bytes, ...]] = {}
            async for page in self.client.pages(Which(*place, metadata_only=True), Managed):
                for obj in page.items:
                    if self.mark in obj.metadata.annotations:
                        fields = fields_of(obj, self.client.manager)
                        fields = same.setdefault(fields, fields)
                        self._seen[obj.metadata.uid] = Seen(version_of(obj), fields)
            self._asked.add(place)


def version_of(obj: Resource) -> str:
    """Return what moves when somebody changes the spec: not with the status, where it has one."""
    meta = obj.metadata
    return f"g{meta.generation}" if meta.generation else f"v{meta.resource_version}"


def shows(live: Resource, said: Object) -> bool:
    """Say whether `live` has the labels and annotations of `said`: a generation knows nothing."""
    labels: dict[str, str] = said["metadata"].get("labels", {})
    annotations: dict[str, str] = said["metadata"].get("annotations", {})
    meta = live.metadata
    return labels.items() <= meta.labels.items() and annotations.items() <= meta.annotations.items()
