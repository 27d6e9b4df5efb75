"""The lab itself: it is what it says, and it vanishes."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.host import processes
from shoal.host.run import run
from shoal.local.addresses import INDEXES, Addresses
from slurm_lab import Lab, space
from slurm_lab.space import RANGE, Space, wait_for

from .places import PLACES

TESTS = Path(__file__).parents[2]
real = pytest.mark.parametrize("place", PLACES[:2], indirect=True)

MAKER = """
import sys, time
sys.path.insert(0, sys.argv[1])
from slurm_lab.space import Space
space = Space()
space.run("sh", "-c", "sleep 1000 >/dev/null 2>&1 &")
print(space.pid, space.network, flush=True)
time.sleep(1000)
"""


def links(network: str) -> list[str]:
    return run("ip", "-br", "address", "show", "to", network).stdout.splitlines()


def test_whatever_kills_its_maker_takes_everything_of_a_lab_along() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", MAKER, TESTS], stdout=subprocess.PIPE, text=True
    ) as maker:
        assert maker.stdout is not None
        word, network = maker.stdout.readline().split()
        pid = int(word)
        inside = [pid, *processes.children(pid)]
        assert len(inside) == 2
        assert len(links(network)) == 1
        maker.send_signal(signal.SIGKILL)
    wait_for("the processes to end", lambda: not any(map(processes.find, inside)))
    # The kernel tears a network down in the background.
    wait_for("the link to go", lambda: not links(network), 30)


def test_labs_side_by_side_have_addresses_of_their_own() -> None:
    made = [Space(), Space()]
    try:
        assert made[0].address != made[1].address
    finally:
        for each in made:
            each.close()


def test_no_lab_has_an_address_of_a_local_cluster() -> None:
    assert not any(RANGE.overlaps(Addresses(index).everything) for index in INDEXES)


def test_without_root_a_lab_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space.os, "geteuid", lambda: 1000)
    with pytest.raises(PermissionError, match="run the tests as root"):
        Space()


@real
def test_daemons_are_those_of_the_series_and_have_no_more_rights_than_their_images(
    place: Lab,
) -> None:
    assert f" {place.series}." in place.run("scontrol", "--version").stdout
    users = {"slurmctld": 401, "slurmdbd": 401, "slurmrestd": 65534, "mariadb": 999, "w-0": 0}
    for name, uid in users.items():
        process = place.containers[name].daemon()
        assert Path(f"/proc/{process.pid}").stat().st_uid == uid
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        (may,) = [int(line.split()[1], 16) for line in lines if line.startswith("CapEff:")]
        # CHOWN, KILL, SETGID, SETUID
        assert may == (1 << 0 | 1 << 5 | 1 << 6 | 1 << 7 if uid == 0 else 0)


@real
def test_slurmrestd_cannot_take_the_machines_memory(place: Lab) -> None:
    process = place.containers["slurmrestd"].daemon()
    limits = Path(f"/proc/{process.pid}/limits").read_text()
    (line,) = [each for each in limits.splitlines() if each.startswith("Max address space")]
    assert int(line.split()[3]) == place.options.slurmrestd_bytes < 1 << 32


@real
def test_a_job_on_both_workers_completes(place: Lab) -> None:
    place.wait_until_idle()
    said = place.run("srun", "--nodes=2", "hostname", user="1001:1001").stdout
    assert sorted(said.split()) == ["w-0", "w-1"]


@real
def test_a_lab_sees_nothing_of_this_machines_files_and_network(place: Lab) -> None:
    assert place.run("hostname").stdout.strip() == "slurm-lab" != os.uname().nodename
    addresses = place.space.run("ip", "-br", "-4", "address").split()
    assert [word for word in addresses if "/" in word] == [
        "127.0.0.1/8",
        f"{place.space.address}/30",
    ]
    assert not place.containers["w-0"].run("ls", str(TESTS), check=False).stdout
