"""The files of a lab's Slurm: authentication by slurm.key and tokens, configless, dynamic nodes."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from .container import File
from .space import HOSTNAME

SLURM = 401  # the images' user `slurm`
DATABASE = {
    "MARIADB_DATABASE": "slurm_acct_db",
    "MARIADB_USER": "slurm",
    "MARIADB_PASSWORD": "slurm",
}

SLURM_CONF = {
    "ClusterName": "lab",
    "SlurmctldHost": "slurmctld",
    "SlurmUser": "slurm",
    "SlurmdUser": "root",
    "StateSaveLocation": "/var/spool/slurmctld",
    "SlurmdSpoolDir": "/var/spool/slurmd",
    "SlurmctldParameters": "enable_configless",
    "AuthType": "auth/slurm",
    "CredType": "cred/slurm",
    "AuthAltTypes": "auth/jwt",
    "AuthAltParameters": "jwt_key=/etc/slurm/jwt.key",
    "AuthInfo": "use_client_ids,cred_expire=120",
    "AccountingStorageType": "accounting_storage/slurmdbd",
    "AccountingStorageHost": "slurmdbd",
    "AccountingStorageEnforce": "associations",
    "JobAcctGatherType": "jobacct_gather/linux",
    # Neither needs a cgroup of its own, so the workers need no privilege.
    "ProctrackType": "proctrack/linuxproc",
    "TaskPlugin": "task/none",
    "SelectType": "select/cons_tres",
    "ReturnToService": "2",
    # A job that is killed just as it starts would otherwise take half a minute to end.
    "KillWait": "1",
    # A job may otherwise wait up to half a minute for the scheduler to look at it.
    "SchedulerParameters": "batch_sched_delay=0,sched_interval=1,bf_interval=1",
    "MaxNodeCount": "12000",
}
SLURMDBD_CONF = {
    "DbdHost": "slurmdbd",
    "SlurmUser": "slurm",
    "AuthType": "auth/slurm",
    "AuthAltTypes": "auth/jwt",
    "AuthAltParameters": "jwt_key=/etc/slurm/jwt.key",
    "AuthInfo": "use_client_ids",
    "StorageType": "accounting_storage/mysql",
    "StorageHost": "mariadb",
    "StorageUser": DATABASE["MARIADB_USER"],
    "StoragePass": DATABASE["MARIADB_PASSWORD"],
    "StorageLoc": DATABASE["MARIADB_DATABASE"],
    "LogFile": "/dev/null",
}
LINES = (
    "NodeSet=all Feature=all",
    "PartitionName=all Nodes=ALL Default=YES MaxTime=UNLIMITED State=UP",
    "PartitionName=spare Nodes=ALL MaxTime=UNLIMITED State=UP",
)


@dataclass(frozen=True)
class Conf:
    """What slurm.conf has beside SLURM_CONF, or instead of it."""

    keys: Mapping[str, str] = field(default_factory=dict)
    lines: tuple[str, ...] = LINES

    def text(self) -> str:
        """Return the whole file."""
        return _text(SLURM_CONF | dict(self.keys)) + "".join(f"{line}\n" for line in self.lines)


@dataclass
class Keys:
    """The secrets of a lab."""

    slurm: bytes = field(default_factory=lambda: secrets.token_bytes(1024), repr=False)
    jwt: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)


def _text(keys: Mapping[str, str]) -> str:
    return "".join(f"{key}={value}\n" for key, value in keys.items())


def files_of(daemon: str, conf: Conf, keys: Keys, address: str) -> dict[str, File]:
    """Return what is mounted into the container of a daemon, by path."""
    owner = 0 if daemon == "slurmd" else SLURM
    # Ours too: slurmctld 24.11 calls an srun back by the name of its host, and a job whose srun it
    # does not find stays COMPLETING for a minute.
    names = f"slurmctld slurmdbd slurmrestd mariadb {HOSTNAME}"
    hosts = f"127.0.0.1 localhost\n{address} {names}\n"
    found = {
        "/etc/hosts": File(hosts, mode=0o644),
        # No resolver: names that are not in the file above are unknown at once.
        "/etc/resolv.conf": File("", mode=0o644),
    }
    slurm_key, jwt_key = File(keys.slurm, owner), File(keys.jwt, owner)
    if daemon in ("slurmctld", "slurmdbd", "slurmd"):
        found["/etc/slurm/slurm.key"] = slurm_key
    if daemon in ("slurmctld", "slurmdbd"):
        found["/etc/slurm/jwt.key"] = jwt_key
    if daemon == "slurmdbd":
        found["/etc/slurm/slurmdbd.conf"] = File(_text(SLURMDBD_CONF), owner)
    if daemon in ("slurmctld", "slurmrestd"):
        found["/etc/slurm/slurm.conf"] = File(conf.text(), owner, 0o644)
        found["/etc/slurm/cgroup.conf"] = File("CgroupPlugin=disabled\n", owner, 0o644)
    return found
