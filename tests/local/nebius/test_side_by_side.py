"""Clusters side by side: two in a namespace, one elsewhere, one of slinky.slurm.net beside them."""

import pytest

from shoal.local import images

from ..clusters import wait_for
from ..slinky import site as slinky
from ..slinky.operator import load
from ..workers.nodesets import timed
from .site import Rooted

BROKEN = "localhost:1/there-is-none:1"


def ran(slurm: Rooted, cluster: str) -> str:
    """Run a job in a cluster; return where."""
    pod = f"{cluster}-controller-0"
    slurm.idle(1, pod=pod)
    return slurm.run("srun", "--chdir=/", "hostname", pod=pod).out.strip()


@pytest.fixture(scope="module")
def both(make_site):
    """Give a namespace with two clusters."""
    made = make_site("both")
    made.apply("two-clusters")
    made.available("blue", "green")
    return made


def test_two_clusters_of_one_namespace_do_not_meet(both):
    for cluster, number in (("blue", 3), ("green", 1)):
        pod = f"{cluster}-controller-0"
        assert [ran(both, cluster) for _ in range(number)] == ["worker-0"] * number
        jobs = both.run("scontrol", "show", "jobs", "--oneliner", pod=pod).out.splitlines()
        assert len(jobs) == number
    keys = [both.cluster.get("secret", f"{name}-munge")["data"] for name in ("blue", "green")]
    assert keys[0] != keys[1]


def test_one_of_two_can_go_and_the_other_does_not_notice(both):
    before = {name: pod["metadata"]["uid"] for name, pod in both.pods().items() if "green-" in name}
    number = both.submit("--chdir=/", "--wrap=sleep 600", pod="green-controller-0")
    both.runs(number, pod="green-controller-0")
    both.kubectl("delete", "slurmcluster", "blue")
    wait_for("blue to go", lambda: [n for n in both.pods() if "blue-" in n], lambda s: not s)
    after = {name: pod["metadata"]["uid"] for name, pod in both.pods().items()}
    assert after == before
    assert both.state(number, pod="green-controller-0") == "RUNNING"
    both.run("scancel", number, pod="green-controller-0")
    assert both.told("green")["phase"] == "Available"


@pytest.mark.long
def test_a_cluster_with_an_image_that_nobody_has_delays_no_other(make_site, record_property):
    made = make_site("beside-broken")
    blue, green = made.text("two-clusters").split("---\napiVersion: v1\n")
    broken = blue.replace(f"shoal/populate_jail:{made.series}", BROKEN)
    assert broken != blue
    made.kubectl("apply", "--filename=-", stdin=broken)
    made.kubectl("wait", "--for=create", "job/blue-populate-jail", "--timeout=60s")
    with timed(record_property, "the other is available after"):
        made.kubectl("apply", "--filename=-", stdin=f"apiVersion: v1\n{green}")
        made.available("green")
    told = wait_for(
        "words of the image",
        lambda: made.told("blue"),
        lambda seen: any(BROKEN in words for words in seen["amiss"]),
    )
    assert told["phase"] == "Not available"
    made.kubectl("delete", "slurmcluster", "blue", "green")


@pytest.mark.long
def test_a_slinky_cluster_is_looked_after_beside_by_the_same_operator(slurm, make_site, operator):
    load(operator.cluster, *images.SLURM[slurm.series])
    mine = make_site("slinky-beside")
    beside = slinky.Site(mine.cluster, slurm.series, mine.folder)
    beside.keys()
    beside.apply("minimal")
    beside.wait("controllers.slinky.slurm.net/slurm", "nodesets.slinky.slurm.net/worker")
    beside.idle(2)
    beside.completes(beside.submit("--wrap=srun hostname"))
    slurm.completes(slurm.submit("--chdir=/", "--wrap=srun hostname"))
    beside.delete("minimal")
