"""Checks that several kinds of slinky.slurm.net share. Pure."""

import re
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from ...kube.durations import duration
from ...kube.kinds import CONFIG_MAP, Kind
from ...kube.objects import Object
from ...slurm import conf
from .findings import Doubtful, Finding, Findings, Lookups, Unknown, Wrong
from .parts import LocalReference, PodTemplate, Service

# RFC 1035: what a Service is called; RFC 1123: what a pod is called.
_SERVICE = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
TEMPLATE = "spec.template"
LABEL_LENGTH = 63
SUBDOMAIN_LENGTH = 253
# Its pods have a label with its name, a dash and a hash of ten digits (kubernetes#64023).
STATEFUL_SET_LENGTH = 52


# -- names


def label(field: str, text: str, what: str, longest: int = LABEL_LENGTH) -> Findings:
    """Check the name of a pod or a hostname."""
    yield from _name(field, text, what, longest, _LABEL)


def service_name(field: str, text: str, what: str, longest: int = LABEL_LENGTH) -> Findings:
    """Check the name of a Service, or of something that shares a name with one."""
    yield from _name(field, text, what, longest, _SERVICE)


def subdomain(field: str, text: str, what: str) -> Findings:
    """Check the name of any other object."""
    yield from _name(field, text, what, SUBDOMAIN_LENGTH, _SUBDOMAIN)


def _name(field: str, text: str, what: str, longest: int, form: re.Pattern[str]) -> Findings:
    if len(text) > longest:
        over = len(text) - longest
        yield Wrong(
            field, f"makes {what} {text!r}, {over} characters too long; shorten it by {over}"
        )
    elif not form.fullmatch(text):
        letter = ", starting with a letter" if form is _SERVICE else ""
        dots = ", dots" if form is _SUBDOMAIN else ""
        yield Wrong(
            field,
            f"makes {what} {text!r}, which Kubernetes refuses;"
            f" use lower-case letters, digits{dots} and dashes within{letter}",
        )


# -- references


def references(namespace: str, refs: Mapping[str, LocalReference | None]) -> Findings:
    """Check references to objects, which must be of the same namespace."""
    for field, ref in refs.items():
        if ref is None:
            continue
        if not ref.name:
            yield Wrong(f"{field}.name", "is empty; name an object of this namespace")
        if ref.namespace and ref.namespace != namespace:
            yield Wrong(
                f"{field}.namespace",
                f"is {ref.namespace!r}, and only {namespace!r} is allowed;"
                " leave it out, and copy what it refers to",
            )


def existing(kind: Kind, namespace: str, refs: Mapping[str, str], ask: Lookups) -> Findings:
    """Warn of objects that are not there yet."""
    for field, name in refs.items():
        if name and ask.find(kind, namespace, name) is None:
            yield Doubtful(field, f"there is no {kind.kind} {name!r} yet; it waits for one")


def files(field: str, refs: Iterable[LocalReference], namespace: str, ask: Lookups) -> Findings:
    """Check the ConfigMaps whose entries become files beside slurm.conf."""
    for number, ref in enumerate(refs):
        found = ask.find(CONFIG_MAP, namespace, ref.name) if ref.name else Unknown.UNKNOWN
        if not isinstance(found, Unknown):
            yield from _files(f"{field}[{number}].name", ref.name, found)


# What the operator puts there itself.
RESERVED = frozenset({"slurm.conf", "slurmdbd.conf", "slurm.key", "jwt.key", "jwks.json"})
KNOWN = frozenset(
    {
        "acct_gather.conf", "burst_buffer.conf", "cgroup.conf", "cli_filter.lua", "gres.conf",
        "helpers.conf", "job_container.conf", "job_submit.lua", "mpi.conf", "namespace.yaml",
        "oci.conf", "plugstack.conf", "topology.conf", "topology.yaml",
    }
)  # fmt: skip


def _files(field: str, name: str, found: Object | None) -> Findings:
    scripts = "Script" in field
    if found is None:
        message = f"there is no ConfigMap {name!r}; make it first"
        yield Doubtful(field, message) if scripts else Wrong(field, message)
        return
    for file in sorted({**(found.get("data") or {}), **(found.get("binaryData") or {})}):
        if file in RESERVED:
            yield Wrong(
                field,
                f"the configFile is reserved for slurm-operator use: {file};"
                f" take it out of ConfigMap {name!r}",
            )
        elif file not in KNOWN and not scripts:
            yield Doubtful(field, f"{file} in ConfigMap {name!r} is no file that Slurm knows")


# -- values


def at_least(least: int, values: Mapping[str, int | None]) -> Findings:
    """Check numbers."""
    for field, value in values.items():
        if value is not None and value < least:
            yield Wrong(field, f"must be {least} or more, got {value}")


def ports(values: Mapping[str, int | None]) -> Findings:
    """Check port numbers; 0 stands for the usual one."""
    for field, value in values.items():
        if value is not None and not 0 <= value <= 65535:
            yield Wrong(field, f"must be a port from 1 to 65535, got {value}")


def lasting(field: str, text: str, least: timedelta) -> Findings:
    """Check a duration as Go writes it."""
    try:
        found = duration(text, field)
    except ValueError as error:
        yield Wrong(field, str(error).removeprefix(f"{field}: "))
        return
    if found < least:
        yield Wrong(field, f"must be {least.total_seconds():g} s or more, got {text!r}")


def words(values: Mapping[str, tuple[str, str | None]]) -> Findings:
    """Check texts that become one word of a configuration, each with the key that it becomes."""
    for field, (key, text) in values.items():
        try:
            conf.write([conf.setting(key, text or "none")])
        except conf.ConfError as error:
            yield Wrong(field, str(error))


