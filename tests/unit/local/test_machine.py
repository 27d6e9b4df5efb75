import subprocess

import pytest

from shoal.host import processes
from shoal.local.machine import Machine


@pytest.fixture
def sleeper():
    process = subprocess.Popen(["sleep", "60"])
    yield process
    process.kill()
    process.wait()


def saved(folder, pid, started, boot):
    (folder / "process.json").write_text(
        f'{{"pid": {pid}, "started": {started}, "boot": "{boot}"}}'
    )
    return Machine(folder)


def boot_id():
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()


def test_a_machine_is_known_by_its_first_process(tmp_path, sleeper):
    found = processes.find(sleeper.pid)
    assert saved(tmp_path, found.pid, found.started, boot_id()).process() == found


@pytest.mark.parametrize("wrong", ["started", "boot"])
def test_a_stranger_with_the_same_pid_is_never_killed(tmp_path, sleeper, wrong):
    found = processes.find(sleeper.pid)
    started = found.started - 1 if wrong == "started" else found.started
    boot = "another" if wrong == "boot" else boot_id()
    machine = saved(tmp_path, found.pid, started, boot)
    machine.cut_power()
    assert machine.process() is None
    assert sleeper.poll() is None


def test_a_machine_that_never_ran_is_off(tmp_path):
    assert Machine(tmp_path).process() is None
    assert Machine(tmp_path).programs() == {}
    with pytest.raises(LookupError, match="is not running"):
        Machine(tmp_path).inside()
