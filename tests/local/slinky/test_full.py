"""A whole cluster of each series: accounting, workers, a login node, a token, people."""

import base64
import json
import os
import urllib.error

import pytest

from shoal.local import images

from ..clusters import wait_for
from .site import API, FULL, full, made_by_us

EXTRA = "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"


@pytest.fixture(scope="module", params=list(images.SERIES))
def slurm(request, operator, tmp_path_factory):
    """Give a site with everything, which is Ready."""
    made = full(operator.cluster, request.param, tmp_path_factory.mktemp("site"))
    made.wait(*FULL)
    made.idle(2)
    yield made
    made.kubectl("delete", "namespace", made.cluster.namespace, "--wait=false")


def test_what_is_ready_runs_a_job_on_two_nodes(slurm):
    assert {what: slurm.condition(what)["reason"] for what in FULL} == dict.fromkeys(
        FULL, "AsAsked"
    )
    said = slurm.run("srun", "--nodes=2", "hostname").out.split()
    assert sorted(said) == ["worker-0", "worker-1"]


def test_a_user_submits_by_ssh_and_accounting_knows_the_job(slurm):
    said = slurm.ssh("sbatch --parsable --wait --nodes=2 --wrap 'srun whoami' && cat slurm-*.out")
    job, *users = said.split()
    assert users == ["alice", "alice"]
    words = ("--allocations", "--noheader", "--parsable2", "--format=User,State,NNodes")
    wait_for(
        "accounting to know the job",
        lambda: slurm.ssh(f"sacct {' '.join(words)} --jobs={job}").strip(),
        lambda seen: seen in ("alice|COMPLETED|2", "1000|COMPLETED|2"),
    )


def test_an_interactive_job_of_a_user_ends_at_once(slurm):
    assert slurm.ssh("srun --nodes=2 whoami").split() == ["alice", "alice"]
    # slurmctld must find the srun to end it, or its nodes stay COMPLETING for a minute.
    assert (
        "Unable to resolve" not in slurm.kubectl("logs", "slurm-controller-0", "-c", "logfile").out
    )


def test_a_tokens_secret_opens_slurmrestd(slurm):
    answer = slurm.ask(f"/slurm/{API}/nodes", slurm.secret("admin-jwt-slurm", "SLURM_JWT"))
    assert answer["errors"] == []
    assert {node["name"] for node in answer["nodes"]} == {"worker-0", "worker-1"}


def test_a_new_configuration_reaches_slurmctld_and_a_running_job_goes_on(slurm):
    job = slurm.submit("--wrap=sleep 600")
    slurm.runs(job)
    slurm.patch("controller/slurm", {"extraConf": f"{EXTRA}KillWait=17\n"})
    wait_for(
        "slurmctld to have the new configuration",
        lambda: slurm.run("scontrol", "show", "config", check=False).out,
        lambda seen: "= 17 sec" in seen,
    )
    assert slurm.state(job) == "RUNNING"
    slurm.run("scancel", job)


def test_a_bad_configuration_is_refused_in_slurms_words_and_going_back_heals(slurm):
    slurm.wait("controller/slurm")
    before = slurm.cluster.get("configmap", "slurm-config")["data"]
    slurm.patch("controller/slurm", {"extraConf": f"{EXTRA}KillWait=17\nSchedulerType=sched/no\n"})
    refused = wait_for(
        "the refusal",
        lambda: slurm.condition("controller/slurm"),
        lambda seen: seen.get("reason") == "ConfigRefused",
    )
    assert "sched/no" in refused["message"]
    assert slurm.cluster.get("configmap", "slurm-config")["data"] == before
    slurm.patch("controller/slurm", {"extraConf": f"{EXTRA}KillWait=17\n"})
    slurm.wait("controller/slurm")
    assert slurm.run("srun", "hostname").code == 0


def test_a_job_survives_the_end_of_slurmctlds_pod_and_sbatch_is_accepted_again(slurm):
    job = slurm.submit("--wrap=sleep 600")
    slurm.runs(job)
    slurm.kubectl("delete", "pod", "slurm-controller-0")
    later = slurm.submit("--wrap=hostname", pod="worker-0")
    slurm.completes(later)
    assert slurm.state(job) == "RUNNING"
    slurm.run("scancel", job)


def test_slurmctld_is_found_by_its_service_while_the_operator_is_away(slurm, operator):
    operator.stop()
    try:
        slurm.kubectl("delete", "pod", "slurm-controller-0")
        slurm.completes(slurm.submit("--wrap=hostname", pod="worker-0"), pod="worker-0")
    finally:
        operator.start()


def test_the_key_of_tokens_can_be_replaced_and_old_tokens_are_worth_nothing(slurm):
    old = slurm.secret("admin-jwt-slurm", "SLURM_JWT")
    new_key(slurm, "jwt.key")

    def answered(token: str) -> bool:
        try:
            return slurm.ask(f"/slurm/{API}/nodes", token)["errors"] == []
        except OSError:
            return False

    wait_for(
        "a token of the new key",
        lambda: slurm.secret("admin-jwt-slurm", "SLURM_JWT"),
        lambda seen: seen != old and answered(seen),
    )
    with pytest.raises(urllib.error.HTTPError):
        slurm.ask(f"/slurm/{API}/nodes", old)


def test_the_key_of_slurm_can_be_replaced_when_nothing_runs(slurm):
    new_key(slurm, "slurm.key")
    slurm.kubectl("delete", "pods", "--selector=app.kubernetes.io/name=slurmd")
    slurm.wait(*FULL)
    slurm.idle(2)
    assert len(slurm.run("srun", "--nodes=2", "hostname").out.split()) == 2


def new_key(slurm, name: str) -> None:
    """Replace one of the two keys, as docs/slinky.md says."""
    key = base64.b64encode(os.urandom(1024)).decode()
    patch = json.dumps({"data": {name: key}})
    slurm.kubectl("patch", "secret", "slurm-keys", f"--patch={patch}")


def test_what_is_deleted_leaves_nothing_but_what_must_stay(slurm):
    slurm.delete("login")
    wait_for("nothing to be left", lambda: made_by_us(slurm), lambda seen: not seen)
    claims = slurm.kubectl("get", "pvc", "--output=name").out.split()
    assert claims == [
        "persistentvolumeclaim/data-mariadb-0",
        "persistentvolumeclaim/statesave-slurm-controller-0",
    ]
