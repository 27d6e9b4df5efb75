import subprocess

import pytest

from shoal.host import processes
from shoal.local import machine
from shoal.local.errors import LocalError
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
    stranger = saved(tmp_path, found.pid, started, boot)
    stranger.cut_power()
    assert stranger.process() is None
    assert sleeper.poll() is None


def test_a_machine_that_never_ran_is_off(tmp_path):
    assert Machine(tmp_path).process() is None
    assert Machine(tmp_path).programs() == {}
    with pytest.raises(LookupError, match="is not running"):
        Machine(tmp_path).inside()


def test_a_machine_that_nobody_wrote_down_is_found_by_what_it_was_told(tmp_path, start_first):
    mine = start_first(tmp_path / "n0/machine.json")
    other = start_first(tmp_path / "n1/machine.json")
    Machine(tmp_path / "n0").cut_power()
    assert not mine.alive()
    assert other.alive()


def test_every_first_process_is_found_with_what_it_was_told(tmp_path, start_first, sleeper):
    config = tmp_path / "a folder/machine.json"
    process = start_first(config)
    found = machine.first_processes()
    assert found[process] == config
    assert sleeper.pid not in {process.pid for process in found}


@pytest.mark.parametrize(
    "words",
    [
        ["/proc/self/exe", "init"],
        ["/proc/self/exe", "init", "/s/machine.json", "more"],
        ["/proc/self/exe", "pause", "/s/machine.json"],
        ["/bin/sh", "init", "/s/machine.json"],
    ],
)
def test_other_words_are_not_taken_for_a_machines(words):
    line = "".join(f"{word}\0" for word in words).encode()
    assert machine._config_of(line) is None


def test_a_process_that_outlives_its_kill_is_told_by_its_pid_with_the_cure(sleeper):
    stuck = processes.find(sleeper.pid)
    with pytest.raises(LocalError, match=rf"still there: {sleeper.pid}\n.*disk or a device"):
        machine.wait_until_gone([stuck], timeout_s=0)
