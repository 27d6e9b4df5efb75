"""slurmctld: its configuration, its pods, and how others find it. Pure."""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..kube.objects import Object
from ..model.cluster import Cluster
from ..model.controller import (
    ClaimTemplate,
    Ephemeral,
    ExistingClaim,
    ExistingVolume,
    ExternalController,
    ManagedController,
)
from ..model.part import Marks, Part
from . import controller_services as found_by
from . import marks, pods, probes, shell, slurm_conf, state_guard, volumes
from .controller_services import PORT
from .pods import Inside

CONFIG_DIGEST = "slurm-config"
# slurmctld writes down all jobs and nodes before it ends.
GRACE_S = 60
STATE = "statesave"
AUTH_SOCKET = "slurm-authsocket"
# How often the files are looked at; what kubelet brings is part of the way of every change.
RECONFIGURE_PERIOD_S = 1


@dataclass(frozen=True)
class Published:
    """A configuration with all its files, those that the user brings among them."""

    files: Mapping[str, str]
    digest: str
    binary: Mapping[str, str] = field(default_factory=dict)  # what is no text, in base64

    @property
    def size_bytes(self) -> int:
        """Return the size of all files together."""
        texts = sum(len(text.encode()) for text in self.files.values())
        return texts + sum(len(b64decode(text)) for text in self.binary.values())


def objects(cluster: Cluster, published: Published | None = None) -> list[Object]:
    """Return what slurmctld consists of, in the order of its making.

    With `published`, the configuration stays that one, and slurmctld is not restarted for the
    wanted one.
    """
    controller = cluster.controller
    held = published or wanted(cluster)
    if isinstance(controller, ExternalController):
        return [config(cluster, held)]
    made = [
        found_by.internal_service(cluster, controller),
        found_by.service(cluster, controller),
        *found_by.own_services(cluster, controller),
        config(cluster, held),
        *([state_guard.config_map(controller)] if controller.guarded else ()),
        stateful_set(cluster, controller, held),
    ]
    metrics = controller.metrics
    if metrics and metrics.monitor and slurm_conf.serves_metrics(cluster):
        made.append(found_by.service_monitor(controller, metrics.monitor))
    return made


def wanted(cluster: Cluster) -> Published:
    """Return the configuration as the user wants it: our files, and copies of the user's.

    They are copies so that one switch publishes all, and nothing that was not tried.
    """
    texts = files(cluster)
    theirs = {name: held for name, held in cluster.config.contents.items() if name not in texts}
    binary: dict[str, str] = {}
    for name, held in sorted(theirs.items()):
        try:
            texts[name] = held.decode()
        except UnicodeDecodeError:
            binary[name] = b64encode(held).decode()
    # No file's name has a colon in it.
    both = {**texts, **{f"{name}:base64": text for name, text in binary.items()}}
    digest = marks.digest(*(text for pair in both.items() for text in pair))
    return Published(texts, digest, binary)


def files(cluster: Cluster) -> dict[str, str]:
    """Return the files that we write for slurmctld."""
    made = {"slurm.conf": slurm_conf.slurm_conf(cluster)}
    external = isinstance(cluster.controller, ExternalController)
    if not external and not cluster.config.has("cgroup.conf"):
        made["cgroup.conf"] = slurm_conf.cgroup_conf(cluster)
    return made


def config(cluster: Cluster, held: Published) -> Object:
    """Hold Slurm's configuration, and say which one it is."""
    controller = cluster.controller
    external = isinstance(controller, ExternalController)
    name = (
        controller.config if isinstance(controller, ExternalController) else controller.names.config
    )
    note = {} if external else marks.digests(cluster.naming, {CONFIG_DIGEST: held.digest})
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": marks.metadata(controller.part, name, Marks(annotations=note)),
        **contents(held),
    }


def contents(held: Published) -> Object:
    """Return a configuration as a ConfigMap has it."""
    data: Object = {"data": dict(held.files)}
    return {**data, "binaryData": dict(held.binary)} if held.binary else data


def stateful_set(cluster: Cluster, controller: ManagedController, held: Published) -> Object:
    """Run slurmctld."""
    part = controller.part
    spec: Object = {
        "replicas": controller.replicas,
        "revisionHistoryLimit": 0,
        # One that stands by need not wait for the first, and the field cannot change later.
        "podManagementPolicy": "Parallel",
        "serviceName": controller.names.internal,
        "selector": {"matchLabels": dict(part.selector)},
        "template": pods.template(part, _inside(cluster, controller, held)),
    }
    if isinstance(controller.state, ClaimTemplate):
        claim = {"metadata": {"name": STATE}, "spec": dict(controller.state.spec)}
        spec["volumeClaimTemplates"] = [claim]
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": marks.metadata(part, controller.names.workload, part.pods.marks),
        "spec": spec,
    }


# -- the pod


