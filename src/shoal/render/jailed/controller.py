"""slurmctld with a shared root: its configuration, its pod, and how others find it. Pure."""

from ...kube.objects import Object
from ...model.cluster import Cluster
from ...model.controller import (
    ClaimTemplate,
    Ephemeral,
    ExistingClaim,
    ExistingVolume,
    ManagedController,
)
from ...model.jail import Claimed, Fittings, Given, Jail, Volume
from ...model.part import Marks
from .. import controller_services as found_by
from .. import marks, pods, probes, services, shell, state_guard, volumes
from ..controller import CONFIG_DIGEST, GRACE_S, RECONFIGURE_PERIOD_S, Published, contents
from ..pods import Inside
from ..services import Port
from ..slurm_conf import serves_metrics
from . import cluster as shared
from . import containers, files, limits, places, slurm_conf

SPOOL = "controller-spool"
MAIN = "slurmctld"
COMPONENT = "app.kubernetes.io/component"
# How long kubelets take to bring the files of a ConfigMap to all pods, at most.
SETTLE_S = 100
ROOT: Object = {**pods.unprivileged(), "runAsUser": 0}
# slurmctld gives up its supplementary groups at its start, and ends where it may not.
TRIES: Object = {**ROOT, "capabilities": {"drop": ["ALL"], "add": ["SETGID"]}}


def objects(cluster: Cluster, jail: Jail, published: Published | None = None) -> list[Object]:
    """Return what slurmctld consists of, in the order of its making.

    With `published`, the configuration stays that one, and slurmctld is not restarted for the
    wanted one.
    """
    controller = managed(cluster)
    held = published or wanted(cluster, jail)
    fittings = _fittings(controller)
    return [
        service(controller),
        config(cluster, held),
        *limits_map(controller, fittings),
        *([state_guard.config_map(controller)] if controller.guarded else ()),
        stateful_set(cluster, jail, held),
        *([placeholder(controller)] if controller.placeholder else ()),
        *_monitors(cluster, controller),
    ]


def managed(cluster: Cluster) -> ManagedController:
    """Return slurmctld, which runs in pods of ours wherever there is a shared root."""
    controller = cluster.controller
    if not isinstance(controller, ManagedController):
        raise TypeError(f"{cluster.name}: a slurmctld somewhere else has no shared root with us")
    return controller


def wanted(cluster: Cluster, jail: Jail) -> Published:
    """Return the configuration as the user wants it."""
    texts = files.files(cluster, jail)
    return Published(texts, marks.digest(*(text for pair in texts.items() for text in pair)))


def config(cluster: Cluster, held: Published) -> Object:
    """Hold Slurm's configuration, and say which one it is."""
    controller = managed(cluster)
    note = marks.digests(cluster.naming, {CONFIG_DIGEST: held.digest})
    name = controller.names.config
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": marks.metadata(controller.part, name, Marks(annotations=note)),
        **contents(held),
    }


def read_in_place(cluster: Cluster, held: Published) -> dict[str, str]:
    """Return annotations that say what running daemons are to read anew; each may change."""
    return marks.digests(cluster.naming, {CONFIG_DIGEST: held.digest})


def service(controller: ManagedController) -> Object:
    """Reach slurmctld."""
    part = controller.part
    return services.service(
        part, controller.names.service, controller.service, port(controller), part.selector
    )


def port(controller: ManagedController) -> Port:
    """Return where slurmctld listens: where its clients, which read the same file, look for it."""
    return Port(found_by.PORT.name, controller.service.port)


def limits_map(controller: ManagedController, fittings: Fittings) -> list[Object]:
    """Hold limits.conf."""
    if not fittings.limits:
        return []
    data = {limits.FILE: limits.limits_conf(fittings.limits_conf)}
    return [shared.config_map(controller.part, fittings.limits, data)]


def stateful_set(cluster: Cluster, jail: Jail, held: Published) -> Object:
    """Run slurmctld."""
    controller = managed(cluster)
    part = controller.part
    given, templates = places.kept(
        [*places.wanted(_fittings(controller)), (SPOOL, _state(controller))]
    )
    spec: Object = {
        "replicas": jail.mode.replicas(controller.replicas),
        "revisionHistoryLimit": 0,
        "podManagementPolicy": "Parallel",
        "serviceName": controller.names.service,
        "selector": {"matchLabels": dict(part.selector)},
        "template": containers.template(part, _inside(cluster, jail, held, given)),
    }
    if templates:
        spec["volumeClaimTemplates"] = templates
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": marks.metadata(part, controller.names.workload, part.pods.marks),
        "spec": spec,
    }


