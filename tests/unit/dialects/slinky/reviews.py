"""Short ways to have an object of slinky.slurm.net judged."""

from typing import Any

from shoal.dialects.slinky.admission import review
from shoal.kube.findings import Known, Lookups, Verdict

from .objects import KIND, make

ALONE = Known()


def created(kind: str, name: str = "slurm", ask: Lookups = ALONE, **spec: Any) -> Verdict:
    """Return what is said of an object that is new."""
    return review(KIND[kind], "CREATE", make(kind, name, **spec), {}, ask)


def updated(old: dict[str, Any], new: dict[str, Any], ask: Lookups = ALONE) -> Verdict:
    """Return what is said of a change."""
    return review(KIND[new["kind"]], "UPDATE", new, old, ask)


def config_map(name: str, **files: str) -> dict[str, Any]:
    """Return a ConfigMap; `_` stands for the dot in the names of its files."""
    data = {file.replace("_", ".", 1): text for file, text in files.items()}
    meta = {"name": name, "namespace": "prod"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


def claim(name: str, *modes: str) -> dict[str, Any]:
    """Return a claim of a volume."""
    meta = {"name": name, "namespace": "prod"}
    spec = {"accessModes": list(modes)}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec}
