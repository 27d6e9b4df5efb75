"""Definitions made of types, as the API server takes and enforces them."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import pytest
from msgspec import Meta, Struct

from shoal.kube.crds import AGE, Column, Names, Scale, Version, crd
from shoal.kube.kinds import Kind
from shoal.kube.objects import Object
from shoal.kube.schema import NULLABLE, OPEN, UNTYPED, Rule, default, list_map, rules
from shoal.kubeapi.access import Access
from shoal.kubeapi.client import Client, Ref
from shoal.kubeapi.errors import InvalidError

from .real import asked, client_in_namespace, served

FLEET = Kind("sea.example", "v1", "Fleet", "fleets")


class Port(Struct, rename="camel"):
    name: str
    port: int | str = 80
    node_port: int | None = None


class Crew(Struct):
    size: Annotated[int, Meta(ge=1)]


class Container(Struct):
    name: str
    image: str


class Template(Struct):
    """A part of a pod."""

    containers: Annotated[list[Container], list_map("name")]


class FleetSpec(Struct, rename="camel"):
    """What is wanted."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule("self.replicas <= 5 || self.mode == 'row'", "only rowing boats are many", ".replicas"),
    )

    home: Annotated[
        str,
        Meta(min_length=1, max_length=20, pattern="^[a-z]+$", description="Where it lies."),
        rules(Rule("self == oldSelf", "home stays")),
    ]
    replicas: Annotated[int, Meta(ge=0)] = 1
    mode: Literal["sail", "row"] = "sail"
    ports: Annotated[list[Port], list_map("name")] = []
    max_unavailable: int | Annotated[str, Meta(pattern="^[0-9]+%$")] = "25%"
    anything: dict[str, Any] = {}
    template: Annotated[Template | None, OPEN] = None
    untyped: Annotated[Template | None, UNTYPED] = None
    crews: dict[str, Crew] = {}
    notes: Annotated[str | None, NULLABLE] = None
    filled: Annotated[list[str], default(["a"])] = []


class FleetStatus(Struct):
    """What is."""

    replicas: int = 0
    selector: str = ""


class Fleet(Struct):
    """Boats."""

    spec: FleetSpec
    status: FleetStatus | None = None


COLUMNS = (Column("Home", ".spec.home"), Column("Mode", ".spec.mode", priority=1), AGE)
DEFINITION = crd(
    FLEET,
    [Version("v1", Fleet, COLUMNS, Scale())],
    Names(("fl",), ("sea",)),
)


@dataclass(frozen=True)
class Sea:
    """Where fleets are."""

    access: Access
    client: Client
    namespace: str

    def fleet(self, name: str, **spec: Any) -> Object:
        """Return a fleet to write."""
        return {
            "apiVersion": FLEET.api_version,
            "kind": FLEET.kind,
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": {"home": "kiel", **spec},
        }

    async def make(self, name: str, **spec: Any) -> Object:
        """Create a fleet and return it."""
        return await self.client.create(FLEET, self.fleet(name, **spec), dict)

    async def refused(self, **spec: Any) -> str:
        """Return what the API server says against a fleet."""
        with pytest.raises(InvalidError) as refusal:
            await self.make("refused", **spec)
        return refusal.value.status.message


@pytest.fixture
async def sea(real: Access) -> AsyncIterator[Sea]:
    async with client_in_namespace(real) as (client, namespace):
        await served(client, DEFINITION)
        yield Sea(real, client, namespace)


async def test_a_definition_made_of_types_is_accepted_as_structural(sea):
    found = await served(sea.client, DEFINITION)
    told = {c["type"]: c["status"] for c in found["status"]["conditions"]}
    assert told["Established"] == told["NamesAccepted"] == "True"
    assert "NonStructuralSchema" not in told
    assert found["spec"]["names"]["shortNames"] == ["fl"]
    assert found["spec"]["names"]["categories"] == ["sea"]


async def test_what_a_definition_says_is_what_the_api_server_holds(sea):
    found = await served(sea.client, DEFINITION)
    held = found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert held == DEFINITION["spec"]["versions"][0]["schema"]["openAPIV3Schema"]


