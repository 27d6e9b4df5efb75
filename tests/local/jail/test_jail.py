"""Slurm on a shared root as plain pods on two nodes, with our images, in both series."""

import json
import urllib.request
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from shoal.local import images

from ..clusters import Done, Local, run, wait_for

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples/by-hand-jail/run"
# v0.0.42 is the one version of the API that both series serve.
API = "v0.0.42"
SSH = ("ssh", "-o", "StrictHostKeyChecking=no", "-o", "BatchMode=yes", "-o", "LogLevel=ERROR")
CONTAINERS = {"controller-0": "slurmctld", "login": "sshd"}


@dataclass(frozen=True)
class Jailed:
    """A Slurm of one series on a jail, and what the example said when it ran its job there."""

    cluster: Local
    said: str

    def run(self, pod: str, *words: str, check: bool = True) -> Done:
        """Run a command in a pod, outside the jail."""
        container = f"--container={CONTAINERS.get(pod, 'slurmd')}"
        return self.cluster.kubectl("exec", pod, container, "--", *words, check=check)

    def alice(self, script: str, *, on: str = "login", check: bool = True) -> str:
        """Run shell as the example's user, in the jail; return what it says."""
        words = ("chroot", "/mnt/jail", "su", "-", "alice", "-c", f"({script}) 2>&1")
        return self.run(on, *words, check=check).out

    def root(self) -> str:
        """Return what the jail is called where it is not the root."""
        return self.run("worker-0", "stat", "--format=%d:%i", "/mnt/jail").out.strip()

    def all_idle(self) -> None:
        """Wait until both workers take jobs."""
        wait_for(
            "two idle workers",
            lambda: self.run("controller-0", "sinfo", "-h", "--states=idle", "-o%D", check=False),
            lambda done: done.out.strip() == "2",
        )


@pytest.fixture(scope="module", params=list(images.SERIES))
def slurm(request, ground):
    """Give a Slurm that has run the example's job."""
    series = request.param
    ground.shoal("load", *images.JAIL[series], "mariadb", timeout_s=1500)
    said = run(EXAMPLE, series, env=ground.shell).out
    mine = replace(ground, namespace=f"jail-{series.replace('.', '-')}")
    yield Jailed(mine, said)
    ground.kubectl("delete", "namespace", mine.namespace, "--wait=false")


def test_a_users_job_on_two_nodes_sees_one_jail_as_its_root(slurm):
    (job,) = [line.split() for line in slurm.said.splitlines() if " COMPLETED " in line]
    assert (job[1], *job[3:]) == ("alice", "2", "COMPLETED", "0:0")
    seen = slurm.alice("srun --nodes=2 stat --format=%d:%i /").split()
    assert seen == [slurm.root()] * 2


def test_a_file_of_a_job_is_seen_from_the_other_node(slurm):
    slurm.alice("srun --nodelist=worker-0 bash -c 'echo $SLURMD_NODENAME >written'")
    assert slurm.alice("cat written", on="worker-1") == "worker-0\n"


def test_a_batch_script_its_output_and_its_steps_are_all_inside(slurm):
    script = "stat --format=%d:%i /; pwd; srun stat --format=%d:%i /"
    said = slurm.alice(f"sbatch --quiet --wait --output=batch.txt --wrap '{script}'; cat batch.txt")
    assert said.split() == [slurm.root(), "/home/alice", slurm.root()]


def test_an_interactive_step_is_inside(slurm):
    said = slurm.alice("salloc --quiet --nodelist=worker-0 <<<'stat --format=%d:%i /; hostname'")
    assert said.split()[-2:] == [slurm.root(), "worker-0"]
    said = slurm.alice("script -qc \"srun --pty stat --format='at %d:%i' /\" /dev/null")
    assert f"at {slurm.root()}" in said


def test_root_submits_for_a_user(slurm):
    options = ("--uid=alice", "--gid=alice", "--chdir=/home/alice", "--output=/home/alice/as.txt")
    slurm.run("controller-0", "sbatch", "--wait", *options, "--wrap", "id -un; stat -c %d:%i /")
    assert slurm.alice("cat as.txt").split() == ["alice", slurm.root()]


def test_ssh_to_the_login_node_lands_in_the_jail(slurm):
    look = "hostname; stat --format=%d:%i /"
    said = slurm.run("worker-1", "chroot", "/mnt/jail", *SSH, "login-svc", look).out
    assert said.split() == ["login", slurm.root()]
    slurm.alice(
        "mkdir -p -m 700 .ssh && ssh-keygen -q -t ed25519 -N '' -f .ssh/id_ed25519 <<<y"
        " && cp .ssh/id_ed25519.pub .ssh/authorized_keys"
    )
    said = slurm.alice(f"{' '.join(SSH)} worker-1.worker-svc '{look}; srun -w worker-0 hostname'")
    assert said.split() == ["worker-1", slurm.root(), "worker-0"]


def test_a_user_who_is_added_in_one_place_is_known_in_all(slurm):
    slurm.run("worker-1", "chroot", "/mnt/jail", "useradd", "--create-home", "bob")
    for pod in ("controller-0", "login", "worker-0"):
        assert slurm.run(pod, "id", "-un", "bob").out == "bob\n"


