"""Jobs, as far as they are read. Pure."""

from .objects import Resource, Slim

COMPLETE = "Complete"
FAILED = "Failed"


class JobCondition(Slim, frozen=True, gc=False, rename="camel"):
    """One condition of a Job."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class JobStatus(Slim, frozen=True, gc=False, rename="camel"):
    """What became of a Job."""

    conditions: tuple[JobCondition, ...] = ()


class Job(Resource, frozen=True, gc=False, rename="camel"):
    """A Job."""

    status: JobStatus = JobStatus()

    @property
    def complete(self) -> bool:
        """Say whether it has done all that it was to do."""
        return any(c.type == COMPLETE and c.status == "True" for c in self.status.conditions)

    @property
    def failure(self) -> str:
        """Say in a line why it has given up; empty: it has not."""
        for condition in self.status.conditions:
            if condition.type == FAILED and condition.status == "True":
                return condition.message or condition.reason or FAILED
        return ""
