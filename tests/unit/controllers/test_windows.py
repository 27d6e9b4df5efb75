"""Maintenance windows are written by slurmrestd, or by scontrol where it cannot."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from fakes.apiserver import FakeApi
from fakes.loop import VirtualLoop
from fakes.network import Network
from fakes.shapes import Served
from fakes.slurmrestd.clients import fake_client
from fakes.slurmrestd.slurm import Daemon, FakeSlurm
from fakes.wire import FakeClient
from shoal.controllers.carry_out import Doing
from shoal.controllers.passes import Hands
from shoal.controllers.windows import Windows, carry_out, forcible, look
from shoal.controllers.world import World
from shoal.decide.plan import Wait
from shoal.decide.wanted import Wanted
from shoal.decide.windows import (
    Absence,
    ChangeReservation,
    CreateReservation,
    DeleteReservation,
    commands,
)
from shoal.dialects.slinky import types
from shoal.dialects.slinky.naming import NAMING
from shoal.dialects.slinky.types import NODE_SET
from shoal.kube.objects import Meta
from shoal.kube.pods import Pod
from shoal.kubeapi.client import Ref
from shoal.kubeapi.exec import NOT_RUN, Ran
from shoal.model.nodeset import Mode, NodeSet, Strategy, Update, Window
from shoal.model.part import Part
from shoal.model.workers import Fleet, SlurmNode, Worker
from shoal.runtime.store import Store
from shoal.slurm import nodes
from shoal.slurm.reservations import Reservation
from shoal.slurmapi.errors import ControllerDownError, MissingError, RefusedError, UnknownError

LOOP = VirtualLoop
START = datetime(2030, 1, 1, tzinfo=UTC)
NEW = Reservation(
    "m",
    START,
    timedelta(minutes=30),
    frozenset({"w-0", "w-1"}),
    frozenset({"slurm"}),
    flags=frozenset({"MAINT", "IGNORE_JOBS"}),
)


def make(series: str) -> FakeSlurm:
    slurm = FakeSlurm(series)
    slurm.slurmctld.add("w-[0-3]")
    return slurm


class Tools:
    """A place with Slurm's tools, which end as told."""

    def __init__(self, code: int = 0, stderr: str = "") -> None:
        self.ran: list[Sequence[str]] = []
        self.end = Ran(code, "", stderr)

    async def __call__(self, words: Sequence[str]) -> Ran:
        self.ran.append(words)
        return self.end


async def test_a_new_slurm_is_asked_by_slurmrestd_and_its_tools_are_left_alone():
    client, tools = fake_client(make("26.05")), Tools()
    assert await look(client, "m") is Absence.NONE
    await carry_out(CreateReservation("", NEW), client, tools)
    seen = await look(client, "m")
    assert isinstance(seen, Reservation)
    assert (seen.start, seen.duration, seen.nodes) == (NEW.start, NEW.duration, NEW.nodes)
    assert (seen.users, seen.flags) == (NEW.users, NEW.flags | {"SPEC_NODES"})
    await carry_out(DeleteReservation("", "m"), client, tools)
    await carry_out(DeleteReservation("", "m"), client, tools)
    assert await look(client, "m") is Absence.NONE
    assert tools.ran == []


@pytest.mark.parametrize(
    "action",
    [
        CreateReservation("", NEW),
        ChangeReservation("", "m", nodes=frozenset({"w-0"})),
        DeleteReservation("", "m"),
    ],
)
async def test_an_old_slurm_is_asked_by_its_tools(action):
    client, tools = fake_client(make("24.11")), Tools()
    await carry_out(action, client, tools)
    assert tools.ran == [commands(action)]
    with pytest.raises(MissingError, match=r"25\.05"):
        await carry_out(action, client, None)


@pytest.mark.parametrize(
    ("code", "said", "kind"),
    [
        (1, "Error creating the reservation: Invalid time specified", RefusedError),
        (1, "Unable to contact slurm controller (connect failure)", ControllerDownError),
        (NOT_RUN, 'pods "slurm-controller-0" not found', UnknownError),
        (127, "scontrol: not found", UnknownError),
    ],
)
async def test_what_the_tools_complain_about_is_told(code, said, kind):
    client = fake_client(make("24.11"))
    with pytest.raises(kind) as caught:
        await carry_out(CreateReservation("", NEW), client, Tools(code, said))
    assert said in str(caught.value)
    assert isinstance(caught.value, UnknownError) is issubclass(kind, UnknownError)


async def test_a_reservation_that_is_gone_already_is_gone():
    said = "delete_reservation ReservationName=m: Requested reservation is invalid"
    client, tools = fake_client(make("24.11")), Tools(1, said)
    await carry_out(DeleteReservation("", "m"), client, tools)
    assert len(tools.ran) == 1
    with pytest.raises(RefusedError):
        await carry_out(ChangeReservation("", "m"), client, tools)


async def test_a_slurm_that_does_not_answer_is_silent_and_not_empty():
    slurm = make("26.05")
    slurm.controller = Daemon.DOWN
    assert await look(fake_client(slurm), "m") is Absence.SILENT


