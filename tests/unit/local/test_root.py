from fnmatch import fnmatch
from pathlib import Path

import pytest

from shoal.local import root


def test_a_machine_shares_no_folder_of_the_host_in_which_it_could_remove_something():
    shared = [m for m in root.system() if m.kind in {"bind", "rbind"} and not m.readOnly]
    # Groups are made there by the kubelet, each below the machine's own.
    assert [m.source for m in shared] == ["/sys/fs/cgroup"]


def test_devices_terminals_and_shared_memory_are_mounted_the_outer_one_first():
    targets = [m.target for m in root.system()]
    places = [targets.index(name) for name in ("/dev", "/dev/pts", "/dev/shm")]
    assert places == sorted(places)


def wanted(name: str) -> bool:
    # As Go's filepath.Glob: a star does not cross a slash.
    return any(
        fnmatch(name, pattern) and name.count("/") == pattern.count("/") for pattern in root.DEVICES
    )


@pytest.mark.parametrize(
    "name",
    [
        "null", "tty", "kmsg", "fuse", "loop0", "net/tun", "nvidia0", "nvidiactl", "nvidia-uvm",
        "nvidia-caps/nvidia-cap1", "dri/renderD128", "infiniband/uverbs0",
    ],
)  # fmt: skip
def test_a_machine_has_what_containers_and_accelerators_need(name):
    assert wanted(name)


@pytest.mark.parametrize(
    "name", ["sda", "vda", "nvme0n1", "mem", "port", "console", "ttyS0", "tty1"]
)
def test_a_machine_has_neither_the_hosts_disks_nor_its_memory_nor_its_consoles(name):
    assert not wanted(name)


def test_every_link_leads_where_a_machine_has_something():
    for link in root.links():
        path, target = Path("/", link["path"]), link["target"]
        assert target.startswith(("/proc/self/fd", "pts/", "usr/", "/usr/")), path
