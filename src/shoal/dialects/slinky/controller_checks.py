"""What is checked of a Controller of slinky.slurm.net. Pure."""

import re

from ...kube import values
from ...kube.findings import Doubtful, Findings, Lookups, Unknown, Wrong
from ...kube.kinds import CONFIG_MAP, PERSISTENT_VOLUME_CLAIM
from ...slurm import conf
from .. import texts
from . import checks, defaults, types
from .checks import TEMPLATE
from .parts import ExternalConfig

# It becomes a folder's name, and a part of table names, where case is lost (man slurm.conf).
_CLUSTER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
CLUSTER_NAME_LENGTH = 40


def controller(obj: types.Controller, ask: Lookups) -> Findings:
    """Check a Controller."""
    spec, namespace = obj.spec, obj.metadata.namespace
    yield from _cluster_name(obj)
    yield from keys(spec)
    yield from _controller_references(obj, ask)
    yield from _high_availability(obj, ask)
    if not spec.external and not spec.persistence.enabled:
        yield Doubtful(
            "spec.persistence.enabled",
            "without a volume, all jobs are lost whenever slurmctld's pod is replaced",
        )
    yield from texts.lines("spec.extraConf", spec.extra_conf, texts.SLURM_CONF, conf.SLURM)
    yield from checks.service("spec.service", spec.service, "slurmctld", 6817)
    ours = {"slurmctld": "containers", "reconfigure": "initContainers", "logfile": "initContainers"}
    yield from checks.template(TEMPLATE, spec.template, ours, bare=False)
    for name in ours:
        yield from checks.container(f"spec.{name}", name, getattr(spec, name))
    yield from _metrics(spec.metrics)
    yield from values.existing(
        types.ACCOUNTING,
        namespace,
        {"spec.accountingRef.name": spec.accounting_ref.name if spec.accounting_ref else ""},
        ask,
    )


def _cluster_name(obj: types.Controller) -> Findings:
    name = defaults.cluster_name(obj)
    field = "spec.clusterName"
    derived = "" if obj.spec.cluster_name else f" (it is {name!r} unless it is set)"
    if len(name) > CLUSTER_NAME_LENGTH:
        yield Wrong(field, f"must be {CLUSTER_NAME_LENGTH} characters or fewer{derived}")
    if not _CLUSTER_NAME.fullmatch(name):
        yield Wrong(field, f"{name!r} is no name; use letters, digits, _ and -{derived}")
    elif name != name.lower():
        yield Doubtful(field, f"Slurm will call it {name.lower()!r}: it has no upper-case names")


def keys(spec: types.ControllerSpec | types.AccountingSpec) -> Findings:
    """Check keys and addresses, as the schema does, for objects that came by conversion."""
    if spec.external:
        if spec.external_config is None:
            yield Wrong("spec.externalConfig", "externalConfig must be set when external is true")
        else:
            yield from _address(spec.external_config)
        return
    if spec.slurm_key_ref is None:
        yield Wrong("spec.slurmKeyRef", "slurmKeyRef must be set when external is false")
    if defaults.signing_key(spec) is None:
        message = "jwtKeyRef or jwtHs256KeyRef must be set when external is false"
        yield Wrong("spec.jwtKeyRef", message)


def _address(where: ExternalConfig) -> Findings:
    field = "spec.externalConfig"
    yield from texts.words({f"{field}.host": ("SlurmctldHost", where.host)})
    if not where.host:
        yield Wrong(f"{field}.host", "is empty; say where the daemon runs")
    if not 0 < where.port <= 65535:
        yield Wrong(f"{field}.port", f"must be 1 to 65535, got {where.port}")


def _controller_references(obj: types.Controller, ask: Lookups) -> Findings:
    spec, namespace = obj.spec, obj.metadata.namespace
    lists = {
        "spec.configFileRefs": spec.config_file_refs,
        "spec.prologScriptRefs": spec.prolog_script_refs,
        "spec.epilogScriptRefs": spec.epilog_script_refs,
        "spec.prologSlurmctldScriptRefs": spec.prolog_slurmctld_script_refs,
        "spec.epilogSlurmctldScriptRefs": spec.epilog_slurmctld_script_refs,
    }
    single = {f"{field}[{n}]": r for field, refs in lists.items() for n, r in enumerate(refs or ())}
    yield from checks.references(namespace, {"spec.accountingRef": spec.accounting_ref, **single})
    for field, refs in lists.items():
        yield from checks.files(field, refs or (), namespace, ask)
    if spec.jwks_key_ref is not None:
        named = {"spec.jwksKeyRef.name": spec.jwks_key_ref.name}
        yield from values.existing(CONFIG_MAP, namespace, named, ask)


RWX = "ReadWriteMany"
HA = f"slurm high availability (HA) mode requires existing PVC with an access mode of {RWX}"


def _high_availability(obj: types.Controller, ask: Lookups) -> Findings:
    spec = obj.spec
    field = "spec.persistence.existingClaim"
    if not spec.ha.enabled or spec.external:
        return
    claim = spec.persistence.existing_claim
    if not spec.persistence.enabled or not claim:
        yield Wrong(field, f"{HA}; name one here, or set spec.ha.enabled to false")
        return
    found = ask.find(PERSISTENT_VOLUME_CLAIM, obj.metadata.namespace, claim)
    if found is None or isinstance(found, Unknown):
        return
    modes = found.get("spec", {}).get("accessModes")
    if modes and RWX not in modes:  # none: the claim was read in brief
        yield Wrong(field, f"{HA}; {claim!r} has {', '.join(modes)}")


def _metrics(metrics: types.Metrics) -> Findings:
    field, monitor = "spec.metrics.serviceMonitor", metrics.service_monitor
    if monitor is None or not monitor.enabled:
        return
    if not metrics.enabled:
        yield Doubtful(f"{field}.enabled", "finds nothing while spec.metrics.enabled is false")
    yield from values.scraped(field, monitor.interval, monitor.scrape_timeout)
    for number, one in enumerate(monitor.endpoints or ()):
        at = f"{field}.endpoints[{number}]"
        interval = one.interval or monitor.interval
        yield from values.scraped(at, interval, one.scrape_timeout or monitor.scrape_timeout)
        if not one.path.startswith("/"):
            yield Wrong(f"{at}.path", f"{one.path!r} is no path; start it with /")
