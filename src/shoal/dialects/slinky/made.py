"""What is made for an object of slinky.slurm.net, and whether it can be called that. Pure."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from ...kube import values
from ...kube.findings import Findings, Lookups, Wrong
from ...kube.kinds import Kind
from ...kube.objects import Resource
from . import naming, types
from .types import ACCOUNTING, CONTROLLER, KINDS, LOGIN_SET, NODE_SET, REST_API, TOKEN

NAME = "metadata.name"
Made = tuple[str, str]  # kind and name; `Pod a-` stands for all pods a-<number>


def names(kind: Kind, obj: Resource, ask: Lookups) -> Findings:
    """Check the names of what is made for an object: that they are names, and nobody else's."""
    if not obj.metadata.name:  # one that the API server is yet to choose
        return
    made = list(MADE[kind](obj))
    for sort, name in made:
        if sort in _LONGEST:
            yield from values.service_name(NAME, name, f"the {sort}", _LONGEST[sort])
    for other, theirs in _others(kind, obj, ask):
        for sort, name in made:
            if (sort, name) in theirs:
                words = f"{sort} {name!r} is made for {other} already; choose another name"
                yield Wrong(NAME, words)
                break


_LONGEST = {"Service": values.LABEL_LENGTH, "StatefulSet": values.STATEFUL_SET_LENGTH}


def _others(kind: Kind, obj: Resource, ask: Lookups) -> Iterable[tuple[str, set[Made]]]:
    for other in KINDS:
        for found in ask.every(other, obj.metadata.namespace):
            name = found["metadata"]["name"]
            if (other, name) != (kind, obj.metadata.name):
                read = msgspec.convert(found, types.TYPES[other.kind])
                yield f"{other.kind} {name!r}", set(MADE[other](read))


def _controller(obj: types.Controller) -> Iterable[Made]:
    names = naming.controller(obj.metadata.name)
    yield "ConfigMap", names.config
    # All NodeSets of this Controller share it, so it counts as the Controller's.
    yield "Service", naming.workers(obj.metadata.name)
    if not obj.spec.external:
        yield "Service", names.service
        yield "Service", names.internal
        yield "StatefulSet", names.workload
        yield "Pod", f"{names.workload}-"


def _node_set(obj: types.NodeSet) -> Iterable[Made]:
    name = obj.metadata.name
    if obj.spec.scaling_mode != "DaemonSet":
        yield "Pod", f"{name}-"
    if obj.spec.ssh is not None and obj.spec.ssh.enabled:
        yield "ConfigMap", naming.worker_ssh(name)


def _login_set(obj: types.LoginSet) -> Iterable[Made]:
    names = naming.login(obj.metadata.name)
    yield "Service", names.workload
    yield "Deployment", names.workload
    yield "ConfigMap", names.config
    yield "Secret", names.host_keys


def _accounting(obj: types.Accounting) -> Iterable[Made]:
    if not obj.spec.external:
        name = naming.accounting(obj.metadata.name)
        yield from (("Service", name), ("StatefulSet", name), ("Secret", name), ("Pod", f"{name}-"))


def _rest_api(obj: types.RestApi) -> Iterable[Made]:
    name = naming.rest(obj.metadata.name)
    yield from (("Service", name), ("Deployment", name))


def _token(obj: types.Token) -> Iterable[Made]:
    ref = obj.spec.secret_ref
    yield "Secret", ref.name if ref else naming.token_secret(obj.metadata.name, obj.spec.username)


MADE: Mapping[Kind, Callable[[Any], Iterable[Made]]] = {
    CONTROLLER: _controller,
    NODE_SET: _node_set,
    LOGIN_SET: _login_set,
    ACCOUNTING: _accounting,
    REST_API: _rest_api,
    TOKEN: _token,
}
