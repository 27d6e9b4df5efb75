"""Looks into a worker: do steps of jobs run in it? The sign that does not come from slurmctld."""

import structlog

from ..kubeapi.client import Client
from ..kubeapi.errors import ApiError
from ..kubeapi.exec import execute

CONTAINER = "slurmd"
# A step's process calls itself `slurmstepd: [7.batch]`; the one called `slurmstepd infinity` only
# keeps a cgroup. The pattern does not match its own command line. With -q what was found counts,
# though other processes may end meanwhile, which is an error to grep.
SCRIPT = r"grep -qsa 'slurmstepd: \[' /proc/[0-9]*/cmdline"
FOUND, NONE = 0, 1
TIMEOUT_S = 10.0
log = structlog.get_logger()


async def look_inside(client: Client, namespace: str, pod: str) -> bool | None:
    """Return whether steps run in a worker; None: nobody can say."""
    try:
        ran = await execute(
            client, namespace, pod, CONTAINER, ["sh", "-c", SCRIPT], timeout_s=TIMEOUT_S
        )
    except (ApiError, TimeoutError) as error:
        log.warning("cannot look inside", namespace=namespace, pod=pod, error=str(error))
        return None
    return {FOUND: True, NONE: False}.get(ran.code)
