"""A whole cluster of slinky.slurm.net, and how one makes another."""

from base64 import b64encode
from typing import Any

from fakes.slurmrestd.slurm import KEY
from shoal.dialects.slinky.types import KINDS
from shoal.kube import kinds
from shoal.kube.objects import Object

SPACE = "default"
KIND = {kind.kind: kind for kind in (*KINDS, kinds.SECRET, kinds.CONFIG_MAP)}


def encoded(**texts: str | bytes) -> dict[str, str]:
    """Return the data of a Secret; a _ in a name stands for a dot."""
    raw = {k: v if isinstance(v, bytes) else v.encode() for k, v in texts.items()}
    return {k.replace("_", "."): b64encode(v).decode() for k, v in raw.items()}


def made(kind: str, name: str, **spec: Any) -> Object:
    """Return an object of the dialect."""
    meta = {"name": name, "namespace": SPACE}
    return {"apiVersion": KIND[kind].api_version, "kind": kind, "metadata": meta, "spec": spec}


def secret(name: str, **texts: str | bytes) -> Object:
    """Return a Secret."""
    meta = {"name": name, "namespace": SPACE}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": encoded(**texts)}


def config_map(name: str, **data: str) -> Object:
    """Return a ConfigMap; a _ in a key stands for a dot."""
    meta = {"name": name, "namespace": SPACE}
    files = {key.replace("_", "."): text for key, text in data.items()}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": files}


def keys(name: str = "keys") -> Object:
    """Return what daemons prove themselves with, as a spec names it."""
    return {
        "slurmKeyRef": {"name": name, "key": "slurm.key"},
        "jwtKeyRef": {"name": name, "key": "jwt.key"},
    }


KEYS = secret("keys", slurm_key="slurm", jwt_key=KEY)
FILES = config_map("files", gres_conf="AutoDetect=nvml\n")
CONTROLLER = made(
    "Controller",
    "slurm",
    **keys(),
    slurmctld={"image": "slurmctld:26.05"},
    accountingRef={"name": "slurm"},
    extraConf="SelectTypeParameters=CR_Core\n",
    configFileRefs=[{"name": "files"}],
)
ACCOUNTING = made(
    "Accounting",
    "slurm",
    **keys(),
    slurmdbd={"image": "slurmdbd:26.05"},
    storageConfig={"host": "db", "passwordKeyRef": {"name": "db", "key": "password"}},
)
NODE_SET = made(
    "NodeSet",
    "cpu",
    controllerRef={"name": "slurm"},
    replicas=2,
    slurmd={"image": "slurmd:26.05"},
    partition={"enabled": True},
)
# The whole example: everything that there is, in a good order.
EXAMPLE: tuple[Object, ...] = (
    KEYS,
    secret("db", password="horse"),
    secret("sssd", sssd_conf="[sssd]\n"),
    FILES,
    ACCOUNTING,
    CONTROLLER,
    made(
        "RestApi",
        "slurm",
        controllerRef={"name": "slurm"},
        slurmrestd={"image": "slurmrestd:26.05"},
    ),
    made(
        "LoginSet",
        "login",
        controllerRef={"name": "slurm"},
        login={"image": "login:26.05"},
        sssdConfRef={"name": "sssd", "key": "sssd.conf"},
    ),
    NODE_SET,
    made(
        "Token", "alice", username="alice", jwtKeyRef={"name": "keys", "key": "jwt.key"},
        lifetime="8760h",
    ),
)  # fmt: skip
ROWS: tuple[tuple[str, str], ...] = (
    ("Accounting", "slurm"),
    ("Controller", "slurm"),
    ("RestApi", "slurm"),
    ("LoginSet", "login"),
    ("NodeSet", "cpu"),
    ("Token", "alice"),
)
