"""Clusters to render, with the names that the slinky dialect gives."""

from dataclasses import replace

from shoal.dialects.slinky import naming
from shoal.model.accounting import Database, ManagedAccounting
from shoal.model.cluster import SLURMCTLD_PORT, Cluster
from shoal.model.config import Config
from shoal.model.controller import (
    ClaimTemplate,
    ExternalController,
    Keys,
    ManagedController,
)
from shoal.model.login import LoginSet
from shoal.model.nodeset import NodeSet, Ssh
from shoal.model.part import KeyRef, Part, PodWishes, ServiceWishes
from shoal.model.rest import RestApi
from shoal.slurm.keys import Version

NAMESPACE = "research"
SLURM_KEY = KeyRef("slurm-auth", "slurm.key", "d1")
JWT_KEY = KeyRef("slurm-jwt", "jwt.key", "d2")
JWKS = KeyRef("slurm-jwks", "keys", "d3", kind="ConfigMap")
KEYS = Keys(SLURM_KEY, JWT_KEY)
STATE = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "4Gi"}}}
NEWEST = Version(26, 5)
OLDEST = Version(24, 11)


def make_part(kind, name, *, marks=None, **containers):
    """Return a part; `containers` are the user's, by our name with _ for -."""
    daemon = naming.PARTS[kind][0]
    images = {daemon: {"image": f"shoal/{daemon}:26.05"}}
    wishes = {key: images.get(key, {}) | asked for key, asked in containers.items()}
    made = PodWishes(containers=images | wishes)
    part = Part(name, NAMESPACE, naming.selector(kind, name), naming.labels(kind, name), made)
    return replace(part, marks=marks) if marks else part


def wishing(part, **changes):
    """Return `part` with other wishes for its pods."""
    return replace(part, pods=replace(part.pods, **changes))


def make_controller(**changes):
    part = changes.pop("part", None) or make_part("Controller", "slurm")
    made = ManagedController(
        part, naming.controller("slurm"), ServiceWishes(SLURMCTLD_PORT), ClaimTemplate(STATE)
    )
    return replace(made, **changes)


def external_controller(host="ctl.example.com", port=6817):
    part = make_part("Controller", "slurm")
    return ExternalController(host, port, part, naming.controller("slurm").config)


def make_cluster(extra="", **changes):
    made = Cluster(
        name="slurm",
        namespace=NAMESPACE,
        slurm_name="research_slurm",
        naming=naming.NAMING,
        controller=make_controller(),
        keys=KEYS,
        config=Config(extra=extra),
        version=NEWEST,
        workers=naming.workers("slurm"),
    )
    return replace(made, **changes)


def make_nodeset(name="cpu", **changes):
    part = changes.pop("part", None) or make_part("NodeSet", name)
    made = NodeSet(
        part=part,
        slurm_name=name,
        hostname_prefix=f"{name}-",
        service=naming.workers("slurm"),
        budget=naming.budget("slurm"),
    )
    return replace(made, **changes)


def make_ssh(name="cpu", **changes):
    return replace(Ssh(KeyRef("sssd", "sssd.conf", "d4"), naming.worker_ssh(name)), **changes)


def make_accounting(**changes):
    part = changes.pop("part", None) or make_part("Accounting", "slurm")
    database = Database("mariadb", 3306, "slurm_acct_db", "slurm", KeyRef("db", "password", "d5"))
    made = ManagedAccounting(
        part=part,
        naming=naming.NAMING,
        name=naming.accounting("slurm"),
        service=ServiceWishes(6819),
        keys=KEYS,
        database=database,
    )
    return replace(made, **changes)


def make_rest(**changes):
    part = changes.pop("part", None) or make_part("RestApi", "slurm")
    return replace(RestApi(part, naming.rest("slurm"), ServiceWishes(6820)), **changes)


def make_login(**changes):
    part = changes.pop("part", None) or make_part("LoginSet", "login")
    made = LoginSet(
        part=part,
        names=naming.login("login"),
        service=ServiceWishes(22),
        sssd=KeyRef("sssd", "sssd.conf", "d4"),
        host_keys_digest="d6",
    )
    return replace(made, **changes)


def the(kind, objects):
    """Return the one object of a kind."""
    (found,) = [obj for obj in objects if obj["kind"] == kind]
    return found


def spec_of(obj):
    """Return the PodSpec of a workload or a pod."""
    return obj["spec"] if obj["kind"] == "Pod" else obj["spec"]["template"]["spec"]


def container_of(obj, name):
    """Return a container of a workload or a pod."""
    spec = spec_of(obj)
    every = (*spec.get("initContainers", ()), *spec["containers"])
    (found,) = [one for one in every if one["name"] == name]
    return found


def notes_of(obj):
    """Return the annotations of a workload's pods, or of a pod."""
    return (obj if obj["kind"] == "Pod" else obj["spec"]["template"])["metadata"]["annotations"]


def environment(container):
    """Return a container's plain variables."""
    return {one["name"]: one["value"] for one in container["env"] if "value" in one}
