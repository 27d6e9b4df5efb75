"""The control plane's programs and how they are started."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path

import yaml

from .cluster import Cluster, Loopback, Networked
from .machine import Program
from .pki import Authority, Identity

USERS = (
    Identity("admin", "kubernetes-admin", "system:masters"),
    Identity("controller-manager", "system:kube-controller-manager"),
    Identity("scheduler", "system:kube-scheduler"),
    Identity("proxy", "system:kube-proxy"),
    Identity("storage", "shoal:storage"),
    Identity("coredns", "shoal:coredns"),
    Identity("kwok", "shoal:kwok", "system:masters"),
    Identity("kubelet-client", "kube-apiserver-kubelet-client", "system:masters"),
)
# Losing a node is to be noticed soon where people wait for it (Kubernetes' own: 50 s).
NODE_GRACE_S = 20
# kwok renews its leases every quarter of this: well before the nodes are given up.
KWOK_LEASE_S = 40
# Left to itself it plays 4 pods at a time, and a scheduler leaves it behind.
KWOK = """\
apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokConfiguration
options:
  podPlayStageParallelism: 32
  nodePlayStageParallelism: 32
"""
# A control plane alone routes no Service; the range only has to be valid.
LOOPBACK_SERVICES = "10.96.0.0/16"
DOMAIN = "cluster.local"
# Who did what to which object, and when; nothing of what is in it.
AUDIT = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
"""
AUDIT_MB = 1_000_000  # where another log is begun, so: never
# Without a controller manager nobody makes service accounts or lifts a new node's taint.
UNMANAGED = "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition"


@dataclass(frozen=True)
class Endpoint:
    """Where the control plane's own programs listen, whatever the place."""

    bind: str
    advertise: str
    port: int
    etcd_port: int
    etcd_peer_port: int
    services: str


def endpoint(cluster: Cluster) -> Endpoint:
    """Say where `cluster`'s control plane listens."""
    match cluster.place:
        case Networked():
            known = cluster.place.addresses
            anywhere = "0.0.0.0"
            advertise = str(known.control_plane)
            return Endpoint(anywhere, advertise, 6443, 2379, 2380, str(known.services))
        case Loopback(port, etcd, peer):
            local = "127.0.0.1"
            return Endpoint(local, local, port, etcd, peer, LOOPBACK_SERVICES)


def authority(cluster: Cluster) -> Authority:
    """Return the authority that everybody in the cluster trusts."""
    return Authority(cluster.pki, "ca")


def front_proxy(cluster: Cluster) -> Authority:
    """Return the authority of aggregated API servers."""
    return Authority(cluster.pki, "front-proxy-ca")


def server_identity(cluster: Cluster) -> Identity:
    """Name the API server by every name and address it is reached at."""
    hosts = (
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        f"kubernetes.default.svc.{DOMAIN}",
        "localhost",
    )
    addresses: tuple[IPv4Address, ...] = (IPv4Address("127.0.0.1"),)
    if isinstance(cluster.place, Networked):
        known = cluster.place.addresses
        addresses += (known.kubernetes_service, known.control_plane, known.gateway)
    return Identity("apiserver", "kube-apiserver", addresses=addresses, hosts=hosts)


def programs(cluster: Cluster, bin_folder: Path, logs: Path) -> tuple[Program, ...]:
    """List the programs; `bin_folder` is where the control plane sees its files."""
    wanted = [*(NETWORKED if cluster.networked else ALONE), *map(PROGRAM_OF.get, cluster.extras)]
    return tuple(
        Program(
            name,
            # Behind the link: the folder of links may be another one next time.
            (str((bin_folder / name).resolve()), *ARGUMENTS[name](cluster)),
            str(logs / f"{name}.log"),
        )
        for name in dict.fromkeys(wanted)
        if name
    )


ALONE = ("etcd", "kube-apiserver")
NETWORKED = (
    *ALONE,
    "kube-controller-manager",
    "kube-scheduler",
    "kube-proxy",
    "coredns",
    "storage",
)
PROGRAM_OF = {
    "controller-manager": "kube-controller-manager",
    "scheduler": "kube-scheduler",
    "kwok": "kwok",
}


