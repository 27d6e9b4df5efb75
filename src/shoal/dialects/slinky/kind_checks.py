"""What is checked of the smaller kinds of slinky.slurm.net. Pure."""

from collections.abc import Mapping
from datetime import timedelta

from ...kube import values
from ...kube.findings import Doubtful, Finding, Findings, Lookups, Wrong
from ...slurm import conf
from .. import texts
from . import checks, defaults, naming, types
from .checks import TEMPLATE
from .controller_checks import keys

SLURMDBD_CONF: Mapping[str, type[Finding]] = {
    **dict.fromkeys(("DbdHost", "DbdPort", "SlurmUser", "AuthType"), Wrong),
    **dict.fromkeys(("StorageType", "StorageHost", "StoragePort", "StorageLoc"), Wrong),
    **dict.fromkeys(("StorageUser", "StoragePass"), Wrong),
    **dict.fromkeys(("AuthAltTypes", "LogFile"), Doubtful),
}


# -- LoginSet


def loginset(obj: types.LoginSet, ask: Lookups) -> Findings:
    """Check a LoginSet."""
    spec = obj.spec
    yield from of_a_controller(obj, ask)
    if not spec.sssd_conf_ref.name:
        yield Wrong("spec.sssdConfRef.name", "is empty; name the Secret with sssd.conf")
    yield from values.at_least(0, {"spec.replicas": spec.replicas})
    yield from checks.service("spec.service", spec.service, "login", 22)
    ours = {"login": "containers", "initconf": "initContainers"}
    yield from checks.template(TEMPLATE, spec.template, ours, bare=False)
    for name in ours:
        yield from checks.container(f"spec.{name}", name, getattr(spec, name))
    if spec.strategy is not None:
        yield from _strategy(spec.strategy)


def _strategy(strategy: types.Strategy) -> Findings:
    field = "spec.strategy"
    if (strategy.type or "RollingUpdate") not in ("RollingUpdate", "Recreate"):
        yield Wrong(f"{field}.type", f"{strategy.type!r} is none; use RollingUpdate or Recreate")
    rolling = strategy.rolling_update
    if rolling is None:
        return
    if strategy.type == "Recreate":
        yield Wrong(f"{field}.rollingUpdate", "goes with type RollingUpdate only; take it out")
    if rolling.max_surge in (0, "0%", "0") and rolling.max_unavailable in (0, "0%", "0"):
        message = "and maxSurge are both 0, so no pod could ever be replaced; raise one"
        yield Wrong(f"{field}.rollingUpdate.maxUnavailable", message)


# -- Accounting, RestApi, Token


def accounting(obj: types.Accounting, ask: Lookups) -> Findings:
    """Check an Accounting."""
    spec = obj.spec
    yield from keys(spec)
    storage = spec.storage_config
    field = "spec.storageConfig"
    if storage is not None:
        yield from texts.words(
            {
                f"{field}.host": ("StorageHost", storage.host),
                f"{field}.database": ("StorageLoc", storage.database),
                f"{field}.username": ("StorageUser", storage.username),
            }
        )
        yield from values.ports({f"{field}.port": storage.port})
        if not spec.external and not storage.host:
            yield Wrong(f"{field}.host", "is empty; name the host of the database")
    elif not spec.external:
        yield Wrong(field, "is missing; say where the database is, or set spec.external")
    yield from texts.lines(
        "spec.extraConf", spec.extra_conf, SLURMDBD_CONF, conf.GRAMMARS["slurmdbd.conf"]
    )
    yield from checks.service("spec.service", spec.service, "slurmdbd", 6819)
    yield from checks.template(TEMPLATE, spec.template, {"slurmdbd": "containers"}, bare=False)
    yield from checks.container("spec.slurmdbd", "slurmdbd", spec.slurmdbd)


def restapi(obj: types.RestApi, ask: Lookups) -> Findings:
    """Check a RestApi."""
    spec = obj.spec
    yield from of_a_controller(obj, ask)
    yield from values.at_least(0, {"spec.replicas": spec.replicas})
    yield from checks.service("spec.service", spec.service, "slurmrestd", 6820)
    yield from checks.template(TEMPLATE, spec.template, {"slurmrestd": "containers"}, bare=False)
    yield from checks.container("spec.slurmrestd", "slurmrestd", spec.slurmrestd)


def token(obj: types.Token, ask: Lookups) -> Findings:
    """Check a Token."""
    spec, namespace = obj.spec, obj.metadata.namespace
    key = defaults.signing_key(spec)
    if key is None:
        yield Wrong("spec.jwtKeyRef", "jwtKeyRef or jwtHs256KeyRef must be set")
    if not spec.username:
        yield Wrong("spec.username", "is empty; name a user of Slurm")
    elif spec.secret_ref is None:
        name = naming.token_secret(obj.metadata.name, spec.username)
        for found in values.subdomain("spec.username", name, "the Secret"):
            yield Wrong(found.field, f"{found.message}; or name one in spec.secretRef")
    elif key is not None and spec.secret_ref.name == key.name:
        message = f"{key.name!r} holds the key; the token would be written over it"
        yield Wrong("spec.secretRef.name", f"{message}, so name another Secret")
    old = spec.jwt_hs256_key_ref
    if old is not None and old.namespace and old.namespace != namespace:
        message = f"is {old.namespace!r}, and only {namespace!r} is allowed; copy the Secret"
        yield Wrong("spec.jwtHs256KeyRef.namespace", message)
    if spec.lifetime:
        yield from values.lasting("spec.lifetime", spec.lifetime, timedelta(seconds=1))


def of_a_controller(obj: types.NodeSet | types.LoginSet | types.RestApi, ask: Lookups) -> Findings:
    """Check the reference to the cluster that an object belongs to."""
    ref, namespace = obj.spec.controller_ref, obj.metadata.namespace
    yield from checks.references(namespace, {"spec.controllerRef": ref})
    named = {"spec.controllerRef.name": ref.name}
    yield from values.existing(types.CONTROLLER, namespace, named, ask)
