"""A node's programs and the files on its disk."""

import json
from pathlib import Path

import yaml

from . import cgroups, packages
from .cluster import Cluster, Networked
from .control_plane import DOMAIN, proxy_config
from .machine import Program
from .pki import Identity

BIN = Path("/opt/shoal/bin")
SOCKET = "/run/containerd/containerd.sock"
PAUSE = "docker.io/shoal/pause:1"
# The kubelet renews its lease every quarter of this; see control_plane.NODE_GRACE_S.
LEASE_S = 12
# What a kubelet would write into the host's kernel settings; it finds them as it wants them.
KERNEL_SETTINGS = {
    "vm/overcommit_memory": "1",
    "vm/panic_on_oom": "0",
    "kernel/panic": "10",
    "kernel/panic_on_oops": "1",
    "kernel/keys/root_maxkeys": "1000000",
    "kernel/keys/root_maxbytes": "25000000",
}


def identity(cluster: Cluster, name: str) -> Identity:
    """Say who the node's kubelet is, as a client and as a server."""
    assert isinstance(cluster.place, Networked)
    address = cluster.place.addresses.node(cluster.node_names.index(name))
    return Identity(f"node-{name}", f"system:node:{name}", "system:nodes", (address,), (name,))


def programs(cluster: Cluster, name: str) -> tuple[Program, ...]:
    """List the programs that a node runs."""
    assert isinstance(cluster.place, Networked)
    address = cluster.place.addresses.node(cluster.node_names.index(name))
    return (
        Program(
            "containerd",
            ("/usr/bin/env", "containerd", "--config=/etc/containerd/config.toml"),
            "/var/log/shoal/containerd.log",
        ),
        Program(
            "kubelet",
            (
                str(BIN / "kubelet"),
                "--config=/etc/kubernetes/kubelet.yaml",
                "--kubeconfig=/etc/kubernetes/kubelet.kubeconfig",
                f"--hostname-override={name}",
                f"--node-ip={address}",
                f"--node-labels=topology.kubernetes.io/zone=local,shoal.local/node={name}",
            ),
            "/var/log/shoal/kubelet.log",
            # It gives up when its runtime does not answer at once.
            after=(SOCKET,),
        ),
        Program(
            "kube-proxy",
            (str(BIN / "kube-proxy"), "--config=/etc/kubernetes/kube-proxy.yaml"),
            "/var/log/shoal/kube-proxy.log",
        ),
    )


def etc(cluster: Cluster, name: str) -> dict[str, str]:
    """Return what the node has in /etc beside the host's files."""
    assert isinstance(cluster.place, Networked)
    place, i = cluster.place, cluster.node_names.index(name)
    return {
        "hostname": f"{name}\n",
        "hosts": f"127.0.0.1 localhost\n{place.addresses.node(i)} {name}\n",
        "resolv.conf": f"nameserver {place.addresses.dns}\n",
        "containerd/config.toml": containerd_config(cni_folder()),
        "cni/net.d/10-shoal.conflist": cni_config(place, i),
        "kubernetes/kubelet.yaml": kubelet_config(cluster, name),
        "kubernetes/kube-proxy.yaml": proxy_config(
            cluster, name, Path("/etc/kubernetes/kube-proxy.kubeconfig")
        ),
    }


def cni_folder() -> Path:
    """Say where this machine has its CNI plugins."""
    return packages.cni_folder() or packages.CNI_FOLDERS[0]


def containerd_config(cni: Path) -> str:
    """Write containerd's configuration."""
    return f"""\
version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE}"
  # Lowering the score needs a capability that containers and small machines lack.
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{cni}"
    conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
"""


def cni_config(place: Networked, i: int) -> str:
    """Write the pods' network: every pod a veth, every packet through the node's rules.

    A bridge would let two pods of one node talk past iptables, and so past their Service.
    """
    ranges = [[{"subnet": str(place.addresses.pods_of(i))}]]
    ipam = {"type": "host-local", "ranges": ranges, "routes": [{"dst": "0.0.0.0/0"}]}
    plugins = [
        {"type": "ptp", "ipMasq": False, "ipam": ipam},
        {"type": "portmap", "capabilities": {"portMappings": True}, "snat": True},
    ]
    return json.dumps({"cniVersion": "0.4.0", "name": "shoal", "plugins": plugins}, indent=1)


def kubelet_config(cluster: Cluster, name: str) -> str:
    """Write the kubelet's configuration."""
    assert isinstance(cluster.place, Networked)
    return yaml.safe_dump(
        {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": True},
                "x509": {"clientCAFile": "/etc/kubernetes/pki/ca.crt"},
            },
            "authorization": {"mode": "Webhook"},
            "tlsCertFile": "/etc/kubernetes/pki/kubelet.crt",
            "tlsPrivateKeyFile": "/etc/kubernetes/pki/kubelet.key",
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": cgroups.group(cluster.place.tag, name),
            "enforceNodeAllocatable": ["pods"],
            "containerRuntimeEndpoint": f"unix://{SOCKET}",
            "clusterDNS": [str(cluster.place.addresses.dns)],
            "clusterDomain": DOMAIN,
            "resolvConf": "/etc/resolv.conf",
            "oomScoreAdj": 0,
            "failSwapOn": False,
            # The host's disk is not this cluster's to clean: images loaded by hand stay.
            "imageGCHighThresholdPercent": 100,
            "imageGCLowThresholdPercent": 99,
            "evictionHard": {
                "nodefs.available": "1%",
                "imagefs.available": "1%",
                "nodefs.inodesFree": "1%",
                "memory.available": "50Mi",
            },
            "nodeStatusUpdateFrequency": "5s",
            "nodeLeaseDurationSeconds": LEASE_S,
            "maxPods": 250,
            "serializeImagePulls": False,
            "readOnlyPort": 0,
            "registryPullQPS": 0,
            "eventRecordQPS": 0,
        }
    )
