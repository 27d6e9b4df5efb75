"""Builders of the Kubernetes objects that the tests use."""

from collections.abc import Mapping, Sequence
from typing import Any

Object = dict[str, Any]

PAUSE = "shoal/pause:1"
SERVE = ("/machine", "serve", ":8080")


def pod(
    name: str,
    node: str | None = None,
    *,
    image: str = PAUSE,
    command: Sequence[str] = SERVE,
    container: Mapping[str, Any] | None = None,
    **spec: Any,
) -> Object:
    """Return a pod; by default it answers every request with its name, on port 8080."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"pod": name}},
        "spec": pod_spec(node, image=image, command=command, container=container, **spec),
    }


def pod_spec(
    node: str | None = None,
    *,
    image: str = PAUSE,
    command: Sequence[str] = SERVE,
    container: Mapping[str, Any] | None = None,
    **spec: Any,
) -> Object:
    """Return what a pod runs."""
    return {
        **({"nodeSelector": {"kubernetes.io/hostname": node}} if node else {}),
        "terminationGracePeriodSeconds": 0,
        "containers": [
            {"name": "main", "image": image, "command": list(command), **(container or {})}
        ],
        **spec,
    }


def service(name: str, selector: Mapping[str, str], **spec: Any) -> Object:
    """Return a Service from port 80 to its pods' 8080."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"selector": dict(selector), "ports": [{"port": 80, "targetPort": 8080}], **spec},
    }


def workload(kind: str, name: str, spec: Object, **more: Any) -> Object:
    """Return a Deployment or a DaemonSet of pods with `spec`, labelled app=`name`."""
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
            **more,
        },
    }


def config_map(name: str, **data: str) -> Object:
    """Return a ConfigMap."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def secret(name: str, **data: str) -> Object:
    """Return a Secret."""
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": data}


def claim(name: str, mode: str = "ReadWriteOnce") -> Object:
    """Return a claim for a volume of the default class."""
    spec = {"accessModes": [mode], "resources": {"requests": {"storage": "10Mi"}}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": spec,
    }


def mounted(claim_name: str, at: str = "/data") -> Object:
    """Return what a pod needs to see the claim's volume, as arguments of `pod`."""
    source = {"persistentVolumeClaim": {"claimName": claim_name}}
    return {
        "volumes": [{"name": "data", **source}],
        "container": {"volumeMounts": [{"name": "data", "mountPath": at}]},
    }