def managed(cluster: Cluster) -> bool:
    """Say whether a controller manager runs."""
    return cluster.networked or "controller-manager" in cluster.extras


def kubeconfig_of(cluster: Cluster, user: str) -> Path:
    """Say where `user`'s kubeconfig is."""
    return cluster.control_plane / f"{user}.kubeconfig"


def config_files(cluster: Cluster) -> dict[Path, str]:
    """Return the configuration files that the programs read."""
    found = {audit_policy(cluster): AUDIT} if cluster.audited else {}
    if "kwok" in cluster.extras:
        found[kwok_config(cluster)] = KWOK
    if cluster.networked:
        found[cluster.control_plane / "Corefile"] = corefile(cluster)
        # A kube-proxy that is no Node waits 30 s before it writes its first rule.
        proxy = proxy_config(cluster, "n0", kubeconfig_of(cluster, "proxy"))
        found[cluster.control_plane / "kube-proxy.yaml"] = proxy
    return found


def audit_policy(cluster: Cluster) -> Path:
    """Say where it is written what the API server writes down."""
    return cluster.control_plane / "audit.yaml"


def kwok_config(cluster: Cluster) -> Path:
    """Say where kwok's configuration is."""
    return cluster.control_plane / "kwok.yaml"


def corefile(cluster: Cluster) -> str:
    """Write CoreDNS' configuration: the cluster's names, and a firm no to all others.

    Without the template they would be refused, which a resolver takes for a passing fault: Slurm
    then asks again for five seconds.
    """
    return f"""\
.:53 {{
    errors
    health 127.0.0.1:8080
    ready 127.0.0.1:8181
    cache 5
    kubernetes {DOMAIN} in-addr.arpa ip6.arpa {{
        kubeconfig {kubeconfig_of(cluster, "coredns")}
        pods insecure
        ttl 5
    }}
    template ANY ANY . {{
        rcode NXDOMAIN
    }}
    reload 5s
}}
"""


def proxy_config(cluster: Cluster, node: str, kubeconfig: Path) -> str:
    """Write kube-proxy's configuration for one machine."""
    assert isinstance(cluster.place, Networked)
    return yaml.safe_dump(
        {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "mode": "iptables",
            "hostnameOverride": node,
            "clusterCIDR": str(cluster.place.addresses.pods),
            # The table's size belongs to the host's namespace and is not ours to set.
            "conntrack": {"maxPerCore": 0, "min": 0},
            "iptables": {"minSyncPeriod": "0s"},
            "oomScoreAdj": 0,
            "healthzBindAddress": "",
            "metricsBindAddress": "127.0.0.1:10249",
            "clientConnection": {"kubeconfig": str(kubeconfig)},
        }
    )


def _etcd(cluster: Cluster) -> Sequence[str]:
    here = endpoint(cluster)
    client, peer = f"http://127.0.0.1:{here.etcd_port}", f"http://127.0.0.1:{here.etcd_peer_port}"
    return (
        f"--data-dir={cluster.control_plane / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        # Killed processes lose nothing by this; only a crash of the whole host could.
        "--unsafe-no-fsync",
        f"--quota-backend-bytes={8 << 30}",
        "--log-level=warn",
    )


