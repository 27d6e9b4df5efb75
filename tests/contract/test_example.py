"""The example controller of the documents, run as a reader would run it, on a real API server."""

import asyncio
import importlib.util
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import yaml

from shoal.kube import kinds
from shoal.kube.crds import Version, crd
from shoal.kube.kinds import CONFIG_MAP, Kind
from shoal.kube.objects import Object, owner_reference
from shoal.kubeapi.access import from_kubeconfig
from shoal.kubeapi.client import Client, Ref, Which

from .real import client_in_namespace, eventually, served

EXAMPLES = Path(__file__).parents[2] / "docs/examples"
PROGRAM = EXAMPLES / "fleet.py"
DEFINITION, ARMADA = yaml.safe_load_all((EXAMPLES / "fleet.yaml").read_text())
FLEET = Kind("example.com", "v1", "Fleet", "fleets")


def test_the_example_is_short_enough_to_be_read():
    lines = [line for line in PROGRAM.read_text().splitlines() if line.strip()]
    assert len(lines) <= 60


def test_the_kind_of_the_example_is_made_from_its_types():
    spec = importlib.util.spec_from_file_location("fleet", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert crd(module.FLEET, [Version("v1", module.Fleet)]) == DEFINITION


def test_what_the_document_shows_of_the_example_is_in_it():
    program = " ".join(PROGRAM.read_text().split())
    shown = (EXAMPLES.parent / "controller.md").read_text().split("```text\n")[1:]
    excerpts = [" ".join(part.split("```")[0].split()) for part in shown]
    assert excerpts
    assert [excerpt for excerpt in excerpts if excerpt not in program] == []


@asynccontextmanager
async def running(kubeconfig: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, PROGRAM, kubeconfig, stderr=asyncio.subprocess.PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        _, said = await process.communicate()
    assert process.returncode == 0, said.decode()


class Harbour:
    """A namespace with a Fleet, as a user sees it."""

    def __init__(self, client: Client, namespace: str) -> None:
        self.client = client
        self.namespace = namespace

    def config_map(self, name: str, **data: str) -> Object:
        meta = {"name": name, "namespace": self.namespace}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}

    async def launch(self, ships: int) -> None:
        named = {"name": "armada", "namespace": self.namespace}
        wish = {**ARMADA, "metadata": named, "spec": {"ships": ships}}
        await self.client.apply(FLEET, wish, dict)

    async def ships(self) -> dict[str, Object]:
        found = [page async for page in self.client.pages(Which(CONFIG_MAP, self.namespace), dict)]
        items = [item for page in found for item in page.items]
        return {
            item["metadata"]["name"]: item
            for item in items
            if item["metadata"]["name"].startswith("armada-")
        }

    async def ready(self) -> Object:
        fleet: Object = await self.client.get(Ref(FLEET, self.namespace, "armada"), dict)
        found = fleet.get("status", {}).get("conditions", [])
        current = [c for c in found if c["observedGeneration"] == fleet["metadata"]["generation"]]
        return current[0] if current else {}

    async def notes(self) -> list[str]:
        found = [page async for page in self.client.pages(Which(kinds.EVENT, self.namespace), dict)]
        return [item["note"] for page in found for item in page.items if "note" in item]


@pytest.fixture
async def harbour(cluster: Path) -> AsyncIterator[Harbour]:
    kubeconfig = cluster / "kubeconfig"
    async with client_in_namespace(from_kubeconfig(kubeconfig, {})) as (client, namespace):
        await served(client, DEFINITION)
        async with running(kubeconfig):
            yield Harbour(client, namespace)


async def test_a_fleet_gets_its_ships_and_says_so(harbour):
    await harbour.launch(3)
    ships = await eventually(harbour.ships, lambda found: len(found) == 3)
    assert {ship["data"]["n"] for ship in ships.values()} == {"0", "1", "2"}
    ready = await eventually(harbour.ready, lambda found: found)
    assert (ready["status"], ready["reason"], ready["message"]) == ("True", "Afloat", "3 ships")
    assert await eventually(harbour.notes, bool) == ["launched 3 ships"]


async def test_a_fleet_that_becomes_smaller_gives_ships_up(harbour):
    await harbour.launch(3)
    await eventually(harbour.ships, lambda found: len(found) == 3)
    await harbour.launch(1)
    assert list(await eventually(harbour.ships, lambda found: len(found) == 1)) == ["armada-0"]


async def test_a_ship_that_is_lost_or_changed_is_put_right(harbour):
    await harbour.launch(2)
    await eventually(harbour.ships, lambda found: len(found) == 2)
    lost, changed = (Ref(CONFIG_MAP, harbour.namespace, f"armada-{n}") for n in (0, 1))
    await harbour.client.delete(lost, dict)
    await harbour.client.patch(changed, {"data": {"n": "sunk"}}, dict)

    def good(found: dict[str, Object]) -> bool:
        return sorted(ship["data"]["n"] for ship in found.values()) == ["0", "1"]

    assert await eventually(harbour.ships, good)


async def test_a_ship_of_somebody_else_is_reported_and_left_alone(harbour):
    pirate = await harbour.client.create(CONFIG_MAP, harbour.config_map("pirate"), dict)
    theirs = harbour.config_map("armada-0", n="theirs")
    theirs["metadata"]["ownerReferences"] = [owner_reference(pirate)]
    await harbour.client.create(CONFIG_MAP, theirs, dict)
    await harbour.launch(1)
    ready = await eventually(harbour.ready, lambda found: found)
    assert (ready["status"], ready["reason"]) == ("False", "Refused")
    assert "pirate" in ready["message"]
    assert (await harbour.ships())["armada-0"]["data"] == {"n": "theirs"}


async def test_a_fleet_that_goes_takes_its_ships_along(harbour):
    await harbour.launch(2)
    await eventually(harbour.ships, lambda found: len(found) == 2)
    await harbour.client.delete(Ref(FLEET, harbour.namespace, "armada"), dict)
    assert await eventually(harbour.ships, lambda found: not found) == {}
