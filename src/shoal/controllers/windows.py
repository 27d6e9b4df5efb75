"""Does what was decided about maintenance windows: by slurmrestd, or else by scontrol."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from ..decide import farewell
from ..decide.windows import (
    CREATED,
    Absence,
    Asked,
    Change,
    ChangeReservation,
    CreateReservation,
    DeleteReservation,
    Kept,
    commands,
    keep,
    whole,
)
from ..kube.conditions import Condition, read
from ..kube.kinds import Kind
from ..kube.objects import Resource
from ..model.cluster import Cluster
from ..model.naming import Naming
from ..model.nodeset import Mode, Window
from ..runtime.finalizers import hold, release
from ..slurm import durations, hostlists
from ..slurm.durations import Open
from ..slurm.reservations import Reservation
from ..slurmapi import reservations as wire
from ..slurmapi.client import Client
from ..slurmapi.errors import (
    ControllerDownError,
    MissingError,
    NotFoundError,
    RefusedError,
    SlurmError,
    UnknownError,
)
from ..slurmapi.reservations import ReservationWish
from ..slurmapi.tokens import Run
from ..slurmapi.versions import Capability
from .carry_out import Doing
from .passes import Hands

# What scontrol says.
ABSENT = "is invalid"
DOWN = "contact slurm controller"
FORCED_SINCE = 45  # slurmrestd's data before v0.0.45 have no word for FORCE_START


async def forcible(client: Client) -> bool:
    """Return whether a window that comes back can be begun in its middle; False: or who knows."""
    try:
        return (await client.known()).version >= FORCED_SINCE
    except SlurmError:
        return False


async def look(client: Client, name: str) -> Reservation | Absence:
    """Return the reservation of that name as Slurm has it, or why there is none to be seen."""
    try:
        found = await client.reservations.find(name)
    except SlurmError:
        return Absence.SILENT
    return Absence.NONE if found is None else seen(found)


def seen(told: wire.Reservation) -> Reservation:
    """Return a reservation that slurmrestd tells."""
    start, end = told.start_time.time or 0, told.end_time.whole
    return Reservation(
        told.name,
        datetime.fromtimestamp(start, UTC),
        Open.UNLIMITED if end is None else timedelta(seconds=end - start),
        frozenset(hostlists.expand(told.node_list)),
        _names(told.users),
        _names(told.accounts),
        frozenset(told.flags),
    )


def _names(told: str) -> frozenset[str]:
    return frozenset(filter(None, told.split(",")))


async def carry_out(action: Change, client: Client, run: Run | None) -> None:
    """Do it; `run` runs Slurm's own tools, where there is such a place. What is gone is gone."""
    if await client.can(Capability.RESERVATION_WRITES):
        try:
            await _asked(action, client)
        except NotFoundError:
            if not isinstance(action, DeleteReservation):
                raise
    elif run is None:
        words = "maintenance windows need Slurm 25.05 or newer, or the tools of a slurmctld of ours"
        raise MissingError(f"reservation {_name(action)}", words)
    else:
        await _told(action, run)


async def _asked(action: Change, client: Client) -> None:
    match action:
        case CreateReservation(reservation=new):
            await client.reservations.write(_wish(whole(new)))
        case ChangeReservation():
            await client.reservations.write(_wish(action))
        case DeleteReservation(name=name):
            await client.reservations.delete(name)


def _wish(change: ChangeReservation) -> ReservationWish:
    return ReservationWish(
        change.name,
        int(change.start.timestamp()) if change.start else None,
        durations.minutes(change.duration) if change.duration else None,
        (hostlists.fold(change.nodes),) if change.nodes else (),
        tuple(sorted(change.users or ())),
        flags=tuple(sorted(change.flags)),
    )


async def _told(action: Change, run: Run) -> None:
    ran = await run(commands(action))
    if ran.code == 0:
        return
    words = " ".join(f"{ran.stderr} {ran.stdout}".split()) or f"exit code {ran.code}"
    call = f"scontrol: reservation {_name(action)}"
    if isinstance(action, DeleteReservation) and ABSENT in words:
        return
    if DOWN in words:
        raise ControllerDownError(call, words)
    # scontrol ends with 1 when slurmctld says no; everything else did not come to that.
    raise (RefusedError if ran.code == 1 else UnknownError)(call, words)


def _name(action: Change) -> str:
    return action.reservation.name if isinstance(action, CreateReservation) else action.name


@dataclass(frozen=True)
class Windows:
    """Keeps the maintenance windows of NodeSets."""

    hands: Hands
    kind: Kind
    naming: Naming
    tools: Callable[[Cluster], Run | None]

    async def keep(self, obj: Resource, doing: Doing) -> tuple[Resource, Kept | None]:
        """Have Slurm's reservation as a NodeSet asks; return the NodeSet, and what to tell."""
        window = doing.wanted.nodeset.update.window
        held = self.naming.window_finalizer in obj.metadata.finalizers
        if window is None and not held:
            return obj, None
        kept = await self._decided(obj, doing, window, held=held)
        store = self.hands.world.stores[self.kind]
        if kept.hold and not obj.deleting:
            # First, or an operator that ends here would leave a reservation to nobody.
            obj = await hold(self.hands.client, store, obj, self.naming.window_finalizer)
        await self._carry_out(kept, doing)
        if not kept.hold:
            left = await release(self.hands.client, store, obj, self.naming.window_finalizer)
            obj = left or obj
        return obj, kept

    async def _decided(
        self, obj: Resource, doing: Doing, window: Window | None, *, held: bool
    ) -> Kept:
        nodeset, fleet, slurm = doing.wanted.nodeset, doing.fleet, doing.slurm
        name = self.naming.reservation.format(nodeset.part.name)
        asked = Asked(
            name,
            window,
            frozenset(w.node for w in fleet.workers if fleet.slurm_node(w) is not None),
            nodeset.mode is Mode.EVERY_NODE or nodeset.replicas > 0,
            obj.deleting,
            held,
            slurm is not None and await forcible(slurm.client),
            obj.metadata.generation,
        )
        seen = Absence.LOST if doing.cluster is None else Absence.SILENT
        found = seen if slurm is None else await look(slurm.client, name)
        if found is Absence.SILENT and farewell.in_vain(doing.wanted, fleet):
            found = Absence.LOST
        return keep(asked, found, _shown(obj), fleet.now)

    async def _carry_out(self, kept: Kept, doing: Doing) -> None:
        assert doing.slurm is not None or not any(isinstance(a, Change) for a in kept.plan)
        for action in kept.plan:
            if isinstance(action, Change) and doing.slurm is not None and doing.cluster:
                await carry_out(action, doing.slurm.client, self.tools(doing.cluster))


def _shown(obj: Any) -> Condition | None:  # noqa: ANN401 - any kind with a status
    told = msgspec.to_builtins(obj.status).get("conditions", ())
    return next((read(found) for found in told if found["type"] == CREATED), None)
