"""What is kept of a NodeSet's earlier wishes. Pure."""

from ..kube.objects import Object
from ..kube.revisions import HASH
from ..model.nodeset import NodeSet
from . import marks
from .jailed import nodeset as jailed


def data(nodeset: NodeSet) -> Object:
    """Return what running workers have to be replaced for: the user's wishes, and nothing of ours.

    What we add, keys and other contents among it, reaches workers as they are replaced. A new key
    here has to be empty (or 0, or false) while the user does not ask for it, or each worker of each
    cluster would be replaced by a new version of ours.
    """
    wishes, ssh = nodeset.part.pods, nodeset.ssh
    return {
        "labels": dict(wishes.marks.labels),
        "annotations": dict(wishes.marks.annotations),
        "spec": wishes.spec,
        "containers": dict(wishes.containers),
        "extra": nodeset.extra,
        "padding": nodeset.padding,
        "oversubscribe": nodeset.oversubscribe,
        "ssh": [ssh.sssd.name, ssh.sssd.key, ssh.extra_sshd] if ssh else None,
        **({"jailed": jailed.wishes(nodeset.jailed)} if nodeset.jailed else {}),
    }


def revision(nodeset: NodeSet, name: str, hashed: str, number: int) -> Object:
    """Return the revision that keeps what the user wants now."""
    meta = marks.metadata(nodeset.part, name)
    meta["labels"] |= {**nodeset.part.selector, HASH: hashed}
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": meta,
        "revision": number,
        "data": data(nodeset),
    }
