"""slurmrestd. Pure."""

from dataclasses import dataclass

from .jail import Volume
from .part import Part, ServiceWishes


@dataclass(frozen=True)
class RestApi:
    """slurmrestd in pods of ours."""

    part: Part
    name: str  # of its Deployment and its Service
    service: ServiceWishes
    replicas: int = 1
    cluster: str = ""  # the object that stands for its cluster
    threads: int = 0  # 0: as many as slurmrestd likes
    connections: int = 0  # 0: as many as slurmrestd likes
    jail: Volume | None = None  # where it has a shared root
    workload: str = ""  # of its Deployment, where its Service has another name
