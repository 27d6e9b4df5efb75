"""Nothing depends on luck: the order of things, the operator's life, what is added and removed."""

import json
import time
from collections import Counter

import pytest

from ..clusters import wait_for
from .operator import Operator
from .site import EXAMPLES, FULL, full, made_by_us

# What the smallest example turns into, beside its pods.
MINIMAL = {
    "service/slurm-controller",
    "service/slurm-controller-internal",
    "service/slurm-restapi",
    "service/slurm-workers-slurm",
    "deployment.apps/slurm-restapi",
    "statefulset.apps/slurm-controller",
    "configmap/slurm-config",
    "configmap/slurm-controller-state",
    "poddisruptionbudget.policy/slurm-workers-pdb-slurm",
}
WORKERS = {"pod/worker-0", "pod/worker-1", "pod/slurm-controller-0"}


def test_the_order_of_applying_does_not_matter(newest):
    parts = newest.text("accounting").split("---\n")
    for part in reversed(parts):
        newest.kubectl("apply", "--filename=-", stdin=part)
    newest.keys()
    newest.mariadb()
    newest.wait("token/admin", "accounting/slurm", "controller/slurm", "nodeset/worker")
    newest.idle(2)
    job = newest.submit("--nodes=2", "--wrap=srun hostname")
    newest.completes(job)
    words = ("sacct", "--allocations", "--noheader", "--parsable2", f"--jobs={job}")
    wait_for(
        "accounting to know the job",
        lambda: newest.run(*words, "--format=State", check=False).out,
        lambda seen: seen.strip() == "COMPLETED",
    )


def test_an_operator_killed_during_bring_up_ends_with_the_same_objects(newest, operator):
    newest.keys()
    newest.apply("minimal")
    # As soon as it has made anything.
    wait_for("the first object", lambda: made_by_us(newest))
    operator.kill()
    operator.start()
    newest.wait("controller/slurm", "restapi/slurm", "nodeset/worker")
    names = {name for name in made_by_us(newest) if "restapi-" not in name}
    assert names == MINIMAL | WORKERS
    newest.idle(2)


def test_a_nodeset_can_be_removed_while_slurmctld_remembers_its_jobs(newest):
    newest.keys()
    newest.apply("minimal")
    extra = newest.text("minimal").split("---\n")[-1].replace("{name: worker}", "{name: extra}")
    extra = extra.replace("replicas: 2", "replicas: 1").replace("Default=YES ", "")
    newest.kubectl("apply", "--filename=-", stdin=extra)
    newest.wait("nodeset/worker", "nodeset/extra", "controller/slurm")
    newest.idle(3)
    newest.completes(newest.submit("--partition=extra", "--wrap=hostname"))
    newest.submit("--partition=extra", "--hold", "--wrap=hostname")
    newest.kubectl("delete", "nodeset", "extra")
    wait_for(
        "the partition to be gone",
        lambda: newest.run("sinfo", "--noheader", "--format=%R", check=False).out,
        lambda seen: seen.split() == ["worker"],
    )
    newest.completes(newest.submit("--wrap=hostname", pod="worker-0"))
    restarts = [
        s["restartCount"] for s in newest.pod_of("slurmctld")["status"]["containerStatuses"]
    ]
    assert restarts == [0]


def test_another_cluster_domain_needs_no_more_than_a_flag(newest, operator):
    name = newest.cluster.namespace
    other = Operator(
        operator.cluster, operator.folder, (f"--namespaces={name}", "--cluster-domain=example.org")
    )
    operator.stop()
    other.start()
    try:
        newest.keys()
        newest.apply("minimal")
        newest.wait("controller/slurm", "nodeset/worker")
        made = json.dumps([newest.cluster.get(kind) for kind in ("pods", "configmaps")])
        assert f"slurm-workers-slurm.{name}.svc.example.org" in made
        # DNS here serves another domain, and the cluster works: nobody needs the domain's name.
        assert "cluster.local" not in made.replace("kube-root-ca.crt", "")
        newest.idle(2)
        newest.delete("minimal")
    finally:
        other.stop()
        operator.start()


def writes_within(operator, seconds: float) -> Counter[str]:
    """Return what the operator changes in so many seconds."""
    before = operator.writes()
    time.sleep(seconds)
    return operator.writes() - before


def going(cluster) -> list[str]:
    """Name the namespaces that are being deleted, from which their objects vanish one by one."""
    spaces = [space["metadata"] for space in cluster.get("namespaces")]
    return [space["name"] for space in spaces if "deletionTimestamp" in space]


def settled(operator) -> None:
    """Wait until the operator has seen the end of what earlier tests and bring-up have left it."""
    wait_for("namespaces of earlier tests to go", lambda: going(operator.cluster), lambda s: not s)
    wait_for(
        "an operator that has settled", lambda: writes_within(operator, 5), lambda seen: not seen
    )


def test_an_operator_with_nothing_to_do_writes_nothing(newest, operator):
    newest.keys()
    newest.apply("minimal")
    newest.wait("controller/slurm", "restapi/slurm", "nodeset/worker")
    newest.idle(2)
    settled(operator)
    assert writes_within(operator, 30) == Counter()


@pytest.mark.long
def test_an_operator_with_nothing_to_do_writes_nothing_for_ten_minutes(operator, tmp_path):
    made = full(operator.cluster, "26.05", tmp_path, "quiet")
    made.wait(*FULL)
    # A token is renewed by and by, which is something to do.
    made.kubectl("delete", "token", "admin")
    made.idle(2)
    settled(operator)
    assert writes_within(operator, 600) == Counter()
    made.kubectl("delete", "namespace", "quiet", "--wait=false")


def test_every_example_has_a_test():
    names = {path.stem for path in EXAMPLES.glob("*.yaml")}
    tests = "".join(
        path.read_text() for path in EXAMPLES.parents[1].glob("tests/local/slinky/*.py")
    )
    assert {
        name for name in names if f'"{name}"' not in tests and f"{name}.yaml" not in tests
    } == set()
