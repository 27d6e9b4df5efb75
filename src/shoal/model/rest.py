"""slurmrestd. Pure."""

from dataclasses import dataclass

from .part import Part, ServiceWishes


@dataclass(frozen=True)
class RestApi:
    """slurmrestd in pods of ours."""

    part: Part
    name: str  # of its Deployment and its Service
    service: ServiceWishes
    replicas: int = 1
    cluster: str = ""  # the object that stands for its cluster
