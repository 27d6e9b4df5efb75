"""How a NodeSet's workers are replaced, and what becomes of their claims, to the model. Pure.

One NodeSet that cannot be understood must not spoil its cluster, and what is not understood must
not end a job. So nothing here raises: a word that an older definition let through means that
workers are replaced only when somebody deletes them.
"""

from datetime import datetime, timedelta

from ...kube.durations import duration
from ...model.nodeset import Retention, Strategy, Update, Window
from . import naming, types

DURATION = timedelta(minutes=30)


def update(name: str, asked: types.UpdateStrategy) -> Update:
    """Understand the update strategy of the NodeSet `name`."""
    strategy = _strategy(asked.type)
    window = _window(name, asked.scheduled_update) if strategy is Strategy.SCHEDULED else None
    return Update(strategy, asked.rolling_update.max_unavailable, window)


def retention(asked: types.ClaimRetention) -> Retention:
    """Understand what becomes of claims; whatever is not `Delete` keeps them."""
    return Retention(
        delete_with_set=asked.when_deleted == "Delete",
        delete_with_worker=asked.when_scaled == "Delete",
    )


def _strategy(word: str) -> Strategy:
    try:
        return Strategy(word)
    except ValueError:
        return Strategy.ON_DELETE


def _window(name: str, asked: types.ScheduledUpdate | None) -> Window | None:
    """Return the window; without a start that can be read there is none, so nothing is replaced."""
    try:
        start = datetime.fromisoformat(asked.start_time or "") if asked else None
    except ValueError:
        return None
    if asked is None or start is None or start.tzinfo is None:
        return None
    flags = tuple(sorted({flag.upper() for flag in asked.flags or ()}))
    return Window(naming.reservation(name), start, _lasting(asked.duration), flags)


def _lasting(text: str) -> timedelta:
    try:
        found = duration(text, "spec.updateStrategy.scheduledUpdate.duration")
    except ValueError:
        return DURATION
    return found if found > timedelta() else DURATION
