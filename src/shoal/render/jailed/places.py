"""Where pods with a shared root have things: volumes, and where they are mounted. Pure."""

from collections.abc import Iterable, Iterator, Sequence

from ...kube.objects import Object
from ...model.cluster import Cluster
from ...model.controller import ExternalController
from ...model.jail import FOLDER, UPPER, Claimed, Fittings, Given, Jail, Mount, Volume
from ...model.part import KeyRef
from .. import volumes
from . import limits as limits_conf

JAIL = "jail"
CONFIGS = "slurm-configs"
JWT_KEY = "rest-jwt-key"
LIMITS = "security-limits"
IN_MEMORY = "in-memory"
TMP_DISK = "tmp-disk"
HOST_KEYS = "sshd-keys"
ROOT_KEYS = "ssh-root-keys"
SSH_CONFIGS = "ssh-configs"

# Images link /etc/slurm to this, and steps that have the jail as their root see it there too.
SLURM = f"{FOLDER}/etc/slurm"
SLURM_CONF = f"{SLURM}/slurm.conf"
# Where images without a jail look.
GIVEN = "/mnt/slurm-configs"
JWT_FILE = "rest_jwt.key"
KEYS_FILE = "authorized_keys"
KEY_TYPES = ("ecdsa", "ed25519", "rsa")


# -- volumes


def volume(name: str, found: Volume) -> Object:
    """Return a volume of a pod; one that is claimed for the pod goes with it."""
    match found:
        case Given(source):
            return {"name": name, **source}
        case Claimed(spec):
            return {"name": name, "ephemeral": {"volumeClaimTemplate": {"spec": dict(spec)}}}


def kept(found: Iterable[tuple[str, Volume]]) -> tuple[list[Object], list[Object]]:
    """Return the volumes of pods that come back, and the templates of what is claimed for them."""
    given, templates = [], []
    for name, one in found:
        match one:
            case Given(source):
                given.append({"name": name, **source})
            case Claimed(spec):
                templates.append({"metadata": {"name": name}, "spec": dict(spec)})
    return given, templates


def wanted(fittings: Fittings) -> list[tuple[str, Volume]]:
    """Return the volumes that the user brings: the jail, and what is mounted in and beside it."""
    mounts = (*fittings.submounts, *fittings.mounts)
    return [(JAIL, fittings.jail), *((mount.name, mount.volume) for mount in mounts)]


def configs(config_map: str) -> Object:
    """Return Slurm's files, for everybody to read."""
    return {"name": CONFIGS, "configMap": {"name": config_map, "defaultMode": 0o644}}


def jwt_key(ref: KeyRef | None) -> Iterator[Object]:
    """Return the key that tokens are checked with, where there is one."""
    if ref is not None:
        yield secret_file(JWT_KEY, ref, JWT_FILE)


def secret_file(name: str, ref: KeyRef, path: str) -> Object:
    """Return one entry of a Secret, for its owner alone to read."""
    items = [{"key": ref.key, "path": path, "mode": 0o400}]
    return {"name": name, "secret": {"secretName": ref.name, "items": items, "defaultMode": 0o400}}


def map_file(name: str, config_map: str, mode: int = 0o644) -> Object:
    """Return the entries of a ConfigMap."""
    return {"name": name, "configMap": {"name": config_map, "defaultMode": mode}}


def limits(fittings: Fittings) -> list[Object]:
    """Return limits.conf, where this part has its own."""
    return [map_file(LIMITS, fittings.limits)] if fittings.limits else []


def host_keys(secret: str) -> Object:
    """Return the host keys of sshd."""
    modes = (("", 0o600), (".pub", 0o644))
    items = [
        {"key": file, "path": file, "mode": mode}
        for kind in KEY_TYPES
        for file, mode in ((f"ssh_host_{kind}_key{end}", mode) for end, mode in modes)
    ]
    return {"name": HOST_KEYS, "secret": {"secretName": secret, "items": items}}


def memory(name: str, size_bytes: int) -> Object:
    """Return an empty volume in memory, of so many bytes at most; 0: of any size."""
    limit = {"sizeLimit": str(size_bytes)} if size_bytes else {}
    return {"name": name, "emptyDir": {"medium": "Memory", **limit}}


def config_name(cluster: Cluster) -> str:
    """Return the ConfigMap with Slurm's files."""
    found = cluster.controller
    return found.config if isinstance(found, ExternalController) else found.names.config


def searches(cluster: Cluster, jail: Jail) -> Object:
    """Return how a pod finds workers and login nodes by bare names.

    Where slurmctld does not, it stalls ten seconds for each srun.
    """
    found = [f"{name}.{cluster.namespace}.svc.{cluster.domain}" for name in jail.subdomains]
    return {"dnsConfig": {"searches": found}} if found else {}


def host_path(name: str, path: str, kind: str = "") -> Object:
    """Return a folder of the node."""
    return {"name": name, "hostPath": {"path": path, "type": kind}}


# -- mounts


def jail_mounts(*, read_only: bool = False) -> list[Object]:
    """Return the jail with Slurm's files in it: nothing is written into it for that."""
    return [volumes.mount(JAIL, FOLDER, read_only=read_only), config_mount()]


def config_mount() -> Object:
    """Return Slurm's files where they are in the jail, for a container with or without one."""
    return volumes.mount(CONFIGS, SLURM, read_only=True)


def fitted(fittings: Fittings) -> list[Object]:
    """Return what the user has mounted, in the jail and beside it, and limits.conf."""
    found = limits(fittings)
    own = [one_file(LIMITS, f"/etc/security/{limits_conf.FILE}", limits_conf.FILE)] if found else []
    return [*own, *_mounts(fittings.submounts, UPPER), *_mounts(fittings.mounts)]


def sshd_mounts() -> list[Object]:
    """Return what sshd reads."""
    return [
        volumes.mount(HOST_KEYS, "/etc/ssh/sshd_keys", read_only=True),
        one_file(ROOT_KEYS, f"/root/.ssh/{KEYS_FILE}", KEYS_FILE),
        volumes.mount(SSH_CONFIGS, "/mnt/ssh-configs", read_only=True),
    ]


def jwt_mounts(ref: KeyRef | None) -> list[Object]:
    """Return where entrypoints find the key of tokens."""
    return [volumes.mount(JWT_KEY, "/mnt/rest-jwt-key", read_only=True)] if ref else []


def one_file(name: str, path: str, file: str) -> Object:
    """Mount one file of a volume in the place of the image's."""
    return volumes.mount(name, path, read_only=True, file=file)


def _mounts(found: Sequence[Mount], below: str = "") -> Iterator[Object]:
    for one in found:
        path = f"{below}/{one.path.lstrip('/')}" if below else one.path
        yield volumes.mount(one.name, path, read_only=one.read_only, file=one.sub_path)
