"""Partitions: read, and from Slurm 26.05 on write and delete."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from .calls import Calls
from .errors import NotFoundError
from .nodes import encoded
from .versions import Capability
from .wire import Dated, Envelope, Request, present

FAMILY = "partitions"
UNKNOWN = "Unable to find partition"


class PartitionNodes(msgspec.Struct, frozen=True, gc=False):
    """A partition's nodes."""

    configured: str = ""  # a hostlist
    total: int = 0


class PartitionState(msgspec.Struct, frozen=True, gc=False):
    """A partition's own state: UP, DOWN, DRAIN, INACTIVE."""

    state: tuple[str, ...] = ()


class Partition(msgspec.Struct, frozen=True, gc=False):
    """As much of a partition as is used."""

    name: str
    nodes: PartitionNodes = PartitionNodes()
    partition: PartitionState = PartitionState()
    node_sets: str = ""


class PartitionList(Dated, frozen=True, gc=False):
    """Some partitions."""

    partitions: list[Partition] | msgspec.UnsetType = msgspec.UNSET


_LIST = msgspec.json.Decoder(PartitionList)
_DONE = msgspec.json.Decoder(Envelope)


class Partitions:
    """The calls about partitions."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def all(self) -> Sequence[Partition]:
        """Return every partition."""
        request = Request("GET", "partitions/", FAMILY)
        return present(request, (await self._calls.read(request, _LIST)).partitions)

    async def one(self, name: str) -> Partition:
        """Return one partition; a NotFoundError when there is none of that name."""
        # 24.11 calls an unknown one an invalid query; 26.05 warns, and sends no list at all.
        request = Request("GET", f"partition/{encoded(name)}", FAMILY, absent=(9000,))
        answer = await self._calls.read(request, _LIST)
        unknown = any(word.description.startswith(UNKNOWN) for word in answer.warnings)
        if unknown or not (found := present(request, answer.partitions)):
            raise NotFoundError(str(request), "there is no such partition")
        return found[0]

    async def find(self, name: str) -> Partition | None:
        """Return one partition, or None when there is none of that name."""
        try:
            return await self.one(name)
        except NotFoundError:
            return None

    async def write(self, partition: Mapping[str, Any]) -> None:
        """Create a partition, or change the one of that name; fields as slurmrestd has them."""
        request = Request(
            "POST",
            "partitions/",
            FAMILY,
            body={"partitions": [partition]},
            about=str(partition["name"]),
            needs=Capability.PARTITION_WRITES,
            write=True,
        )
        await self._calls.write(request, _DONE)

    async def delete(self, name: str) -> None:
        """Delete a partition; a BusyError while jobs are in it."""
        request = Request(
            "DELETE",
            f"partition/{encoded(name)}",
            FAMILY,
            needs=Capability.PARTITION_WRITES,
            write=True,
        )
        await self._calls.write(request, _DONE)
