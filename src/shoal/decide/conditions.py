"""Readiness: the first check that fails is the reason shown. Pure.

Reasons, each documented at the check that gives it, are what `kubectl wait` and alerts go by.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..kube.conditions import Condition
from ..model.observed import Seen
from ..model.part import Absent, Files, KeyRef

READY = "Ready"
Need = KeyRef | Files | Absent


@dataclass(frozen=True)
class Wanted:
    """What a part needs to be ready."""

    needs: tuple[Need, ...] = ()  # what it cannot do without
    pods: int | None = None  # how many; None: it has none
    waits: tuple[str, ...] = ()  # what goes on meanwhile; nothing of it is wrong


@dataclass(frozen=True)
class Failed:
    """Why it is not ready, and what to do next."""

    reason: str
    message: str


Check = Callable[[Wanted, Seen], Failed | None]


def missing(wanted: Wanted, _: Seen) -> Failed | None:
    """Fail as `Missing` when something that the spec names is not there."""
    lacking = [need for need in wanted.needs if not need.digest]
    if not lacking:
        return None
    words = "; ".join(f"{need.field}: {need} is not there" for need in lacking)
    return Failed("Missing", f"{words}; create it, or name another")


def refused(_: Wanted, seen: Seen) -> Failed | None:
    """Fail as `Refused` when an object could not be written: mostly its name is taken."""
    if not seen.refused:
        return None
    return Failed("Refused", "; ".join(seen.refused))


def pods_failing(wanted: Wanted, seen: Seen) -> Failed | None:
    """Fail as `PodsFailing` when a pod says why it does not come up."""
    troubled = [(pod.metadata.name, pod.trouble) for pod in seen.unready]
    troubled = [(name, trouble) for name, trouble in troubled if trouble]
    if not troubled:
        return None
    name, trouble = troubled[0]
    more = f" (and {len(troubled) - 1} more)" if troubled[1:] else ""
    hint = f"see `kubectl describe pod {name}` and `kubectl logs {name} --all-containers`"
    words = (f"pod {name}: {trouble}{more}", hint, *wanted.waits)
    return Failed("PodsFailing", "; ".join(words))


def pods_starting(wanted: Wanted, seen: Seen) -> Failed | None:
    """Fail as `Starting` while pods are not ready and nothing is known to be wrong."""
    if wanted.pods is None:
        return None
    if seen.ready < wanted.pods:
        words = (f"{seen.ready} of {wanted.pods} pods are ready", *wanted.waits)
        return Failed("Starting", "; ".join(words))
    if seen.workload is not None and not seen.workload.settled:
        return Failed("Starting", "pods are being replaced")
    return None


CHECKS: tuple[Check, ...] = (missing, refused, pods_failing, pods_starting)


def ready(wanted: Wanted, seen: Seen, before: Sequence[Failed | None] = ()) -> Condition:
    """Say whether a part is ready, and if not, the first reason why not.

    `before` are verdicts of the part's own, which count for more than those of its pods.
    """
    verdicts = (*before, *(check(wanted, seen) for check in CHECKS))
    failed = next((verdict for verdict in verdicts if verdict is not None), None)
    if failed is not None:
        return Condition(READY, "False", failed.reason, failed.message, seen.generation)
    words = (_as_asked(wanted.pods), *wanted.waits)
    return Condition(READY, "True", "AsAsked", "; ".join(words), seen.generation)


def _as_asked(pods: int | None) -> str:
    if not pods:
        return "all is as asked"
    return "1 pod is ready" if pods == 1 else f"{pods} pods are ready"
