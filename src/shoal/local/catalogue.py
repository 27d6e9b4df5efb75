"""The Go programs of a local cluster: where they come from, in which version. Data only."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

GO_SOURCES = Path(__file__).parent / "go"

# The modules' go.mod files decide; a test compares.
KUBERNETES = "1.34.4"
ETCD = "3.6.5"
HELM = "3.19.5"
COREDNS = "1.13.1"
KWOK = "0.7.0"

_MAJOR, _MINOR = KUBERNETES.split(".")[:2]
KUBERNETES_MINOR = f"{_MAJOR}.{_MINOR}"

# What the link editor writes into string variables. Unset, the API server and the clients call
# themselves v0.0.0-master, and Helm believes in Kubernetes 1.20 and refuses charts.
_STAMPS: Mapping[str, str] = {
    f"{package}.{variable}": value
    for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    for variable, value in {
        "gitVersion": f"v{KUBERNETES}",
        "gitMajor": _MAJOR,
        "gitMinor": _MINOR,
        "gitCommit": "",
        "gitTreeState": "clean",
    }.items()
} | {
    "helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor": _MAJOR,
    "helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor": _MINOR,
    "helm.sh/helm/v3/internal/version.version": f"v{HELM}",
}


@dataclass(frozen=True)
class Module:
    """A Go module of ours; the seconds are as measured on two cores."""

    name: str
    part: str  # what its build is called while it runs
    ldflags: str
    cold_s: float  # nothing downloaded, nothing compiled
    warm_s: float  # everything compiled, only to be linked

    @property
    def folder(self) -> Path:
        """Its source."""
        return GO_SOURCES / self.name


@dataclass(frozen=True)
class Program:
    """One program; `package` is what Go builds, a folder of its module if it begins with a dot."""

    name: str
    package: str
    module: Module
    version: str = ""  # empty for our own, which are never taken from the PATH
    tell: tuple[str, ...] = ("--version",)  # arguments that make it tell its version

    @property
    def ours(self) -> bool:
        """Say whether its main package is in this source tree."""
        return self.package.startswith("./")

    @property
    def kubernetes(self) -> bool:
        """Say whether it has to be of the cluster's Kubernetes minor."""
        return self.package.startswith("k8s.io/kubernetes/")


SHARED = Module(
    "kubernetes",
    "programs",
    " ".join(["-s", "-w", *(f"-X {name}={value}" for name, value in _STAMPS.items())]),
    cold_s=480,
    warm_s=30,
)
# kwok does not compile against the k8s.io modules that the others share.
KWOK_ALONE = Module("kwok", "kwok", "-s -w", cold_s=100, warm_s=5)


def _kubernetes(name: str, *tell: str) -> Program:
    package = f"k8s.io/kubernetes/cmd/{name}"
    return Program(name, package, SHARED, KUBERNETES, tell or ("--version",))


_TABLE = (
    Program("etcd", "go.etcd.io/etcd/server/v3", SHARED, ETCD),
    _kubernetes("kube-apiserver"),
    _kubernetes("kube-controller-manager"),
    _kubernetes("kube-scheduler"),
    _kubernetes("kube-proxy"),
    _kubernetes("kubelet"),
    _kubernetes("kubectl", "version", "--client", "--output=json"),
    Program("helm", "helm.sh/helm/v3/cmd/helm", SHARED, HELM, ("version", "--short")),
    # Ours asks its plugins in another order than the stock one, which would not do.
    Program("coredns", "./coredns", SHARED),
    Program("machine", "./machine", SHARED),
    Program("storage", "./storage", SHARED),
    Program("kwok", "sigs.k8s.io/kwok/cmd/kwok", KWOK_ALONE, KWOK),
)
PROGRAMS: Mapping[str, Program] = {program.name: program for program in _TABLE}
DEFAULT = tuple(name for name in PROGRAMS if name != "kwok")
