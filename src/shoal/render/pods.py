"""Pods: what we need in them, and what the user lays over that. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..kube.merge import merge_container, merge_pod_spec
from ..kube.objects import Object
from ..model.part import Marks, Part
from . import marks, shell, volumes

# Whose the files are that the daemons share; SchedMD's images and ours have this user.
SLURM = 401
NOBODY = 65534
ETC = "/etc/slurm"
LOGS = "/var/log/slurm"
HOSTNAME = "kubernetes.io/hostname"
_DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"


@dataclass(frozen=True)
class Inside:
    """What is in a pod of ours, before the user's wishes for the pod as a whole."""

    main: Object
    before: Sequence[Object] = ()  # init containers, and those that run beside the main one
    volumes: Sequence[Object] = ()
    spec: Object = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)


def template(part: Part, inside: Inside) -> Object:
    """Return the metadata and the spec of a pod."""
    ours: Object = {
        "automountServiceAccountToken": False,
        **inside.spec,
        "initContainers": list(inside.before),
        "containers": [inside.main],
        "volumes": list(inside.volumes),
    }
    ours = {key: value for key, value in ours.items() if value != []}
    meta = marks.metadata(part, "", part.pods.marks, Marks(annotations=inside.digests))
    notes = {**meta.get("annotations", {}), _DEFAULT_CONTAINER: inside.main["name"]}
    return {
        "metadata": {"labels": meta["labels"], "annotations": notes},
        "spec": merge_pod_spec(ours, part.pods.spec),
    }


def container(part: Part, name: str, ours: Object) -> Object:
    """Return one of our containers as the user wants it."""
    return merge_container({"name": name, **ours}, part.pods.containers.get(name, {}))


def beside(part: Part, name: str, main: Object, ours: Object) -> Object:
    """Return a container that has the image of `main` unless the user names another."""
    same: Object = {key: main[key] for key in ("image", "imagePullPolicy") if key in main}
    return container(part, name, {**same, **ours})


def logfile(part: Part, main: Object, daemon: str) -> Object:
    """Return the container that prints what `daemon` logs.

    It has made the FIFO before the daemon starts: the hook is waited for. A plain file in its
    place would fill the node's memory.
    """
    return beside(
        part,
        "logfile",
        main,
        {
            "command": ["sh", "-c", shell.script("logfile")],
            "env": [{"name": "SOCKET", "value": f"{LOGS}/{daemon}.log"}],
            "lifecycle": {
                "postStart": {
                    "exec": {"command": ["sh", "-c", 'until test -p "$SOCKET"; do sleep 0.1; done']}
                }
            },
            "restartPolicy": "Always",
            "securityContext": unprivileged(),
            "volumeMounts": [volumes.mount(volumes.LOGS, LOGS)],
        },
    )


def unprivileged() -> Object:
    """Return the security context of a container that needs no right at all."""
    return {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


def restricted(user: int) -> Object:
    """Return a container's security context as the `restricted` Pod Security Standard wants it."""
    return {
        "runAsNonRoot": True,
        "runAsUser": user,
        "runAsGroup": user,
        "readOnlyRootFilesystem": True,
        **unprivileged(),
    }


def restricted_pod(user: int) -> Object:
    """Return a pod's security context as the `restricted` Pod Security Standard wants it."""
    return {
        "runAsNonRoot": True,
        "runAsUser": user,
        "runAsGroup": user,
        "fsGroup": user,
        # Or every start would walk over all files of the state.
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def apart(labels: Mapping[str, str]) -> Object:
    """Return the affinity that keeps pods with these labels on different nodes."""
    term = {"labelSelector": {"matchLabels": dict(labels)}, "topologyKey": HOSTNAME}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
