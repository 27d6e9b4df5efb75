"""Which revisions of a NodeSet there are: made, numbered anew, and forgotten. Pure.

A revision holds the user's wishes for the workers. It is found again by what it says and not by
its hash: the hash is the name that it was given once, which its workers carry. So neither another
way to hash nor a wish that only a later version of ours knows replaces a worker, as long as the
user asks for nothing else.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from ..kube.objects import Object, controller_of
from ..kube.revisions import ControllerRevision
from ..model.nodeset import NodeSet
from .plan import Action, Plan

HASH_DIGITS = 10


@dataclass(frozen=True)
class CreateRevision(Action):
    """Keep what the user wants now."""

    name: str
    hash: str
    number: int


@dataclass(frozen=True)
class RenumberRevision(Action):
    """Make that very revision the newest, and ours where it is nobody's."""

    name: str
    uid: str
    number: int
    adopt: bool = False


@dataclass(frozen=True)
class DeleteRevision(Action):
    """Forget that very revision."""

    name: str
    uid: str


@dataclass(frozen=True)
class Past:
    """What there is already."""

    revisions: Sequence[ControllerRevision]  # of the namespace, whoever's they are
    used: Sequence[str]  # the hash of each worker that there is, also of one that ends
    collisions: int = 0  # names that were found taken so far


@dataclass(frozen=True)
class Revised:
    """Which revision is which, and what to do."""

    update: str  # the hash of what the user wants now
    current: str  # the hash of what most recently was, while workers of it are left
    collisions: int
    plan: Plan = ()


def revise(nodeset: NodeSet, uid: str, data: Object, past: Past) -> Revised:
    """Return the revisions of a NodeSet, of that `uid`, whose user wants `data`."""
    ours = sorted(_ours(nodeset, uid, past.revisions), key=_age)
    highest = ours[-1].revision if ours else 0
    workers = Counter(past.used)
    update = _equal(ours, data, workers)
    if update is None:
        name, hashed, collisions = _named(nodeset, data, past)
        why = "the user wants other workers" if ours else "the first of its NodeSet"
        made = CreateRevision(why, name, hashed, highest + 1)
        current = _current(ours, workers, hashed)
        gone = _surplus(nodeset, ours, workers, {hashed, current})
        return Revised(hashed, current, collisions, (made, *gone))
    current = _current(ours, workers, update.hash)
    gone = _surplus(nodeset, ours, workers, {update.hash, current})
    renumbered = _renumbered(update, ours, highest)
    return Revised(update.hash, current, past.collisions, (*renumbered, *gone))


def hashed_as(data: Object, collisions: int) -> str:
    """Return the hash of a new revision that says `data`, after so many names that were taken."""
    texts = [msgspec.json.encode(data, order="sorted")]
    if collisions:
        texts.append(str(collisions).encode())
    whole = hashlib.sha256()
    for text in texts:
        whole.update(f"{len(text)}:".encode() + text)
    return whole.hexdigest()[:HASH_DIGITS]


def _ours(
    nodeset: NodeSet, uid: str, revisions: Sequence[ControllerRevision]
) -> Iterator[ControllerRevision]:
    wanted = nodeset.part.selector.items()
    for revision in revisions:
        owner = controller_of(revision)
        # One without an owner is left from a NodeSet that was deleted, and its workers were not.
        found = owner.uid == uid if owner else wanted <= revision.metadata.labels.items()
        if found and revision.hash and not revision.deleting:
            yield revision


def _age(revision: ControllerRevision) -> tuple[int, str, str]:
    meta = revision.metadata
    return revision.revision, meta.creation_timestamp or "", meta.name


def _equal(
    ours: Sequence[ControllerRevision], data: Object, workers: Counter[str]
) -> ControllerRevision | None:
    wanted = _meaning(data)
    equal = [one for one in ours if _meaning(one.data) == wanted]
    # Of several, which only others can have made, the one that spares most workers.
    return max(equal, key=lambda one: (workers[one.hash], _age(one)), default=None)


def _meaning(data: object) -> bytes:
    """Return what is asked for; a wish that is left open is none, whether or not it is named."""
    told = {key: value for key, value in data.items() if value} if isinstance(data, dict) else data
    return msgspec.json.encode(told, order="sorted")


def _named(nodeset: NodeSet, data: Object, past: Past) -> tuple[str, str, int]:
    # One of the same name says something else, belongs to somebody else, or is about to go.
    taken = {revision.metadata.name for revision in past.revisions}
    collisions = past.collisions
    while (name := f"{nodeset.part.name}-{hashed_as(data, collisions)}") in taken:
        collisions += 1
    return name, hashed_as(data, collisions), collisions


def _renumbered(
    update: ControllerRevision, ours: Sequence[ControllerRevision], highest: int
) -> Iterator[Action]:
    adopt = controller_of(update) is None
    newest = update is ours[-1]
    if newest and not adopt:
        return
    why = "it is nobody's" if newest else "the user wants what was before"
    number = update.revision if newest else highest + 1
    yield RenumberRevision(why, update.metadata.name, update.metadata.uid, number, adopt)


def _current(ours: Sequence[ControllerRevision], workers: Counter[str], update: str) -> str:
    left = [one.hash for one in ours if one.hash != update and workers[one.hash]]
    return left[-1] if left else update


def _surplus(
    nodeset: NodeSet, ours: Sequence[ControllerRevision], workers: Counter[str], kept: set[str]
) -> Iterator[Action]:
    # An orphan is not ours to delete until it is ours.
    old = [
        one
        for one in ours
        if one.hash not in kept and not workers[one.hash] and controller_of(one) is not None
    ]
    why = f"spec.revisionHistoryLimit: {nodeset.revisions}"
    for one in old[: max(len(old) - max(nodeset.revisions, 0), 0)]:
        yield DeleteRevision(why, one.metadata.name, one.metadata.uid)
