"""What the API server asks us about slinky.slurm.net: checks, versions, bindings."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from shoal.dialects.slinky.convert import KEPT
from shoal.dialects.slinky.types import KINDS, NODE_SET
from shoal.kube import kinds
from shoal.kube.objects import Object, Resource
from shoal.kubeapi.access import from_kubeconfig
from shoal.kubeapi.client import Ref, Which
from shoal.kubeapi.errors import InvalidError

from .real import asked
from .shop import GUARDED, KEY, KIND, OLD, Guard, Shop, cases, guarding, until

# The API server keeps these from us: the schema or JSON itself does not allow them.
BY_SCHEMA = "is invalid: "


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def guard(cluster: Path) -> AsyncIterator[Guard]:
    async with guarding(from_kubeconfig(cluster / "kubeconfig", {})) as guard:
        yield guard


@pytest_asyncio.fixture(loop_scope="module")
async def shop(guard: Guard) -> Shop:
    return await guard.shop()


async def test_every_bad_value_is_refused_with_its_field_and_a_cure(shop):
    ours = 0
    for case in cases("refused.yaml"):
        words = case["words"].replace("'prod'", repr(shop.namespace))
        _, body = await shop.tried(KIND[case["kind"]], **case["spec"])
        assert body["code"] == 422, (case, body)
        if BY_SCHEMA in body["message"]:
            continue
        ours += 1
        assert f"{case['field']}: " in body["message"], (case, body["message"])
        assert words in body["message"], (case, body["message"])
        assert case["field"] in [c["field"] for c in body["details"]["causes"]]
    assert ours > 70


async def test_right_values_pass_without_a_word(shop):
    await shop.make(KIND["Controller"], "slurm")
    await shop.make(KIND["Accounting"], "a")
    for case in cases("accepted.yaml"):
        spec = dict(case["spec"])
        if "accountingRef" in spec:
            spec["accountingRef"] = {"name": "a", "namespace": shop.namespace}
        warnings, body = await shop.tried(KIND[case["kind"]], **spec)
        assert (warnings, body["kind"]) == ("", case["kind"]), (case, body)


async def test_doubtful_values_pass_with_a_warning(shop):
    for case in cases("doubtful.yaml"):
        warnings, body = await shop.tried(KIND[case["kind"]], **case["spec"])
        assert body["kind"] == case["kind"], (case, body)
        assert case["words"] in warnings.replace('\\"', '"'), (case, warnings)


async def test_what_is_referred_to_is_looked_up(shop):
    controller = KIND["Controller"]
    files = {"configFileRefs": [{"name": "files"}]}
    said = (await shop.refused(controller, **files)).status.message
    assert "spec.configFileRefs[0].name: there is no ConfigMap 'files'; make it first" in said

    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "files", "namespace": shop.namespace},
        "data": {"slurm.conf": "", "gres.conf": ""},
    }
    await shop.client.create(kinds.CONFIG_MAP, config_map, dict)
    said = (await shop.refused(controller, **files)).status.message
    assert "the configFile is reserved for slurm-operator use: slurm.conf" in said

    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "state", "namespace": shop.namespace},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    await shop.client.create(kinds.PERSISTENT_VOLUME_CLAIM, claim, dict)
    several = {"ha": {"enabled": True}, "persistence": {"existingClaim": "state"}}
    said = (await shop.refused(controller, **several)).status.message
    assert "requires existing PVC with an access mode of ReadWriteMany" in said
    several["persistence"] = {"existingClaim": "later"}
    assert (await shop.make(controller, "several", **several))["spec"]["ha"]["enabled"] is True


async def test_two_node_sets_never_share_a_name_in_slurm(shop):
    await shop.make(NODE_SET, "a", template={"spec": {"hostname": "gpu-"}})
    said = (
        await shop.refused(NODE_SET, "b", template={"spec": {"hostname": "gpu"}})
    ).status.message
    assert "spec.template.spec.hostname: NodeSet 'a' is 'gpu' in Slurm too" in said


async def test_what_cannot_be_changed_stays_and_the_rest_may_change(shop):
    await shop.make(KIND["Controller"], "c")
    for spec, words in (
        ({"clusterName": "other"}, "cannot change ClusterName after deployment"),
        (
            {"jwtKeyRef": {"name": "x"}},
            "the value of JwtKeyRef or JwtHs256KeyRef cannot be modified",
        ),
        ({"persistence": {"enabled": False}}, "cannot change persistence.enabled after deployment"),
    ):
        with pytest.raises(InvalidError, match=words):
            await shop.change(KIND["Controller"], "c", **spec)
    assert (await shop.change(KIND["Controller"], "c", extraConf="A=1"))["spec"][
        "extraConf"
    ] == "A=1"

    await shop.make(NODE_SET, "n")
    with pytest.raises(InvalidError, match="cannot change volumeClaimTemplates after deployment"):
        await shop.change(NODE_SET, "n", volumeClaimTemplates=[{"metadata": {"name": "a"}}])
    with pytest.raises(InvalidError, match="cannot change controllerRef after deployment"):
        await shop.change(NODE_SET, "n", controllerRef={"name": "b"})


async def test_an_object_that_is_wrong_already_can_be_labelled_and_deleted(guard):
    """Such as one that upstream let in."""
    shop = await guard.shop(guarded=False)
    wrong = shop.object(NODE_SET, "w", ordinalPadding=-1, extraConf="Weight")
    wrong["metadata"]["finalizers"] = ["sea.example/kept"]
    await shop.client.create(NODE_SET, wrong, dict)
    mark = {"metadata": {"labels": {GUARDED: "yes"}}}
    await shop.client.patch(Ref(kinds.NAMESPACE, "", shop.namespace), mark, dict)

    async def checked() -> bool:
        _, body = await shop.tried(NODE_SET, "other", ordinalPadding=-1)
        return body.get("code") == 422

    await until(checked)
    where = Ref(NODE_SET, shop.namespace, "w")
    await shop.client.patch(where, {"metadata": {"labels": {"a": "b"}}}, Resource)
    assert (await shop.change(NODE_SET, "w", replicas=3))["spec"]["replicas"] == 3
    with pytest.raises(InvalidError, match=r"spec\.minReadySeconds"):
        await shop.change(NODE_SET, "w", minReadySeconds=-1)
    await shop.client.delete(where, Resource)
    await shop.client.patch(where, {"metadata": {"finalizers": None}}, Resource)
    assert await shop.client.every(Which(NODE_SET, shop.namespace), Resource) == []


# -- versions


def older(shop: Shop, name: str) -> Object:
    """Return an object of a kind that needs the older name of a key in v1alpha1."""
    newer = {"jwtKeyRef": None, "jwtHs256KeyRef": KEY}
    more = newer if name in ("Controller", "Accounting", "Token") else {}
    return shop.object(OLD[name], "old", **more)


async def test_every_kind_can_be_made_in_either_version_and_read_in_both(shop):
    for kind in KINDS:
        made = await shop.client.create(OLD[kind.kind], older(shop, kind.kind), dict)
        assert made["apiVersion"] == "slinky.slurm.net/v1alpha1"
        new, old = await shop.read(kind, "old"), await shop.read(OLD[kind.kind], "old")
        assert new["metadata"]["uid"] == old["metadata"]["uid"]
        assert made["spec"].items() <= new["spec"].items()
        assert {key: old["spec"][key] for key in made["spec"]} == made["spec"]

        await shop.make(kind, "new")
        assert (await shop.read(OLD[kind.kind], "new"))["kind"] == kind.kind
        for k in (kind, OLD[kind.kind]):
            names = [
                o.metadata.name for o in await shop.client.every(Which(k, shop.namespace), Resource)
            ]
            assert names == ["new", "old"]


async def test_users_of_the_older_version_are_told(shop):
    warnings, _ = await shop.tried(OLD["RestApi"])
    assert "v1alpha1 RestApi is deprecated: use slinky.slurm.net/v1beta1" in warnings


async def test_a_write_in_the_older_version_loses_nothing_of_the_newer_one(shop):
    made = await shop.make(
        NODE_SET,
        "mixed",
        scalingMode="DaemonSet",
        logfile={"image": "a", "command": ["x"]},
        ssh={"enabled": True, "sssdConfRef": KEY},
        template={"metadata": {"labels": None}},
    )
    status = {"selector": "a=b", "nodeSetHash": "h", "ordinalToNode": {"0": "n1"}, "desired": 1}
    where = Ref(NODE_SET, shop.namespace, "mixed", "status")
    await shop.client.patch(where, {"status": status}, dict)

    old = await shop.read(OLD["NodeSet"], "mixed")
    assert "scalingMode" not in old["spec"]
    assert old["spec"]["logfile"] == {"image": "a"}
    assert KEPT in old["metadata"]["annotations"]
    old["spec"]["replicas"] = 5
    await shop.client.replace(OLD["NodeSet"], old, dict)

    new = await shop.read(NODE_SET, "mixed")
    assert new["spec"] == {**made["spec"], "replicas": 5}
    assert new["status"] == status
    assert "annotations" not in new["metadata"]


async def test_a_write_in_the_older_version_is_checked_too(shop):
    _, body = await shop.tried(OLD["NodeSet"], minReadySeconds=-1)
    assert "spec.minReadySeconds: must be 0 or more, got -1" in body["message"]


async def test_an_object_can_be_applied_in_either_version(shop):
    for kind in (OLD["NodeSet"], NODE_SET, OLD["NodeSet"]):
        wanted = shop.object(kind, "applied", replicas=2, extraConf="Weight=1")
        await shop.client.apply(kind, wanted, dict)
        found = await shop.read(NODE_SET, "applied")
        assert (found["spec"]["replicas"], found["spec"]["extraConf"]) == (2, "Weight=1")


# -- bindings


async def test_a_worker_has_its_place_in_the_topology_when_it_is_bound(shop):
    """The API server copies annotations of a Binding to the pod."""
    topology = "topology.slinky.slurm.net/spec"
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"node-{shop.namespace}", "annotations": {topology: "default:b1"}},
    }
    await shop.client.create(kinds.NODE, node, dict)
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "pods", "namespace": shop.namespace},
    }
    await shop.client.create(kinds.SERVICE_ACCOUNT, account, dict)
    for name, program, place in (("w-0", "slurmd", "default:b1"), ("l-0", "login", None)):
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": shop.namespace,
                "labels": {"app.kubernetes.io/name": program},
            },
            "spec": {
                "serviceAccountName": "pods",
                "automountServiceAccountToken": False,
                "containers": [{"name": "a", "image": "a"}],
            },
        }
        await shop.client.create(kinds.POD, pod, dict)
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name, "namespace": shop.namespace},
            "target": {"kind": "Node", "name": node["metadata"]["name"]},
        }
        path = f"{kinds.POD.path(shop.namespace, name)}/binding"
        _, said = await asked(shop.access, "POST", path, binding)
        assert said["status"] == "Success", said
        bound = await shop.read(kinds.POD, name)
        assert bound["spec"]["nodeName"] == node["metadata"]["name"]
        assert bound["metadata"].get("annotations", {}).get(topology) == place
