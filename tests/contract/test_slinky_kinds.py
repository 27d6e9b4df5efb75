"""The kinds of slinky.slurm.net, as the API server takes and enforces their schemas."""

from collections.abc import AsyncIterator

import msgspec
import pytest

from shoal.dialects.slinky.crds import definitions
from shoal.dialects.slinky.types import KINDS, NODE_SET, TYPES
from shoal.kube import kinds
from shoal.kube.kinds import Kind
from shoal.kubeapi.access import Access
from shoal.kubeapi.client import Ref
from shoal.kubeapi.errors import InvalidError

from .real import asked
from .shop import KEY, KIND, Shop, open_shop, until


@pytest.fixture
async def shop(real: Access) -> AsyncIterator[Shop]:
    async with open_shop(real) as shop:
        yield shop


async def test_the_definitions_are_accepted_and_held_as_they_are(shop):
    for definition in definitions():
        where = Ref(kinds.CUSTOM_RESOURCE_DEFINITION, "", definition["metadata"]["name"])
        found = await shop.client.get(where, dict)
        told = {c["type"]: c["status"] for c in found["status"]["conditions"]}
        assert told["Established"] == told["NamesAccepted"] == "True", told
        assert "NonStructuralSchema" not in told, told
        held = {v["name"]: v["schema"]["openAPIV3Schema"] for v in found["spec"]["versions"]}
        for version in definition["spec"]["versions"]:
            assert held[version["name"]] == version["schema"]["openAPIV3Schema"]


