"""The objects of a scale run. Pure but for the kinds, which are files."""

from collections.abc import Iterator
from pathlib import Path

import yaml

from shoal.kube.objects import Object

SPACE = "slurm"
WORKER = "worker"
NODES = "/api/v1/nodes"
API = "slinky.slurm.net/v1beta1"


def path(obj: Object) -> str:
    """Return where objects of this one's kind are posted."""
    return f"/apis/{API}/namespaces/{SPACE}/{obj['kind'].lower()}s"


def definitions(folder: Path) -> Iterator[Object]:
    """Return the kinds that a folder defines; nobody converts them, as there are no webhooks."""
    for file in sorted(folder.glob("*.yaml")):
        for obj in yaml.safe_load_all(file.read_text()):
            if obj and obj["kind"] == "CustomResourceDefinition":
                obj["spec"].pop("conversion", None)
                yield obj


def node(name: str) -> Object:
    """Return a node that kwok plays."""
    room = {"cpu": "64", "memory": "512Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": {"kwok.x-k8s.io/node": "fake"},
            "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"},
        },
        "status": {"allocatable": room, "capacity": room},
    }


def bared(pod: Object) -> Object:
    """Return a pod as somebody would post it, who owns no object."""
    metadata, spec = pod["metadata"], dict(pod["spec"])
    for given in ("nodeName", "serviceAccount", "serviceAccountName", "priority"):
        spec.pop(given, None)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {key: metadata[key] for key in ("labels", "annotations") if key in metadata},
        "spec": spec,
    }


def _object(kind: str, name: str, spec: Object) -> Object:
    return {
        "apiVersion": API,
        "kind": kind,
        "metadata": {"name": name, "namespace": SPACE},
        "spec": spec,
    }


_KEY = {"name": "keys", "key": "jwt.key"}
CONTROLLER = _object(
    "Controller",
    "slurm",
    {
        "clusterName": "lab",
        "slurmKeyRef": {"name": "keys", "key": "slurm.key"},
        # Older operators know the one, newer ones the other.
        "jwtKeyRef": _KEY,
        "jwtHs256KeyRef": _KEY,
        "slurmctld": {"image": "slurmctld:bench"},
        "reconfigure": {"image": "slurmctld:bench"},
        "logfile": {"image": "alpine:bench"},
        "persistence": {"enabled": False},
    },
)
REFERENCE = {"name": "slurm", "namespace": SPACE}
REST_API = _object(
    "RestApi",
    "slurm",
    {"controllerRef": REFERENCE, "replicas": 1, "slurmrestd": {"image": "slurmrestd:bench"}},
)
NODE_SET = _object(
    "NodeSet",
    WORKER,
    {
        "controllerRef": REFERENCE,
        "replicas": 0,
        "slurmd": {"image": "slurmd:bench"},
        "logfile": {"image": "alpine:bench"},
        "partition": {"enabled": True},
    },
)
NODESETS = path(NODE_SET)
