"""When Kubernetes takes a daemon for started, ready and alive. Pure.

A failing liveness probe ends a container, and a failing startup probe too, so both are patient; how
soon a daemon serves depends on how often the startup probe asks.
"""

from ..kube.objects import Object
from ..slurm.keys import V25_11, Version

LIVE = "/livez"
READY = "/readyz"
_STARTUP_S = 300  # a large state, or names that do not resolve, keep slurmctld busy for minutes
_TIMEOUT_S = 5


def handler(version: Version | None, port: str, path: str) -> Object:
    """Return how to ask a daemon at `port`: by HTTP where its version is known to answer."""
    # From then on slurmctld and slurmd answer HTTP on the port of their RPCs.
    if version is not None and version >= V25_11:
        return {"httpGet": {"path": path, "port": port}}
    return {"tcpSocket": {"port": port}}


def connects(port: str) -> Object:
    """Return how to ask whether anybody listens at `port`."""
    return {"tcpSocket": {"port": port}}


def started(ask: Object) -> Object:
    """Return a probe that sees within a second that a daemon serves."""
    return {**ask, "periodSeconds": 1, "failureThreshold": _STARTUP_S, "timeoutSeconds": _TIMEOUT_S}


def ready(ask: Object) -> Object:
    """Return a probe that takes a daemon out of its Service while it does not answer."""
    return {**ask, "periodSeconds": 5, "timeoutSeconds": _TIMEOUT_S}


def alive(ask: Object) -> Object:
    """Return a probe that has a daemon restarted after a minute of silence."""
    return {**ask, "periodSeconds": 10, "failureThreshold": 6, "timeoutSeconds": _TIMEOUT_S}
