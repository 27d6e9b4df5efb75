import pytest

from shoal.local import cgroups


@pytest.fixture
def root(monkeypatch, tmp_path):
    """Give a hybrid machine's hierarchies as plain folders: two of version 1, one of version 2."""
    monkeypatch.setattr(cgroups, "ROOT", tmp_path)
    for name in ("cpu", "memory", "unified"):
        (tmp_path / name).mkdir()
    return tmp_path


def groups(root):
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_dir()}


def test_a_boot_begins_without_the_containers_of_the_last_and_keeps_its_own_group(root):
    for name in ("cpu", "memory", "unified"):
        (root / name / "shoal/shoal0/n0/kubepods/pod1/c1").mkdir(parents=True)
        (root / name / "shoal/shoal0/n0/system").mkdir()
        (root / name / "shoal/shoal0/n1/kubepods/pod2").mkdir(parents=True)
    cgroups.clear("shoal0", "n0")
    left = groups(root)
    assert not [path for path in left if "n0/kubepods" in path]
    assert "memory/shoal/shoal0/n0/system" in left
    assert "memory/shoal/shoal0/n1/kubepods/pod2" in left


def test_there_is_nothing_to_clear_before_the_first_boot(root):
    before = groups(root)
    cgroups.clear("shoal0", "n0")
    assert groups(root) == before


def test_a_cluster_that_goes_takes_its_groups_and_no_others(root):
    for tag in ("shoal0", "shoal1"):
        (root / "memory/shoal" / tag / "n0/system").mkdir(parents=True)
    cgroups.remove("shoal0")
    assert groups(root / "memory") == {"shoal", "shoal/shoal1", *NODE_OF_SHOAL1}
    cgroups.remove("shoal1")
    assert groups(root) == {"cpu", "memory", "unified"}


NODE_OF_SHOAL1 = ("shoal/shoal1/n0", "shoal/shoal1/n0/system")


def test_the_machines_of_a_cluster_are_found_in_every_hierarchy(root):
    (root / "cpu/shoal/shoal0/cp/system").mkdir(parents=True)
    (root / "unified/shoal/shoal0/n0").mkdir(parents=True)
    (root / "memory/shoal/shoal1/n7").mkdir(parents=True)
    assert cgroups.machines("shoal0") == {"cp", "n0"}
    assert cgroups.machines("shoal2") == set()
