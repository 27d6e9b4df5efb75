"""How much of a plan is done in one pass, where much of it is one request a worker. Pure.

What is left is decided anew in the next pass, which follows at once, on what is so by then. So a
pass over thousands of workers ends soon, tells how far it has come, and its user is heard who has
changed his mind. Workers come and go first: what is only told of them has time until then.
"""

from .plan import Action, CreateWorker, DeleteWorker, MarkWorker, Plan, ShowState, TellSlurm

# At forty requests a second, which is slow, a pass takes a minute: half of its time.
MOST = 2500
_MOVES = (CreateWorker, DeleteWorker)
_TELLS = (MarkWorker, ShowState, TellSlurm)


def portion(plan: Plan, most: int = MOST) -> Plan:
    """Return what of a plan is done now: of workers that come, and of those that go, the first."""
    if len(plan) <= most:
        return plan
    moves = [sum(isinstance(action, kind) for action in plan) for kind in _MOVES]
    left = max(most - sum(min(number, most) for number in moves), 0)
    room: dict[type[Action], int] = {**dict.fromkeys(_MOVES, most), **dict.fromkeys(_TELLS, left)}
    return tuple(action for action in plan if _fits(action, room))


def _fits(action: Action, room: dict[type[Action], int]) -> bool:
    kind = type(action)
    if kind not in room:
        return True
    room[kind] -= 1
    return room[kind] >= 0
