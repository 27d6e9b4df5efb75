"""What a cluster has from the start: DNS, storage, and the rights of the programs behind them.

Pure.
"""

from typing import Any

from .cluster import Cluster, Networked

Object = dict[str, Any]
STORAGE_CLASS = "shoal"
PROVISIONER = "shoal.local/folders"  # storage/main.go has the same


def addons(cluster: Cluster) -> list[Object]:
    """Return every object that `up` applies."""
    if not isinstance(cluster.place, Networked):
        return []
    return [*_dns(cluster.place), *_storage()]


def _dns(place: Networked) -> list[Object]:
    """Describe DNS: CoreDNS runs beside the API server, so it is there before the first node."""
    known = place.addresses
    labels = {"k8s-app": "kube-dns", "kubernetes.io/service-name": "kube-dns"}
    ports = [("dns", "UDP"), ("dns-tcp", "TCP")]
    return [
        *_rights(
            "coredns",
            [
                _rule("", ["endpoints", "services", "pods", "namespaces"], ["list", "watch"]),
                _rule("discovery.k8s.io", ["endpointslices"], ["list", "watch"]),
            ],
        ),
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "kube-dns", "namespace": "kube-system", "labels": labels},
            "spec": {
                "clusterIP": str(known.dns),
                "ports": [{"name": n, "port": 53, "protocol": p} for n, p in ports],
            },
        },
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {"name": "kube-dns", "namespace": "kube-system", "labels": labels},
            "addressType": "IPv4",
            "endpoints": [{"addresses": [str(known.control_plane)], "conditions": {"ready": True}}],
            "ports": [{"name": n, "port": 53, "protocol": p} for n, p in ports],
        },
    ]


def _storage() -> list[Object]:
    volumes = ["get", "list", "watch", "create", "delete"]
    return [
        *_rights(
            "storage",
            [
                _rule("", ["persistentvolumes"], volumes),
                _rule("", ["persistentvolumeclaims"], ["get", "list", "watch"]),
                _rule("storage.k8s.io", ["storageclasses"], ["get", "list", "watch"]),
            ],
        ),
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {
                "name": STORAGE_CLASS,
                "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
            },
            "provisioner": PROVISIONER,
            "reclaimPolicy": "Delete",
            "volumeBindingMode": "Immediate",
        },
    ]


def _rule(group: str, resources: list[str], verbs: list[str]) -> Object:
    return {"apiGroups": [group], "resources": resources, "verbs": verbs}


def _rights(user: str, rules: list[Object]) -> list[Object]:
    """Let one of our certificates' users do what `rules` say."""
    name, api = f"shoal:{user}", "rbac.authorization.k8s.io"
    return [
        {
            "apiVersion": f"{api}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": name},
            "rules": rules,
        },
        {
            "apiVersion": f"{api}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": api, "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": api, "kind": "User", "name": name}],
        },
    ]
