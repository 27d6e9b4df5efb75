"""The charts, on a cluster of their own: what people install, upgrade, remove and install again.

Not on the shared cluster, where another operator looks after every namespace, and definitions come
without a release and without a converter.
"""

import json
from dataclasses import replace

import pytest

from ..clusters import Local, Object, containers, wait_for
from .operator import ROOT, load
from .site import NEWEST, OURS, Site, site

CHARTS = ROOT / "charts"
HOME = "slinky"  # where the operator is
WAIT = ("--wait", "--timeout=120s")
IMAGES = ("shoal", *(f"{name}:{NEWEST}" for name in ("slurmctld", "slurmd", "slurmrestd")))
PARTS = ("controller/slurm", "restapi/slurm", "nodeset/worker")
# What a release, or its operator, could leave behind.
NAMESPACED = ("all", "leases", "secrets", "configmaps", "serviceaccounts", "roles", "rolebindings",
              "poddisruptionbudgets", "networkpolicies")  # fmt: skip
CLUSTER_WIDE = ("clusterroles", "clusterrolebindings", "validatingwebhookconfigurations",
                "mutatingwebhookconfigurations")  # fmt: skip
ANYBODYS = {"serviceaccount/default", "configmap/kube-root-ca.crt"}


@pytest.fixture(scope="module")
def cluster(make_shared) -> Local:
    """Give a cluster with nothing in it but our images."""
    made = make_shared("charts", "--nodes=1")
    load(made, *IMAGES)
    return made


def release(
    cluster: Local, chart: str, *words: str, name: str = "", namespace: str = HOME
) -> Local:
    """Install a chart, or upgrade it to these values; return the cluster where the release is."""
    there = replace(cluster, namespace=namespace)
    # Definitions are there at once, and Helm looks at them for seconds.
    wait = WAIT if chart == "slurm-operator" else ()
    there.helm(
        "upgrade", "--install", name or chart, CHARTS / chart,
        "--create-namespace", "--reset-values", *wait, *words,
    )  # fmt: skip
    return there


@pytest.fixture(scope="module")
def home(cluster: Local) -> Local:
    """Give the namespace of an operator that both charts have installed; every test leaves one."""
    release(cluster, "slurm-operator-crds")
    return release(cluster, "slurm-operator")


