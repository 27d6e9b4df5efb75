"""Objects of slurm.nebius.ai, what the model says of them, and what is made of that."""

from typing import Any

from shoal.dialects.nebius import read
from shoal.dialects.nebius.read import Around
from shoal.model.observed import Found

from ...render.jailed.worlds import World
from . import objects
from .objects import make

NOTHING = Found({}, {})
ALONE = Around(NOTHING)


def understood(*objs: dict[str, Any], around: Around = ALONE) -> World:
    """Return what the model says of a SlurmCluster and its NodeSets."""
    obj, *nodesets = [objects.read(one) for one in objs]
    return World(
        read.cluster(obj, nodesets, around),
        read.gate(obj, around),
        read.rest(obj, around),
        read.exporter(obj, around),
    )


def the(*, around: Around = ALONE, **spec: Any) -> World:
    """Return what the model says of a simple SlurmCluster with `spec` laid over it."""
    return understood(make("SlurmCluster", **spec), around=around)


def workers(around: Around = ALONE, cluster: Any = None, **spec: Any) -> Any:
    """Return what the model says of a simple NodeSet with `spec` laid over it."""
    owner = objects.read(cluster) if cluster else None
    return read.nodeset(objects.read(make("NodeSet", "gpu", **spec)), owner, around)
