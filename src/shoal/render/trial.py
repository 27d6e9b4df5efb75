"""A configuration is tried before it is used: by a slurmctld without state, nodes or jobs. Pure.

slurmctld ends on what it does not understand, and has no switch to only check. So a pod beside it
starts one on an empty state, at a port of its own, without accounting. Having no record of any node
or job it talks to nobody, and no running job can notice.
"""

from dataclasses import replace

from ..kube.merge import merge_pod_spec
from ..kube.objects import Object
from ..model.cluster import Cluster
from ..model.controller import ManagedController
from . import controller, marks, pods, shell, slurm_conf, volumes
from .controller import Published
from .jailed import containers
from .jailed import controller as jailed
from .jailed import slurm_conf as jailed_conf

LIMIT_S = 60
NAME = "check"
GIVEN = "given"
STATE = "state"
# Of the user's wishes for slurmctld's pod, those that say where a pod may run and from what. Not
# containers and volumes: one more container would keep the pod from ending.
WHERE = (
    "affinity",
    "imagePullSecrets",
    "nodeSelector",
    "priorityClassName",
    "runtimeClassName",
    "schedulerName",
    "serviceAccountName",
    "tolerations",
)


def candidate(cluster: Cluster, managed: ManagedController) -> Object:
    """Hold the wanted configuration in the form in which it is tried, and its digest."""
    wanted, text = _wanted(cluster)
    own = {"slurm.conf": text, "digest": wanted.digest}
    tried = replace(wanted, files={**wanted.files, **own})
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": marks.metadata(managed.part, candidate_name(managed)),
        **controller.contents(tried),
    }


def _wanted(cluster: Cluster) -> tuple[Published, str]:
    if cluster.jail is not None:
        text = jailed_conf.tried(cluster, cluster.jail, NAME)
        return jailed.wanted(cluster, cluster.jail), text
    return controller.wanted(cluster), slurm_conf.tried(cluster, NAME)


def candidate_name(managed: ManagedController) -> str:
    """Return the name of the ConfigMap with the configuration that is tried."""
    return f"{managed.names.config}-candidate"


def check_name(managed: ManagedController, digest: str) -> str:
    """Return the name of the pod that tries the configuration with this digest."""
    return f"{managed.names.workload}-check-{digest[:8]}"


def check(cluster: Cluster, managed: ManagedController, digest: str) -> Object:
    """Try the candidate once; the exit code is the verdict and the termination message the reason.

    0: accepted, 1: refused, 2: nobody knows.
    """
    part, naming = managed.part, cluster.naming
    # No Service may ever take it for the slurmctld that serves.
    labels = {key: value for key, value in part.labels.items() if key not in part.selector}
    where = {key: part.pods.spec[key] for key in WHERE if key in part.pods.spec}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": check_name(managed, digest),
            "namespace": part.namespace,
            "labels": {**labels, naming.labels.cluster: cluster.name},
            "annotations": marks.digests(naming, {controller.CONFIG_DIGEST: digest}),
        },
        "spec": merge_pod_spec(_spec(cluster, managed, digest), where),
    }


def _spec(cluster: Cluster, managed: ManagedController, digest: str) -> Object:
    given = controller.configuration(cluster, candidate_name(managed))
    rooted = cluster.jail is not None
    # What is tried is tried as it will run, with munged beside it.
    munge = [containers.munge(managed.part)] if rooted else []
    return {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        **({} if rooted else {"securityContext": pods.restricted_pod(pods.SLURM)}),
        "hostname": NAME,
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 1,
        "activeDeadlineSeconds": 10 * LIMIT_S,  # also for one that no node has room for
        **({"initContainers": munge} if munge else {}),
        "containers": [_container(cluster, managed, digest)],
        "volumes": [
            {**given, "name": GIVEN},
            volumes.memory(volumes.ETC),
            volumes.memory(volumes.RUN),
            volumes.scratch(volumes.TMP),
            volumes.scratch(STATE),
            *(containers.munge_volumes(cluster.keys) if munge else ()),
        ],
    }


def _container(cluster: Cluster, managed: ManagedController, digest: str) -> Object:
    wishes = managed.part.pods
    in_spec = [c for c in wishes.spec.get("containers") or () if c.get("name") == "slurmctld"]
    asked = [wishes.containers.get("slurmctld", {}), *in_spec]
    image = {key: a[key] for a in asked for key in ("image", "imagePullPolicy") if key in a}
    rooted = cluster.jail is not None
    state = jailed_conf.STATE if rooted else slurm_conf.state_folder(cluster)
    return {
        "name": NAME,
        **image,
        "command": ["sh", "-c", shell.script("check")],
        "env": [
            {"name": "DIGEST", "value": digest},
            {"name": "LIMIT_S", "value": str(LIMIT_S)},
        ],
        "securityContext": jailed.TRIES if rooted else pods.restricted(pods.SLURM),
        "volumeMounts": [
            volumes.mount(GIVEN, "/mnt/slurm", read_only=True),
            volumes.mount(volumes.ETC, pods.ETC),
            volumes.mount(volumes.RUN, "/run"),
            volumes.mount(volumes.TMP, "/tmp"),
            volumes.mount(STATE, state),
            *([containers.socket()] if rooted else ()),
        ],
    }