def nul(path: str, value: Any) -> Findings:  # noqa: ANN401 - any JSON
    """Check that no text holds a NUL, which ends a text for everything written in C."""
    if isinstance(value, str):
        if "\0" in value:
            yield Wrong(path, "holds a NUL character; remove it")
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from nul(f"{path}.{key}", inner)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from nul(f"{path}[{number}]", inner)


# -- lines for configurations


def lines(
    field: str, text: str | None, ours: Mapping[str, type[Finding]], grammar: conf.Grammar
) -> Findings:
    """Check lines for a configuration; `ours` are keys of ours, and what it is to set them."""
    if not text:
        return
    try:
        found = conf.parse(text, grammar)
    except conf.ConfError as error:
        yield Wrong(field, str(error))
        return
    by_key = {key.lower(): (key, verdict) for key, verdict in ours.items()}
    for line in conf.duplicates(found, ours):
        key, verdict = by_key[line.key.lower()]
        yield verdict(field, f"line {line.place.line}: {key} {_OWNED[verdict]}")


def options(field: str, text: str | None, record: str, ours: Iterable[str]) -> Findings:
    """Check options that follow a record such as NodeName on its line."""
    if not text:
        return
    for character, why in _NOT_IN_A_LINE.items():
        if character in text:
            yield Wrong(field, why)
            return
    try:
        (line,) = conf.parse(f"{record}=x {text}")
    except conf.ConfError as error:
        yield Wrong(field, str(error).removeprefix("line 1: "))
        return
    taken = {key.lower() for key in (record, *ours)}
    pairs = line.pairs[1:] if isinstance(line, conf.Setting) else ()
    for key, _ in pairs:
        if key.lower() in taken:
            yield Wrong(field, f"{key} {_OWNED[Wrong]}")


_NOT_IN_A_LINE = {
    "\n": "holds a line end; put all options on one line",
    "\r": "holds a line end; put all options on one line",
    "#": "holds a #, which starts a comment; take the comment out",
}
_OWNED: Mapping[type[Finding], str] = {
    Wrong: "is set by the operator, and another value would break the cluster; take it out",
    Doubtful: "is set by the operator too; this value wins",
}


# -- parts of pods and Services


def container(field: str, name: str, asked: Object) -> Findings:
    """Check what is laid over one of our containers."""
    if asked.get("name", name) != name:
        yield Doubtful(f"{field}.name", f"is ignored: the container is called {name}")


def template(field: str, asked: PodTemplate, ours: Mapping[str, str], *, bare: bool) -> Findings:
    """Check what is laid over our pods.

    `ours` are our containers, each with the list that it is in. The pods are `bare`, or made by a
    StatefulSet or a Deployment, which want to restart them for ever.
    """
    spec = f"{field}.spec"
    for name in ("containers", "initContainers"):
        yield from _containers(f"{spec}.{name}", name, asked.spec.get(name), ours)
    if asked.spec.get("ephemeralContainers"):
        yield Wrong(f"{spec}.ephemeralContainers", "cannot be in a template; use initContainers")
    policy = asked.spec.get("restartPolicy", "Always")
    if policy != "Always":
        verdict = Doubtful if bare else Wrong
        yield verdict(f"{spec}.restartPolicy", f"is {policy!r}; the pods need Always")


def _containers(field: str, here: str, asked: Any, ours: Mapping[str, str]) -> Findings:  # noqa: ANN401 - any JSON
    if asked is None:
        return
    if not isinstance(asked, list):
        yield Wrong(field, "must be a list of containers")
        return
    for number, one in enumerate(asked):
        yield from _container(f"{field}[{number}]", here, one, ours)


def _container(at: str, here: str, one: Any, ours: Mapping[str, str]) -> Findings:  # noqa: ANN401 - any JSON
    name = one.get("name") if isinstance(one, dict) else None
    if not isinstance(name, str) or not name:
        if not (isinstance(one, dict) and "$patch" in one):
            yield Wrong(f"{at}.name", "is missing; give the container a name")
    elif name not in ours:
        if not one.get("image") and "$patch" not in one:
            yield Wrong(f"{at}.image", f"is missing; container {name} is none of ours")
    elif ours[name] == here:
        yield Doubtful(f"{at}.name", f"{name} is ours, and this is merged into it; use spec.{name}")
    else:
        yield Wrong(f"{at}.name", f"{name} is one of our {ours[name]}; choose another name")


def service(field: str, asked: Service, name: str, usual: int) -> Findings:
    """Check what is laid over our Service, whose port is called `name`."""
    yield from ports({f"{field}.port": asked.port, f"{field}.nodePort": asked.node_port})
    if asked.spec.get("externalIPs"):
        yield Doubtful(
            f"{field}.spec.externalIPs", "is ignored (CVE-2020-8554); use a load balancer"
        )
    if asked.node_port and asked.spec.get("type", "ClusterIP") == "ClusterIP":
        yield Wrong(f"{field}.nodePort", f"needs {field}.spec.type NodePort or LoadBalancer")
    taken = asked.port or usual
    found = asked.spec.get("ports")
    for number, one in enumerate(found if isinstance(found, list) else []):
        at = f"{field}.spec.ports[{number}]"
        if isinstance(one, dict) and one.get("name") == name:
            yield Wrong(f"{at}.name", f"{name!r} is the operator's port; choose another name")
        if isinstance(one, dict) and one.get("port") == taken:
            yield Wrong(
                f"{at}.port", f"{taken} is the operator's port; use {field}.port to move it"
            )
