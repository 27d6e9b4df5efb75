"""Login nodes, slurmrestd and the exporter of slurm.nebius.ai, to the model. Pure."""

from collections.abc import Iterable

import msgspec

from ...kube.objects import Object
from ...model.exporter import Exporter, PodMonitor
from ...model.jail import Fittings
from ...model.jailed import Gate
from ...model.part import Marks, ServiceWishes
from ...model.rest import RestApi
from .. import contents
from . import defaults, naming, node_types
from .node_types import Login, Relabel, Rest
from .read_pods import (
    NODES,
    Around,
    container,
    mounts,
    part,
    placed,
    pod_spec,
    profile,
    root,
    volume,
)
from .types import SlurmCluster

NODE_PORT, LOAD_BALANCER = "NodePort", "LoadBalancer"
# What the exporter tells of. The last but one asks for machines, which no Role of ours can allow.
COLLECTORS = ("nodes", "jobs", "diag", "topology", "accounting")


def gate(obj: SlurmCluster, around: Around) -> Gate | None:
    """Understand the login nodes; None: there are none."""
    asked, names = obj.spec.slurm_nodes.login, around.names(obj.metadata.name)
    at = f"{NODES}.login"
    if not asked.size:
        return None
    sshd, found = asked.sshd_config_map_ref_name, asked.volumes
    field = f"{at}.sshdConfigMapRefName"
    return Gate(
        part=part(
            obj,
            naming.LOGIN,
            pod_spec(obj, at, asked, (asked.sshd, asked.munge)),
            sshd=container(asked.sshd, profile(obj, around)),
            munge=container(asked.munge),
        ),
        names=names.gate,
        service=_service(asked),
        fittings=Fittings(
            volume(obj, found.jail, f"{at}.volumes.jail"),
            mounts(obj, found.jail_sub_mounts, f"{at}.volumes.jailSubMounts"),
            mounts(obj, found.custom_mounts, f"{at}.volumes.customMounts"),
            names.security_limits(naming.LOGIN),
            asked.sshd.security_limits_config or "",
        ),
        replicas=asked.size,
        sshd=contents.files(sshd, field, around.found) if sshd else None,
        cluster=obj.metadata.name,
    )


def _service(asked: Login) -> ServiceWishes:
    told: Object = {"type": asked.sshd_service_type} if asked.sshd_service_type else {}
    if asked.sshd_service_type == LOAD_BALANCER:
        ranges = list(asked.sshd_service_load_balancer_source_ranges)
        address = asked.sshd_service_load_balancer_ip
        told |= {"loadBalancerIP": address} if address else {}
        told |= {"loadBalancerSourceRanges": ranges} if ranges else {}
    chosen = asked.sshd_service_type == NODE_PORT and asked.sshd_service_node_port
    return ServiceWishes(
        defaults.port(naming.LOGIN, asked.sshd),
        chosen or None,
        Marks(annotations=asked.sshd_service_annotations),
        told,
    )


def rest(obj: SlurmCluster, around: Around) -> RestApi | None:
    """Understand slurmrestd; None: there is no image to run it from.

    Where the user wants none there is one all the same, for ourselves: it alone can be asked
    whether a worker has jobs.
    """
    asked, names = obj.spec.slurm_nodes.rest, around.names(obj.metadata.name)
    made = around.image("rest_slurmrestd") | container(asked.rest)
    if not asked.enabled and not made.get("image"):
        return None
    return RestApi(
        part=part(obj, naming.REST, _rest_spec(obj, asked), rest=made),
        name=names.service(naming.REST),
        service=ServiceWishes(defaults.port(naming.REST, asked.rest)),
        replicas=max(asked.size, 1) if asked.enabled else 1,
        cluster=obj.metadata.name,
        threads=asked.thread_count,
        connections=asked.max_connections,
        jail=root(obj),
        workload=names.workload(naming.REST),
    )


def _rest_spec(obj: SlurmCluster, asked: Rest) -> Object:
    known = {one.name for one in obj.spec.k8s_node_filters}
    if asked.enabled or asked.k8s_node_filter_name in known:
        return pod_spec(obj, f"{NODES}.rest", asked, (asked.rest,))
    # What is switched off may name anything.
    name = obj.spec.slurm_nodes.controller.k8s_node_filter_name
    return placed(obj, name, f"{NODES}.controller.k8sNodeFilterName")


def exporter(obj: SlurmCluster, around: Around) -> Exporter | None:
    """Understand the exporter; None: there is none, or one of an earlier release's shape."""
    asked, names = obj.spec.slurm_nodes.exporter, around.names(obj.metadata.name)
    if not asked.enabled or (asked.exporter is not None and asked.exporter_container is None):
        return None
    spec = pod_spec(obj, f"{NODES}.exporter", asked, (asked.exporter_container,))
    if asked.service_account_name:
        spec["serviceAccountName"] = asked.service_account_name
    monitor, usual = asked.pod_monitor_config, PodMonitor()
    return Exporter(
        part=part(obj, naming.EXPORTER, spec, exporter=container(asked.exporter_container)),
        name=names.workload(naming.EXPORTER),
        monitor=PodMonitor(
            monitor.job_label or usual.job_label,
            monitor.interval or usual.interval,
            monitor.scrape_timeout or usual.scrape_timeout,
            _rules(monitor.relabel_config),
            _rules(monitor.metric_relabel_configs),
        ),
        collection_interval=asked.collection_interval,
        settings=_flags(asked, records=obj.spec.slurm_nodes.accounting.enabled),
        cluster=obj.metadata.name,
        account="" if asked.service_account_name else names.exporter_account,
    )


def _flags(asked: node_types.Exporter, *, records: bool) -> dict[str, str]:
    """Return flags of the exporter, but for those that say what it does anyway."""
    usual = node_types.Exporter()
    told = {
        "max-collector-inflight": (asked.max_collector_inflight, usual.max_collector_inflight),
        "job-source": (asked.job_source, usual.job_source),
        "accounting-jobs-lookback": (
            asked.accounting_jobs_lookback,
            usual.accounting_jobs_lookback,
        ),
    }
    found = {name: str(value) for name, (value, usually) in told.items() if value != usually}
    able = {"topology": bool(asked.service_account_name), "accounting": records}
    if all(able.values()):
        return found
    return {**found, "collectors": ",".join(one for one in COLLECTORS if able.get(one, True))}


def _rules(found: Iterable[Relabel]) -> tuple[Object, ...]:
    return tuple({"action": one.action, **msgspec.to_builtins(one)} for one in found)
