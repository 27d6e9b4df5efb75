"""Login nodes. Pure.

The Secret with the host keys is not made here: keys need chance, and are made once.
"""

from ..kube.objects import Object
from ..model.cluster import Cluster
from ..model.login import LoginSet
from . import marks, pods, probes, services, shell, ssh_conf, volumes
from .pods import Inside
from .services import Port

PORT = Port("login", 22)
HOST_KEYS = "ssh-host-keys"
CONFIG = "ssh-config"
SSSD = "sssd-conf"
SACKD = "sackd-dir"
SOCKETS = "/run/slurm"
KEY_TYPES = ("rsa", "ed25519", "ecdsa")
SSHD_CONFIG = "sshd_config"
SSSD_CONF = "sssd.conf"
AUTHORIZED_KEYS = "authorized_keys"


def objects(cluster: Cluster, login: LoginSet) -> list[Object]:
    """Return what login nodes consist of, but for their host keys."""
    return [config(login), service(login), deployment(cluster, login)]


def host_key_files() -> list[str]:
    """Return the entries of the Secret with the host keys."""
    return [f"ssh_host_{kind}_key{end}" for kind in KEY_TYPES for end in ("", ".pub")]


def config(login: LoginSet) -> Object:
    """Hold sshd_config, and the keys that root may log in with."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": marks.metadata(login.part, login.names.config),
        "data": _files(login),
    }


def service(login: LoginSet) -> Object:
    """Reach sshd."""
    part = login.part
    return services.service(part, login.names.workload, login.service, PORT, part.selector)


def deployment(cluster: Cluster, login: LoginSet) -> Object:
    """Run sshd and sackd."""
    part = login.part
    spec: Object = {
        "replicas": login.replicas,
        "revisionHistoryLimit": 0,
        "selector": {"matchLabels": dict(part.selector)},
        "template": pods.template(part, _inside(cluster, login)),
    }
    if login.strategy:
        spec["strategy"] = dict(login.strategy)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": marks.metadata(part, login.names.workload, part.pods.marks),
        "spec": spec,
    }


def sssd_volume(name: str, key: str) -> Object:
    """Return the volume with sssd.conf, which sssd wants for its owner alone."""
    items = [{"key": key, "path": SSSD_CONF, "mode": 0o600}]
    return volumes.projected(SSSD, 0o600, [{"secret": {"name": name, "items": items}}])


def _files(login: LoginSet) -> dict[str, str]:
    return {
        SSHD_CONFIG: ssh_conf.sshd_config(ssh_conf.LOGIN, login.extra_sshd),
        AUTHORIZED_KEYS: ssh_conf.authorized_keys(login.root_keys),
    }


def _inside(cluster: Cluster, login: LoginSet) -> Inside:
    slurm = cluster.keys.slurm
    main = _login(cluster, login)
    # All of it is mounted file by file, or copied: a change reaches new pods only.
    read = {
        "slurm-key": slurm.digest if slurm else "",
        "ssh-host-keys": login.host_keys_digest,
        "sshd-conf": marks.digest(*_files(login).values()),
        "sssd-conf": login.sssd.digest,
    }
    return Inside(
        main,
        before=[_initconf(login, main)],
        volumes=_volumes(cluster, login),
        spec={"enableServiceLinks": False, **_finds_workers(cluster)},
        digests=marks.digests(cluster.naming, read),
    )


def _finds_workers(cluster: Cluster) -> Object:
    """Return what lets a pod find workers by the bare names of their Slurm nodes."""
    if not cluster.workers:
        return {}
    # Whether there are workers or not: the first one must not restart all login nodes.
    domain = f"{cluster.workers}.{cluster.namespace}.svc.{cluster.domain}"
    return {"dnsConfig": {"searches": [domain]}}


def _login(cluster: Cluster, login: LoginSet) -> Object:
    ask = {"exec": {"command": ["test", "-S", f"{SOCKETS}/sack.socket"]}}
    return pods.container(
        login.part,
        "login",
        {
            "env": [{"name": "SACKD_OPTIONS", "value": f"--conf-server {cluster.conf_server}"}],
            "ports": [PORT.opened],
            # No other probe: people are logged in there, whatever becomes of sackd.
            "readinessProbe": {**probes.ready(ask), "periodSeconds": 2},
            "volumeMounts": [
                volumes.mount(volumes.ETC, pods.ETC, read_only=True),
                volumes.mount(SACKD, SOCKETS),
                *(
                    volumes.mount(HOST_KEYS, f"/etc/ssh/{file}", read_only=True, file=file)
                    for file in host_key_files()
                ),
                volumes.mount(CONFIG, f"/etc/ssh/{SSHD_CONFIG}", read_only=True, file=SSHD_CONFIG),
                volumes.mount(
                    CONFIG, f"/root/.ssh/{AUTHORIZED_KEYS}", read_only=True, file=AUTHORIZED_KEYS
                ),
                volumes.mount(SSSD, f"/etc/sssd/{SSSD_CONF}", read_only=True, file=SSSD_CONF),
            ],
        },
    )


def _initconf(login: LoginSet, main: Object) -> Object:
    return pods.beside(
        login.part,
        "initconf",
        main,
        {
            "command": ["sh", "-c", shell.script("initconf")],
            "env": [
                {"name": "SLURM_USER", "value": "slurm"},
                {"name": "SLURM_ID", "value": str(pods.SLURM)},
            ],
            "volumeMounts": [
                volumes.mount(volumes.CONFIG, "/mnt/slurm", read_only=True),
                volumes.mount(volumes.ETC, "/mnt/etc/slurm"),
            ],
        },
    )


def _volumes(cluster: Cluster, login: LoginSet) -> list[Object]:
    keys = [
        {"key": file, "path": file, "mode": 0o644 if file.endswith(".pub") else 0o600}
        for file in host_key_files()
    ]
    config_files = [{"key": file, "path": file, "mode": 0o600} for file in _files(login)]
    key = volumes.key_file(cluster.keys.slurm, "slurm.key")
    return [
        volumes.memory(volumes.ETC),
        volumes.memory(SACKD),
        volumes.projected(volumes.CONFIG, 0o600, [key]),
        volumes.projected(
            HOST_KEYS, 0o600, [{"secret": {"name": login.names.host_keys, "items": keys}}]
        ),
        volumes.projected(
            CONFIG, 0o600, [{"configMap": {"name": login.names.config, "items": config_files}}]
        ),
        sssd_volume(login.sssd.name, login.sssd.key),
    ]