FILLED = {
    "Controller": {"external": False, "inplaceReconfigure": False},
    "NodeSet": {
        "replicas": 1,
        "scalingMode": "StatefulSet",
        "revisionHistoryLimit": 0,
        "ordinalPadding": 0,
        "pinToNode": False,
        "workloadDisruptionProtection": True,
        "pruneSlurmNodeRecords": "Never",
        "oversubscribeNode": False,
        "taintKubeNodes": False,
    },
    "LoginSet": {"replicas": 1},
    "Accounting": {"external": False},
    "RestApi": {"replicas": 1},
    "Token": {"refresh": True},
}
INSIDE = [
    ("Controller", "ha", {}, {"enabled": False, "backups": 1}),
    ("Controller", "persistence", {}, {"enabled": True}),
    (
        "Controller",
        "metrics",
        {"serviceMonitor": {}},
        {"enabled": False, "serviceMonitor": {"enabled": False}},
    ),
    ("Controller", "accountingRef", {}, {"name": ""}),
    ("NodeSet", "partition", {}, {"enabled": False}),
    (
        "NodeSet",
        "updateStrategy",
        {"rollingUpdate": {}},
        {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%"}},
    ),
    (
        "NodeSet",
        "updateStrategy",
        {"scheduledUpdate": {}},
        {"type": "RollingUpdate", "scheduledUpdate": {"duration": "30m"}},
    ),
    (
        "NodeSet",
        "persistentVolumeClaimRetentionPolicy",
        {},
        {"whenDeleted": "Retain", "whenScaled": "Retain"},
    ),
    (
        "NodeSet",
        "ssh",
        {"sssdConfRef": {"key": "k"}},
        {"enabled": False, "sssdConfRef": {"name": "", "key": "k"}},
    ),
    (
        "Accounting",
        "storageConfig",
        {"host": "h", "passwordKeyRef": KEY},
        {"host": "h", "port": 3306, "database": "slurm_acct_db", "passwordKeyRef": KEY},
    ),
]


async def test_defaults_are_filled_in(shop):
    for name, filled in FILLED.items():
        made = await shop.make(KIND[name], "filled")
        told = shop.object(KIND[name], "filled")["spec"]
        if name == "Accounting":
            told["storageConfig"] |= {"port": 3306, "database": "slurm_acct_db"}
        assert made["spec"] == {**told, **filled}
    for name, field, said, filled in INSIDE:
        _, made = await shop.tried(KIND[name], **{field: said})
        assert made["spec"][field] == filled, (name, field)


RULES = [
    ("Controller", {"slurmKeyRef": None}, "slurmKeyRef must be set when external is false"),
    ("Controller", {"jwtKeyRef": None}, "jwtKeyRef or jwtHs256KeyRef must be set when external"),
    ("Controller", {"external": True}, "externalConfig must be set when external is true"),
    ("Controller", {"ha": {"enabled": True}}, "requires existing PVC with an access mode of Read"),
    ("Controller", {"ha": {"enabled": True}, "persistence": {"enabled": True}}, "existing PVC"),
    ("Controller", {"ha": {"enabled": True}, "persistence": {"existingClaim": ""}}, "existing PVC"),
    ("Accounting", {"slurmKeyRef": None}, "slurmKeyRef must be set when external is false"),
    ("Accounting", {"jwtKeyRef": None}, "jwtKeyRef or jwtHs256KeyRef must be set when external"),
    ("Accounting", {"external": True}, "externalConfig must be set when external is true"),
    ("Token", {"jwtKeyRef": None}, "jwtKeyRef or jwtHs256KeyRef must be set"),
    ("NodeSet", {"updateStrategy": {"type": "ScheduledUpdate"}}, "scheduledUpdate.startTime and"),
    ("NodeSet", {"updateStrategy": {"type": "ScheduledUpdate", "scheduledUpdate": {}}}, "startT"),
    ("Controller", {"ha": {"enabled": False, "backups": 0}}, "spec.ha.backups"),
    ("Controller", {"slurmKeyRef": {"name": "a"}}, "spec.slurmKeyRef.key: Required value"),
    ("Controller", {"externalConfig": {"host": "a"}}, "spec.externalConfig.port: Required value"),
    ("NodeSet", {"controllerRef": None}, "spec.controllerRef: Required value"),
    ("NodeSet", {"partition": {"config": "a\nb"}}, "spec.partition.config"),
    ("NodeSet", {"scalingMode": "Some"}, 'spec.scalingMode: Unsupported value: "Some"'),
    ("NodeSet", {"updateStrategy": {"type": "Fast"}}, "spec.updateStrategy.type: Unsupported"),
    ("NodeSet", {"pruneSlurmNodeRecords": "x"}, "spec.pruneSlurmNodeRecords: Unsupported value"),
    ("NodeSet", {"replicas": 2**31}, "spec.replicas"),
    ("NodeSet", {"ssh": {}}, "spec.ssh.sssdConfRef: Required value"),
    ("LoginSet", {"sssdConfRef": None}, "spec.sssdConfRef: Required value"),
    ("Token", {"username": None}, "spec.username: Required value"),
    ("Controller", {"metrics": {"serviceMonitor": {"interval": "5"}}}, "serviceMonitor.interval"),
    ("Controller", {"persistence": {"resources": {"requests": {"storage": "x"}}}}, "storage"),
]


async def test_every_rule_of_the_schemas_is_enforced(shop):
    for name, spec, words in RULES:
        assert words in (await shop.refused(KIND[name], **spec)).status.message, (name, spec)


async def test_free_parts_are_kept_as_they_are_and_unknown_fields_dropped(shop):
    free = {"image": "a", "args": [], "deep": {"er": [{"x": None, "y": False}]}, "tty": False}
    made = await shop.make(
        NODE_SET,
        "free",
        slurmd=free,
        template={"spec": {"hostname": "a-", "containers": [free]}, "metadata": {"labels": None}},
        volumeClaimTemplates=[{"metadata": {"name": "a"}, "spec": free}],
        unknown=1,
    )
    assert made["spec"]["slurmd"] == free
    assert made["spec"]["template"]["spec"] == {"hostname": "a-", "containers": [free]}
    assert made["spec"]["template"]["metadata"] == {"labels": None}
    assert made["spec"]["volumeClaimTemplates"] == [{"metadata": {"name": "a"}, "spec": free}]
    assert "unknown" not in made["spec"]
    assert msgspec.convert(made, TYPES["NodeSet"]).spec.slurmd == free


async def test_fields_of_older_releases_are_kept(shop):
    made = await shop.make(
        NODE_SET,
        "older",
        controllerRef={"name": "slurm", "namespace": shop.namespace},
        taintKubeNodes=True,
    )
    assert made["spec"]["controllerRef"]["namespace"] == shop.namespace
    assert made["spec"]["taintKubeNodes"] is True


async def test_an_object_without_a_spec_is_read(shop):
    """The schema lets it pass, as upstream's does; it must not spoil the list."""
    for kind in KINDS:
        bare = {**shop.object(kind, "bare")}
        del bare["spec"]
        made = await shop.client.create(kind, bare, dict)
        assert msgspec.convert(made, TYPES[kind.kind]).metadata.name == "bare"


async def test_users_can_have_the_fields_explained(shop):
    path = "/openapi/v3/apis/slinky.slurm.net/v1beta1"
    held = {}

    async def published() -> bool:
        _, body = await asked(shop.access, "GET", path)
        held.update(body.get("components", {}).get("schemas", {}))
        return all(any(name.endswith(f".{k.kind}") for name in held) for k in KINDS)

    await until(published)
    (node_set,) = [held[name] for name in held if name.endswith(".NodeSet")]
    spec = node_set["properties"]["spec"]["properties"]
    assert spec["replicas"]["description"] == "How many there are, unless every node has one."
    assert [name for name, field in spec.items() if not field.get("description")] == []


async def columns(shop: Shop, kind: Kind) -> tuple[list[str], list[list[object]]]:
    as_table = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    _, found = await asked(shop.access, "GET", kind.path(shop.namespace), **as_table)
    return [c["name"] for c in found["columnDefinitions"]], [r["cells"] for r in found["rows"]]


async def test_a_list_shows_whether_each_is_ready_and_why_not(shop):
    told = {
        "type": "Ready",
        "status": "False",
        "reason": "Waiting",
        "message": "",
        "lastTransitionTime": "2030-01-01T00:00:00Z",
    }
    for kind in KINDS:
        await shop.make(kind, "shown")
        status = {"conditions": [told], "selector": "a=b", "nodeSetHash": "h", "readyReplicas": 3}
        where = Ref(kind, shop.namespace, "shown", "status")
        await shop.client.patch(where, {"status": status}, dict)
        names, (cells,) = await columns(shop, kind)
        row = dict(zip(names, cells, strict=True))
        if kind == NODE_SET:
            assert (row["READY"], row["STATUS"]) == (3, "Waiting")
        else:
            assert (row["READY"], row["REASON"]) == ("False", "Waiting")


async def test_node_sets_and_login_sets_are_scaled_by_their_subresource(shop):
    for name in ("NodeSet", "LoginSet"):
        await shop.make(KIND[name], "scaled")
        status = {"status": {"replicas": 1, "selector": "app=a", "nodeSetHash": "h"}}
        where = Ref(KIND[name], shop.namespace, "scaled", "status")
        await shop.client.patch(where, status, dict)
        scale = Ref(KIND[name], shop.namespace, "scaled", "scale")
        found = await shop.client.patch(scale, {"spec": {"replicas": 0}}, dict)
        assert found["status"] == {"replicas": 1, "selector": "app=a"}
        assert (await shop.read(KIND[name], "scaled"))["spec"]["replicas"] == 0
        with pytest.raises(InvalidError, match="non-negative"):
            await shop.client.patch(scale, {"spec": {"replicas": -1}}, dict)
