"""What keeps slurmctld from starting on an empty state where there was one. Pure.

The folder is looked at by an init container, whatever the image, and by our own image before each
start. What they go by is in a ConfigMap and not in the pod: it changes once slurmctld has run, and
slurmctld is not restarted for that.
"""

from ..kube.objects import Object
from ..model.controller import STATE_GUARD, ManagedController
from . import marks, pods, shell, volumes

VOLUME = "state-guard"
FOLDER = "/mnt/state-guard"
SCRIPT = "check.sh"
EXPECTED = "expected"


def map_name(controller: ManagedController) -> str:
    """Return the name of the ConfigMap that says whether a state is expected."""
    return f"{controller.names.workload}-state"


def config_map(controller: ManagedController) -> Object:
    """Say whether a state is expected, and how to look."""
    expected = "true" if controller.had_state else "false"
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": marks.metadata(controller.part, map_name(controller)),
        # With a line's end: a shell's `read` calls a line without one incomplete.
        "data": {EXPECTED: f"{expected}\n", SCRIPT: shell.script("state")},
    }


def volume(controller: ManagedController) -> Object:
    """Return the ConfigMap as a volume; without it no slurmctld starts."""
    return volumes.projected(VOLUME, 0o444, [volumes.whole_map(map_name(controller))])


def mount() -> Object:
    """Return where a container finds it."""
    return volumes.mount(VOLUME, FOLDER, read_only=True)


def env(state_folder: str) -> list[Object]:
    """Return what the script, and an image that runs it before each start, go by."""
    return [
        {"name": "STATE_FOLDER", "value": state_folder},
        {"name": "STATE_GUARD", "value": FOLDER},
    ]


def container(
    controller: ManagedController,
    main: Object,
    state_volume: str,
    state_folder: str,
    security: Object | None = None,
) -> Object:
    """Look before anything else of a pod starts; `security` is what the state's owner may do."""
    return pods.beside(
        controller.part,
        STATE_GUARD,
        main,
        {
            "command": ["sh", f"{FOLDER}/{SCRIPT}"],
            "env": env(state_folder),
            "securityContext": security or pods.restricted(pods.SLURM),
            "volumeMounts": [mount(), volumes.mount(state_volume, state_folder, read_only=True)],
        },
    )
