"""StatefulSets and Deployments, as far as they are read. Pure."""

from .objects import Resource, Slim


class WorkloadSpec(Slim, frozen=True, gc=False, rename="camel"):
    """What is asked for."""

    replicas: int = 1


class WorkloadStatus(Slim, frozen=True, gc=False, rename="camel"):
    """What there is."""

    observed_generation: int = 0
    replicas: int = 0
    ready_replicas: int = 0
    updated_replicas: int = 0


class Workload(Resource, frozen=True, gc=False, rename="camel"):
    """A StatefulSet or a Deployment."""

    spec: WorkloadSpec = WorkloadSpec()
    status: WorkloadStatus = WorkloadStatus()

    @property
    def settled(self) -> bool:
        """Say whether all pods are ready and as the newest spec wants them."""
        seen, wanted = self.status, self.spec.replicas
        current = seen.observed_generation >= self.metadata.generation
        return current and seen.ready_replicas >= wanted and seen.updated_replicas >= wanted
