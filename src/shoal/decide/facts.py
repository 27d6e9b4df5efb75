"""What Slurm is told of workers: whose they are, and what their Kubernetes nodes say. Pure.

Features that begin with our prefix are ours, all others are somebody else's and stay. So does a
comment that we have not written.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache

import msgspec

from ..kube.nodes import Node
from ..model.workers import Fleet, SlurmNode, Worker
from .plan import TellSlurm
from .wanted import Wanted

_SAID = "its Kubernetes node says so"
_WHOSE = "whose worker it is"
# The wish was another before anybody took note of what the record was made with. It is like no
# shape, so that the next worker gets a record of its own.
NOT_NOTED = "?"


class Told(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What a comment of ours says: which pod registered a Slurm node."""

    namespace: str
    pod_name: str
    node: str = ""  # Kubernetes'
    node_set_name: str = ""
    node_set_uid: str = msgspec.field(default="", name="nodeSetUID")
    note: str = ""  # an admin's, while we drain the node
    shape: str = ""  # what the slurmd that made the record told of the node


_TOLD = msgspec.json.Decoder(Told)


def facts(
    wanted: Wanted, fleet: Fleet, workers: Iterable[Worker], *, places: bool = True
) -> Iterator[TellSlurm]:
    """Give what Slurm has to be told of the living ones among `workers`.

    `places` says whether Slurm takes a node's place in the topology: it does from 25.05 on, and
    before that shows an empty one whatever it was told.
    """
    for worker in workers:
        node = fleet.slurm_node(worker)
        if node is None or not worker.living:
            continue
        # One change each: Slurm refuses a change as a whole, and alike ones go in one call.
        host = fleet.node(worker)
        if host is not None:
            if features := _features(wanted, node, host):
                yield features
            if places and (place := _place(wanted, node, host)):
                yield place
        if comment := _comment(wanted, worker, node):
            yield comment


def told_of(comment: str) -> Told | None:
    """Return what a comment of ours says; None: it is empty, or somebody else's."""
    if not comment.startswith("{"):
        return None
    try:
        return _TOLD.decode(comment)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return None


# -- what the Kubernetes node says


def _features(wanted: Wanted, node: SlurmNode, host: Node) -> TellSlurm | None:
    prefix = wanted.naming.feature_prefix
    text = host.metadata.annotations.get(wanted.naming.annotations.features, "")
    available = _replaced(node.features, prefix, text)
    active = _replaced(node.active_features, prefix, text)
    if available is None and active is None:
        return None
    # Slurm takes the active ones from those that are available where it is not told of both.
    return TellSlurm(
        _SAID,
        node.name,
        features=node.features if available is None else available,
        active_features=node.active_features if active is None else active,
    )


# Nodes come in a few kinds, and there are thousands of each.
@lru_cache(maxsize=4096)
def _replaced(there: tuple[str, ...], prefix: str, text: str) -> tuple[str, ...] | None:
    """Return `there` with the features of `text` instead of our earlier ones; None: it has them."""
    now = {feature for feature in there if feature.startswith(prefix)}
    ours = {prefix + name.strip() for name in text.split(",") if name.strip()}
    if now == ours:
        return None
    return (*(feature for feature in there if feature not in now), *sorted(ours))


def _place(wanted: Wanted, node: SlurmNode, host: Node) -> TellSlurm | None:
    place = host.metadata.annotations.get(wanted.naming.annotations.topology)
    if place is None or place == node.topology:
        return None
    return TellSlurm(_SAID, node.name, topology=place)


# -- whose it is


def _comment(wanted: Wanted, worker: Worker, node: SlurmNode) -> TellSlurm | None:
    if not wanted.uid or node.comment == comment_of(wanted, worker, shape=wanted.shape):
        return None
    told = told_of(node.comment)
    # An admin's comment is worth more than ours.
    if (told is None and node.comment.strip()) or not worker.ready:
        return None
    note = told.note if told is not None else ""
    comment = comment_of(wanted, worker, note, shape_of(wanted, worker, node))
    return None if comment == node.comment else TellSlurm(_WHOSE, node.name, comment=comment)


def shape_of(wanted: Wanted, worker: Worker, node: SlurmNode) -> str:
    """Return the shape that a record of ours was made with; a new one is as its worker is."""
    told = told_of(node.comment) if wanted.uid in node.comment else None
    if told is not None and told.shape:
        return told.shape
    return wanted.shape if worker.revision == wanted.revision or not wanted.shape else NOT_NOTED


def comment_of(wanted: Wanted, worker: Worker, note: str = "", shape: str = "") -> str:
    """Return the comment that says whose a worker is, with what an admin noted of it."""
    more = f',"note":{msgspec.json.encode(note).decode()}' if note else ""
    more += f',"shape":"{shape}"' if shape else ""
    nodeset = wanted.nodeset.part.name
    return f'{worker.pod_info}"nodeSetName":"{nodeset}","nodeSetUID":"{wanted.uid}"{more}}}'
