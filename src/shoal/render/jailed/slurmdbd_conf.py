"""slurmdbd.conf of a cluster with a shared root. Pure."""

from ...model.accounting import ManagedAccounting
from ...model.database import ExternalDatabase
from ...slurm import conf
from ...slurm.conf import ConfError, Place, Setting, setting

HOST = "accounting"
PORT = 6819
JWT_KEY = "/var/spool/slurmdbd/jwt_hs256.key"
CA_FOLDER = "/mnt/slurmdbd-ssl-ca-cert"
CLIENT_FOLDER = "/mnt/slurmdbd-ssl-client-key"
CA_FILE = "ca.crt"
CERTIFICATE_FILE = "tls.crt"
KEY_FILE = "tls.key"
_GRAMMAR = conf.GRAMMARS["slurmdbd.conf"]


def slurmdbd_conf(accounting: ManagedAccounting, password: str) -> str:
    """Return slurmdbd.conf."""
    options = [
        setting(key, value, source="accounting.slurmdbdConfig")
        for key, value in accounting.options
        if value != ""
    ]
    before, after = (_ours(accounting), [*_parameters(accounting), *options])
    written = conf.write(before, _GRAMMAR), conf.write(after, _GRAMMAR)
    return f"StoragePass={_password(accounting, password)}\n".join(written)


def parameters(store: ExternalDatabase) -> dict[str, str]:
    """Return StorageParameters: how the database is talked to."""
    told = dict(store.parameters)
    if store.ca:
        told["SSL_CA"] = f"{CA_FOLDER}/{CA_FILE}"
    if store.client:
        told["SSL_CERT"] = f"{CLIENT_FOLDER}/{CERTIFICATE_FILE}"
        told["SSL_KEY"] = f"{CLIENT_FOLDER}/{KEY_FILE}"
    return told


def _ours(accounting: ManagedAccounting) -> list[Setting]:
    database = accounting.database
    tokens = [
        setting("AuthAltTypes", "auth/jwt"),
        setting("AuthAltParameters", f"jwt_key={JWT_KEY}"),
    ]
    return [
        setting("AuthType", "auth/munge"),
        *(tokens if accounting.keys.jwt else ()),
        setting("SlurmUser", "root"),
        # In the foreground it logs to its standard error, which is where Kubernetes looks.
        setting("LogFile", "/dev/null"),
        setting("PidFile", "/var/run/slurmdbd.pid"),
        setting("DbdHost", HOST),
        setting("DbdPort", PORT),
        setting("StorageLoc", database.name),
        setting("StorageType", "accounting_storage/mysql"),
        setting("StorageHost", database.host, source="accounting.externalDB.host"),
        setting("StoragePort", database.port),
        setting("StorageUser", database.user, source="accounting.externalDB.user"),
    ]


def _parameters(accounting: ManagedAccounting) -> list[Setting]:
    store = accounting.store
    if not isinstance(store, ExternalDatabase) or not parameters(store):
        return []
    told = ",".join(f"{key}={value}" for key, value in sorted(parameters(store).items()))
    return [setting("StorageParameters", told, source="accounting.externalDB.storageParameters")]


def _password(accounting: ManagedAccounting, password: str) -> str:
    """Return the password as slurmdbd.conf has it; no error shows it, as it would other values."""
    if not password.isprintable() or '"' in password:
        raise ConfError(
            Place(str(accounting.database.password)),
            "StoragePass",
            'slurmdbd.conf cannot hold a password with a line end, a " or a character that cannot '
            "be seen; choose another",
        )
    escaped = password.replace("\\", "\\\\").replace("#", "\\#")
    return f'"{escaped}"' if not password or " " in password else escaped