async def test_defaults_are_filled_in_and_what_may_be_left_out_is_left_out(sea):
    made = await sea.make("a", ports=[{"name": "web"}])
    assert made["spec"] == {
        "home": "kiel",
        "replicas": 1,
        "mode": "sail",
        "maxUnavailable": "25%",
        "ports": [{"name": "web", "port": 80}],
        "filled": ["a"],
    }


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"mode": "fly"}, 'spec.mode: Unsupported value: "fly"'),
        ({"home": ""}, "spec.home: Invalid value"),
        ({"home": "KIEL"}, "spec.home in body should match '^[a-z]+$'"),
        ({"replicas": -1}, "spec.replicas in body should be greater than or equal to 0"),
        ({"replicas": 6}, 'spec.replicas: Invalid value: "object": only rowing boats are many'),
        ({"crews": {"a": {"size": 0}}}, "spec.crews.a.size in body should be greater"),
        ({"crews": {"a": {}}}, "spec.crews.a.size: Required value"),
        ({"maxUnavailable": "lots"}, "spec.maxUnavailable in body should match"),
        ({"maxUnavailable": True}, "spec.maxUnavailable"),
        ({"template": {"containers": [{"name": "a"}]}}, "spec.template.containers[0].image"),
        ({"ports": [{"name": "a"}, {"name": "a"}]}, "spec.ports[1]: Duplicate value"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_what_the_types_forbid_is_refused_and_the_field_named(sea, spec, words):
    assert words in await sea.refused(**spec)


async def test_a_rule_compares_with_what_was(sea):
    await sea.make("b", replicas=6, mode="row")
    where = Ref(FLEET, sea.namespace, "b")
    with pytest.raises(InvalidError, match=r"spec\.home: Invalid value: .*home stays"):
        await sea.client.patch(where, {"spec": {"home": "bremen"}}, dict)


async def test_two_writers_share_a_list_item_by_item(sea):
    async with Client(sea.access, "other") as other:
        await other.apply(FLEET, sea.fleet("c", ports=[{"name": "a", "port": 1}]), dict)
        made = await sea.client.apply(FLEET, sea.fleet("c", ports=[{"name": "b"}]), dict)
        assert [port["name"] for port in made["spec"]["ports"]] == ["a", "b"]
        left = await other.apply(FLEET, sea.fleet("c", ports=[]), dict)
        assert [port["name"] for port in left["spec"]["ports"]] == ["b"]


@pytest.mark.parametrize("value", [3, "50%"])
async def test_a_number_or_a_text_stays_what_it_was(sea, value):
    made = await sea.make(
        f"d{str(value)[0]}", maxUnavailable=value, ports=[{"name": "x", "port": "http"}]
    )
    assert made["spec"]["maxUnavailable"] == value
    assert made["spec"]["ports"][0]["port"] == "http"


async def test_unknown_fields_are_kept_where_the_type_is_open_and_dropped_elsewhere(sea):
    containers = [{"name": "a", "image": "b", "dropped": True}]
    free = {"deep": [{"er": 1}]}
    made = await sea.make(
        "e",
        anything=free,
        untyped={"containers": 7},
        template={"containers": containers, "kept": free},
        unknown=1,
    )
    assert made["spec"]["anything"] == free
    assert made["spec"]["untyped"] == {"containers": 7}
    assert made["spec"]["template"] == {
        "containers": [{"name": "a", "image": "b"}],
        "kept": free,
    }
    assert "unknown" not in made["spec"]


async def test_null_is_kept_only_where_the_type_allows_it(sea):
    made = await sea.make("f", notes=None, replicas=None)
    assert made["spec"]["notes"] is None
    assert made["spec"]["replicas"] == 1


async def test_columns_are_printed(sea):
    await sea.make("g")
    as_table = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    _, table = await asked(sea.access, "GET", FLEET.path(sea.namespace), **as_table)
    columns = [(c["name"], c["priority"]) for c in table["columnDefinitions"]]
    assert columns == [("Name", 0), ("Home", 0), ("Mode", 1), ("Age", 0)]
    assert table["rows"][0]["cells"][:3] == ["g", "kiel", "sail"]


async def test_a_fleet_is_scaled_by_its_subresource(sea):
    await sea.make("h")
    where = Ref(FLEET, sea.namespace, "h")
    status = {"status": {"replicas": 1, "selector": "app=h"}}
    await sea.client.patch(Ref(FLEET, sea.namespace, "h", "status"), status, dict)
    scale = Ref(FLEET, sea.namespace, "h", "scale")
    scaled = await sea.client.patch(scale, {"spec": {"replicas": 3}}, dict)
    assert scaled["kind"] == "Scale"
    assert scaled["status"] == {"replicas": 1, "selector": "app=h"}
    assert (await sea.client.get(where, dict))["spec"]["replicas"] == 3


async def test_the_status_is_written_only_by_its_subresource(sea):
    made = await sea.client.create(
        FLEET, {**sea.fleet("i"), "status": {"replicas": 9, "selector": ""}}, dict
    )
    assert "status" not in made
