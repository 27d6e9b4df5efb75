"""slurmdbd.conf. Pure."""

from ..model.accounting import ManagedAccounting
from ..slurm import conf
from ..slurm.conf import ConfError, Place, setting
from . import slurm_conf
from .sections import section, with_extra

_GRAMMAR = conf.GRAMMARS["slurmdbd.conf"]
_PORT = 6819


def slurmdbd_conf(accounting: ManagedAccounting, password: str) -> str:
    """Return slurmdbd.conf."""
    database = accounting.database
    general = (
        setting("DbdHost", f"{accounting.name}-0"),
        setting("DbdPort", _PORT),
        setting("SlurmUser", "slurm"),
    )
    plugins = (
        setting("AuthType", "auth/slurm"),
        setting("AuthAltTypes", "auth/jwt"),
        setting("AuthAltParameters", slurm_conf.auth_parameters(accounting.keys)),
        setting("AuthInfo", "use_client_ids"),
    )
    storage = (
        setting("StorageType", "accounting_storage/mysql"),
        setting("StorageHost", database.host, source="storageConfig.host"),
        setting("StoragePort", database.port),
        setting("StorageUser", database.user, source="storageConfig.username"),
        setting("StorageLoc", database.name, source="storageConfig.database"),
    )
    # In the foreground it logs to its standard error, which is where Kubernetes looks.
    logging = (setting("LogFile", "/dev/null"),)
    ours = (*general, *plugins, *storage, *logging)
    theirs = conf.parse(accounting.extra, _GRAMMAR, slurm_conf.SOURCE)
    before = (
        *section("GENERAL", general),
        *section("PLUGINS & PARAMETERS", plugins),
        *section("STORAGE", storage),
    )
    return "".join(
        (
            conf.write(before, _GRAMMAR),
            f"StoragePass={_password(accounting, password)}\n",
            conf.write(section("LOGGING", logging), _GRAMMAR),
            with_extra(ours, theirs, accounting.extra),
        )
    )


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