@pytest.fixture(scope="module")
def slurm(home: Local, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Give a Slurm with one worker, made by the operator of the charts."""
    made = site(home, NEWEST, "hpc", tmp_path_factory.mktemp("charts"))
    made.keys()
    # Its second worker will be on the same node.
    one = made.text("minimal").replace("replicas: 2", "replicas: 1\n  oversubscribeNode: true")
    made.kubectl("apply", "--filename=-", stdin=one)
    made.wait(*PARTS)
    made.idle(1)
    return made


def refused(slurm: Site, obj: Object) -> str:
    """Return what is said to somebody who writes an object that is wrong."""
    done = slurm.kubectl("create", "--filename=-", stdin=json.dumps(obj), check=False)
    assert done.code != 0, done
    return done.err


def object_(kind: str, name: str, version: str = "v1beta1", **spec: object) -> Object:
    """Return an object of slinky.slurm.net."""
    api = f"slinky.slurm.net/{version}"
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name}, "spec": spec}


def pods(slurm: Site) -> dict[str, tuple[str, int]]:
    """Return the containers of slurmctld, slurmrestd and the first worker."""
    found = slurm.cluster.get("pods", f"--selector={OURS}")
    return containers([pod for pod in found if pod["metadata"]["name"] != "worker-1"])


def kept(slurm: Site) -> set[tuple[str, str]]:
    """Return name and uid of every object that people have written."""
    found = slurm.cluster.get("controllers,restapis,nodesets,tokens")
    return {(one["kind"], one["metadata"]["uid"]) for one in found}


def test_an_object_with_a_mistake_is_refused_with_the_fields_named(home, slurm):
    bad = object_(
        "NodeSet",
        "bad",
        controllerRef={"name": ""},
        updateStrategy={"rollingUpdate": {"maxUnavailable": "0%"}},
    )
    said = refused(slurm, bad)
    assert "spec.controllerRef.name: is empty" in said
    assert "spec.updateStrategy.rollingUpdate.maxUnavailable: " in said
    assert not slurm.cluster.exists("nodeset", "bad")


def test_an_object_of_the_old_version_is_kept_as_the_new_one(home, slurm):
    key = {"name": "slurm-keys", "key": "jwt.key", "namespace": "hpc"}
    old = object_("Token", "old", "v1alpha1", username="slurm", jwtHs256KeyRef=key)
    slurm.cluster.apply(old)
    slurm.wait("token/old")
    assert slurm.cluster.get("tokens.v1beta1.slinky.slurm.net", "old")["spec"] == {
        **old["spec"],
        "refresh": True,
    }
    read = slurm.cluster.get("tokens.v1alpha1.slinky.slurm.net", "old")
    assert read["spec"]["jwtHs256KeyRef"] == key
    stored = slurm.cluster.get("crd", "tokens.slinky.slurm.net")["status"]["storedVersions"]
    assert stored == ["v1beta1"]


def test_an_upgrade_to_other_values_loses_no_object_and_restarts_no_pod(home, slurm):
    before, objects = pods(slurm), kept(slurm)
    values = ("--set=operator.replicas=2", "--set=operator.logLevel=debug",
              "--set=operator.pdb.enabled=true")  # fmt: skip
    release(home, "slurm-operator", *values)
    assert home.get("deployment", "slurm-operator")["status"]["availableReplicas"] == 2
    assert (pods(slurm), kept(slurm)) == (before, objects)
    # A standby answers webhooks as well as the one that leads.
    for _ in range(4):
        refused(slurm, object_("RestApi", "bad", controllerRef={"name": ""}))


def left(home: Local) -> set[str]:
    """Name what there is of a release and its operator, in its namespace and in the cluster."""
    here = home.kubectl("get", ",".join(NAMESPACED), "--output=name").out.split()
    wide = home.kubectl("get", ",".join(CLUSTER_WIDE), "--output=name").out.split()
    ours = {name for name in wide if "slurm" in name or "slinky" in name}
    # Helm's own record of the other release.
    rest = {name for name in here if "sh.helm.release.v1.slurm-operator-crds." not in name}
    return (rest | ours) - ANYBODYS


def uninstalled(home: Local, name: str = "slurm-operator") -> None:
    """Remove a release, and see that nothing of it is left; some of it is garbage, collected."""
    home.helm("uninstall", name, *WAIT)
    wait_for("nothing to be left", lambda: left(home), lambda seen: not seen, timeout_s=30)


def test_slurm_outlives_its_operator_which_leaves_nothing_and_takes_over_again(home, slurm):
    before, objects = pods(slurm), kept(slurm)
    job = slurm.submit("--wrap=sleep 600")
    slurm.runs(job)
    uninstalled(home)
    # Nobody is asked any more, so nothing blocks what is written.
    slurm.patch("nodeset/worker", {"replicas": 2})
    step = slurm.run("srun", f"--jobid={job}", "--overlap", "hostname")
    assert step.out == "worker-0\n"
    release(home, "slurm-operator")
    wait_for("the second worker", lambda: slurm.cluster.exists("pod", "worker-1"))
    assert slurm.state(job) == "RUNNING"
    assert (pods(slurm), kept(slurm)) == (before, objects)
    slurm.run("scancel", job)


def definitions(cluster: Local) -> set[str]:
    """Name the kinds of slinky.slurm.net."""
    names = cluster.kubectl("get", "crds", "--output=name").out.split()
    return {name for name in names if name.endswith(".slinky.slurm.net")}


def test_the_kinds_stay_when_their_release_goes_and_it_can_be_installed_again(home, slurm):
    objects, kinds = kept(slurm), definitions(home)
    home.helm("uninstall", "slurm-operator-crds")
    assert definitions(home) == kinds
    assert len(kinds) == 6
    release(home, "slurm-operator-crds")
    assert kept(slurm) == objects


def may(account: str, cluster: Local, *words: str) -> str:
    """Say whether an account may do something in the namespace of `cluster`."""
    return cluster.kubectl("auth", "can-i", *words, f"--as={account}", check=False).out.strip()


def test_an_operator_of_one_namespace_needs_no_more_of_the_cluster_than_its_nodes(home, slurm):
    uninstalled(home)
    release(home, "slurm-operator-crds", "--set=conversion.enabled=false")
    before = pods(slurm)
    # What the owner of the cluster does for somebody who owns a namespace.
    home.kubectl("create", "clusterrole", "see-nodes", "--verb=get,list,watch", "--resource=nodes")
    home.kubectl(
        "create", "clusterrolebinding", "see-nodes-hpc",
        "--clusterrole=see-nodes", "--serviceaccount=hpc:slurm-operator",
    )  # fmt: skip
    values = ("--set=operator.namespaces=hpc", "--set=operator.clusterRole=false",
              "--set=webhook.enabled=false")  # fmt: skip
    mine = release(home, "slurm-operator", *values, name="mine", namespace="hpc")
    assert left(home) == set()
    key = {"name": "slurm-keys", "key": "jwt.key"}
    token = object_("Token", "late", username="slurm", jwtKeyRef=key)
    elsewhere = replace(home, namespace="default")
    elsewhere.apply(token)
    mine.apply(token)
    slurm.wait("token/late")
    assert "conditions" not in elsewhere.get("token", "late").get("status", {})
    account = "system:serviceaccount:hpc:slurm-operator"
    assert may(account, mine, "list", "secrets") == "yes"
    assert may(account, elsewhere, "list", "secrets") == "no"
    assert pods(slurm) == before
