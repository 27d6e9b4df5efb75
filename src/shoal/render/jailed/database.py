"""The database behind slurmdbd: MariaDB in a pod of ours, or by mariadb-operator. Pure."""

from collections.abc import Iterator

from ...kube.objects import Object
from ...model.accounting import Database, ManagedAccounting
from ...model.database import STORAGE, ExternalDatabase, OperatorDatabase, OwnDatabase
from ...model.jail import Jail
from ...model.part import KeyRef, Part, ServiceWishes
from .. import marks, pods, probes, services, volumes
from ..pods import Inside
from ..services import Port
from . import containers

NAME = "mariadb"
MYSQL = 999  # whose the files are, in MariaDB's image and in ours
API = "k8s.mariadb.com/v1alpha1"
# MariaDB writes down what it holds in memory before it ends.
GRACE_S = 120
_LEAST_MIB = 128
_WITHOUT_LIMIT_MIB = 32768
# What slurmdbd asks for. The last is ON by default since MariaDB 11.6, and slurmdbd ends when one
# of its writes meets another transaction then; older ones do not know it.
_SETTINGS = (
    ("innodb_lock_wait_timeout", "900"),
    ("max_allowed_packet", "16M"),
    ("skip_name_resolve", "ON"),
    ("loose_innodb_snapshot_isolation", "OFF"),
)


def objects(jail: Jail, accounting: ManagedAccounting) -> list[Object]:
    """Return what the database consists of: nothing where somebody else looks after it."""
    match accounting.store:
        case OwnDatabase() as own:
            return [service(own, accounting.database), stateful_set(jail, own, accounting.database)]
        case OperatorDatabase() as theirs:
            return [mariadb(jail, theirs, accounting.database), grant(theirs, accounting.database)]
        case ExternalDatabase() | None:
            return []


# -- ours


def service(own: OwnDatabase, database: Database) -> Object:
    """Reach MariaDB."""
    wishes = ServiceWishes(database.port)
    return services.service(own.part, own.name, wishes, _port(database), own.part.selector)


def stateful_set(jail: Jail, own: OwnDatabase, database: Database) -> Object:
    """Run MariaDB."""
    part = own.part
    spec: Object = {
        "replicas": jail.mode.replicas(1),
        "revisionHistoryLimit": 0,
        "serviceName": own.name,
        "selector": {"matchLabels": dict(part.selector)},
        "template": containers.template(part, _inside(own, database)),
    }
    if own.storage is not None:
        claim = {"metadata": {"name": STORAGE}, "spec": dict(own.storage)}
        spec["volumeClaimTemplates"] = [claim]
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": marks.metadata(part, own.name, part.pods.marks),
        "spec": spec,
    }


def _inside(own: OwnDatabase, database: Database) -> Inside:
    made = [volumes.scratch("run"), volumes.scratch("tmp")]
    if own.storage is None:
        made.append(volumes.scratch(STORAGE))
    return Inside(
        _mariadb(own, database),
        volumes=made,
        spec={
            "enableServiceLinks": False,
            "securityContext": pods.restricted_pod(MYSQL),
            "terminationGracePeriodSeconds": GRACE_S,
        },
    )


def _mariadb(own: OwnDatabase, database: Database) -> Object:
    listens = probes.connects(NAME)
    made = pods.container(
        own.part,
        NAME,
        {
            "args": [*_arguments(own.part), f"--port={database.port}"],
            "env": [
                _secret("MARIADB_ROOT_PASSWORD", own.root),
                {"name": "MARIADB_DATABASE", "value": database.name},
                {"name": "MARIADB_USER", "value": database.user},
                _secret("MARIADB_PASSWORD", database.password),
            ],
            "ports": [_port(database).opened],
            "startupProbe": probes.started(listens),
            "readinessProbe": probes.ready(listens),
            "livenessProbe": probes.alive(listens),
            "securityContext": pods.restricted(MYSQL),
            "volumeMounts": [
                volumes.mount(STORAGE, "/var/lib/mysql"),
                volumes.mount("run", "/run/mysqld"),
                volumes.mount("tmp", "/tmp"),
            ],
        },
    )
    return containers.bounded(made)


def _arguments(part: Part) -> Iterator[str]:
    if pool := _pool_mib(part):
        yield f"--innodb-buffer-pool-size={pool}M"
    for key, value in _SETTINGS:
        yield f"--{key.replace('_', '-')}={value}"


def _pool_mib(part: Part) -> int:
    """Return how much memory MariaDB takes for its tables: half of its own; 0: nobody says."""
    half = containers.mebibytes(containers.requested(part, NAME, "memory")) // 2
    return half if half >= _LEAST_MIB else 0


def _secret(name: str, ref: KeyRef) -> Object:
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": ref.name, "key": ref.key}}}


def _port(database: Database) -> Port:
    return Port(NAME, database.port)


# -- by mariadb-operator


def mariadb(jail: Jail, theirs: OperatorDatabase, database: Database) -> Object:
    """Have mariadb-operator run MariaDB."""
    part = theirs.part
    asked = containers.bounded(part.pods.containers.get(NAME, {}))
    where = part.pods.spec
    replicas = int(theirs.spec.get("replicas") or 1)
    affinity = {"antiAffinityEnabled": replicas > 1, **where.get("affinity", {})}
    spec: Object = {
        **{key: asked[key] for key in ("image", "imagePullPolicy", "resources") if key in asked},
        **({"securityContext": asked["securityContext"]} if asked.get("securityContext") else {}),
        **{key: where[key] for key in _PLACED if key in where},
        **theirs.spec,
        "replicas": jail.mode.replicas(replicas),
        "port": database.port,
        "database": database.name,
        "username": database.user,
        "passwordSecretKeyRef": _generated(database.password, generate=theirs.generate),
        "rootEmptyPassword": False,
        "rootPasswordSecretKeyRef": _generated(theirs.root, generate=theirs.generate),
        "service": {"type": "ClusterIP"},
        "affinity": affinity,
        "myCnf": _my_cnf(part),
    }
    return {
        "apiVersion": API,
        "kind": "MariaDB",
        "metadata": marks.metadata(part, theirs.name),
        "spec": spec,
    }


def grant(theirs: OperatorDatabase, database: Database) -> Object:
    """Let slurmdbd's user do anything with slurmdbd's tables."""
    return {
        "apiVersion": API,
        "kind": "Grant",
        "metadata": marks.metadata(theirs.part, theirs.name),
        "spec": {
            "mariaDbRef": {"name": theirs.name},
            "privileges": ["ALL PRIVILEGES"],
            "database": database.name,
            "table": "*",
            "username": database.user,
            "host": "%",
        },
    }


_PLACED = ("nodeSelector", "tolerations", "priorityClassName", "imagePullSecrets")


def _generated(ref: KeyRef, *, generate: bool) -> Object:
    return {"name": ref.name, "key": ref.key, "generate": generate}


def _my_cnf(part: Part) -> str:
    pool = _pool_mib(part) or _WITHOUT_LIMIT_MIB
    lines = (("bind-address", "*"), ("innodb_buffer_pool_size", f"{pool}M"), *_SETTINGS)
    return "[mariadb]\n" + "".join(f"{key}={value}\n" for key, value in lines)
