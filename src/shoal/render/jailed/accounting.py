"""slurmdbd of a cluster with a shared root. Pure."""

import base64

from ...kube.objects import Object
from ...model.accounting import AccountingNames, ManagedAccounting
from ...model.database import ExternalDatabase
from ...model.jail import Jail
from .. import marks, pods, probes, services, shell, volumes
from ..accounting import GRACE_S, PORT
from ..pods import Inside
from . import containers, database, places, slurmdbd_conf

NAME = "accounting"
CA = "slurmdbd-ssl-ca-cert"
CLIENT = "slurmdbd-ssl-client-key"
SPOOL = "slurmdbd-spool"


def objects(jail: Jail, accounting: ManagedAccounting, password: str) -> list[Object]:
    """Return what slurmdbd consists of, and the database behind it where it is ours."""
    return [
        *database.objects(jail, accounting),
        service(accounting),
        config(accounting, password),
        deployment(jail, accounting),
    ]


def names(accounting: ManagedAccounting) -> AccountingNames:
    """Return what its objects are called."""
    name = accounting.name
    return accounting.names or AccountingNames(name, name, name)


def service(accounting: ManagedAccounting) -> Object:
    """Reach slurmdbd."""
    part, name = accounting.part, names(accounting).service
    return services.service(part, name, accounting.service, PORT, part.selector)


def config(accounting: ManagedAccounting, password: str) -> Object:
    """Hold slurmdbd.conf, and apart from it how the database is reached."""
    found = accounting.database
    data = {
        "slurmdbd.conf": slurmdbd_conf.slurmdbd_conf(accounting, password),
        "storageHost": found.host,
        "storagePort": str(found.port),
        "storageUser": found.user,
        "storagePass": password,
    }
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": marks.metadata(accounting.part, names(accounting).secret),
        "type": "Opaque",
        "data": {key: base64.b64encode(text.encode()).decode() for key, text in data.items()},
    }


def deployment(jail: Jail, accounting: ManagedAccounting) -> Object:
    """Run slurmdbd."""
    part = accounting.part
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": marks.metadata(part, names(accounting).workload, part.pods.marks),
        "spec": {
            "replicas": jail.mode.replicas(1),
            "revisionHistoryLimit": 0,
            # Two of them would write to one database.
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": dict(part.selector)},
            "template": containers.template(part, _inside(accounting)),
        },
    }


def _inside(accounting: ManagedAccounting) -> Inside:
    keys, main = accounting.keys, _slurmdbd(accounting)
    # slurmdbd reads everything once, at its start. The password counts by its own digest: one of
    # the file with it would help to guess it.
    read = {
        **containers.munge_digest(keys),
        "jwt-key": keys.jwt.digest if keys.jwt else "",
        "slurmdbd-conf": marks.digest(
            slurmdbd_conf.slurmdbd_conf(accounting, ""), accounting.database.password.digest
        ),
        **_tls_digests(accounting),
    }
    return Inside(
        main,
        before=[_wait_for_database(accounting, main), containers.munge(accounting.part)],
        volumes=_volumes(accounting),
        spec={
            "enableServiceLinks": False,
            "hostname": slurmdbd_conf.HOST,
            "terminationGracePeriodSeconds": GRACE_S,
        },
        digests=marks.digests(accounting.naming, read),
    )


def _wait_for_database(accounting: ManagedAccounting, main: Object) -> Object:
    found = accounting.database
    return pods.beside(
        accounting.part,
        "wait-for-database",
        main,
        {
            "command": ["sh", "-c", shell.script("wait-for-database")],
            "env": [
                {"name": "STORAGE_HOST", "value": found.host},
                {"name": "STORAGE_PORT", "value": str(found.port)},
            ],
            "securityContext": pods.unprivileged(),
        },
    )


def _slurmdbd(accounting: ManagedAccounting) -> Object:
    store = accounting.store
    tls = store if isinstance(store, ExternalDatabase) else ExternalDatabase()
    made = pods.container(
        accounting.part,
        NAME,
        {
            "ports": [PORT.opened],
            # No other probe: while the database is away it does not listen, and to restart it then
            # would only make it come later.
            "readinessProbe": {**probes.ready(probes.connects(PORT.name)), "periodSeconds": 2},
            "securityContext": containers.MOUNTS,
            "volumeMounts": [
                volumes.mount(places.CONFIGS, places.GIVEN, read_only=True),
                containers.socket(),
                *places.jwt_mounts(accounting.keys.jwt),
                volumes.mount(SPOOL, "/var/spool/slurmdbd"),
                *([volumes.mount(CA, slurmdbd_conf.CA_FOLDER, read_only=True)] if tls.ca else ()),
                *(
                    [volumes.mount(CLIENT, slurmdbd_conf.CLIENT_FOLDER, read_only=True)]
                    if tls.client
                    else ()
                ),
            ],
        },
    )
    return containers.bounded(made)


def _volumes(accounting: ManagedAccounting) -> list[Object]:
    own = [{"key": "slurmdbd.conf", "path": "slurmdbd.conf", "mode": 0o600}]
    sources: list[Object | None] = [
        {"secret": {"name": names(accounting).secret, "items": own}},
        volumes.whole_map(accounting.config) if accounting.config else None,
    ]
    return [
        volumes.projected(places.CONFIGS, 0o600, sources),
        *containers.munge_volumes(accounting.keys),
        *places.jwt_key(accounting.keys.jwt),
        volumes.scratch(SPOOL),
        *_tls_volumes(accounting),
    ]


def _tls_volumes(accounting: ManagedAccounting) -> list[Object]:
    store = accounting.store
    if not isinstance(store, ExternalDatabase):
        return []
    made = []
    if store.ca:
        made.append(places.secret_file(CA, store.ca, slurmdbd_conf.CA_FILE))
    if store.client:
        secret = {"secretName": store.client.name, "defaultMode": 0o400}
        made.append({"name": CLIENT, "secret": secret})
    return made


def _tls_digests(accounting: ManagedAccounting) -> dict[str, str]:
    store = accounting.store
    if not isinstance(store, ExternalDatabase):
        return {}
    return {
        "database-ca": store.ca.digest if store.ca else "",
        "database-client": store.client.digest if store.client else "",
    }
