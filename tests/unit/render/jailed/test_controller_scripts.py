"""What waits and watches in pods with a shared root, with other programs instead of Slurm's."""

import socket
import subprocess

import pytest

from shoal.render import shell

pytestmark = pytest.mark.parametrize("interpreter", ["sh", "bash"])


@pytest.fixture
def programs(tmp_path):
    """Return a function that puts a program on the PATH; each call of one is noted in `calls`."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "calls").touch()

    def put(name, body="exit 0"):
        path = tmp_path / "bin" / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >>"{tmp_path}/calls"\n{body}\n')
        path.chmod(0o755)

    put("sleep", f'n=$(grep -c "^sleep" "{tmp_path}/calls"); [ "$n" -lt 5 ] || kill "$PPID"')
    return put


@pytest.fixture
def run(tmp_path, interpreter):
    """Return a function that runs a script."""

    def run(name, **variables):
        told = {key: str(value) for key, value in variables.items()}
        return subprocess.run(
            [interpreter, "-c", shell.script(name), name],
            env={"PATH": f"{tmp_path}/bin:/usr/bin:/bin", **told},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )

    return run


def calls(tmp_path, word):
    return [x for x in (tmp_path / "calls").read_text().splitlines() if x.startswith(word)]


# -- wait-for-accounting


def test_a_slurmctld_with_a_state_does_not_wait_for_slurmdbd(run, programs, tmp_path):
    programs("sacctmgr", "exit 1")
    (tmp_path / "last_tres").touch()
    assert run("wait-for-accounting", STATE_FOLDER=tmp_path).returncode == 0
    assert not calls(tmp_path, "sacctmgr")


def test_the_first_slurmctld_waits_until_slurmdbd_answers(run, programs, tmp_path):
    programs("sacctmgr", f'[ "$(grep -c "^sacctmgr" "{tmp_path}/calls")" -ge 3 ]')
    done = run("wait-for-accounting", STATE_FOLDER=tmp_path)
    assert done.returncode == 0
    assert len(calls(tmp_path, "sacctmgr")) == 3
    assert done.stdout == "slurmdbd does not answer yet\n"


# -- wait-for-controller


def test_slurmd_waits_until_slurmctld_is_up_whatever_the_tool_ends_with(run, programs, tmp_path):
    count = f'$(grep -c "^scontrol" "{tmp_path}/calls")'
    programs("scontrol", f'[ "{count}" -ge 3 ] && echo "x is UP" || echo "x is DOWN"')
    assert run("wait-for-controller").returncode == 0
    assert calls(tmp_path, "scontrol") == ["scontrol ping"] * 3


def test_waiting_ends_with_the_pod(run, programs, tmp_path):
    programs("scontrol", "exit 1")
    assert run("wait-for-controller").returncode == 1
    assert calls(tmp_path, "sleep")


# -- wait-for-database


def test_slurmdbd_waits_until_somebody_listens(run, programs):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert run("wait-for-database", STORAGE_HOST="127.0.0.1", STORAGE_PORT=port).returncode == 0
    done = run("wait-for-database", STORAGE_HOST="127.0.0.1", STORAGE_PORT=port)
    assert done.returncode == 1
    assert done.stdout == f"nobody listens at 127.0.0.1:{port} yet\n"


# -- wait-for-toolkit


def test_a_worker_with_gpus_waits_for_the_nodes_driver(run, programs, tmp_path):
    assert run("wait-for-toolkit", NVIDIA=tmp_path).returncode == 1
    (tmp_path / "validations").mkdir()
    (tmp_path / "validations/toolkit-ready").touch()
    assert run("wait-for-toolkit", NVIDIA=tmp_path).returncode == 0


# -- reconfigure-all


@pytest.fixture
def mounted(tmp_path, programs):
    """Return a folder as kubelet mounts it, and a function that says what each pause brings."""
    folder = tmp_path / "etc"
    folder.mkdir()
    (folder / "..data").symlink_to("..1")
    programs("scontrol", '[ "$1" != ping ] || echo "is DOWN"')

    def during(*pauses):
        steps = tmp_path / "bin/sleep.d"
        steps.mkdir()
        for number, body in enumerate(pauses):
            (steps / f"{number:03d}").write_text(body)
        # The script waits for its pauses in the background, so the end is told to the script.
        last = '[ "$next" ] || { kill "$PPID"; exit 0; }'
        turn = f'next=$(ls "$0.d" | head -n 1); {last}; mv "$0.d/$next" "$0.now"; . "$0.now"'
        programs("sleep", f'cd "{folder}"; {turn}; exit 0')

    return folder, during


CHANGE = "ln -sfn ..2 ..data"


def watch(run, mounted, *pauses, settle=100):
    folder, during = mounted
    during(*pauses)
    return run("reconfigure-all", MOUNTED=folder, PERIOD_S=1, SETTLE_S=settle)


def test_without_a_change_nothing_is_read(run, mounted, tmp_path):
    assert watch(run, mounted, "", "", "").returncode == 0
    assert not calls(tmp_path, "scontrol reconfigure")


def test_a_change_is_read_at_once_and_again_when_every_pod_must_have_it(run, mounted, tmp_path):
    watch(run, mounted, "", CHANGE, "", "", "", "", settle=3)
    assert len(calls(tmp_path, "scontrol reconfigure")) == 2


def test_a_change_is_not_read_again_before_that(run, mounted, tmp_path):
    watch(run, mounted, "", CHANGE, "", "", settle=3)
    assert len(calls(tmp_path, "scontrol reconfigure")) == 1


def test_a_change_that_was_missed_is_read_after_a_new_start(run, mounted, programs, tmp_path):
    programs("scontrol", '[ "$1" != ping ] || echo "Slurmctld(primary) at x is UP"')
    watch(run, mounted, "", "")
    assert len(calls(tmp_path, "scontrol reconfigure")) == 1


def test_what_slurmctld_has_not_read_is_tried_again_less_and_less_often(
    run, mounted, programs, tmp_path
):
    programs("scontrol", "exit 1")
    watch(run, mounted, CHANGE, "", "")
    assert len(calls(tmp_path, "scontrol reconfigure")) == 3
    assert calls(tmp_path, "sleep")[:4] == ["sleep 1", "sleep 2", "sleep 4", "sleep 6"]
