"""What is made for an object of slurm.nebius.ai, and whether it can be called that. Pure."""

from collections.abc import Iterable

import msgspec

from ...kube import kinds, values
from ...kube.findings import Findings, Lookups, Wrong
from ...kube.objects import Resource, controller_of
from . import defaults, naming, types
from .nodeset_types import NodeSet
from .types import KINDS, SlurmCluster

NAME = "metadata.name"
Made = tuple[str, str]  # kind and name; `Pod a-` stands for all pods a-<number>
_SHARED = (kinds.STATEFUL_SET, kinds.DEPLOYMENT, kinds.SERVICE)
_LONGEST = {"Service": values.LABEL_LENGTH, "StatefulSet": values.STATEFUL_SET_LENGTH}


def names(obj: Resource, ask: Lookups) -> Findings:
    """Check the names of what is made for an object: that they are names, and nobody else's."""
    if not obj.metadata.name:  # one that the API server is yet to choose
        return
    mine = list(made(obj))
    for sort, name in mine:
        if sort in _LONGEST:
            yield from values.service_name(NAME, name, f"the {sort}", _LONGEST[sort])
    for other, theirs in _others(obj, ask):
        for sort, name in mine:
            if (sort, name) in theirs:
                words = f"{sort} {name!r} is made for {other} already; choose another name"
                yield Wrong(NAME, words)
                break
    yield from _taken(obj, mine, ask)


def _taken(obj: Resource, mine: Iterable[Made], ask: Lookups) -> Findings:
    """Check that no object by these names is made for something of another API."""
    for kind in _SHARED:
        wanted = {name for sort, name in mine if sort == kind.kind}
        for found in ask.every(kind, obj.metadata.namespace) if wanted else ():
            owner = controller_of(msgspec.convert(found, Resource))
            ours = owner is None or owner.api_version.startswith(f"{naming.GROUP}/")
            if owner is not None and not ours and (name := found["metadata"]["name"]) in wanted:
                words = f"{kind.kind} {name!r} is made for {owner.kind} {owner.name!r} already"
                yield Wrong(NAME, f"{words}; choose another name")


def made(obj: Resource) -> Iterable[Made]:
    """Return what is made for an object, under the names that a new one has."""
    match obj:
        case SlurmCluster():
            return _cluster(obj)
        case NodeSet():
            return _nodeset(obj)
        case _:
            return ()


def _others(obj: Resource, ask: Lookups) -> Iterable[tuple[str, set[Made]]]:
    for kind in KINDS:
        for found in ask.every(kind, obj.metadata.namespace):
            name = found["metadata"]["name"]
            same = isinstance(obj, types.TYPES[kind.kind]) and name == obj.metadata.name
            if not same:
                read = msgspec.convert(found, types.TYPES[kind.kind])
                yield f"{kind.kind} {name!r}", set(made(read))


def _cluster(obj: SlurmCluster) -> Iterable[Made]:
    found, nodes = naming.Names(obj.metadata.name), obj.spec.slurm_nodes
    yield "Service", found.service(naming.CONTROLLER)
    yield "Service", found.workers_service
    yield "StatefulSet", found.workload(naming.CONTROLLER)
    yield "Pod", f"{found.workload(naming.CONTROLLER)}-"
    if nodes.login.size:
        yield "Service", found.service(naming.LOGIN)
        yield "Service", found.login_headless
        yield "StatefulSet", found.workload(naming.LOGIN)
        yield "Pod", f"{found.workload(naming.LOGIN)}-"
    if defaults.worker(obj) is not None:
        yield "Service", found.service(naming.WORKERS)
        yield "Pod", f"{found.workload(naming.WORKERS)}-"
    for part, component in (
        (nodes.accounting, naming.ACCOUNTING),
        (nodes.rest, naming.REST),
        (nodes.exporter, naming.EXPORTER),
    ):
        if part.enabled:
            yield "Deployment", found.workload(component)
            yield "Service", found.service(component)
    if nodes.accounting.enabled and not nodes.accounting.external_db.enabled:
        yield "StatefulSet", found.database
        yield "Pod", f"{found.database}-"


def _nodeset(obj: NodeSet) -> Iterable[Made]:
    name, cluster = obj.metadata.name, defaults.cluster_of(obj)
    yield "Pod", f"{name}-"
    if cluster:
        yield "Service", naming.Names(cluster).nodeset_service(name)
