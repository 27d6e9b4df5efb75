"""What is checked of that which Kubernetes defines and a schema here lets pass. Pure.

The API server judges all of it when pods are made; here is what people get wrong, said while they
still look.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ...kube import quantities, values
from ...kube.findings import Findings, Wrong
from ...kube.objects import Object
from ...model import security
from .nodeset_types import Mount
from .parts import LocalName, NodeVolumeMount

_VARIABLE = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")
_PROBES = ("exec", "httpGet", "tcpSocket", "grpc")
_AFFINITIES = ("nodeAffinity", "podAffinity", "podAntiAffinity")
_EFFECTS = ("", "NoSchedule", "PreferNoSchedule", "NoExecute")


def _at(found: Any, *way: str) -> Any:  # noqa: ANN401 - any JSON
    """Return what lies on a way through objects; None where it ends."""
    for key in way:
        found = found.get(key) if isinstance(found, dict) else None
    return found


# -- amounts


def quantity(field: str, value: Any, *, positive: bool = True) -> Findings:  # noqa: ANN401 - any JSON
    """Check an amount."""
    try:
        amount = quantities.parse(value)
    except ValueError as error:
        yield Wrong(field, str(error))
        return
    if amount < 0 or (positive and amount == 0):
        yield Wrong(field, f"must be {'more than 0' if positive else '0 or more'}, got {value!r}")


def resources(field: str, found: Mapping[str, int | str]) -> Findings:
    """Check what a container asks for."""
    for name, amount in found.items():
        yield from quantity(f"{field}.{name}", amount, positive=False)


# -- volumes


def volume_source(field: str, found: Object, beside: Collection[str] = ()) -> Findings:
    """Check a volume; `beside` are keys that are none of the source."""
    sources = sorted(key for key, value in found.items() if key not in beside and value is not None)
    if not sources:
        yield Wrong(field, "names no volume; write one, such as persistentVolumeClaim")
    elif len(sources) > 1:
        yield Wrong(field, f"names several volumes, {', '.join(sources)}; keep one")


def claim(field: str, found: Object) -> Findings:
    """Check the claim of a volume."""
    modes = found.get("accessModes")
    if not isinstance(modes, list) or not modes:
        yield Wrong(f"{field}.accessModes", "is missing; write [ReadWriteOnce] or [ReadWriteMany]")
    storage = f"{field}.resources.requests.storage"
    asked = _at(found, "resources", "requests", "storage")
    if asked is None:
        yield Wrong(storage, "is missing; say how much, such as 10Gi")
    else:
        yield from quantity(storage, asked)


def mounts(lists: Mapping[str, Sequence[NodeVolumeMount | Mount]]) -> Findings:
    """Check where volumes of a pod are mounted: their names and their paths, in several lists."""
    names = set(VOLUMES)
    for field, found in lists.items():
        paths: set[str] = set()
        for number, one in enumerate(found):
            at = f"{field}[{number}]"
            yield from _mount(at, one)
            if one.name in names:
                yield Wrong(f"{at}.name", f"{one.name!r} is taken; choose another name")
            if one.mount_path in paths:
                yield Wrong(f"{at}.mountPath", f"{one.mount_path!r} is taken; mount it elsewhere")
            names.add(one.name)
            paths.add(one.mount_path)


# Of ours, in one pod or another.
VOLUMES = (
    "jail", "controller-spool", "worker-spool", "slurmdbd-spool", "slurm-configs", "munge-key",
    "munge-socket", "rest-jwt-key", "security-limits", "in-memory", "tmp-disk", "sshd-keys",
    "ssh-root-keys", "ssh-configs", "runtime", "dev-shm", "sysctl", "supervisord-config", "boot",
    "host-journal", "soperator-outputs", "nvidia", "state-guard",
)  # fmt: skip


def _mount(at: str, one: NodeVolumeMount | Mount) -> Findings:
    yield from values.label(f"{at}.name", one.name, "the volume")
    yield from _path(f"{at}.mountPath", one.mount_path)
    if one.sub_path and (one.sub_path.startswith("/") or ".." in one.sub_path.split("/")):
        yield Wrong(f"{at}.subPath", f"{one.sub_path!r} must lead down from the volume's root")


def _path(field: str, path: str) -> Findings:
    bad = not path.startswith("/") or ".." in path.split("/") or ":" in path
    if bad or not path.isprintable():
        yield Wrong(field, f"{path!r} is no path; start it with /, without .. and colons")
    elif not path.strip("/"):
        yield Wrong(field, "would hide the whole root; mount it below")


# -- pods


def app_armor(field: str, profile: str) -> Findings:
    """Check the name of an AppArmor profile."""
    try:
        security.app_armor(profile)
    except ValueError as error:
        yield Wrong(field, str(error).removeprefix("appArmorProfile: "))


def pull_secrets(field: str, found: Iterable[LocalName]) -> Findings:
    """Check the Secrets that images are pulled with."""
    for number, one in enumerate(found):
        yield from values.subdomain(f"{field}[{number}].name", one.name, "the Secret")


def init_containers(field: str, found: Iterable[Object], ours: Collection[str]) -> Findings:
    """Check containers that run before ours."""
    names: set[str] = set()
    for number, one in enumerate(found):
        at, name = f"{field}[{number}]", one.get("name")
        if not isinstance(name, str) or not name:
            yield Wrong(f"{at}.name", "is missing; give the container a name")
        elif name in ours:
            yield Wrong(f"{at}.name", f"{name} is one of ours; choose another name")
        elif name in names:
            yield Wrong(f"{at}.name", f"{name} is there twice; choose another name")
        else:
            names.add(name)
            yield from values.label(f"{at}.name", name, "the container")
        if not isinstance(one.get("image"), str) or not one["image"]:
            yield Wrong(f"{at}.image", "is missing; name an image")


def environment(field: str, found: Iterable[Object]) -> Findings:
    """Check variables."""
    for number, one in enumerate(found):
        name = one.get("name")
        if not isinstance(name, str) or not _VARIABLE.fullmatch(name):
            yield Wrong(f"{field}[{number}].name", f"{name!r} is no variable; use letters and _")


def probe(field: str, found: Object | None) -> Findings:
    """Check a probe."""
    if found is None:
        return
    told = [name for name in _PROBES if found.get(name) is not None]
    if len(told) != 1:
        yield Wrong(field, f"has {len(told)} probes; write one of {', '.join(_PROBES)}")


def scheduling(field: str, affinity: Object | None, tolerations: Iterable[Object]) -> Findings:
    """Check which nodes pods may be on."""
    for key in sorted(affinity or {}):
        if key not in _AFFINITIES:
            message = f"is no affinity; write one of {', '.join(_AFFINITIES)}"
            yield Wrong(f"{field}.affinity.{key}", message)
    for number, one in enumerate(tolerations):
        yield from _toleration(f"{field}.tolerations[{number}]", one)


def _toleration(field: str, found: Object) -> Findings:
    operator = found.get("operator") or "Equal"
    if operator not in ("Equal", "Exists"):
        yield Wrong(f"{field}.operator", f"{operator!r} is none; write Exists or Equal")
    elif operator == "Equal" and not found.get("key"):
        yield Wrong(f"{field}.key", "is missing; name a taint, or let the operator be Exists")
    if found.get("effect", "") not in _EFFECTS:
        message = f"{found['effect']!r} is none; write one of {', '.join(filter(None, _EFFECTS))}"
        yield Wrong(f"{field}.effect", message)