def test_a_step_has_its_nodes_volumes_and_not_the_pods_secrets(slurm):
    slurm.run("worker-1", "touch", "/mnt/jail.upper/mnt/scratch/here")
    # Every pod has a token of its service account there.
    secrets = "/run/secrets/kubernetes.io/serviceaccount"
    assert "token" in slurm.run("worker-1", "ls", secrets).out
    look = f"ls /mnt/scratch {secrets}; hostname"
    said = slurm.alice(f"srun --nodelist=worker-1 bash -c '{look}'").split()
    assert said == ["/mnt/scratch:", "here", f"{secrets}:", "worker-1"]
    assert slurm.alice("srun --nodelist=worker-0 ls /mnt/scratch") == ""


def test_a_dynamic_node_is_what_its_pod_says(slurm):
    node = slurm.run("controller-0", "scontrol", "show", "node", "worker-0").out
    place = slurm.cluster.get("pod", "worker-0")["spec"]["nodeName"]
    assert f"InstanceId={place}" in node
    assert f'Extra={{ "node": "{place}" }}' in node
    assert "RealMemory=512" in node
    assert "AvailableFeatures=even-one" in node
    other = slurm.run("controller-0", "scontrol", "show", "node", "worker-1").out
    assert "AvailableFeatures=(null)" in other


def test_slurmrestd_answers_whoever_has_a_token_of_slurmctlds(slurm):
    token = slurm.run("controller-0", "scontrol", "token", "username=root").out.strip()
    address = slurm.cluster.get("service", "rest-svc")["spec"]["clusterIP"]
    for path, key in (("slurm/{}/nodes", "nodes"), ("slurmdb/{}/clusters", "clusters")):
        ask = urllib.request.Request(
            f"http://{address}:6820/{path.format(API)}",
            headers={"X-SLURM-USER-TOKEN": token.partition("=")[2]},
        )
        with urllib.request.urlopen(ask, timeout=20) as answer:
            body = json.load(answer)
        assert body["errors"] == []
        assert body[key]


def test_a_second_complement_changes_nothing(slurm):
    look = ("awk", "{ print $5 }", "/proc/self/mountinfo")
    before = slurm.run("worker-0", *look).out
    script = "/opt/bin/slurm/complement_jail.sh"
    slurm.run("worker-0", script, "-j", "/mnt/jail", "-u", "/mnt/jail.upper", "-w")
    assert slurm.run("worker-0", *look).out == before


def test_a_running_job_survives_the_end_of_its_slurmd(slurm):
    job = slurm.alice(
        "sbatch --parsable --nodelist=worker-0 --output=long.txt"
        " --wrap 'srun bash -c \"until [ -e go ]; do sleep 0.2; done; echo end\"'"
    ).strip()
    wait_for("the job", lambda: slurm.alice(f"squeue -hj{job} -o%T"), lambda s: "RUNNING" in s)
    slurm.run("worker-0", "supervisorctl", "restart", "slurmd")
    slurm.run("worker-0", "bash", "-c", "kill -9 $(pgrep -x slurmd)")
    wait_for(
        "another slurmd",
        lambda: slurm.run("worker-0", "scontrol", "show", "slurmd", check=False).code,
        lambda code: code == 0,
    )
    assert "RUNNING" in slurm.alice(f"squeue -hj{job} -o%T")
    slurm.alice("touch go")
    wait_for("its end", lambda: slurm.alice("cat long.txt"), lambda said: said == "end\n")
    slurm.all_idle()


# A root of its own that has no /proc, with all that slurmd itself needs of the jail.
BREAK = """
mkdir -p /tmp/broken/etc/slurm
cp /mnt/jail/etc/passwd /mnt/jail/etc/group /tmp/broken/etc
mount --bind /mnt/jail/etc/slurm /tmp/broken/etc/slurm
mount --rbind /tmp/broken /mnt/jail
"""


# Last, as a node is drained by it.
def test_what_cannot_enter_the_jail_does_not_run_and_a_batch_job_is_kept(slurm):
    slurm.run("worker-0", "bash", "-euc", BREAK)
    assert "launch failed" in slurm.alice("srun -w worker-0 touch ran", check=False)
    job = slurm.alice("sbatch --parsable -w worker-0 --output=/dev/null --wrap 'touch ran'").strip()
    wait_for(
        "a drained node",
        lambda: slurm.run("controller-0", "sinfo", "-hR", "-o%N").out,
        lambda said: said == "worker-0\n",
    )
    assert slurm.alice(f"squeue -hj{job} -o%T") == "PENDING\n"
    assert slurm.alice("ls ran", check=False).startswith("ls: cannot access")
    said = slurm.cluster.kubectl("logs", "worker-0", "--container=slurmd", "--tail=100").out
    assert "chroot: proc in /mnt/jail: No such file or directory" in said
    slurm.run("worker-0", "umount", "--lazy", "/mnt/jail")
    slurm.run("controller-0", "scontrol", "update", "nodename=worker-0", "state=undrain")
    # Slurm lets two minutes pass before it tries again.
    slurm.run("controller-0", "scontrol", "update", f"jobid={job}", "starttime=now")
    wait_for("the job's file", lambda: slurm.alice("ls ran", check=False), lambda s: s == "ran\n")
