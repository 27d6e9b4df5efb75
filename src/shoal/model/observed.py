"""The world as it was seen. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from ..kube.pods import Pod
from ..kube.workloads import Workload


@dataclass(frozen=True)
class Seen:
    """What was seen of one part."""

    generation: int  # of the object that asks for it
    now: datetime
    workload: Workload | None = None
    pods: tuple[Pod, ...] = ()
    refused: tuple[str, ...] = ()  # why some of its objects could not be written

    @cached_property
    def unready(self) -> tuple[Pod, ...]:
        """Return the pods that do not serve, but for those that end: they are in nobody's way."""
        return tuple(pod for pod in self.pods if not pod.ready and not pod.deleting)

    @cached_property
    def ready(self) -> int:
        """Count the pods that serve and do not end."""
        return sum(not pod.deleting for pod in self.pods) - len(self.unready)


@dataclass(frozen=True)
class Found:
    """What ConfigMaps and Secrets of one namespace hold; a name that is missing is not there."""

    config_maps: Mapping[str, Mapping[str, bytes]]
    secrets: Mapping[str, Mapping[str, bytes]]
