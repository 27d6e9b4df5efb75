"""Which events wake which keys: a table of functions without side effects."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..kube.kinds import Kind
from ..kube.objects import Key, Resource, controller_of
from .queue import Urgency

Keys = Iterable[Key]
# Resources of any slim type: the table mixes kinds, and each row knows its own.
Mapper = Callable[[Any], Keys]
Predicate = Callable[[Any, Any], bool]  # before and after, None where there is none


def always(before: Resource | None, after: Resource | None) -> bool:
    """Let every change pass."""
    return True


def spec_changed(before: Resource | None, after: Resource | None) -> bool:
    """Let pass what a user does: spec, deletion, labels, annotations; not a mere status."""
    if before is None or after is None or before.metadata.uid != after.metadata.uid:
        return True
    old, new = before.metadata, after.metadata
    return (
        # Kinds without a status (ConfigMap, Secret) count no generations.
        not new.generation
        or old.generation != new.generation
        or old.deletion_timestamp != new.deletion_timestamp
        or old.labels != new.labels
        or old.annotations != new.annotations
        or old.finalizers != new.finalizers
    )


@dataclass(frozen=True)
class Watch:
    """Wake the keys that `of` returns when an object of `kind` changes so that `when` holds."""

    kind: Kind
    of: Mapper
    when: Predicate = always
    urgency: Urgency = Urgency.EVENT


def itself(obj: Resource) -> Keys:
    """Name the object's own key."""
    return (obj.key,)


def main(kind: Kind) -> Watch:
    """Wake an object's own key when its user changes it, before anything else."""
    return Watch(kind, itself, spec_changed, Urgency.USER)


def owned(kind: Kind, by: Kind, when: Predicate = always) -> Watch:
    """Wake the owner of kind `by` that manages a changed object of `kind`."""

    def of(obj: Resource) -> Keys:
        owner = controller_of(obj)
        mine = owner and owner.kind == by.kind and owner.api_version.rpartition("/")[0] == by.group
        space = obj.metadata.namespace if by.namespaced else ""
        return ((space, owner.name),) if owner and mine else ()

    return Watch(kind, of, when)
