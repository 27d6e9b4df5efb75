"""What ConfigMaps and Secrets that an object names hold, in any dialect. Pure."""

import hashlib
import re
from collections.abc import Mapping

from ..model.observed import Found
from ..model.part import Files, KeyRef
from ..slurm.keys import Version

# Says which Slurm an image holds whose tag does not.
SLURM_VERSION = "shoal/slurm-version"


def reference(namespace: str, kind: str, name: str) -> str:
    """Return what an object is found by that others refer to."""
    return f"{namespace}/{kind}/{name}"


def secret(name: str, key: str, field: str, found: Found) -> KeyRef:
    """Return one entry of a Secret, with the digest of what it holds."""
    return _entry(name, key, field, "Secret", found.secrets)


def entry(name: str, key: str, field: str, found: Found) -> KeyRef:
    """Return one entry of a ConfigMap, with the digest of what it holds."""
    return _entry(name, key, field, "ConfigMap", found.config_maps)


def _entry(
    name: str, key: str, field: str, kind: str, found: Mapping[str, Mapping[str, bytes]]
) -> KeyRef:
    held = found.get(name, {}).get(key)
    digested = hashlib.sha256(held).hexdigest() if held is not None else ""
    return KeyRef(name, key, digested, kind, field)


def files(name: str, field: str, found: Found) -> Files:
    """Return a ConfigMap whose entries become files."""
    held = found.config_maps.get(name)
    return Files(name, tuple(sorted(held or ())), digest(held), field)


def digest(held: Mapping[str, bytes] | None) -> str:
    """Return the digest of all that is held; empty: nothing is."""
    if held is None:
        return ""
    whole = hashlib.sha256()
    for key in sorted(held):
        whole.update(f"{key}\0{len(held[key])}\0".encode() + held[key])
    return whole.hexdigest()


def node_table(config: str, found: Found) -> int:
    """Return MaxNodeCount as it is in use: the configuration that was published last has it."""
    held = found.config_maps.get(config, {}).get("slurm.conf", b"")
    sizes = re.findall(rb"^MaxNodeCount=(\d+)$", held, re.MULTILINE)
    return int(sizes[-1]) if sizes else 0


def version(image: str, annotations: Mapping[str, str]) -> Version | None:
    """Return which Slurm an image holds: what its user says, or its tag; None: nobody says."""
    try:
        return Version.parse(annotations.get(SLURM_VERSION) or _tag(image))
    except ValueError:
        return None


def _tag(image: str) -> str:
    """Return the tag of an image; a digest says nothing."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[2]
