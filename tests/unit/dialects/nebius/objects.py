"""Objects of slurm.nebius.ai: simple ones to start from, and random ones of a schema."""

import copy
from functools import cache
from typing import Any

import msgspec
from hypothesis import strategies as st

from shoal.dialects.nebius.crds import definition
from shoal.dialects.nebius.types import KINDS, TYPES

from ..strategies import TEXTS, values

KIND = {kind.kind: kind for kind in KINDS}
FILTER = {"k8sNodeFilterName": "any"}
MUNGE = {"image": "munge"}
JAIL = {"volumeSourceName": "jail"}
CLUSTER = {
    "clusterType": "cpu",
    "populateJail": {"image": "populate", **FILTER},
    "k8sNodeFilters": [{"name": "any"}],
    "volumeSources": [
        {"name": "jail", "persistentVolumeClaim": {"claimName": "jail"}},
        {"name": "spool", "persistentVolumeClaim": {"claimName": "spool"}},
    ],
    "secrets": {},
    "slurmNodes": {
        "accounting": {**FILTER, "slurmdbd": {"image": "slurmdbd"}, "munge": MUNGE},
        "controller": {
            **FILTER,
            "slurmctld": {"image": "slurmctld"},
            "munge": MUNGE,
            "volumes": {"jail": JAIL, "spool": {"volumeSourceName": "spool"}},
        },
        "login": {
            **FILTER,
            "size": 1,
            "sshd": {"image": "sshd"},
            "munge": MUNGE,
            "sshdServiceType": "LoadBalancer",
            "sshRootPublicKeys": ["ssh-ed25519 AAAA me@here"],
            "volumes": {"jail": JAIL},
        },
        "exporter": {**FILTER, "exporterContainer": {"image": "exporter"}},
        "rest": {**FILTER, "size": 1, "rest": {"image": "slurmrestd"}},
        "worker": {
            **FILTER,
            "size": 2,
            "slurmd": {"image": "slurmd", "resources": {"cpu": 1, "memory": "1Gi"}},
            "munge": MUNGE,
            "volumes": {"jail": JAIL, "spool": {"volumeSourceName": "spool"}},
        },
    },
}
NODESET = {
    "clusterName": "slurm",
    "slurmd": {
        "image": {"repository": "slurmd", "tag": "1"},
        "resources": {"cpu": 1, "memory": "1Gi"},
        "volumes": {"jail": {"persistentVolumeClaim": {"claimName": "jail"}}},
    },
    "munge": {"image": {"repository": "munge"}, "resources": {}},
}
SPECS: dict[str, dict[str, Any]] = {"SlurmCluster": CLUSTER, "NodeSet": NODESET}


def patched(whole: Any, patch: Any) -> Any:
    """Return `whole` with `patch` laid over it as RFC 7396 says: null takes away."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    made = dict(whole) if isinstance(whole, dict) else {}
    for key, value in patch.items():
        if value is None:
            made.pop(key, None)
        else:
            made[key] = patched(made.get(key), value)
    return made


def make(kind: str, name: str = "slurm", **spec: Any) -> dict[str, Any]:
    """Return a simple object of `kind` with `spec` laid over it."""
    return {
        "apiVersion": KIND[kind].api_version,
        "kind": kind,
        "metadata": {"name": name, "namespace": "prod"},
        "spec": patched(SPECS[kind], spec),
    }


def nodes(**parts: Any) -> dict[str, Any]:
    """Return a patch of the pods of a cluster."""
    return {"slurmNodes": parts}


def read(obj: dict[str, Any]) -> Any:
    """Return an object as it is read."""
    return msgspec.convert(obj, TYPES[obj["kind"]])


@cache
def objects(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy of whole objects, as the API server could hold them."""
    (version,) = definition(KIND[kind])["spec"]["versions"]
    schema = version["schema"]["openAPIV3Schema"]["properties"]
    metadata = st.fixed_dictionaries(
        {"name": st.just("a"), "namespace": st.just("b")},
        optional={"annotations": st.dictionaries(TEXTS, TEXTS, min_size=1, max_size=2)},
    )
    return st.fixed_dictionaries(
        {
            "apiVersion": st.just(KIND[kind].api_version),
            "kind": st.just(kind),
            "metadata": metadata,
            "spec": values(schema["spec"]),
        },
        optional={"status": values(schema["status"])},
    )
