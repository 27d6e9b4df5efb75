"""What a user changes reaches slurmctld and its workers once Slurm accepts it, and only then."""

import pytest

from ..clusters import wait_for
from .site import NEWEST, site

EXTRA = "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"
CGROUP = "CgroupPlugin=disabled\n"


def write(slurm, name, **data):
    """Make the user's ConfigMap hold this; a _ stands for a dot."""
    files = {key.replace("_", "."): text for key, text in data.items()}
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    slurm.cluster.apply({**kind, "metadata": {"name": name}, "data": files})


def reason(slurm):
    return slurm.condition("controller/slurm").get("reason", "")


def shown(slurm):
    return slurm.run("scontrol", "show", "config", check=False).out


@pytest.fixture(scope="module")
def in_place(operator, tmp_path_factory):
    """Give the smallest cluster, whose slurmctld reads a new configuration as it runs."""
    made = site(operator.cluster, NEWEST, "in-place", tmp_path_factory.mktemp("site"))
    made.keys()
    made.apply("minimal")
    made.patch("controller/slurm", {"inplaceReconfigure": True})
    made.wait("controller/slurm", "nodeset/worker")
    made.idle(2)
    yield made
    made.kubectl("delete", "namespace", "in-place", "--wait=false")


def test_in_place_neither_a_line_nor_a_script_needs_another_slurmctld(in_place):
    before = in_place.pod_of("slurmctld")["metadata"]["uid"]
    write(in_place, "prologs", mark_sh="#!/bin/sh\necho one >/tmp/prolog-ran\n")
    refs = [{"name": "prologs"}]
    in_place.patch(
        "controller/slurm", {"extraConf": f"{EXTRA}KillWait=17\n", "prologScriptRefs": refs}
    )
    wait_for("slurmctld to know both", lambda: shown(in_place), lambda seen: "mark.sh" in seen)
    assert "= 17 sec" in shown(in_place)
    write(in_place, "prologs", mark_sh="#!/bin/sh\necho two >/tmp/prolog-ran\n")
    words = ("srun", "--nodelist=worker-0", "cat", "/tmp/prolog-ran")
    wait_for(
        "a worker to run the new script",
        lambda: in_place.run(*words, check=False).out,
        lambda seen: seen == "two\n",
    )
    in_place.wait("controller/slurm")
    assert in_place.pod_of("slurmctld")["metadata"]["uid"] == before


def test_a_file_of_the_users_that_slurm_refuses_stays_out_and_going_back_heals(in_place):
    job = in_place.submit("--wrap=sleep 600")
    in_place.runs(job)
    write(in_place, "cgroup", cgroup_conf=f"{CGROUP}Nonsense=1\n")
    wait_for("the refusal", lambda: reason(in_place), lambda seen: seen == "ConfigRefused")
    assert "Nonsense" in in_place.condition("controller/slurm")["message"]
    said = in_place.run("cat", "/etc/slurm/cgroup.conf").out
    assert said == CGROUP
    write(in_place, "cgroup", cgroup_conf=CGROUP)
    in_place.wait("controller/slurm")
    assert in_place.state(job) == "RUNNING"
    in_place.run("scancel", job)


def test_a_configmap_that_is_not_there_is_named_and_slurmctld_goes_on(in_place):
    before = in_place.cluster.get("configmap", "slurm-config")["data"]
    in_place.kubectl("delete", "configmap", "cgroup")
    wait_for("it to be missed", lambda: reason(in_place), lambda seen: seen == "Missing")
    said = in_place.condition("controller/slurm")["message"]
    assert "spec.configFileRefs[0]: ConfigMap cgroup is not there" in said
    assert in_place.cluster.get("configmap", "slurm-config")["data"] == before
    # Another slurmctld finds all that the one before it had.
    in_place.kubectl("delete", "pod", "slurm-controller-0")
    in_place.completes(in_place.submit("--wrap=hostname", pod="worker-0"), pod="worker-0")
    write(in_place, "cgroup", cgroup_conf=CGROUP)
    in_place.wait("controller/slurm")
