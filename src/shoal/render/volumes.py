"""Volumes and what is projected into them. Pure."""

from collections.abc import Iterable

from ..kube.objects import Object
from ..model.part import KeyRef

ETC = "slurm-etc"
CONFIG = "slurm-config"
RUN = "run"
LOGS = "slurm-logfile"
TMP = "tmp"


def memory(name: str) -> Object:
    """Return an empty volume that is never written to a disk."""
    return {"name": name, "emptyDir": {"medium": "Memory"}}


def scratch(name: str) -> Object:
    """Return an empty volume on the node's disk."""
    return {"name": name, "emptyDir": {}}


def projected(name: str, mode: int, sources: Iterable[Object | None]) -> Object:
    """Return a volume that is put together from `sources`; empty where there are none."""
    found = [source for source in sources if source is not None]
    # The API server takes a projected volume without sources, but some kubelets did not.
    if not found:
        return memory(name)
    return {"name": name, "projected": {"defaultMode": mode, "sources": found}}


def whole_map(name: str) -> Object:
    """Project all entries of a ConfigMap."""
    return {"configMap": {"name": name}}


def one_of_map(name: str, key: str, path: str) -> Object:
    """Project one entry of a ConfigMap."""
    return {"configMap": {"name": name, "items": [{"key": key, "path": path}]}}


def key_file(ref: KeyRef | None, path: str) -> Object | None:
    """Project the entry that `ref` names, or nothing where nobody names one."""
    if ref is None:
        return None
    source = "configMap" if ref.kind == "ConfigMap" else "secret"
    return {source: {"name": ref.name, "items": [{"key": ref.key, "path": path}]}}


def mount(volume: str, path: str, *, read_only: bool = False, file: str = "") -> Object:
    """Mount a volume, or one `file` of it."""
    made: Object = {"name": volume, "mountPath": path}
    if file:
        made["subPath"] = file
    if read_only:
        made["readOnly"] = True
    return made
