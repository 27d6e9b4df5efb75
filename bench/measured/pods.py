"""Pods as a Slurm worker has them: 9 KB on the wire, most of it never read."""

from typing import Any

import msgspec

from shoal.kube.objects import Object, Resource, Slim


class PodSpec(Slim, frozen=True, gc=False, rename="camel"):
    """What is read of a pod's spec."""

    node_name: str = ""
    hostname: str = ""


class PodCondition(Slim, frozen=True, gc=False, rename="camel"):
    """What is read of a pod's condition."""

    type: str = ""
    status: str = ""


class PodStatus(Slim, frozen=True, gc=False, rename="camel"):
    """What is read of a pod's status."""

    phase: str = ""
    pod_ip: str = msgspec.field(name="podIP", default="")
    conditions: tuple[PodCondition, ...] = ()


class Pod(Resource, frozen=True, gc=False):
    """What is read of a pod."""

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class Flock(Resource, frozen=True, gc=False):
    """A ConfigMap that wants pods."""

    data: dict[str, str] = msgspec.field(default_factory=dict)


def flock(namespace: str, name: str, pods: int = 0) -> Object:
    """Return a ConfigMap that wants so many pods."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": {"pods": str(pods)},
    }


def pod(namespace: str, name: str, owner: Object | None = None) -> Object:
    """Return a worker's pod."""
    metadata: Object = {
        "name": name,
        "namespace": namespace,
        "labels": _words("app.kubernetes.io/label", 8, "some-value-of-a-label"),
        "annotations": _words("example.com/annotation", 4, "some value of an annotation"),
    }
    if owner:
        metadata["ownerReferences"] = [owner]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {
            "hostname": name,
            "subdomain": "workers",
            "enableServiceLinks": False,
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 30,
            "initContainers": [_container("init", 1)],
            "containers": [_container("slurmd", 6), _container("logs", 1)],
            "tolerations": [
                {"key": f"example.com/taint-{i}", "operator": "Exists", "effect": "NoSchedule"}
                for i in range(4)
            ],
            "volumes": [
                {"name": f"volume-{i}", "configMap": {"name": f"config-{i}", "optional": True}}
                for i in range(4)
            ],
        },
    }


def _container(name: str, variables: int) -> Object:
    probe: Object = {"exec": {"command": ["scontrol", "show", "slurmd"]}, "periodSeconds": 10}
    return {
        "name": name,
        "image": "example.com/slurm/slurmd:26.05",
        "args": ["-Z", "--conf", "Features=worker Weight=1"],
        "env": [{"name": f"VARIABLE_{i}", "value": f"value-{i}"} for i in range(variables)],
        "ports": [{"name": f"{name}-port", "containerPort": 6818}],
        "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "2Gi"}},
        "volumeMounts": [
            {"name": f"volume-{i}", "mountPath": f"/mnt/{i}", "readOnly": True} for i in range(4)
        ],
        **({"readinessProbe": probe, "livenessProbe": probe} if name == "slurmd" else {}),
    }


def _words(prefix: str, count: int, value: str) -> dict[str, Any]:
    return {f"{prefix}-{i}": value.replace(" ", "-") for i in range(count)}
