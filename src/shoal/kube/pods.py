"""Pods and nodes, as far as they are read. Pure."""

from datetime import datetime, timedelta

import msgspec

from .objects import Resource, Slim, moment


class PodCondition(Slim, frozen=True, gc=False, rename="camel"):
    """One condition of a pod."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None


class Ended(Slim, frozen=True, gc=False, rename="camel"):
    """How a container ended."""

    exit_code: int = 0
    reason: str = ""
    message: str = ""


class Waiting(Slim, frozen=True, gc=False, rename="camel"):
    """Why a container has not started."""

    reason: str = ""
    message: str = ""


class Running(Slim, frozen=True, gc=False, rename="camel"):
    """Since when a container runs."""

    started_at: str = ""


class ContainerState(Slim, frozen=True, gc=False, rename="camel"):
    """What a container does; at most one is set."""

    waiting: Waiting | None = None
    terminated: Ended | None = None
    running: Running | None = None


class ContainerStatus(Slim, frozen=True, gc=False, rename="camel"):
    """One container of a pod."""

    name: str = ""
    ready: bool = False
    restart_count: int = 0
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()


class PodStatus(Slim, frozen=True, gc=False, rename="camel"):
    """What became of a pod."""

    phase: str = ""
    reason: str = ""
    message: str = ""
    pod_ip: str = msgspec.field(default="", name="podIP")
    conditions: tuple[PodCondition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()


class PodSpec(Slim, frozen=True, gc=False, rename="camel"):
    """What is read of a pod's spec."""

    node_name: str = ""
    hostname: str = ""
    host_network: bool = False


class Pod(Resource, frozen=True, gc=False, rename="camel"):
    """A pod."""

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def over(self) -> bool:
        """Say whether it has ended for good."""
        return self.status.phase in ("Succeeded", "Failed")

    @property
    def ready(self) -> bool:
        """Say whether it serves."""
        # Asked thousands of times a pass: a loop takes half as long as any().
        for condition in self.status.conditions:
            if condition.type == "Ready":
                return condition.status == "True"
        return False

    @property
    def ready_since(self) -> datetime | None:
        """Return since when it serves; None: it does not, or nobody says."""
        for condition in self.status.conditions:
            if condition.type == "Ready" and condition.status == "True":
                return moment(condition.last_transition_time)
        return None

    def started_at(self, container: str) -> str:
        """Return since when a container runs, as Kubernetes writes it; empty: it does not."""
        for one in self.status.container_statuses:
            if one.name == container and one.state.running is not None:
                return one.state.running.started_at
        return ""

    def available(self, now: datetime, after: timedelta) -> bool:
        """Say whether it has served for long enough."""
        if not after:
            return self.ready
        since = self.ready_since
        return since is not None and now - since >= after

    @property
    def trouble(self) -> str:
        """Say in a line why it does not serve; empty when nothing is wrong with it yet."""
        for condition in self.status.conditions:
            if condition.type == "PodScheduled" and condition.status == "False":
                return f"not scheduled: {condition.message}"
        every = (*self.status.init_container_statuses, *self.status.container_statuses)
        return next((words for words in map(_trouble, every) if words), self.status.message)


def _trouble(container: ContainerStatus) -> str:
    if container.ready:
        return ""
    waiting, ended = container.state.waiting, container.state.terminated
    if waiting is not None and waiting.reason in ("PodInitializing", "ContainerCreating"):
        waiting = None
    ended = ended or container.last_state.terminated
    if ended is not None and ended.exit_code != 0:
        said = ended.message.strip().splitlines()
        words = said[-1] if said else ended.reason
        return f"{container.name} ended with code {ended.exit_code}: {words}"
    if waiting is not None:
        return f"{container.name}: {waiting.reason}: {waiting.message}".rstrip(": ")
    return ""