def _apiserver(cluster: Cluster) -> Sequence[str]:
    here, pki = endpoint(cluster), cluster.pki
    return (
        f"--etcd-servers=http://127.0.0.1:{here.etcd_port}",
        f"--bind-address={here.bind}",
        f"--secure-port={here.port}",
        f"--advertise-address={here.advertise}",
        f"--service-cluster-ip-range={here.services}",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        *(() if managed(cluster) else (UNMANAGED,)),
        # A loopback address is no endpoint that a pod could use.
        *(() if cluster.networked else ("--endpoint-reconciler-type=none",)),
        "--allow-privileged=true",
        f"--client-ca-file={pki / 'ca.crt'}",
        f"--tls-cert-file={pki / 'apiserver.crt'}",
        f"--tls-private-key-file={pki / 'apiserver.key'}",
        f"--kubelet-certificate-authority={pki / 'ca.crt'}",
        f"--kubelet-client-certificate={pki / 'kubelet-client.crt'}",
        f"--kubelet-client-key={pki / 'kubelet-client.key'}",
        # Node names are no host names here, and logs and exec go to the kubelet.
        "--kubelet-preferred-address-types=InternalIP",
        f"--service-account-issuer=https://kubernetes.default.svc.{DOMAIN}",
        f"--service-account-key-file={pki / 'sa.pub'}",
        f"--service-account-signing-key-file={pki / 'sa.key'}",
        f"--requestheader-client-ca-file={pki / 'front-proxy-ca.crt'}",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-username-headers=X-Remote-User",
        f"--proxy-client-cert-file={pki / 'front-proxy-client.crt'}",
        f"--proxy-client-key-file={pki / 'front-proxy-client.key'}",
        # Webhooks and aggregated APIs are called at their pods, whatever kube-proxy is doing.
        "--enable-aggregator-routing=true",
        "--max-requests-inflight=2000",
        "--max-mutating-requests-inflight=1000",
        "--profiling=false",
        *(_audit(cluster) if cluster.audited else ()),
    )


def _audit(cluster: Cluster) -> Sequence[str]:
    return (
        f"--audit-policy-file={audit_policy(cluster)}",
        f"--audit-log-path={cluster.audit_log}",
        f"--audit-log-maxsize={AUDIT_MB}",
    )


def _controller_manager(cluster: Cluster) -> Sequence[str]:
    return (
        f"--kubeconfig={kubeconfig_of(cluster, 'controller-manager')}",
        "--leader-elect=false",
        "--use-service-account-credentials",
        f"--root-ca-file={cluster.pki / 'ca.crt'}",
        f"--service-account-private-key-file={cluster.pki / 'sa.key'}",
        f"--cluster-signing-cert-file={cluster.pki / 'ca.crt'}",
        f"--cluster-signing-key-file={cluster.pki / 'ca.key'}",
        f"--node-monitor-grace-period={NODE_GRACE_S}s",
        "--node-monitor-period=2s",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
        *_metrics_port(cluster),
    )


def _scheduler(cluster: Cluster) -> Sequence[str]:
    return (
        f"--kubeconfig={kubeconfig_of(cluster, 'scheduler')}",
        "--leader-elect=false",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
        *_metrics_port(cluster),
    )


def _metrics_port(cluster: Cluster) -> Sequence[str]:
    # Many control planes share the loopback address: none of them may claim a fixed port.
    return () if cluster.networked else ("--secure-port=0",)


def _proxy(cluster: Cluster) -> Sequence[str]:
    return (f"--config={cluster.control_plane / 'kube-proxy.yaml'}",)


def _coredns(cluster: Cluster) -> Sequence[str]:
    return (f"-conf={cluster.control_plane / 'Corefile'}",)


def _storage(cluster: Cluster) -> Sequence[str]:
    return (f"--kubeconfig={kubeconfig_of(cluster, 'storage')}",)


def _kwok(cluster: Cluster) -> Sequence[str]:
    return (
        f"--kubeconfig={kubeconfig_of(cluster, 'kwok')}",
        f"--config={kwok_config(cluster)}",
        "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
        # Without leases it writes nothing for ten minutes, and a controller manager would call its
        # nodes lost; where there is none, thousands of leases would be written for nobody.
        f"--node-lease-duration-seconds={KWOK_LEASE_S if managed(cluster) else 0}",
        "--server-address=",
    )


ARGUMENTS: dict[str, Callable[[Cluster], Sequence[str]]] = {
    "etcd": _etcd,
    "kube-apiserver": _apiserver,
    "kube-controller-manager": _controller_manager,
    "kube-scheduler": _scheduler,
    "kube-proxy": _proxy,
    "coredns": _coredns,
    "storage": _storage,
    "kwok": _kwok,
}
