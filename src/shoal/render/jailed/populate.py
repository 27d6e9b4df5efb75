"""The Job that fills the jail. Pure.

When it is made, and when it is made anew, is decided elsewhere: a Job does not change once it is
there.
"""

from ...kube.objects import Object
from ...model.jail import FOLDER, Jail
from .. import marks, pods, volumes
from ..pods import Inside
from . import containers, places

NAME = "populate-jail"
SNAPSHOT = "jail-snapshot"


def objects(jail: Jail) -> list[Object]:
    """Return the Job, where the jail is filled by one."""
    return [job(jail)] if jail.mode.populates else []


def job(jail: Jail) -> Object:
    """Fill the jail once."""
    populate = jail.populate
    template = containers.template(populate.part, _inside(jail))
    template["spec"]["restartPolicy"] = "Never"
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": marks.metadata(populate.part, populate.name),
        "spec": {"parallelism": 1, "completions": 1, "template": template},
    }


def overwrites(jail: Jail) -> bool:
    """Say whether what is in the jail is replaced."""
    return jail.populate.overwrite or jail.mode.overwrites


def _inside(jail: Jail) -> Inside:
    populate = jail.populate
    snapshot = populate.snapshot
    main = pods.container(
        populate.part,
        NAME,
        {
            "env": [{"name": "OVERWRITE", "value": str(int(overwrites(jail)))}],
            # Files of the jail have capabilities of their own, and some are devices.
            "securityContext": {"capabilities": {"add": ["SYS_ADMIN", "SETFCAP"]}},
            "volumeMounts": [
                volumes.mount(places.JAIL, FOLDER),
                *([volumes.mount(SNAPSHOT, "/jail", read_only=True)] if snapshot else ()),
            ],
        },
    )
    return Inside(
        containers.bounded(main),
        volumes=[
            places.volume(places.JAIL, populate.jail),
            *([places.volume(SNAPSHOT, snapshot)] if snapshot else ()),
        ],
        spec={"enableServiceLinks": False},
    )
