"""What pods with a shared root have alike: munged beside the daemon, what they may use. Pure."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...kube import quantities
from ...kube.objects import Object
from ...model.controller import Keys
from ...model.part import Part
from .. import pods, volumes
from ..pods import Inside
from . import places

MUNGE = "munge"
MUNGE_KEY = "munge-key"
MUNGE_SOCKET = "munge-socket"
SOCKETS = "/run/munge"
_SOCKET = f"{SOCKETS}/munge.socket.2"
# Entrypoints mount files over those of the image.
MOUNTS: Object = {"capabilities": {"add": ["SYS_ADMIN"]}}
_MIB = 2**20


def munge(part: Part) -> Object:
    """Return the container that vouches for the daemon; it starts before it and ends after it."""
    there = {"exec": {"command": ["/bin/sh", "-c", f"test -S {_SOCKET}"]}}
    works = {"exec": {"command": ["/bin/sh", "-c", "/usr/bin/munge -n > /dev/null"]}}
    made = pods.container(
        part,
        MUNGE,
        {
            "restartPolicy": "Always",
            # The daemon is not started before this says yes.
            "startupProbe": {**there, "periodSeconds": 1, "failureThreshold": 300},
            "readinessProbe": {**there, **_PATIENT},
            "livenessProbe": {**works, **_PATIENT},
            "securityContext": MOUNTS,
            "volumeMounts": [
                volumes.mount(MUNGE_KEY, "/mnt/munge-key", read_only=True),
                socket(),
            ],
        },
    )
    return bounded(made)


_PATIENT: Object = {
    "periodSeconds": 10,
    "timeoutSeconds": 1,
    "successThreshold": 1,
    "failureThreshold": 3,
}


def socket() -> Object:
    """Return where a daemon finds munged."""
    return volumes.mount(MUNGE_SOCKET, SOCKETS)


def munge_volumes(keys: Keys) -> list[Object]:
    """Return what munged needs."""
    made = [volumes.memory(MUNGE_SOCKET)]
    if keys.munge is not None:
        made.append(places.secret_file(MUNGE_KEY, keys.munge, "munge.key"))
    return made


def munge_digest(keys: Keys) -> Mapping[str, str]:
    """Return what munged has read at its start."""
    return {"munge-key": keys.munge.digest if keys.munge else ""}


def bounded(made: Object, *, cpu: bool = False) -> Object:
    """Return a container that gets no more than it asks for; of CPU time only with `cpu`."""
    resources = made.get("resources") or {}
    asked = resources.get("requests") or {}
    limits = {name: amount for name, amount in asked.items() if cpu or name != "cpu"}
    limits |= resources.get("limits") or {}
    return {**made, "resources": {**resources, "limits": limits}} if limits else made


def requested(part: Part, container: str, what: str) -> int:
    """Return how much of something a container asks for; 0: it does not say."""
    found: Mapping[str, Any] = part.pods.containers.get(container, {}).get("resources") or {}
    asked = (found.get("requests") or {}).get(what) or (found.get("limits") or {}).get(what)
    return int(quantities.parse(asked)) if asked else 0


def mebibytes(amount: int) -> int:
    """Return an amount of memory as Slurm and MariaDB count it."""
    return amount // _MIB


def template(part: Part, inside: Inside) -> Object:
    """Return the metadata and the spec of a pod; what the user wants to run first runs first."""
    spec = dict(part.pods.spec)
    first = spec.pop("initContainers", None) or ()
    rest = replace(part, pods=replace(part.pods, spec=spec))
    return pods.template(rest, replace(inside, before=[*first, *inside.before]))
