"""What workers were made of: kept, found again, and forgotten when it is old."""

from collections.abc import Mapping

from ..clusters import Object
from .nodesets import Record, Workers, timed


def revisions(workers: Workers) -> Mapping[int, Object]:
    """Return the revisions of a NodeSet by number."""
    label = f"--selector=app.kubernetes.io/name=slurmd,app.kubernetes.io/instance={workers.name}"
    found = workers.site.cluster.get("controllerrevisions", label)
    return {one["revision"]: one for one in found}


def made_of(workers: Workers) -> set[str]:
    """Return the hashes that the workers carry."""
    key = "controller.kubernetes.io/hash"
    return {pod["metadata"]["labels"][key] for pod in workers.pods().values()}


def hashed(revision: Object) -> str:
    """Return the hash of a revision."""
    return str(revision["metadata"]["labels"]["controller.kubernetes.io/hash"])


def go_back(workers: Workers, record: Record) -> None:
    """Renew workers, go back to what they were by what the revision says, and renew them again."""
    workers.make(2, revisionHistoryLimit=1)
    old = workers.uids()
    workers.renew("second")
    workers.renewed(old, *old)
    first, second = (revisions(workers)[number] for number in (1, 2))
    assert made_of(workers) == {hashed(second)}
    # As whoever has lost the manifest does: what the revision says, asked for again.
    marks = {"annotations": first["data"]["annotations"] or {"example.org/round": None}}
    newer = workers.uids()
    with timed(record, "all are back after"):
        workers.site.patch(f"nodeset/{workers.name}", {"template": {"metadata": marks}})
        workers.renewed(newer, *newer)
    found = revisions(workers)
    assert {number: hashed(one) for number, one in found.items()} == {
        2: hashed(second),
        3: hashed(first),
    }
    assert found[3]["metadata"]["uid"] == first["metadata"]["uid"]
    assert made_of(workers) == {hashed(first)}
    # One more than is kept.
    newer = workers.uids()
    workers.renew("third")
    workers.renewed(newer, *newer)
    assert set(revisions(workers)) == {3, 4}
