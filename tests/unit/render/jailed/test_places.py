import pytest

from shoal.model.jail import Claimed, Fittings, Given, Mount
from shoal.render.jailed import places

from .worlds import CLAIM, JAIL, JWT_KEY, WORLDS


def mounts_of(objects):
    """Return the mounts of every container, each with its pod's volumes and claims."""
    for obj in objects:
        pod = obj if obj["kind"] == "Pod" else obj["spec"].get("template", {})
        spec = pod.get("spec", {})
        claimed = [c["metadata"]["name"] for c in obj["spec"].get("volumeClaimTemplates", ())]
        there = {volume["name"] for volume in spec.get("volumes", ())} | set(claimed)
        for container in (*spec.get("initContainers", ()), *spec.get("containers", ())):
            for mount in container.get("volumeMounts", ()):
                yield f"{obj['kind']} {container['name']}", mount, there


@pytest.mark.parametrize("case", WORLDS)
def test_every_mount_has_its_volume(case):
    objects = [obj for obj in WORLDS[case]().objects if "spec" in obj]
    lacking = [
        (whose, m["name"]) for whose, m, there in mounts_of(objects) if m["name"] not in there
    ]
    assert not lacking


@pytest.mark.parametrize("case", WORLDS)
def test_no_two_volumes_of_a_container_are_mounted_at_one_place(case):
    objects = [obj for obj in WORLDS[case]().objects if "spec" in obj]
    for obj in objects:
        found = [(whose, mount["mountPath"]) for whose, mount, _ in mounts_of([obj])]
        assert len(found) == len(set(found)), obj["metadata"]["name"]


@pytest.mark.parametrize("case", WORLDS)
def test_whoever_has_the_jail_sees_slurms_files_in_it(case):
    objects = [obj for obj in WORLDS[case]().objects if "spec" in obj and obj["kind"] != "Job"]
    for obj in objects:
        paths = {}
        for whose, mount, _ in mounts_of([obj]):
            paths.setdefault(whose, set()).add(mount["mountPath"])
        for whose, found in paths.items():
            assert "/mnt/jail" not in found or places.SLURM in found, whose


def test_a_volume_that_is_claimed_goes_with_a_pod_that_does_not_come_back():
    made = places.volume("x", Claimed(CLAIM))
    assert made == {"name": "x", "ephemeral": {"volumeClaimTemplate": {"spec": CLAIM}}}


def test_a_volume_that_is_claimed_stays_for_a_pod_that_comes_back():
    given, templates = places.kept([("a", Given({"emptyDir": {}})), ("b", Claimed(CLAIM))])
    assert given == [{"name": "a", "emptyDir": {}}]
    assert templates == [{"metadata": {"name": "b"}, "spec": CLAIM}]


def test_what_the_user_mounts_in_the_jail_is_mounted_where_it_is_bound_from():
    mount = Mount("data", "/mnt/data", JAIL, sub_path="x", read_only=True)
    found = places.fitted(Fittings(JAIL, submounts=(mount,), mounts=(mount,)))
    assert found == [
        {"name": "data", "mountPath": f"{below}/mnt/data", "subPath": "x", "readOnly": True}
        for below in ("/mnt/jail.upper", "")
    ]


def test_keys_are_for_their_owner_alone():
    (made,) = places.jwt_key(JWT_KEY)
    assert made["secret"]["defaultMode"] == 0o400
    assert [item["mode"] for item in made["secret"]["items"]] == [0o400]
    modes = {i["key"]: i["mode"] for i in places.host_keys("keys")["secret"]["items"]}
    assert modes["ssh_host_rsa_key"] == 0o600
    assert modes["ssh_host_rsa_key.pub"] == 0o644


def test_a_volume_in_memory_has_a_size_only_where_one_is_known():
    assert "sizeLimit" not in places.memory("x", 0)["emptyDir"]
    assert places.memory("x", 7)["emptyDir"]["sizeLimit"] == "7"
