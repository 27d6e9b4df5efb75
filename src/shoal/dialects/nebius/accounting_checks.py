"""What is checked of accounting in a SlurmCluster of slurm.nebius.ai. Pure."""

import re

from ...kube import values
from ...kube.findings import Doubtful, Findings, Lookups, Wrong
from ...kube.kinds import SECRET
from .. import texts
from . import shapes
from .accounting_types import (
    Accounting,
    AccountingSlurmConfig,
    ExternalDatabase,
    MariaDb,
    SlurmdbdConfig,
    Storage,
)

FIELD = "spec.slurmNodes.accounting"
DATABASE = f"{FIELD}.externalDB"
MARIADB = f"{FIELD}.mariadbOperator"
# man slurmdbd.conf: a number, and hours, days or months; months if it does not say.
_PURGE = re.compile(r"[0-9]+(hours?|days?|months?)?", re.ASCII | re.IGNORECASE)
# In a list of parameters a comma ends one.
_PARAMETER = re.compile(r"[^\s,=\"#]+")


def accounting(found: Accounting, namespace: str, ask: Lookups) -> Findings:
    """Check slurmdbd, and where it keeps its records."""
    if not found.enabled:
        return
    for name, container in (("slurmdbd", found.slurmdbd), ("munge", found.munge)):
        if container is None:
            yield Wrong(f"{FIELD}.{name}", "is missing; name its image, or set enabled to false")
    yield from _slurmdbd(f"{FIELD}.slurmdbdConfig", found.slurmdbd_config)
    yield from _slurm(f"{FIELD}.slurmConfig", found.slurm_config)
    mariadb = found.mariadb_operator
    if found.external_db.enabled:
        if mariadb is not None and mariadb.enabled:
            message = "and externalDB.enabled are both true; keep one database"
            yield Wrong(f"{MARIADB}.enabled", message)
        yield from _external(found.external_db, namespace, ask)
    elif mariadb is not None:
        yield from _mariadb(mariadb)


def _slurmdbd(field: str, found: SlurmdbdConfig) -> Findings:
    purges = {
        "purgeEventAfter": found.purge_event_after,
        "purgeJobAfter": found.purge_job_after,
        "purgeResvAfter": found.purge_resv_after,
        "purgeStepAfter": found.purge_step_after,
        "purgeSuspendAfter": found.purge_suspend_after,
        "purgeTXNAfter": found.purge_txn_after,
        "purgeUsageAfter": found.purge_usage_after,
    }
    for name, text in purges.items():
        if text and not _PURGE.fullmatch(text):
            message = f"{text!r} is no time; write it as 12month, 30days or 48hours"
            yield Wrong(f"{field}.{name}", message)
    yield from texts.words({f"{field}.privateData": ("PrivateData", found.private_data)})
    yield from values.at_least(0, {f"{field}.tcpTimeout": found.tcp_timeout})


def _slurm(field: str, found: AccountingSlurmConfig) -> Findings:
    words = {
        "accountingStorageTRES": found.accounting_storage_tres,
        "accountingStoreFlags": found.accounting_store_flags,
        "acctGatherFilesystemType": found.acct_gather_filesystem_type,
        "acctGatherInterconnectType": found.acct_gather_interconnect_type,
        "acctGatherProfileType": found.acct_gather_profile_type,
        "jobAcctGatherParams": found.job_acct_gather_params,
        "priorityWeightTRES": found.priority_weight_tres,
    }
    keys = {f"{field}.{name}": (name[0].upper() + name[1:], text) for name, text in words.items()}
    yield from texts.words(keys)
    yield from values.at_least(
        0,
        {
            f"{field}.jobAcctGatherFrequency": found.job_acct_gather_frequency,
            f"{field}.priorityWeightAge": found.priority_weight_age,
            f"{field}.priorityWeightFairshare": found.priority_weight_fairshare,
            f"{field}.priorityWeightQOS": found.priority_weight_qos,
        },
    )


# -- the database


def _external(found: ExternalDatabase, namespace: str, ask: Lookups) -> Findings:
    needed = {"host": ("StorageHost", found.host), "user": ("StorageUser", found.user)}
    for name, (key, text) in needed.items():
        yield from texts.words({f"{DATABASE}.{name}": (key, text)})
        if not text:
            yield Wrong(f"{DATABASE}.{name}", f"is empty; name the {name} of the database")
    if not 0 < found.port <= 65535:
        yield Wrong(f"{DATABASE}.port", f"must be a port from 1 to 65535, got {found.port}")
    ref = found.password_secret_key_ref
    if ref is None or not ref.name or not ref.key:
        message = "needs a name and a key; name the Secret with the password, and its entry"
        yield Wrong(f"{DATABASE}.passwordSecretKeyRef", message)
    else:
        yield from _secret(f"{DATABASE}.passwordSecretKeyRef.name", ref.name, namespace, ask)
    yield from _tls(found, namespace, ask)
    for key, value in sorted(found.storage_parameters.items()):
        at = f"{DATABASE}.storageParameters.{key}"
        if not _PARAMETER.fullmatch(key) or not _PARAMETER.fullmatch(value):
            yield Wrong(at, "must be one word, without commas; remove what is more")


def _tls(found: ExternalDatabase, namespace: str, ask: Lookups) -> Findings:
    if found.tls is None:
        return
    refs = {
        "serverCASecretRef": (found.tls.server_ca_secret_ref, ("SSL_CA",)),
        "clientCertSecretRef": (found.tls.client_cert_secret_ref, ("SSL_CERT", "SSL_KEY")),
    }
    for name, (secret, keys) in refs.items():
        if not secret:
            continue
        yield from _secret(f"{DATABASE}.tls.{name}", secret, namespace, ask)
        for key in sorted(set(keys) & set(found.storage_parameters)):
            message = f"has no effect: tls.{name} says it"
            yield Doubtful(f"{DATABASE}.storageParameters.{key}", message)


def _secret(field: str, name: str, namespace: str, ask: Lookups) -> Findings:
    yield from values.subdomain(field, name, "the Secret")
    yield from values.existing(SECRET, namespace, {field: name}, ask)


def _mariadb(found: MariaDb) -> Findings:
    yield from values.at_least(0, {f"{MARIADB}.replicas": found.replicas})
    yield from values.ports({f"{MARIADB}.port": found.port})
    yield from shapes.resources(f"{MARIADB}.resources", found.resources)
    storage = found.storage or Storage()
    if storage.ephemeral:
        message = "without a volume, all records are lost whenever the database's pod is replaced"
        yield Doubtful(f"{MARIADB}.storage.ephemeral", message)
    if storage.size is not None:
        yield from shapes.quantity(f"{MARIADB}.storage.size", storage.size)
    if storage.volume_claim_template is not None:
        field = f"{MARIADB}.storage.volumeClaimTemplate"
        yield from shapes.claim(field, storage.volume_claim_template)
