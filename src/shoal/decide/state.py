"""Whether slurmctld may start on an empty state: not where there was one. Pure.

slurmctld starts happily on an empty folder. It then knows no node and no job, the jobs that run end
with the first restart of their slurmd, and job ids begin anew. So that there was a state is noted
where the loss of its volume does not reach, and only the user's word lets slurmctld start without.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from ..kube.pods import ContainerStatus, Pod
from ..model.controller import STATE_GUARD, STATE_LOST
from .conditions import Failed

SLURMCTLD = "slurmctld"


@dataclass(frozen=True)
class Past:
    """What is known of the state of a slurmctld, where it is meant to stay."""

    uid: str  # of the cluster's object: another one of its name has another state
    noted: str = ""  # whose state there was, as the object says
    expected: bool = False  # what pods are told so far
    accepted: bool = False  # the user gives up what there was
    pods: tuple[Pod, ...] = ()

    @property
    def runs(self) -> bool:
        """Say whether a slurmctld serves on a state that was looked at when it started.

        One that was started without a look may have had a state that was not meant to stay.
        """
        return any(pod.ready and not pod.deleting and _looked(pod) for pod in self.pods)

    @property
    def existed(self) -> bool:
        """Say whether there was a state; one of two notes is enough, as either may be wiped."""
        return self.runs or self.noted == self.uid or self.expected

    @property
    def expects(self) -> bool:
        """Say whether slurmctld must find a state when it starts."""
        return self.existed and not (self.accepted and not self.runs)

    @property
    def note(self) -> str | None:
        """Return what has to be noted now; None: nothing new."""
        return self.uid if self.runs and self.noted != self.uid else None

    @property
    def spent(self) -> bool:
        """Say whether the user's word has had its effect: it counts for one start."""
        return self.accepted and self.runs

    @property
    def blocked(self) -> list[Pod]:
        """Return the pods in which slurmctld was not started, as the state is gone."""
        return [pod for pod in self.pods if not pod.deleting and _lost(pod)]


def state_lost(past: Past, cure: str) -> Failed | None:
    """Fail as `StateLost` when slurmctld is not started as its state is gone.

    `cure` is what the user says to have it started all the same.
    """
    blocked = past.blocked
    if not blocked or past.accepted:
        return None
    name = blocked[0].metadata.name
    happened = f"pod {name}: slurmctld had a state, and its volume is empty, so it is not started"
    danger = "jobs still run on the workers, and would be lost with an empty state"
    restore = f"restore the volume and delete pod {name}"
    return Failed("StateLost", f"{happened}; {danger}; {restore}, or give them up: {cure}")


def _looked(pod: Pod) -> bool:
    return any(c.name == STATE_GUARD for c in pod.status.init_container_statuses)


def _lost(pod: Pod) -> bool:
    # Some images look again before each start in the same pod.
    main = (c for c in pod.status.container_statuses if c.name == SLURMCTLD)
    guard = (c for c in pod.status.init_container_statuses if c.name == STATE_GUARD)
    return _ended_so((*guard, *main))


def _ended_so(containers: Iterable[ContainerStatus]) -> bool:
    # One that is ready has found the state since.
    ends = (c.state.terminated or c.last_state.terminated for c in containers if not c.ready)
    return any(end is not None and end.exit_code == STATE_LOST for end in ends)
