"""The scripts, run as containers run them, with other programs in the place of Slurm's."""

import os
import signal
import stat
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from shoal.model.controller import STATE_LOST
from shoal.render import shell

SCRIPTS = sorted(
    path.stem
    for path in Path(shell.__file__).with_name("scripts").iterdir()
    if path.suffix == ".sh"
)
pytestmark = pytest.mark.parametrize("interpreter", ["sh", "bash"])


@pytest.fixture
def programs(tmp_path):
    """Return a function that puts a program on the PATH; each call of one is noted in `calls`."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (tmp_path / "calls").touch()

    def put(name, body="exit 0"):
        path = folder / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >>"{tmp_path}/calls"\n{body}\n')
        path.chmod(0o755)

    return put


@pytest.fixture
def run(tmp_path, interpreter):
    """Return a function that runs a script."""

    def run(name, *words, **variables):
        return subprocess.run(
            [interpreter, "-c", shell.script(name), name, *words],
            env=environment(tmp_path, **variables),
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )

    return run


def environment(tmp_path, **variables):
    told = {name: str(value) for name, value in variables.items()}
    return {"PATH": f"{tmp_path}/bin:/usr/bin:/bin", **told}


def calls(tmp_path):
    return (tmp_path / "calls").read_text().splitlines()


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_understood_and_carries_no_comments(name, interpreter):
    text = shell.script(name)
    assert subprocess.run([interpreter, "-n", "-c", text], check=False).returncode == 0
    assert not [line for line in text.splitlines() if line.lstrip().startswith("#")]


# -- logfile


@pytest.fixture
def logging(tmp_path, interpreter):
    """Run the script that prints a log, on a pipe that is there."""
    socket = tmp_path / "slurmctld.log"
    socket.write_text("a plain file")
    told = subprocess.Popen(
        [interpreter, "-c", shell.script("logfile")],
        env=environment(tmp_path, SOCKET=socket),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    subprocess.run(
        ["sh", "-c", 'until test -p "$1"; do sleep 0.01; done', "wait", socket],
        timeout=30,
        check=True,
    )
    yield told, socket
    with suppress(ProcessLookupError):
        os.killpg(told.pid, signal.SIGKILL)
    told.wait()
    told.stdout.close()


def test_what_a_daemon_logs_is_printed_however_often_it_starts_anew(logging):
    told, socket = logging
    with socket.open("a") as log:
        log.write("first\n")
    assert told.stdout.readline() == "first\n"
    # Without waiting: the pipe stays open for reading while nobody writes.
    log = os.open(socket, os.O_WRONLY | os.O_NONBLOCK)
    os.write(log, b"second\n")
    os.close(log)
    assert told.stdout.readline() == "second\n"


def test_the_log_is_for_its_owner_alone(logging):
    _, socket = logging
    mode = socket.stat().st_mode
    assert stat.S_ISFIFO(mode)
    assert stat.S_IMODE(mode) == 0o600


def test_printing_ends_well_when_the_pod_ends(logging):
    told, _ = logging
    told.terminate()
    assert told.wait(timeout=30) == 0
    assert told.stdout.read() == ""  # nobody is left who could write to it


# -- reconfigure


@pytest.fixture
def mounted(tmp_path, programs):
    """Return a folder as kubelet mounts it, and a function that says what each pause brings."""
    folder = tmp_path / "etc"
    folder.mkdir()
    (folder / "..data").symlink_to("..1")
    programs("scontrol", 'test "$1" != ping')

    def during(*pauses):
        turn = 'next=$(ls "$0.d" | head -n 1); [ "$next" ] || exit 1'
        steps = tmp_path / "bin/sleep.d"
        steps.mkdir()
        for number, body in enumerate(pauses):
            (steps / f"{number}").write_text(body)
        programs("sleep", f'cd "{folder}"; {turn}; mv "$0.d/$next" "$0.now"; . "$0.now"; exit 0')

    return folder, during


CHANGE = "ln -sfn ..2 ..data"


def test_a_change_is_read_once(run, tmp_path, mounted):
    folder, during = mounted
    during("", CHANGE, "", "")
    run("reconfigure", MOUNTED=folder, PERIOD_S=5)
    assert calls(tmp_path).count("scontrol reconfigure") == 1


def test_without_a_change_nothing_is_read(run, tmp_path, mounted):
    folder, during = mounted
    during("", "")
    run("reconfigure", MOUNTED=folder, PERIOD_S=5)
    assert "scontrol reconfigure" not in calls(tmp_path)


def test_a_change_that_was_missed_is_read_after_a_new_start(run, tmp_path, mounted, programs):
    folder, during = mounted
    programs("scontrol")  # slurmctld serves already
    during("", "")
    run("reconfigure", MOUNTED=folder, PERIOD_S=5)
    assert calls(tmp_path).count("scontrol reconfigure") == 1


def test_what_slurmctld_has_not_read_is_tried_again_less_and_less_often(
    run, tmp_path, mounted, programs
):
    folder, during = mounted
    programs("scontrol", "exit 1")
    during(CHANGE, "", "")
    run("reconfigure", MOUNTED=folder, PERIOD_S=5)
    assert calls(tmp_path).count("scontrol reconfigure") == 3
    pauses = [call for call in calls(tmp_path) if call.startswith("sleep")]
    assert pauses == ["sleep 5", "sleep 2", "sleep 4", "sleep 6"]


# -- initconf


def test_copies_belong_to_their_owner_alone(run, tmp_path):
    given, etc = tmp_path / "given", tmp_path / "etc"
    etc.mkdir()
    given.mkdir()
    for name in ("slurm.key", "slurmdbd.conf", "gres.conf"):
        (given / name).write_text(name)
        (given / name).chmod(0o640)
    done = run("initconf", GIVEN=given, ETC=etc, SLURM_ID=os.getuid())
    assert done.returncode == 0, done.stderr
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in etc.iterdir()}
    assert modes == {"slurm.key": 0o600, "slurmdbd.conf": 0o600, "gres.conf": 0o644}
    assert (etc / "slurm.key").read_text() == "slurm.key"


def test_nothing_to_copy_is_no_failure(run, tmp_path):
    (tmp_path / "given").mkdir()
    assert run("initconf", GIVEN=tmp_path / "given", ETC=tmp_path).returncode == 0


# -- leave


IDLE = 'NodeName=cpu-0 State=IDLE Comment={"reason":"none"}'
REASON = "slurm-operator: Pod is terminating"
# Drained first: what is only DOWN comes back while its slurmd still answers.
LEFT = [
    f"scontrol update nodename=cpu-0 state={state} reason={REASON}" for state in ("drain", "down")
]


def slurm_shows(programs, record, *, answers=True):
    programs("hostname", "echo cpu-0")
    programs("scontrol", f"cat <<'E'\n{record}\nE\nexit {0 if answers else 1}")


def updates(tmp_path):
    return [call for call in calls(tmp_path) if call.startswith("scontrol update")]


def test_a_worker_that_goes_is_set_down_so_that_its_jobs_are_requeued(run, tmp_path, programs):
    slurm_shows(programs, IDLE)
    assert run("leave", REASON).returncode == 0
    assert updates(tmp_path) == LEFT


def test_a_worker_that_we_drained_is_set_down_as_well(run, tmp_path, programs):
    slurm_shows(programs, f"{IDLE}+DRAIN Reason=slurm-operator: scale-in [slurm@2026-01-01]")
    assert run("leave", REASON).returncode == 0
    assert updates(tmp_path) == LEFT


def test_a_drain_of_somebody_else_keeps_its_reason(run, tmp_path, programs):
    slurm_shows(programs, f"{IDLE}+DRAIN Reason=bad GPU [root@2026-01-01]")
    assert run("leave", REASON).returncode == 0
    assert updates(tmp_path) == []


def test_a_slurmctld_that_does_not_answer_changes_nothing(run, tmp_path, programs):
    slurm_shows(programs, IDLE, answers=False)
    assert run("leave", REASON).returncode == 0
    assert updates(tmp_path) == []


# -- check


@pytest.fixture
def candidate(tmp_path, run):
    """Return a function that tries a configuration, and where the verdict is written."""
    given, etc = tmp_path / "given", tmp_path / "etc"
    given.mkdir()
    etc.mkdir()
    for name, text in {"slurm.conf": "A=b", "slurm.key": "k", "digest": "d"}.items():
        (given / name).write_text(text)
    verdict = tmp_path / "verdict"

    def check(digest="d", limit_s=20):
        return run(
            "check",
            GIVEN=given,
            ETC=etc,
            RUN=tmp_path / "run",
            LOG=tmp_path / "log",
            VERDICT=verdict,
            DIGEST=digest,
            LIMIT_S=limit_s,
        )

    return check, verdict


def test_a_configuration_on_which_slurmctld_serves_is_accepted(candidate, programs, tmp_path):
    check, _ = candidate
    programs("slurmctld", "echo 'slurmctld: Running as primary controller' >&2; exec sleep 60")
    assert check().returncode == 0
    assert calls(tmp_path) == [f"slurmctld -D -f {tmp_path}/etc/slurm.conf"]
    assert stat.S_IMODE((tmp_path / "etc/slurm.key").stat().st_mode) == 0o600


def test_a_configuration_on_which_slurmctld_ends_is_refused_with_its_words(candidate, programs):
    check, verdict = candidate
    programs("slurmctld", "echo hello; echo 'slurmctld: fatal: bad SelectType' >&2; exit 1")
    assert check().returncode == 1
    assert verdict.read_text() == "slurmctld: fatal: bad SelectType\n"


def test_a_refusal_is_told_without_what_slurm_says_of_good_configurations_too(candidate, programs):
    check, verdict = candidate
    said = (
        "[2026-01-01T00:00:00.001] error: KillWait 1 specified more than once, latest value used",
        "[2026-01-01T00:00:00.002] error: Job accounting information gathered, but not stored",
        "[2026-01-01T00:00:00.003] error: no sched/nowhere",
        "[2026-01-01T00:00:00.004] error: no sched/nowhere",
        "[2026-01-01T00:00:00.005] fatal: no scheduler",
    )
    programs("slurmctld", "; ".join([*(f"echo '{line}'" for line in said), "exit 1"]))
    assert check().returncode == 1
    assert verdict.read_text() == "error: no sched/nowhere\nfatal: no scheduler\n"


@pytest.mark.parametrize("body", ["exit 0", "echo killed; exit 137"])
def test_a_slurmctld_that_ends_without_a_word_is_no_verdict(body, candidate, programs):
    check, verdict = candidate
    programs("slurmctld", body)
    assert check().returncode == 2
    assert "neither" in verdict.read_text()


def test_a_slurmctld_that_says_nothing_is_no_verdict(candidate, programs):
    check, _ = candidate
    programs("slurmctld", "exec sleep 60")
    assert check(limit_s=0).returncode == 2


def test_another_configuration_than_the_one_meant_is_not_tried(candidate, programs, tmp_path):
    check, verdict = candidate
    programs("slurmctld", "echo 'Running as primary controller'; exec sleep 60")
    assert check(digest="other").returncode == 2
    assert "not the one" in verdict.read_text()
    assert calls(tmp_path) == []


def test_a_long_refusal_fits_in_a_termination_message(candidate, programs):
    check, verdict = candidate
    programs("slurmctld", 'for i in $(seq 1000); do echo "error: line $i"; done; echo fatal: end')
    assert check().returncode == 1
    assert len(verdict.read_text()) <= 4096
    assert verdict.read_text().endswith("fatal: end\n")


# -- state: no slurmctld on an empty folder where there was a state


@pytest.fixture
def look(run, tmp_path):
    """Return a function that looks for a state among `files`."""

    def look(expected, *files):
        folder, guard = tmp_path / "state", tmp_path / "guard"
        folder.mkdir()
        guard.mkdir()
        if expected is not None:
            (guard / "expected").write_text(expected)
        for name in files:
            (folder / name).touch()
        verdict = tmp_path / "verdict"
        return run("state", STATE_FOLDER=folder, STATE_GUARD=guard, VERDICT=verdict)

    return look


@pytest.mark.parametrize("files", [(), ("lost+found",)])
def test_slurmctld_does_not_start_where_its_state_is_gone_and_says_why(look, tmp_path, files):
    done = look("true\n", *files)
    assert done.returncode == STATE_LOST
    assert "there was one" in (tmp_path / "verdict").read_text()
    assert "there was one" in done.stderr


@pytest.mark.parametrize("file", ["clustername", "job_state", "node_state.old"])
def test_slurmctld_starts_where_anything_of_its_state_is_there(look, file):
    assert look("true\n", file).returncode == 0


def test_slurmctld_does_not_start_while_nobody_says_whether_there_was_a_state(look):
    assert look(None).returncode == STATE_LOST


def test_slurmctld_starts_on_an_empty_state_where_none_is_expected(look):
    assert look("false\n").returncode == 0
