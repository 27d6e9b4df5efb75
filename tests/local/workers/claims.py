"""Workers with claims of their own: which of them outlive what, and what is on them."""

from ..clusters import wait_for
from .jobs import PATIENCE_S
from .nodesets import Record, Workers, timed

TEMPLATE = {
    "metadata": {"name": "data"},
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Mi"}},
    },
}
POD_CORDON = "nodeset.slinky.slurm.net/pod-cordon"


def claims(workers: Workers) -> set[str]:
    """Name the claims of the workers."""
    label = f"--selector=app.kubernetes.io/instance={workers.name}"
    return {claim["metadata"]["name"] for claim in workers.site.cluster.get("pvc", label)}


def owners(workers: Workers) -> set[str]:
    """Return with what kinds of objects the claims of the workers go."""
    label = f"--selector=app.kubernetes.io/instance={workers.name}"
    found = (c["metadata"] for c in workers.site.cluster.get("pvc", label))
    return {owner["kind"] for meta in found for owner in meta.get("ownerReferences", [])}


def write(workers: Workers, number: int, words: str) -> None:
    """Leave something on a worker's claim."""
    workers.site.run("sh", "-c", f"echo {words} > /data/note", pod=workers.node(number))


def note(workers: Workers, number: int) -> str:
    """Return what was left on a worker's claim."""
    words = ("cat", "/data/note")
    return workers.site.run(*words, pod=workers.node(number), check=False).out.strip()


def retain(workers: Workers, when: str, what: str) -> None:
    """Say what becomes of claims."""
    policy = {"persistentVolumeClaimRetentionPolicy": {when: what}}
    workers.site.patch(f"nodeset/{workers.name}", policy)


def kept_and_deleted(workers: Workers, record: Record) -> None:
    """Scale in and out, renew, cordon and delete workers with claims; a job runs through most."""
    site, mount = workers.site, [{"name": "data", "mountPath": "/data"}]
    slurmd = {"image": f"shoal/slurmd:{site.series}", "volumeMounts": mount}
    workers.make(2, volumeClaimTemplates=[TEMPLATE], slurmd=slurmd)
    busy, both = workers.node(0), {f"data-{workers.node(n)}" for n in (0, 1)}
    assert claims(workers) == both
    write(workers, 0, "first")
    write(workers, 1, "second")
    job = workers.start(busy)
    # Kept, and found again.
    workers.scale(1)
    workers.only(busy)
    assert claims(workers) == both
    workers.scale(2)
    workers.serve(2)
    assert note(workers, 1) == "second"
    # Neither an update nor a cordon is scaling in.
    retain(workers, "whenScaled", "Delete")
    old = workers.uids()
    workers.renew("second")
    workers.renewed(old, workers.node(1))
    assert note(workers, 1) == "second"
    site.kubectl("annotate", "pod", workers.node(1), f"{POD_CORDON}=true")
    wait_for(
        "the cordoned one to be drained",
        lambda: workers.node_of(workers.node(1)).state,
        lambda state: state == "drained",
        PATIENCE_S,
    )
    before = workers.uids()
    site.kubectl("delete", "pod", workers.node(1))
    workers.renewed(before, workers.node(1))
    assert note(workers, 1) == "second"
    assert owners(workers) == set()
    assert job.runs()
    job.end()
    job.ended_well()
    workers.renewed(old, busy)
    assert note(workers, 0) == "first"
    with timed(record, "a claim is gone with its worker after"):
        workers.scale(1)
        wait_for(
            "the claim to go",
            lambda: claims(workers),
            lambda seen: seen == {f"data-{busy}"},
            PATIENCE_S,
        )
    workers.scale(2)
    workers.serve(2)
    assert note(workers, 1) == ""
    # The NodeSet may take them along, or leave them.
    retain(workers, "whenDeleted", "Delete")
    wait_for("owners", lambda: owners(workers), lambda seen: seen == {"NodeSet"}, PATIENCE_S)
    retain(workers, "whenDeleted", "Retain")
    wait_for("no owners", lambda: owners(workers), lambda seen: not seen, PATIENCE_S)
    assert note(workers, 0) == "first"
    retain(workers, "whenDeleted", "Delete")
    wait_for("owners", lambda: owners(workers), lambda seen: seen == {"NodeSet"}, PATIENCE_S)
    with timed(record, "all claims are gone with the NodeSet after"):
        site.kubectl("delete", "nodeset", workers.name)
        wait_for("no claim", lambda: claims(workers), lambda seen: not seen, PATIENCE_S)
