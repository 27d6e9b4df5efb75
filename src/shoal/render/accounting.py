"""slurmdbd. Pure."""

import base64

from ..kube.objects import Object
from ..model.accounting import Accounting, ExternalAccounting, ManagedAccounting
from . import marks, pods, probes, services, shell, volumes
from .pods import Inside
from .services import Port
from .slurmdbd_conf import slurmdbd_conf

PORT = Port("slurmdbd", 6819)
# slurmdbd hands over to the database what it has taken from slurmctld.
GRACE_S = 60


def objects(accounting: Accounting, password: str) -> list[Object]:
    """Return what slurmdbd consists of: nothing where it runs somewhere else."""
    if isinstance(accounting, ExternalAccounting):
        return []
    return [service(accounting), config(accounting, password), stateful_set(accounting)]


def service(accounting: ManagedAccounting) -> Object:
    """Reach slurmdbd."""
    part = accounting.part
    return services.service(part, accounting.name, accounting.service, PORT, part.selector)


def config(accounting: ManagedAccounting, password: str) -> Object:
    """Hold slurmdbd.conf, which has the database's password in it."""
    text = slurmdbd_conf(accounting, password)
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": marks.metadata(accounting.part, accounting.name),
        "type": "Opaque",
        "data": {"slurmdbd.conf": base64.b64encode(text.encode()).decode()},
    }


def stateful_set(accounting: ManagedAccounting) -> Object:
    """Run slurmdbd."""
    part = accounting.part
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": marks.metadata(part, accounting.name, part.pods.marks),
        "spec": {
            "replicas": 1,
            "revisionHistoryLimit": 0,
            "podManagementPolicy": "Parallel",
            "serviceName": accounting.name,
            "selector": {"matchLabels": dict(part.selector)},
            "template": pods.template(part, _inside(accounting)),
        },
    }


def _inside(accounting: ManagedAccounting) -> Inside:
    keys = accounting.keys
    sources = (
        {"secret": {"name": accounting.name}},
        volumes.key_file(keys.slurm, "slurm.key"),
        volumes.key_file(keys.jwt, "jwt.key"),
        volumes.key_file(keys.jwks, "jwks.json"),
    )
    main = _slurmdbd(accounting)
    # slurmdbd reads everything once, at its start. The password counts by its own digest: one of
    # the file with it would help to guess it.
    read = {
        "slurm-key": keys.slurm.digest if keys.slurm else "",
        "jwt-key": keys.jwt.digest if keys.jwt else "",
        "jwks": keys.jwks.digest if keys.jwks else "",
        "slurmdbd-conf": marks.digest(
            slurmdbd_conf(accounting, ""), accounting.database.password.digest
        ),
    }
    return Inside(
        main,
        before=[initconf(accounting, main)],
        volumes=[
            volumes.memory(volumes.ETC),
            volumes.projected(volumes.CONFIG, 0o600, sources),
            volumes.memory(volumes.RUN),
            volumes.scratch(volumes.TMP),
        ],
        spec={
            "securityContext": pods.restricted_pod(pods.SLURM),
            "terminationGracePeriodSeconds": GRACE_S,
        },
        digests=marks.digests(accounting.naming, read),
    )


def initconf(accounting: ManagedAccounting, main: Object) -> Object:
    """Return the container that copies slurmdbd.conf: Slurm 24.11 wants it for its owner alone."""
    return pods.beside(
        accounting.part,
        "initconf",
        main,
        {
            "command": ["sh", "-c", shell.script("initconf")],
            "securityContext": pods.restricted(pods.SLURM),
            "volumeMounts": [
                volumes.mount(volumes.CONFIG, "/mnt/slurm", read_only=True),
                volumes.mount(volumes.ETC, "/mnt/etc/slurm"),
            ],
        },
    )


def _slurmdbd(accounting: ManagedAccounting) -> Object:
    return pods.container(
        accounting.part,
        "slurmdbd",
        {
            "ports": [PORT.opened],
            # No other probe: while the database is away it does not listen, and to restart it then
            # would only make it come later.
            "readinessProbe": {**probes.ready(probes.connects(PORT.name)), "periodSeconds": 2},
            "securityContext": pods.restricted(pods.SLURM),
            "volumeMounts": [
                volumes.mount(volumes.ETC, pods.ETC, read_only=True),
                volumes.mount(volumes.RUN, "/run"),
                volumes.mount(volumes.TMP, "/tmp"),
            ],
        },
    )
