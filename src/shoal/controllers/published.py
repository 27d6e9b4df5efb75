"""The configuration that is in use, which need not be the one that is wanted."""

from ..kube import kinds
from ..kube.data import ConfigMap
from ..model.cluster import Cluster
from ..model.controller import ExternalController
from ..render import controller as render
from ..render.controller import Published
from ..runtime.apply import DIGEST
from .world import World

# It is not there; where slurmctld runs, it goes on with what it has read.
LOST = Published({}, "")


def published(world: World, cluster: Cluster) -> Published | None:
    """Return the configuration in use, or LOST; None: what is there is somebody else's."""
    found = cluster.controller
    name = found.config if isinstance(found, ExternalController) else found.names.config
    live: ConfigMap | None = world.get(kinds.CONFIG_MAP, (cluster.namespace, name))
    if live is None or live.deleting:
        return LOST
    notes = live.metadata.annotations
    if DIGEST not in notes:
        return None
    digest = notes.get(cluster.naming.digest(render.CONFIG_DIGEST), "")
    return Published(live.data or {}, digest, live.binary_data or {})
