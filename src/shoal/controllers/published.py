"""The configuration that is in use, which need not be the one that is wanted."""

from dataclasses import dataclass

from ..kube import kinds
from ..kube.data import ConfigMap
from ..model.cluster import Cluster
from ..model.controller import ExternalController
from ..render import controller as render
from ..render.controller import Published
from ..runtime.apply import DIGEST
from .world import World

# In the published ConfigMap: whose files slurmctld has beside it.
SOURCES = "shoal/config-sources"


@dataclass(frozen=True)
class Used(Published):
    """The configuration in use, and the user's ConfigMaps that are in use beside it."""

    sources: tuple[str, ...] | None = None  # None: nobody took note of them


# It is not there; where slurmctld runs, it goes on with what it has read.
LOST = Used({}, "")


def published(world: World, cluster: Cluster) -> Used | None:
    """Return the configuration in use, or LOST; None: what is there is somebody else's."""
    found = cluster.controller
    name = found.config if isinstance(found, ExternalController) else found.names.config
    live: ConfigMap | None = world.get(kinds.CONFIG_MAP, (cluster.namespace, name))
    if live is None or live.deleting:
        return LOST
    notes = live.metadata.annotations
    if DIGEST not in notes:
        return None
    sources = tuple(filter(None, notes[SOURCES].split(","))) if SOURCES in notes else None
    digest = notes.get(cluster.naming.digest(render.CONFIG_DIGEST), "")
    return Used(live.data or {}, digest, sources)
