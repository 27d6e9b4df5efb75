"""Reservations: read, write, delete."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from .calls import Calls
from .errors import NotFoundError
from .nodes import encoded
from .numbers import Number, wrapped
from .versions import Capability
from .wire import Dated, Envelope, Request, present

FAMILY = "reservations"


class Reservation(msgspec.Struct, frozen=True, gc=False):
    """A reservation as slurmrestd tells it: lists come as strings with commas."""

    name: str
    start_time: Number = Number()
    end_time: Number = Number()
    flags: tuple[str, ...] = ()
    node_list: str = ""  # a hostlist
    node_count: int = 0
    users: str = ""
    accounts: str = ""
    partition: str = ""


class ReservationList(Dated, frozen=True, gc=False):
    """Some reservations."""

    reservations: list[Reservation] | msgspec.UnsetType = msgspec.UNSET


@dataclass(frozen=True)
class ReservationWish:
    """A reservation to be: lists go as lists. Without a start or a duration, that one stays."""

    name: str
    start_time: int | None = None  # seconds since 1970
    duration: float | None = None  # minutes; math.inf has no end
    node_list: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    def body(self) -> dict[str, Any]:
        """Return it as slurmrestd reads it; an empty list is left out."""
        given = {name: value for name, value in vars(self).items() if value not in ((), None)}
        times = {name: wrapped(given[name]) for name in ("start_time", "duration") if name in given}
        return given | times


_LIST = msgspec.json.Decoder(ReservationList)
_DONE = msgspec.json.Decoder(Envelope)


class Reservations:
    """The calls about reservations."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def all(self) -> Sequence[Reservation]:
        """Return every reservation."""
        request = Request("GET", "reservations/", FAMILY)
        return present(request, (await self._calls.read(request, _LIST)).reservations)

    async def one(self, name: str) -> Reservation:
        """Return one reservation; a NotFoundError when there is none of that name."""
        request = Request("GET", f"reservation/{encoded(name)}", FAMILY, absent=(0,))
        found = present(request, (await self._calls.read(request, _LIST)).reservations)
        if not found:
            raise NotFoundError(str(request), "there is no such reservation")
        return found[0]

    async def find(self, name: str) -> Reservation | None:
        """Return one reservation, or None when there is none of that name."""
        try:
            return await self.one(name)
        except NotFoundError:
            return None

    async def write(self, wish: ReservationWish) -> None:
        """Create a reservation, or change the one of that name."""
        request = Request(
            "POST",
            "reservation",
            FAMILY,
            body=wish.body(),
            about=wish.name,
            needs=Capability.RESERVATION_WRITES,
            write=True,
        )
        await self._calls.write(request, _DONE)

    async def delete(self, name: str) -> None:
        """Delete a reservation; a NotFoundError when there is none of that name."""
        request = Request(
            "DELETE",
            f"reservation/{encoded(name)}",
            FAMILY,
            needs=Capability.RESERVATION_DELETION,
            write=True,
        )
        await self._calls.write(request, _DONE)
