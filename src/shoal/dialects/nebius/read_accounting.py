"""Accounting in a SlurmCluster of slurm.nebius.ai, to the model: slurmdbd and its store. Pure."""

import msgspec

from ...kube.objects import Object
from ...model.accounting import Database, ManagedAccounting
from ...model.controller import Keys
from ...model.database import ExternalDatabase, OperatorDatabase, OwnDatabase, Store
from ...model.part import KeyRef, Part, ServiceWishes
from .. import contents
from . import defaults, naming
from .accounting_types import Accounting, MariaDb, Storage
from .parts import SecretKey
from .read_config import keys as options
from .read_pods import NODES, Around, container, part, pod_spec
from .types import SlurmCluster

AT = f"{NODES}.accounting"
DATABASE = "slurm_acct_db"
USER = "slurm"
PORT = 3306
PASSWORD = "password"  # the entry of a Secret
CA, CERTIFICATE = "ca.crt", "tls.crt"
# What records of jobs need where nobody says: they stay, unless somebody wants them to go.
SIZE = "30Gi"


def accounting(obj: SlurmCluster, keys: Keys, around: Around) -> ManagedAccounting | None:
    """Return slurmdbd; None: the cluster keeps no records."""
    asked, names = obj.spec.slurm_nodes.accounting, around.names(obj.metadata.name)
    if not asked.enabled:
        return None
    made = part(
        obj,
        naming.ACCOUNTING,
        pod_spec(obj, AT, asked, (asked.slurmdbd, asked.munge)),
        accounting=container(asked.slurmdbd),
        munge=container(asked.munge),
    )
    return ManagedAccounting(
        part=made,
        naming=naming.NAMING,
        name=names.accounting.workload,
        service=ServiceWishes(defaults.port(naming.ACCOUNTING, asked.slurmdbd)),
        keys=keys,
        database=_database(obj, asked, around),
        names=names.accounting,
        store=_store(obj, asked, around),
        options=options(asked.slurmdbd_config),
        config=names.slurm_configs,
    )


def _database(obj: SlurmCluster, asked: Accounting, around: Around) -> Database:
    names, theirs = around.names(obj.metadata.name), asked.external_db
    if theirs.enabled:
        ref = theirs.password_secret_key_ref or SecretKey()
        field = f"{AT}.externalDB.passwordSecretKeyRef"
        password = contents.secret(ref.name or "", ref.key or "", field, around.found)
        return Database(theirs.host or "", theirs.port, DATABASE, theirs.user or "", password)
    ours = asked.mariadb_operator
    password = contents.secret(names.database_password, PASSWORD, "", around.found)
    return Database(names.database, (ours and ours.port) or PORT, DATABASE, USER, password)


def _store(obj: SlurmCluster, asked: Accounting, around: Around) -> Store:
    names = around.names(obj.metadata.name)
    if asked.external_db.enabled:
        return _external(asked, around)
    wanted = asked.mariadb_operator
    root = contents.secret(names.database_root, PASSWORD, "", around.found)
    if wanted is not None and wanted.enabled and around.mariadb:
        found = _operated(obj, asked, wanted)
        return OperatorDatabase(
            found, names.database, root, _spec(wanted), generate=not wanted.protected_secret
        )
    storage = (wanted and wanted.storage) or Storage()
    return OwnDatabase(_own(obj, asked, around), names.database, root, _claim(storage))


# -- a database of the user's


def _external(asked: Accounting, around: Around) -> ExternalDatabase:
    tls, at = asked.external_db.tls, f"{AT}.externalDB.tls"
    ca = (tls and tls.server_ca_secret_ref) or ""
    client = (tls and tls.client_cert_secret_ref) or ""
    return ExternalDatabase(
        _named(ca, CA, f"{at}.serverCASecretRef", around),
        _named(client, CERTIFICATE, f"{at}.clientCertSecretRef", around),
        asked.external_db.storage_parameters,
    )


def _named(name: str, key: str, field: str, around: Around) -> KeyRef | None:
    return contents.secret(name, key, field, around.found) if name else None


# -- a database of ours


def _own(obj: SlurmCluster, asked: Accounting, around: Around) -> Part:
    """Return MariaDB in a pod of ours: what is asked of mariadb-operator says how it is to be."""
    wanted = asked.mariadb_operator
    made = around.image("mariadb") | container(wanted)
    spec = _placed(obj, asked, wanted)
    if wanted is not None:
        said = {**made.get("securityContext", {}), **(wanted.security_context or {})}
        made["securityContext"] = said
        if wanted.pod_security_context is not None:
            spec["securityContext"] = wanted.pod_security_context
    return part(obj, naming.DATABASE, spec, mariadb=made)


def _claim(storage: Storage) -> Object | None:
    """Return the claim of what the database holds; None: it goes with the pod."""
    if storage.ephemeral:
        return None
    usual: Object = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": SIZE if storage.size is None else storage.size}},
    }
    if storage.storage_class_name:
        usual["storageClassName"] = storage.storage_class_name
    return usual | (storage.volume_claim_template or {})


def _placed(obj: SlurmCluster, asked: Accounting, wanted: MariaDb | None) -> Object:
    """Return where it runs: beside slurmdbd's nodes, but nothing of slurmdbd's own pod."""
    spec = pod_spec(obj, AT, asked, (wanted,))
    kept = {key: value for key, value in spec.items() if key not in _SLURMDBDS}
    if wanted is not None and wanted.priority_class_name:
        kept["priorityClassName"] = wanted.priority_class_name
    return kept


_SLURMDBDS = ("initContainers", "priorityClassName", "hostUsers")


# -- by mariadb-operator


def _operated(obj: SlurmCluster, asked: Accounting, wanted: MariaDb) -> Part:
    made = {key: value for key, value in container(wanted).items() if key in _CONTAINER}
    if wanted.security_context is not None:
        made["securityContext"] = wanted.security_context
    return part(obj, naming.DATABASE, _placed(obj, asked, wanted), mariadb=made)


_CONTAINER = ("image", "imagePullPolicy", "resources")
# What a MariaDB of mariadb-operator's calls as a container does.
_ALIKE = ("command", "args", "env", "livenessProbe", "readinessProbe")


def _spec(wanted: MariaDb) -> Object:
    made = container(wanted)
    said = {
        **{key: made[key] for key in _ALIKE if key in made},
        "replicas": wanted.replicas,
        "metrics": {"enabled": wanted.metrics.enabled} if wanted.metrics else None,
        "replication": wanted.replication,
        "storage": _stored(wanted.storage or Storage()),
        "podSecurityContext": wanted.pod_security_context,
    }
    return {key: value for key, value in said.items() if value is not None}


def _stored(storage: Storage) -> Object:
    told: Object = msgspec.to_builtins(storage)
    said = storage.ephemeral or storage.size is not None or storage.volume_claim_template
    return told if said else {**told, "size": SIZE}