def placeholder(controller: ManagedController) -> Object:
    """Hold slurmctld's images ready on every node where it may come to run."""
    part = controller.part
    # Of another component: no Service and nobody who counts may take it for slurmctld.
    other = {COMPONENT: f"{part.labels.get(COMPONENT, MAIN)}-placeholder"}
    labels, selector = {**part.labels, **other}, {**part.selector, **other}
    asleep: Object = {"command": ["sleep"], "args": ["infinity"]}
    held = [
        {"name": name, **_image(controller, name), **asleep, "securityContext": pods.unprivileged()}
        for name in (MAIN, containers.MUNGE)
    ]
    where = {key: value for key, value in part.pods.spec.items() if key != "initContainers"}
    spec: Object = {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        # Nobody waits for a program that heeds no signal.
        "terminationGracePeriodSeconds": 0,
        **where,
        "containers": held,
    }
    made = marks.metadata(part, controller.placeholder)
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {**made, "labels": {**made["labels"], **other}},
        "spec": {
            "selector": {"matchLabels": selector},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


# -- the pod


def _inside(cluster: Cluster, jail: Jail, held: Published, given: list[Object]) -> Inside:
    controller = managed(cluster)
    main = _slurmctld(cluster, controller)
    before = [containers.munge(controller.part)]
    if cluster.accounting is not None:
        before.append(_wait_for_accounting(controller, main))
    if controller.in_place:
        before.append(_reconfigure(controller, main))
    if controller.guarded:
        guard = state_guard.container(controller, main, SPOOL, slurm_conf.STATE, security=ROOT)
        before.insert(0, guard)
    spec: Object = {
        "enableServiceLinks": False,
        **places.searches(cluster, jail),
        "terminationGracePeriodSeconds": GRACE_S,
        # From here the Service leads back here, with another address as its sender: what slurmctld
        # then sends to an srun in this pod would not arrive.
        "hostAliases": [{"ip": "127.0.0.1", "hostnames": [slurm_conf.service_name(cluster)]}],
    }
    made = [*given, *_volumes(cluster, controller)]
    return Inside(main, before, made, spec, _digests(cluster, held))


def _slurmctld(cluster: Cluster, controller: ManagedController) -> Object:
    live = probes.handler(cluster.version, found_by.PORT.name, probes.LIVE)
    ready = probes.handler(cluster.version, found_by.PORT.name, probes.READY)
    guarded = controller.guarded
    made = pods.container(
        controller.part,
        MAIN,
        {
            "ports": [port(controller).opened],
            **({"env": state_guard.env(slurm_conf.STATE)} if guarded else {}),
            "startupProbe": probes.started(live),
            "readinessProbe": probes.ready(ready),
            "livenessProbe": probes.alive(live),
            "securityContext": containers.MOUNTS,
            "volumeMounts": [
                volumes.mount(SPOOL, slurm_conf.STATE),
                *places.jail_mounts(),
                volumes.mount(places.CONFIGS, places.GIVEN, read_only=True),
                containers.socket(),
                *places.jwt_mounts(cluster.keys.jwt),
                *places.fitted(_fittings(controller)),
                *([state_guard.mount()] if guarded else ()),
            ],
        },
    )
    return containers.bounded(made)


def _beside(controller: ManagedController, name: str, main: Object, ours: Object) -> Object:
    """Return a container that runs Slurm's tools; no entrypoint has linked its files."""
    told = [*ours.get("env", ()), {"name": "SLURM_CONF", "value": places.SLURM_CONF}]
    made = {**ours, "env": told, "securityContext": pods.unprivileged()}
    return pods.beside(controller.part, name, main, made)


def _wait_for_accounting(controller: ManagedController, main: Object) -> Object:
    return _beside(
        controller,
        "wait-for-accounting",
        main,
        {
            "command": ["sh", "-c", shell.script("wait-for-accounting")],
            "env": [{"name": "STATE_FOLDER", "value": slurm_conf.STATE}],
            "volumeMounts": [
                volumes.mount(SPOOL, slurm_conf.STATE, read_only=True),
                places.config_mount(),
                containers.socket(),
            ],
        },
    )


def _reconfigure(controller: ManagedController, main: Object) -> Object:
    return _beside(
        controller,
        "reconfigure",
        main,
        {
            "command": ["bash", "-c", shell.script("reconfigure-all")],
            "env": [
                {"name": "MOUNTED", "value": places.SLURM},
                {"name": "PERIOD_S", "value": str(RECONFIGURE_PERIOD_S)},
                {"name": "SETTLE_S", "value": str(SETTLE_S)},
            ],
            "restartPolicy": "Always",
            "volumeMounts": [places.config_mount(), containers.socket()],
        },
    )


def _volumes(cluster: Cluster, controller: ManagedController) -> list[Object]:
    return [
        places.configs(controller.names.config),
        *containers.munge_volumes(cluster.keys),
        *places.jwt_key(cluster.keys.jwt),
        *places.limits(_fittings(controller)),
        *([state_guard.volume(controller)] if controller.guarded else ()),
    ]


def _state(controller: ManagedController) -> Volume:
    match controller.state:
        case ExistingClaim(name):
            return Given({"persistentVolumeClaim": {"claimName": name}})
        case ExistingVolume(source):
            return Given(source)
        case ClaimTemplate(spec):
            return Claimed(spec)
        case Ephemeral():
            return Given({"emptyDir": {}})


def _fittings(controller: ManagedController) -> Fittings:
    if controller.fittings is None:
        raise TypeError(f"{controller.names.workload}: nobody says where its shared root is")
    return controller.fittings


def _image(controller: ManagedController, container: str) -> Object:
    asked = controller.part.pods.containers.get(container, {})
    return {key: asked[key] for key in ("image", "imagePullPolicy") if key in asked}


def _digests(cluster: Cluster, held: Published) -> dict[str, str]:
    jwt, controller = cluster.keys.jwt, managed(cluster)
    fittings = _fittings(controller)
    # Daemons read keys and limits at their start only, also where the rest is read in place.
    found = marks.digests(
        cluster.naming,
        {
            **containers.munge_digest(cluster.keys),
            "jwt-key": jwt.digest if jwt else "",
            "limits": marks.digest(limits.limits_conf(fittings.limits_conf)),
        },
    )
    return found if controller.in_place else found | read_in_place(cluster, held)


def _monitors(cluster: Cluster, controller: ManagedController) -> list[Object]:
    metrics = controller.metrics
    if not metrics or not metrics.monitor or not serves_metrics(cluster):
        return []
    return [found_by.service_monitor(controller, metrics.monitor)]
