"""The smallest example, from `kubectl apply` to the last object that goes."""

import time
from pathlib import Path

import pytest

from ..clusters import wait_for
from ..slinky.site import API
from .site import EXAMPLES, LOGIN

# What holds records, or is the user's.
STAYS = {
    "persistentvolumeclaim/controller-spool-slurm-controller-0",
    "persistentvolumeclaim/jail",
    "persistentvolumeclaim/storage-slurm-acct-db-0",
    "secret/slurm-mariadb-password",
    "secret/slurm-mariadb-root",
}
KINDS = ("pods", "services", "deployments", "statefulsets", "daemonsets", "jobs", "configmaps",
         "secrets", "poddisruptionbudgets", "pvc", "slurmclusters")  # fmt: skip
OF_KUBERNETES = {"configmap/kube-root-ca.crt"}


@pytest.fixture(scope="module")
def slurm(request, make_site):
    """Give a cluster that was just applied, and how long it took to be Available."""
    made = make_site("minimal")
    began = time.monotonic()
    made.apply("minimal")
    made.available()
    request.config.stash[TOOK] = time.monotonic() - began
    made.hire()
    return made


TOOK = pytest.StashKey[float]()


def test_a_cluster_is_available_when_it_runs_jobs(slurm, request, record_property):
    record_property("Available after", f"{request.config.stash[TOOK]:.0f} s")
    assert slurm.told()["amiss"] == []
    said = slurm.ssh("srun --nodes=2 hostname", user="root").split()
    assert sorted(said) == ["worker-0", "worker-1"]


def test_who_logs_in_lands_in_the_jail(slurm):
    inside = slurm.root(LOGIN)
    for user in ("root", "alice"):
        assert slurm.ssh("stat --format=%d:%i /", user=user).strip() == inside


def test_a_users_job_has_the_jail_as_its_root_and_its_file_is_seen_on_the_other_node(slurm):
    words = "sbatch --parsable --wait --nodelist=worker-0 --output=said.txt"
    job = slurm.ssh(f"{words} --wrap 'srun stat --format=%d:%i /'").strip()
    assert slurm.ssh("srun --nodelist=worker-1 cat said.txt").strip() == slurm.root()
    slurm.accounted(job, "COMPLETED|worker-0", "State,NodeList")
    words = f"sacct --allocations --noheader --parsable2 --jobs={job} --format=User,State"
    assert slurm.ssh(words).strip() == "alice|COMPLETED"


def test_a_token_signed_with_the_clusters_key_opens_slurmrestd(slurm):
    answer = slurm.ask(f"/slurm/{API}/nodes", slurm.token("root"), "root")
    assert answer["errors"] == []
    assert {node["name"] for node in answer["nodes"]} == {"worker-0", "worker-1"}


def test_what_is_deleted_leaves_records_alone_and_comes_back_to_them(slurm, record_property):
    job = slurm.ssh("sbatch --parsable --wait --output=kept.txt --wrap 'echo kept'").strip()
    slurm.accounted(job, "COMPLETED")
    began = time.monotonic()
    slurm.kubectl("delete", "slurmcluster", "slurm")
    wait_for(
        "all but records to go",
        lambda: slurm.named(*KINDS) - OF_KUBERNETES,
        lambda seen: seen == STAYS,
    )
    record_property("all is gone after", f"{time.monotonic() - began:.0f} s")
    # The jail is there, and nobody fills it.
    text = slurm.text("minimal").replace(
        "\nspec:\n  clu", "\nspec:\n  maintenance: skipPopulateJail\n  clu"
    )
    assert "skipPopulateJail" in text
    slurm.kubectl("apply", "--filename=-", stdin=text)
    slurm.available()
    assert slurm.named("jobs") == set()
    assert slurm.ssh("cat kept.txt").strip() == "kept"
    slurm.accounted(job, "COMPLETED")
    later = slurm.ssh("sbatch --parsable --wait --wrap hostname").strip()
    assert int(later) > int(job)
    slurm.kubectl("delete", "slurmcluster", "slurm")


def test_every_example_has_a_test():
    names = {path.stem for path in EXAMPLES.glob("*.yaml")}
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("*.py"))
    assert {name for name in names if f'"{name}"' not in tests} == set()