def _inside(cluster: Cluster, controller: ManagedController, held: Published) -> Inside:
    part = controller.part
    main = _slurmctld(cluster, controller)
    sidecars = [pods.logfile(part, main, "slurmctld")]
    if controller.in_place:
        sidecars.insert(0, _reconfigure(part, main))
    if controller.guarded:
        folder = slurm_conf.state_folder(cluster)
        sidecars.insert(0, state_guard.container(controller, main, STATE, folder))
    spec: Object = {
        "securityContext": pods.restricted_pod(pods.SLURM),
        "terminationGracePeriodSeconds": GRACE_S,
        "affinity": pods.apart(part.selector),
    }
    if address := slurm_conf.service_address(cluster):
        # From here the Service leads back here, with another address as its sender: what slurmctld
        # then sends to an srun in this pod would not arrive.
        spec["hostAliases"] = [{"ip": "127.0.0.1", "hostnames": [address]}]
    return Inside(main, sidecars, _volumes(cluster, controller), spec, _digests(cluster, held))


def _slurmctld(cluster: Cluster, controller: ManagedController) -> Object:
    live = probes.handler(cluster.version, PORT.name, probes.LIVE)
    # One that stands by never says that it is ready, and updates would wait for it for ever.
    path = probes.LIVE if controller.many else probes.READY
    ready = probes.handler(cluster.version, PORT.name, path)
    folder, guarded = slurm_conf.state_folder(cluster), controller.guarded
    return pods.container(
        controller.part,
        "slurmctld",
        {
            "ports": [PORT.opened],
            **({"env": state_guard.env(folder)} if guarded else {}),
            "startupProbe": probes.started(live),
            "readinessProbe": probes.ready(ready),
            "livenessProbe": probes.alive(live),
            "securityContext": pods.restricted(pods.SLURM),
            "volumeMounts": [
                volumes.mount(volumes.ETC, pods.ETC, read_only=True),
                volumes.mount(volumes.RUN, "/run"),
                volumes.mount(STATE, folder),
                volumes.mount(AUTH_SOCKET, "/run/slurmctld"),
                volumes.mount(volumes.LOGS, pods.LOGS),
                volumes.mount(volumes.TMP, "/tmp"),
                *([state_guard.mount()] if guarded else ()),
            ],
        },
    )


def _reconfigure(part: Part, main: Object) -> Object:
    return pods.beside(
        part,
        "reconfigure",
        main,
        {
            "command": ["tini", "-g", "--", "bash", "-c", shell.script("reconfigure")],
            "env": [{"name": "PERIOD_S", "value": str(RECONFIGURE_PERIOD_S)}],
            "restartPolicy": "Always",
            "securityContext": pods.restricted(pods.SLURM),
            "volumeMounts": [
                volumes.mount(volumes.ETC, pods.ETC, read_only=True),
                volumes.mount(AUTH_SOCKET, "/run/slurmctld", read_only=True),
            ],
        },
    )


def _volumes(cluster: Cluster, controller: ManagedController) -> list[Object]:
    made = [
        configuration(cluster, controller.names.config),
        volumes.memory(volumes.LOGS),
        volumes.memory(volumes.RUN),
        volumes.scratch(AUTH_SOCKET),
        volumes.scratch(volumes.TMP),
        *([state_guard.volume(controller)] if controller.guarded else ()),
    ]
    match controller.state:
        case ExistingClaim(name):
            made.append({"name": STATE, "persistentVolumeClaim": {"claimName": name}})
        case ExistingVolume(source):
            made.append({"name": STATE, **source})
        case Ephemeral():
            made.append(volumes.scratch(STATE))
        case ClaimTemplate():
            pass  # the StatefulSet adds it
    return made


def configuration(cluster: Cluster, config_map: str) -> Object:
    """Return the volume with all that slurmctld reads."""
    keys = cluster.keys
    sources = (
        volumes.whole_map(config_map),
        volumes.key_file(keys.slurm, "slurm.key"),
        volumes.key_file(keys.jwt, "jwt.key"),
        volumes.key_file(keys.jwks, "jwks.json"),
    )
    # Scripts are among them, which the group must be able to run.
    return volumes.projected(volumes.ETC, 0o610, sources)


def read_in_place(cluster: Cluster, held: Published) -> dict[str, str]:
    """Return annotations that say what a running slurmctld is to read anew; each may change."""
    jwks = cluster.keys.jwks
    found = {CONFIG_DIGEST: held.digest, "jwks": jwks.digest if jwks else ""}
    return marks.digests(cluster.naming, found)


def _digests(cluster: Cluster, held: Published) -> dict[str, str]:
    keys, controller = cluster.keys, cluster.controller
    # slurmctld reads keys at its start only, so they count also where the rest is read in place.
    found = marks.digests(
        cluster.naming,
        {
            "slurm-key": keys.slurm.digest if keys.slurm else "",
            "jwt-key": keys.jwt.digest if keys.jwt else "",
        },
    )
    if isinstance(controller, ManagedController) and not controller.in_place:
        found |= read_in_place(cluster, held)
    return found
