"""Checks that several kinds of slinky.slurm.net share. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from ...kube import values
from ...kube.findings import Doubtful, Findings, Lookups, Unknown, Wrong
from ...kube.kinds import CONFIG_MAP
from ...kube.objects import Object
from .parts import LocalReference, PodTemplate, Service

TEMPLATE = "spec.template"


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
    yield from values.ports({f"{field}.port": asked.port, f"{field}.nodePort": asked.node_port})
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
