"""A case of slurm.nebius.ai: one SlurmCluster with its NodeSets, Secrets, ConfigMaps to objects."""

import msgspec
import yaml

from shoal.dialects.nebius import read, types
from shoal.kube.data import ConfigMap, Secret
from shoal.model.observed import Found
from unit.render.jailed.worlds import World

READ = {**types.TYPES, "ConfigMap": ConfigMap, "Secret": Secret}


def render(path):
    """Return every object that comes of the case, among them one worker of each NodeSet."""
    documents = yaml.safe_load_all(path.read_text())
    found = [msgspec.convert(one, READ[one["kind"]]) for one in documents if one["kind"] in READ]
    around = read.Around(
        Found(
            {one.metadata.name: one.files for one in _all(found, ConfigMap)},
            {one.metadata.name: one.files for one in _all(found, Secret)},
        )
    )
    (obj,) = _all(found, types.SlurmCluster)
    return World(
        read.cluster(obj, _all(found, types.NodeSet), around),
        read.gate(obj, around),
        read.rest(obj, around),
        read.exporter(obj, around),
    ).objects


def _all(found, type_):
    return [one for one in found if type(one) is type_]