async def test_only_a_slurm_that_has_the_word_is_told_to_force():
    assert await forcible(fake_client(make("26.05")))
    assert not await forcible(fake_client(make("24.11")))


# -- the windows of NodeSets

WINDOW = Window("SlurmOperatorMaint-w", START, timedelta(minutes=30))
HELD = NAMING.window_finalizer


class Stage:
    """A NodeSet with one worker that Slurm knows, and the order of what is written."""

    def __init__(self, *, answers: bool = True) -> None:
        api = FakeApi(custom=[Served(NODE_SET)])
        self.written: list[tuple[str, list[str]]] = []  # with what Slurm had then
        self.client = FakeClient(Network(api, latency_s=(0, 0), lag_s=(0, 0)), through=self._noted)
        self.store = Store(NODE_SET, types.NodeSet)
        hands = Hands(self.client, World({NODE_SET: self.store}), None)  # type: ignore[arg-type]
        self.slurm = make("26.05")
        self.windows = Windows(hands, NODE_SET, NAMING, lambda _: None)
        self._line = SimpleNamespace(client=fake_client(self.slurm)) if answers else None
        self._hands = hands

    async def _noted(self, name, call):
        self.written.append((name.split()[0], self.reservations))
        return await call()

    @property
    def reservations(self) -> list[str]:
        return list(self.slurm.slurmctld.reservations)

    async def made(self, *finalizers: str) -> types.NodeSet:
        meta = {"name": "w", "namespace": "default", "finalizers": list(finalizers)}
        obj = {"apiVersion": NODE_SET.api_version, "kind": NODE_SET.kind, "metadata": meta}
        found = await self.client.create(NODE_SET, obj, types.NodeSet)
        self.store.put(found)
        self.written.clear()
        return found

    def left(self, **fields: Any) -> Doing:
        """Return what is done once a NodeSet that goes has no worker left."""
        doing = self.doing(WINDOW)
        wanted = replace(doing.wanted, deleted_at=doing.fleet.now, **fields)
        return replace(doing, wanted=wanted, fleet=replace(doing.fleet, workers=()))

    def doing(self, window: Window | None) -> Doing:
        update = Update(Strategy.SCHEDULED, window=window)
        nodeset = NodeSet(Part("w", "default", {}, {}), "w", "w-", "s", "b", update=update)
        worker = Worker(Pod(Meta("w-0", "default")), "w-0", 0, "", Mode.REPLICAS.value)
        known = {"w-0": SlurmNode("w-0", nodes.parse("IDLE"))} if self._line else None
        wanted = Wanted(nodeset, NAMING, "")
        fleet = Fleet((worker,), START - timedelta(days=1), known)
        cluster = SimpleNamespace(name="slurm")
        return Doing(self._hands, {}, cluster, wanted, fleet, self._line, None)  # type: ignore[arg-type]


async def test_a_nodeset_without_a_window_costs_no_question():
    stage = Stage()
    obj = await stage.made()
    assert await stage.windows.keep(obj, stage.doing(None)) == (obj, None)
    assert (stage.written, stage.slurm.count("GET")) == ([], 0)


async def test_a_nodeset_is_held_before_its_reservation_is_made():
    stage = Stage()
    held, kept = await stage.windows.keep(await stage.made(), stage.doing(WINDOW))
    assert held.metadata.finalizers == (HELD,)
    assert stage.written == [("PATCH", [])]
    assert stage.reservations == [WINDOW.reservation]
    assert kept.condition.type == "ReservationCreated"


async def test_a_nodeset_is_let_go_only_when_its_reservation_is_seen_to_be_gone():
    stage = Stage()
    held, _ = await stage.windows.keep(await stage.made(), stage.doing(WINDOW))
    still, kept = await stage.windows.keep(held, stage.doing(None))
    assert (stage.reservations, still.metadata.finalizers, kept.hold) == ([], (HELD,), True)
    free, kept = await stage.windows.keep(still, stage.doing(None))
    assert (free.metadata.finalizers, kept.hold) == ((), False)


async def test_while_slurm_is_silent_a_nodeset_that_may_have_a_reservation_stays_held():
    stage = Stage(answers=False)
    obj, kept = await stage.windows.keep(await stage.made(HELD), stage.doing(None))
    assert (obj.metadata.finalizers, kept.hold, stage.written) == ((HELD,), True, [])
    assert [type(action) for action in kept.plan] == [Wait]


@pytest.mark.parametrize("fields", [{"alone": False}, {"forced": True}])
async def test_a_nodeset_that_goes_with_its_cluster_is_not_held_by_a_reservation(fields):
    stage = Stage(answers=False)
    obj = await stage.made(HELD, "other")
    await stage.client.delete(Ref(NODE_SET, *obj.key), types.NodeSet)
    obj = await stage.client.get(Ref(NODE_SET, *obj.key), types.NodeSet)
    waiting, kept = await stage.windows.keep(obj, stage.left())
    assert (waiting.metadata.finalizers, kept.hold) == ((HELD, "other"), True)
    free, kept = await stage.windows.keep(waiting, stage.left(**fields))
    assert (free.metadata.finalizers, kept.hold) == (("other",), False)
