"""Status conditions. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from .objects import Object

Status = Literal["True", "False", "Unknown"]


@dataclass(frozen=True)
class Condition:
    """One status condition; the transition time moves only when the status does."""

    type: str
    status: Status
    reason: str
    message: str = ""
    observed_generation: int = 0
    last_transition: datetime | None = None


def carry_transitions(
    new: Iterable[Condition], old: Sequence[Condition], now: datetime
) -> list[Condition]:
    """Return `new` with the transition times they must have, given the conditions before them."""
    before = {c.type: c for c in old}
    carried = []
    for condition in new:
        was = before.get(condition.type)
        same = was is not None and was.status == condition.status
        when = was.last_transition if same and was else now
        carried.append(replace(condition, last_transition=when or now))
    return carried


def settled(new: Iterable[Condition], status: Object, now: datetime) -> list[Object]:
    """Return `new` as the API has them, with the transition times that follow from `status`."""
    old = [read(found) for found in status.get("conditions", ())]
    return [write(condition) for condition in carry_transitions(new, old, now)]


def write(condition: Condition) -> Object:
    """Return the condition as the API has it."""
    moved = condition.last_transition
    return {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        "observedGeneration": condition.observed_generation,
        "lastTransitionTime": moved.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        if moved
        else None,
    }


def read(found: Object) -> Condition:
    """Understand one condition of a status; what is missing is left out, never an error."""
    moved = found.get("lastTransitionTime")
    return Condition(
        type=found["type"],
        status=found["status"],
        reason=found.get("reason", ""),
        message=found.get("message", ""),
        observed_generation=found.get("observedGeneration", 0),
        last_transition=datetime.fromisoformat(moved) if moved else None,
    )
