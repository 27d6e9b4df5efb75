"""What is told of a SlurmCluster as events: its troubles, each once when it comes. Pure.

Conditions say how things are, and are written anew with every word that changes. An event is for
what somebody has to look at, so it comes with a trouble, and again when that becomes another one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from ..dialects.nebius.report import NODE_SET_REFS_RESOLVED
from ..kube.conditions import Condition
from ..kube.objects import Key
from ..runtime.events import Happening

# A part that is not ready for so long is worth a word, though nothing is known to be wrong.
LONG = timedelta(minutes=10)
NOT_READY = "NotAvailable"  # upstream's reason; a part that is away for maintenance has another one
GIVEN_UP = "has given up"  # the Job that fills the root
# The scheduler says so of a new pod whose claim is a moment old; where it stays, `LONG` tells.
UNBOUND = "unbound immediate PersistentVolumeClaims"


@dataclass(frozen=True)
class Row:
    """How a trouble is told, by the word that a condition's message begins with."""

    reason: str
    action: str
    by_words: bool = True  # other words are another trouble; not so where they count something


ROWS: Mapping[str, Row] = {
    "ConfigRefused": Row("ConfigRefused", "Publish"),
    "Invalid": Row("SpecInvalid", "Read"),
    "Refused": Row("ObjectRefused", "Apply"),
    "Missing": Row("Missing", "Read"),
    "KeyLost": Row("KeyLost", "Apply"),
    "DatabaseTaken": Row("DatabaseTaken", "Apply"),
    "PodsFailing": Row("PodsFailing", "Start", by_words=False),
}
POPULATE = Row("PopulateJailFailed", "Populate")
IGNORED = Row("IgnoredNodeSetRefs", "Publish")


def news(before: Iterable[Condition], after: Iterable[Condition]) -> list[Happening]:
    """Return the events of troubles that have come between two looks; parts may share one."""
    known = {one.type: _trouble(one) for one in before}
    found: dict[Happening, None] = {}
    for condition in after:
        trouble = _trouble(condition)
        if trouble is not None and _key(known.get(condition.type)) != _key(trouble):
            row, words = trouble
            found[Happening(row.reason, row.action, words, type="Warning")] = None
    return list(found)


Trouble = tuple[Row, str]


def _trouble(condition: Condition) -> Trouble | None:
    """Return the trouble that a condition tells of; None: it tells of none."""
    if condition.status != "False":
        return None
    if condition.type == NODE_SET_REFS_RESOLVED:
        return IGNORED, condition.message
    word, _, words = condition.message.partition(": ")
    if word == "RootFilling" and GIVEN_UP in words:
        return POPULATE, words
    if word == "PodsFailing" and UNBOUND in words:
        return None
    row = ROWS.get(word)
    return (row, words) if row is not None else None


def _key(trouble: Trouble | None) -> tuple[str, str] | None:
    if trouble is None:
        return None
    row, words = trouble
    return row.reason, words if row.by_words else ""


@dataclass(frozen=True)
class Waiting:
    """A part that is not ready, though nothing is known to be wrong."""

    since: datetime
    told: bool = False


@dataclass
class Patience:
    """Knows which parts of clusters are not ready, since when, and of which it was told."""

    _waiting: dict[Key, dict[str, Waiting]] = field(default_factory=dict)  # by type of condition

    def forget(self, cluster: Key) -> None:
        """Forget a cluster that is gone."""
        self._waiting.pop(cluster, None)

    def overdue(
        self, cluster: Key, conditions: Sequence[Condition], now: datetime
    ) -> tuple[list[Happening], float | None]:
        """Return the event of parts that are not ready for long, and when to look again."""
        waits = {one.type: one for one in conditions if _waits(one)}
        before = self._waiting.get(cluster)
        known = {
            type_: (before or {}).get(type_) or _begun(one, now, first=before is None)
            for type_, one in waits.items()
        }
        late = [t for t, one in known.items() if not one.told and now - one.since >= LONG]
        self._waiting[cluster] = known | {t: replace(known[t], told=True) for t in late}
        left = [(one.since + LONG - now).total_seconds() for one in known.values()]
        again_s = min((seconds for seconds in left if seconds > 0), default=None)
        return ([_late([waits[t] for t in late])] if late else []), again_s


def _waits(condition: Condition) -> bool:
    away = condition.status == "False" and condition.reason == NOT_READY
    return away and _trouble(condition) is None


def _begun(condition: Condition, now: datetime, *, first: bool) -> Waiting:
    """Return a part that begins to wait; what a new process finds late was told before it."""
    since = (first and condition.last_transition) or now
    return Waiting(since, told=now - since >= LONG)


def _late(found: Sequence[Condition]) -> Happening:
    minutes = int(LONG.total_seconds() // 60)
    words = "; ".join(f"{one.type}: {one.message}" for one in found)
    note = f"not ready for more than {minutes} minutes: {words}"
    return Happening("NotReadyForLong", "Wait", note, type="Warning")
