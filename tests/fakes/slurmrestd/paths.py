"""Which paths there are, and from which version on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import controller, database
from .series import Text

NEVER = (404, "Unable to find requested URL")


@dataclass(frozen=True)
class Route:
    """A path below one version; a gap in it is written `*`."""

    tree: str
    method: str
    path: str
    since: int
    answer: Callable[..., Any]

    def gaps(self, path: str) -> list[str] | None:
        """Return what stands in its gaps, or None when `path` is another."""
        mine, theirs = self.path.split("/"), path.split("/")
        if len(mine) != len(theirs):
            return None
        pairs = list(zip(mine, theirs, strict=True))
        if any(one != other for one, other in pairs if one != "*"):
            return None
        names = [other for one, other in pairs if one == "*"]
        return names if all(names) else None


def _slurm(method: str, path: str, since: int, answer: Callable[..., Any]) -> Route:
    return Route("slurm", method, path, since, answer)


def _slurmdb(method: str, path: str, since: int, answer: Callable[..., Any]) -> Route:
    return Route("slurmdb", method, path, since, answer)


PING = _slurm("GET", "ping", 40, controller.ping)
ROUTES = (
    PING,
    _slurm("GET", "nodes", 40, controller.nodes),
    _slurm("POST", "nodes", 40, controller.update_nodes),
    _slurm("GET", "node/*", 40, controller.node),
    _slurm("POST", "node/*", 40, controller.update_node),
    _slurm("DELETE", "node/*", 40, controller.delete_node),
    _slurm("POST", "new/node", 44, controller.create_node),
    _slurm("GET", "jobs", 40, controller.jobs),
    _slurm("GET", "jobs/state", 40, controller.job_states),
    _slurm("POST", "jobs/requeue", 45, controller.requeue),
    _slurm("POST", "job/submit", 40, controller.submit),
    _slurm("GET", "job/*", 40, controller.job),
    _slurm("DELETE", "job/*", 40, controller.cancel),
    _slurm("GET", "reservations", 40, controller.reservations),
    _slurm("GET", "reservation/*", 40, controller.reservation),
    _slurm("POST", "reservation", 43, controller.reserve),
    _slurm("DELETE", "reservation/*", 43, controller.unreserve),
    _slurm("GET", "partitions", 40, controller.partitions),
    _slurm("GET", "partition/*", 40, controller.partition),
    _slurm("POST", "partitions", 45, controller.write_partitions),
    _slurm("DELETE", "partition/*", 45, controller.delete_partition),
    _slurm("GET", "diag", 40, controller.diag),
    _slurm("GET", "conf", 45, controller.conf),
    _slurm("GET", "reconfigure", 40, controller.reconfigure),
    _slurmdb("GET", "ping", 42, database.ping),
    _slurmdb("GET", "jobs", 40, database.jobs),
    _slurmdb("GET", "config", 40, database.content),
    _slurmdb("GET", "accounts", 40, database.reader("accounts")),
    _slurmdb("POST", "accounts", 40, database.writer("accounts")),
    _slurmdb("GET", "users", 40, database.reader("users")),
    _slurmdb("POST", "users", 40, database.writer("users")),
    _slurmdb("GET", "qos", 40, database.reader("qos")),
    _slurmdb("POST", "qos", 40, database.writer("qos")),
    _slurmdb("GET", "associations", 40, database.reader("associations")),
    _slurmdb("POST", "associations", 40, database.writer("associations")),
    _slurmdb("GET", "clusters", 40, database.reader("clusters")),
)


def found(method: str, path: str, versions: tuple[int, ...]) -> tuple[Route, list[str], int]:
    """Return the route to `path`, what stands in its gaps, and the version; a 404 without any."""
    _, tree, version, *rest = [*path.split("/", 3), "", ""][:4]
    # Slurmrestd does not mind a slash at the end.
    wanted = "".join(rest).rstrip("/")
    numbers = {f"v0.0.{number}": number for number in versions}
    if version in numbers:
        for route in ROUTES:
            names = route.gaps(wanted) if (route.tree, route.method) == (tree, method) else None
            if names is not None and route.since <= numbers[version]:
                return route, names, numbers[version]
    raise Text(*NEVER)
