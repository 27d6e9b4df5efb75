"""The world as it was seen. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

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


@dataclass(frozen=True)
class Found:
    """What ConfigMaps and Secrets of one namespace hold; a name that is missing is not there."""

    config_maps: Mapping[str, Mapping[str, bytes]]
    secrets: Mapping[str, Mapping[str, bytes]]
