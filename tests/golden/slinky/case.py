"""A case of slinky.slurm.net: custom resources with their Secrets and ConfigMaps to objects."""

from dataclasses import replace

import msgspec
import yaml

from shoal.decide.revisions import hashed_as
from shoal.dialects.slinky import read, types
from shoal.kube.data import ConfigMap, Secret
from shoal.model.controller import ManagedController
from shoal.model.observed import Found
from shoal.render import accounting, controller, login, nodeset, rest, revisions, trial

READ = {**types.TYPES, "ConfigMap": ConfigMap, "Secret": Secret}


def render(path):
    """Return every object that comes of the case, among them one worker of each NodeSet."""
    found = [_read(document) for document in yaml.safe_load_all(path.read_text())]
    around = read.Around(
        Found(
            {o.metadata.name: o.files for o in _all(found, ConfigMap)},
            {o.metadata.name: o.files for o in _all(found, Secret)},
        )
    )
    (asked,) = _all(found, types.Controller)
    books = next(iter(_all(found, types.Accounting)), None)
    cluster = read.cluster(asked, _all(found, types.NodeSet), books, around)
    config = cluster.config.filled(around.found.config_maps)
    cluster = replace(cluster, config=config)
    return list(_objects(cluster, found, around))


def _objects(cluster, found, around):
    yield from controller.objects(cluster)
    if isinstance(cluster.controller, ManagedController):
        yield trial.candidate(cluster, cluster.controller)
        yield trial.check(cluster, cluster.controller, controller.wanted(cluster).digest)
    if cluster.accounting:
        yield from accounting.objects(cluster.accounting, "correct horse")
    for obj in _all(found, types.RestApi):
        yield from rest.objects(cluster, read.rest(obj, around))
    for obj in _all(found, types.LoginSet):
        yield from login.objects(cluster, read.login(obj, around))
    yield from nodeset.shared(cluster)
    for wished in cluster.nodesets:
        workers = replace(wished, revision=hashed_as(revisions.data(wished), 0))
        yield from nodeset.objects(cluster, workers)
        yield from nodeset.claims(workers, workers.index(0))
        yield nodeset.Mould(cluster, workers).pod(0)


def _read(document):
    return msgspec.convert(document, READ[document["kind"]])


def _all(found, type_):
    return [obj for obj in found if type(obj) is type_]
