"""Objects of slurm.nebius.ai to the model. Pure."""

from collections.abc import Iterable, Iterator, Sequence

from ...model.cluster import Cluster
from ...model.config import Config
from ...model.controller import (
    ClaimTemplate,
    Endpoint,
    Ephemeral,
    ExistingClaim,
    ExistingVolume,
    Keys,
    ManagedController,
    Metrics,
    Monitor,
    State,
)
from ...model.jail import Claimed, Fittings, Given, Jail, Populate, Ssh, Volume
from ...model.part import ServiceWishes
from .. import contents
from . import defaults, naming, nodeset_types
from .node_types import OpenMetrics
from .read_accounting import accounting
from .read_config import settings
from .read_pods import (
    NODES,
    Around,
    container,
    mounts,
    part,
    pod_spec,
    profile,
    root,
    volume,
    wishes,
)
from .read_services import exporter, gate, rest
from .read_workers import leaving, nodeset, registration, worker
from .references import references
from .types import SlurmCluster

__all__ = [
    "Around",
    "cluster",
    "exporter",
    "gate",
    "leaving",
    "nodeset",
    "references",
    "registration",
    "rest",
    "worker",
]

MUNGE_KEY = "munge.key"
JWT_KEY = "rest_jwt.key"
ENDPOINTS = ("jobs", "jobs-users-accts", "nodes", "partitions", "scheduler")


def cluster(
    obj: SlurmCluster, nodesets: Sequence[nodeset_types.NodeSet], around: Around
) -> Cluster:
    """Understand a SlurmCluster and the NodeSets that refer to it."""
    meta, spec, names = obj.metadata, obj.spec, around.names(obj.metadata.name)
    own, keys = worker(obj, around), _keys(obj, around)
    if own is None and around.leaving:
        own = leaving(obj, around)
    sets = [nodeset(one, obj, around) for one in _by_name(nodesets)]
    image = spec.slurm_nodes.controller.slurmctld.image
    return Cluster(
        name=meta.name,
        namespace=meta.namespace,
        slurm_name=meta.name,
        naming=naming.NAMING,
        controller=_controller(obj, around),
        keys=keys,
        accounting=accounting(obj, keys, around),
        config=Config(extra=spec.custom_slurm_config or ""),
        nodesets=(*([own] if own else ()), *sets),
        workers=own.service if own else names.workers_service,
        version=contents.version(image, meta.annotations),
        domain=around.domain,
        node_table=contents.node_table(names.slurm_configs, around.found),
        going=obj.deleting,
        jail=_jail(obj, nodesets, around),
        slurm_user="root",
    )


def _by_name(found: Iterable[nodeset_types.NodeSet]) -> list[nodeset_types.NodeSet]:
    return sorted(found, key=lambda one: one.metadata.name)


def _keys(obj: SlurmCluster, around: Around) -> Keys:
    names = around.names(obj.metadata.name)
    jwt = contents.secret(names.jwt, JWT_KEY, "", around.found)
    return Keys(None, jwt, munge=contents.secret(names.munge, MUNGE_KEY, "", around.found))


# -- slurmctld


def _controller(obj: SlurmCluster, around: Around) -> ManagedController:
    asked, names = obj.spec.slurm_nodes.controller, around.names(obj.metadata.name)
    at = f"{NODES}.controller"
    spec = pod_spec(obj, at, asked, (asked.slurmctld, asked.munge))
    if asked.service_account_name:
        spec["serviceAccountName"] = asked.service_account_name
    return ManagedController(
        part=part(
            obj,
            naming.CONTROLLER,
            spec,
            slurmctld=container(asked.slurmctld),
            munge=container(asked.munge),
        ),
        names=names.controller,
        service=ServiceWishes(defaults.port(naming.CONTROLLER, asked.slurmctld)),
        state=_state(volume(obj, asked.volumes.spool, f"{at}.volumes.spool")),
        in_place=True,
        metrics=_metrics(asked.open_metrics),
        fittings=Fittings(
            root(obj),
            mounts=mounts(obj, asked.volumes.custom_mounts, f"{at}.volumes.customMounts"),
            limits=names.security_limits(naming.CONTROLLER),
            limits_conf=asked.slurmctld.security_limits_config or "",
        ),
        placeholder=names.placeholder,
    )


def _state(found: Volume) -> State:
    match found:
        case Claimed(spec):
            return ClaimTemplate(spec)
        case Given({"emptyDir": _}):
            return Ephemeral()
        case Given({"persistentVolumeClaim": {"claimName": str(name), **rest}}) if not rest:
            return ExistingClaim(name)
        case Given(source):
            return ExistingVolume(source)


def _metrics(asked: OpenMetrics | None) -> Metrics | None:
    if asked is None or not asked.enabled:
        return None
    told = asked.service_monitor
    return Metrics(
        Monitor(
            tuple(
                Endpoint(f"/metrics/{name}", told.interval, told.scrape_timeout)
                for name in told.endpoints or ENDPOINTS
            )
        )
    )


# -- the root


def _jail(obj: SlurmCluster, nodesets: Sequence[nodeset_types.NodeSet], around: Around) -> Jail:
    meta, names = obj.metadata, around.names(obj.metadata.name)
    return Jail(
        part=part(obj, naming.COMMON),
        populate=_populate(obj, around),
        ssh=_ssh(obj, around),
        names=names.jail,
        settings=settings(obj, nodesets),
        mode=defaults.mode(obj),
        gpu=defaults.with_gpu(obj, nodesets),
        app_armor=names.app_armor(meta.namespace) if profile(obj, around) else "",
        subdomains=tuple(_subdomains(obj, names, around)),
    )


def _subdomains(obj: SlurmCluster, names: naming.Names, around: Around) -> Iterator[str]:
    # Of slurmNodes.worker even at size 0: workers that go are still known by their names.
    if obj.spec.slurm_nodes.worker or around.leaving:
        yield names.service(naming.WORKERS)
    yield names.workers_service
    if obj.spec.slurm_nodes.login.size:
        yield names.login_headless


def _populate(obj: SlurmCluster, around: Around) -> Populate:
    asked, at = obj.spec.populate_jail, "spec.populateJail"
    wanted = {"image": asked.image, "imagePullPolicy": asked.image_pull_policy}
    snapshot = asked.jail_snapshot_volume
    return Populate(
        part=part(
            obj,
            naming.POPULATE_JAIL,
            pod_spec(obj, at, asked, (asked,)),
            populate_jail=wishes(wanted, {}, asked.app_armor_profile, None),
        ),
        name=around.names(obj.metadata.name).populate,
        jail=root(obj),
        overwrite=asked.overwrite,
        snapshot=volume(obj, snapshot, f"{at}.jailSnapshotVolume") if snapshot else None,
    )


def _ssh(obj: SlurmCluster, around: Around) -> Ssh:
    asked, host_keys = obj.spec.slurm_nodes.login, defaults.sshd_keys(obj)
    return Ssh(
        host_keys,
        around.names(obj.metadata.name).root_keys,
        contents.digest(around.found.secrets.get(host_keys)),
        asked.ssh_root_public_keys,
        # Workers have it too: root of one comes to another by it.
        defaults.port(naming.LOGIN, asked.sshd),
    )
