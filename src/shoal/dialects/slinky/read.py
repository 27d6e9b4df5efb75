"""Objects of slinky.slurm.net to the model. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import msgspec

from ...kube.durations import duration
from ...kube.objects import Object, Resource
from ...model.accounting import Accounting, Database, ExternalAccounting, ManagedAccounting
from ...model.cluster import Cluster
from ...model.config import Config, Scripts
from ...model.controller import (
    ClaimTemplate,
    Controller,
    Endpoint,
    Ephemeral,
    ExistingClaim,
    ExternalController,
    Keys,
    ManagedController,
    Metrics,
    Monitor,
    State,
)
from ...model.login import LoginSet
from ...model.nodeset import Mode, NodeSet, Partition, Ssh
from ...model.observed import Found
from ...model.part import Absent, Files, KeyRef, Marks, Part, PodWishes, ServiceWishes
from ...model.rest import RestApi
from ...model.token import Token
from .. import contents
from ..contents import reference
from . import defaults, naming, types, updates
from .parts import ExternalConfig, KeyReference, LocalReference, Service

LEAST_LIFETIME = timedelta(seconds=1)
# What is written to the annotations of an object about that object alone, by others and by us. A
# copy of ours in the pods would restart slurmctld for our own note.
NOT_COPIED = (
    "kubectl.kubernetes.io/",
    "meta.helm.sh/",
    "shoal/",
    naming.NAMING.annotations.has_state,
    naming.NAMING.annotations.accept_empty_state,
)
STATE: Object = {
    "accessModes": ["ReadWriteOnce"],
    "resources": {"requests": {"storage": "4Gi"}},
}
ENDPOINTS = ("/metrics/jobs", "/metrics/nodes", "/metrics/partitions", "/metrics/scheduler")


@dataclass(frozen=True)
class Around:
    """What is read together with an object."""

    found: Found
    images: Mapping[str, str] = field(default_factory=dict)  # for containers that name none
    domain: str = "cluster.local"


def cluster(
    controller: types.Controller,
    nodesets: Sequence[types.NodeSet],
    accounting_: types.Accounting | None,
    around: Around,
) -> Cluster:
    """Understand a Controller and what refers to it."""
    meta, spec = controller.metadata, controller.spec
    image = {"image": around.images.get("slurmctld", ""), **spec.slurmctld}["image"]
    return Cluster(
        name=meta.name,
        namespace=meta.namespace,
        slurm_name=defaults.cluster_name(controller),
        naming=naming.NAMING,
        controller=_controller(controller, around),
        keys=_keys(spec, around.found),
        accounting=accounting(accounting_, around) if accounting_ else None,
        config=_config(spec, around.found),
        nodesets=tuple(nodeset(one, around) for one in _by_name(nodesets)),
        workers=naming.workers(meta.name),
        version=contents.version(str(image), meta.annotations),
        domain=around.domain,
        node_table=contents.node_table(naming.controller(meta.name).config, around.found),
        going=controller.deleting and not spec.external,
        lacks=_lacking(spec) if accounting_ is None else (),
    )


def _lacking(spec: types.ControllerSpec) -> tuple[Absent, ...]:
    named = spec.accounting_ref.name if spec.accounting_ref else ""
    return (Absent("Accounting", named, "spec.accountingRef"),) if named else ()


def accounting(obj: types.Accounting, around: Around) -> Accounting:
    """Understand an Accounting."""
    spec = defaults.filled(obj).spec
    if spec.external:
        where = spec.external_config or ExternalConfig()
        return ExternalAccounting(where.host, where.port)
    storage = spec.storage_config or types.StorageConfig()
    password = _secret(storage.password_key_ref, "spec.storageConfig.passwordKeyRef", around.found)
    return ManagedAccounting(
        part=_part("Accounting", obj, around, slurmdbd=spec.slurmdbd),
        naming=naming.NAMING,
        name=naming.accounting(obj.metadata.name),
        service=_service("Accounting", spec.service),
        keys=_keys(spec, around.found),
        database=Database(
            storage.host, storage.port, storage.database, storage.username or "", password
        ),
        extra=spec.extra_conf or "",
    )


def rest(obj: types.RestApi, around: Around) -> RestApi:
    """Understand a RestApi."""
    return RestApi(
        part=_part("RestApi", obj, around, slurmrestd=obj.spec.slurmrestd),
        name=naming.rest(obj.metadata.name),
        service=_service("RestApi", obj.spec.service),
        replicas=obj.spec.replicas,
        cluster=obj.spec.controller_ref.name,
    )


def login(obj: types.LoginSet, around: Around) -> LoginSet:
    """Understand a LoginSet."""
    spec, names = obj.spec, naming.login(obj.metadata.name)
    return LoginSet(
        part=_part("LoginSet", obj, around, login=spec.login, initconf=spec.initconf),
        names=names,
        service=_service("LoginSet", spec.service),
        host_keys_digest=contents.digest(around.found.secrets.get(names.host_keys)),
        sssd=_secret(spec.sssd_conf_ref, "spec.sssdConfRef", around.found),
        replicas=spec.replicas,
        root_keys=spec.root_ssh_authorized_keys or "",
        extra_sshd=spec.extra_sshd_config or "",
        strategy=msgspec.to_builtins(spec.strategy) if spec.strategy else {},
        cluster=spec.controller_ref.name,
    )


def nodeset(obj: types.NodeSet, around: Around) -> NodeSet:
    """Understand a NodeSet."""
    name, spec = obj.metadata.name, defaults.filled(obj).spec
    owner = spec.controller_ref.name
    part = _part("NodeSet", obj, around, slurmd=spec.slurmd, logfile=spec.logfile)
    return NodeSet(
        part=part,
        slurm_name=defaults.slurm_name(obj),
        hostname_prefix=defaults.hostname_prefix(obj),
        service=naming.workers(owner),
        budget=naming.budget(owner),
        mode=Mode(spec.scaling_mode),
        replicas=spec.replicas,
        padding=spec.ordinal_padding,
        extra=spec.extra_conf or "",
        partition=Partition(spec.partition.config or "") if spec.partition.enabled else None,
        ssh=_ssh(name, spec.ssh, around.found),
        claims=spec.claims,
        retention=updates.retention(spec.persistent_volume_claim_retention_policy),
        update=updates.update(name, spec.update_strategy),
        revisions=spec.revision_history_limit,
        min_ready=timedelta(seconds=spec.min_ready_seconds or 0),
        pin=spec.pin_to_node,
        prune=spec.prune_slurm_node_records == "NodeNotFound",
        oversubscribe=spec.oversubscribe_node,
        protect=spec.workload_disruption_protection,
        cluster=owner,
    )


def pinned(obj: types.NodeSet) -> dict[int, str]:
    """Return which worker goes to which Kubernetes node, as the status remembers it."""
    said = obj.status.ordinal_to_node or {}
    return {int(number): node for number, node in said.items() if number.isdecimal()}


def token(obj: types.Token, found: Found) -> Token:
    """Understand a Token."""
    meta, spec = obj.metadata, defaults.filled(obj).spec
    usual = KeyReference(naming.token_secret(meta.name, spec.username), "SLURM_JWT")
    key, named = _jwt(spec)
    return Token(
        name=meta.name,
        namespace=meta.namespace,
        user=spec.username,
        key=_secret(key or KeyReference(), named, found),
        secret=_secret(spec.secret_ref or usual, "spec.secretRef", found),
        lifetime=_lifetime(spec),
        refresh=spec.refresh,
        marks=Marks(dict(meta.labels), _annotations(obj)),
    )


def _lifetime(spec: types.TokenSpec) -> timedelta:
    asked = duration(spec.lifetime, "spec.lifetime") if spec.lifetime else defaults.LIFETIME
    if asked < LEAST_LIFETIME:
        # It would be renewed without end.
        words = f"{spec.lifetime!r} is over before anybody can use it; write 15m or more"
        raise ValueError(f"spec.lifetime: {words}")
    return asked


def references(obj: Resource) -> Iterator[str]:
    """Name what an object refers to, each as namespace/Kind/name, so that it can be found by it."""
    spec = getattr(obj, "spec", None)
    for kind, name in _named(spec):
        if name:
            yield reference(obj.metadata.namespace, kind, name)


def _named(spec: object) -> Iterator[tuple[str, str]]:
    for attribute, kind in _REFERENCES.items():
        found = getattr(spec, attribute, None)
        for one in found if isinstance(found, tuple) else (found,):
            if isinstance(one, LocalReference | KeyReference):
                yield kind, one.name
    storage, ssh = getattr(spec, "storage_config", None), getattr(spec, "ssh", None)
    if isinstance(storage, types.StorageConfig):
        yield "Secret", storage.password_key_ref.name
    if isinstance(ssh, types.Ssh) and ssh.sssd_conf_ref:
        yield "Secret", ssh.sssd_conf_ref.name


_REFERENCES = {
    "controller_ref": "Controller",
    "accounting_ref": "Accounting",
    "slurm_key_ref": "Secret",
    "jwt_key_ref": "Secret",
    "jwt_hs256_key_ref": "Secret",
    "sssd_conf_ref": "Secret",
    "secret_ref": "Secret",
    "jwks_key_ref": "ConfigMap",
    "config_file_refs": "ConfigMap",
    "prolog_script_refs": "ConfigMap",
    "epilog_script_refs": "ConfigMap",
    "prolog_slurmctld_script_refs": "ConfigMap",
    "epilog_slurmctld_script_refs": "ConfigMap",
}


def _by_name(objects: Iterable[types.NodeSet]) -> list[types.NodeSet]:
    return sorted(objects, key=lambda obj: obj.metadata.name)


def _part(
    kind: str,
    obj: types.Controller | types.NodeSet | types.LoginSet | types.Accounting | types.RestApi,
    around: Around,
    **containers: Object,
) -> Part:
    meta, template = obj.metadata, obj.spec.template
    marks = Marks(template.metadata.labels or {}, template.metadata.annotations or {})
    filled = {
        name: {"image": around.images[name], **asked} if name in around.images else asked
        for name, asked in containers.items()
    }
    return Part(
        name=meta.name,
        namespace=meta.namespace,
        selector=naming.selector(kind, meta.name),
        labels=naming.labels(kind, meta.name),
        pods=PodWishes(marks, template.spec, filled),
        marks=Marks(dict(meta.labels), _annotations(obj)),
    )


def _annotations(obj: Resource) -> dict[str, str]:
    found = obj.metadata.annotations.items()
    return {key: value for key, value in found if not key.startswith(NOT_COPIED)}


def _service(kind: str, service: Service) -> ServiceWishes:
    marks = Marks(service.metadata.labels or {}, service.metadata.annotations or {})
    port = service.port or defaults.PORTS[kind]
    return ServiceWishes(port, service.node_port or None, marks, service.spec)


# -- slurmctld


def _controller(obj: types.Controller, around: Around) -> Controller:
    spec = obj.spec
    part = _part(
        "Controller",
        obj,
        around,
        slurmctld=spec.slurmctld,
        reconfigure=spec.reconfigure,
        logfile=spec.logfile,
    )
    names = naming.controller(obj.metadata.name)
    if spec.external:
        where = spec.external_config or ExternalConfig()
        return ExternalController(where.host, where.port, part, names.config)
    return ManagedController(
        part=part,
        names=names,
        service=_service("Controller", spec.service),
        state=_state(spec),
        replicas=1 + spec.ha.backups if spec.ha.enabled else 1,
        in_place=spec.inplace_reconfigure,
        metrics=_metrics(spec.metrics),
    )


def _state(spec: types.ControllerSpec) -> State:
    asked = spec.persistence
    if not asked.enabled:
        return Ephemeral()
    if asked.existing_claim:
        return ExistingClaim(asked.existing_claim)
    return ClaimTemplate({**STATE, **asked.claim})


def _metrics(metrics: types.Metrics) -> Metrics | None:
    if not metrics.enabled:
        return None
    monitor = metrics.service_monitor
    if monitor is None or not monitor.enabled:
        return Metrics()
    asked = monitor.endpoints or tuple(types.Endpoint(path) for path in ENDPOINTS)
    endpoints = tuple(
        Endpoint(
            one.path,
            one.interval or monitor.interval or "",
            one.scrape_timeout or monitor.scrape_timeout or "",
        )
        for one in asked
    )
    return Metrics(Monitor(endpoints, monitor.labels or {}, monitor.annotations or {}))


def _config(spec: types.ControllerSpec, found: Found) -> Config:
    def files(field_: str, refs: Sequence[LocalReference] | None) -> tuple[Files, ...]:
        named = ((number, ref) for number, ref in enumerate(refs or ()) if ref.name)
        return tuple(
            contents.files(ref.name, f"spec.{field_}[{number}]", found) for number, ref in named
        )

    return Config(
        extra=spec.extra_conf or "",
        files=files("configFileRefs", spec.config_file_refs),
        scripts=Scripts(
            prolog=files("prologScriptRefs", spec.prolog_script_refs),
            epilog=files("epilogScriptRefs", spec.epilog_script_refs),
            prolog_slurmctld=files("prologSlurmctldScriptRefs", spec.prolog_slurmctld_script_refs),
            epilog_slurmctld=files("epilogSlurmctldScriptRefs", spec.epilog_slurmctld_script_refs),
        ),
    )


def _ssh(name: str, ssh: types.Ssh | None, found: Found) -> Ssh | None:
    if ssh is None or not ssh.enabled:
        return None
    sssd = _secret(ssh.sssd_conf_ref or KeyReference(), "spec.ssh.sssdConfRef", found)
    return Ssh(sssd, naming.worker_ssh(name), ssh.extra_sshd_config or "")


# -- what is referred to


def _keys(spec: types.ControllerSpec | types.AccountingSpec, found: Found) -> Keys:
    jwt, field_ = _jwt(spec)
    slurm, jwks = spec.slurm_key_ref, spec.jwks_key_ref
    return Keys(
        slurm=_secret(slurm, "spec.slurmKeyRef", found) if slurm else None,
        jwt=_secret(jwt, field_, found) if jwt else None,
        jwks=contents.entry(jwks.name, jwks.key, "spec.jwksKeyRef", found) if jwks else None,
    )


def _jwt(
    spec: types.ControllerSpec | types.AccountingSpec | types.TokenSpec,
) -> tuple[KeyReference | None, str]:
    """Return the key that signs tokens, and the field that names it: the newer one wins."""
    if spec.jwt_key_ref:
        return spec.jwt_key_ref, "spec.jwtKeyRef"
    return spec.jwt_hs256_key_ref, "spec.jwtHs256KeyRef"


def _secret(ref: KeyReference, field_: str, found: Found) -> KeyRef:
    return contents.secret(ref.name, ref.key, field_, found)
