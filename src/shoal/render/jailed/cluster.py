"""What belongs to a cluster with a shared root and to none of its parts. Pure.

The Secrets with its keys are not made here: keys need chance, and are made once.
"""

from ...kube.objects import Object
from ...model.jail import Jail
from ...model.part import Part
from .. import marks
from . import apparmor, limits, places, ssh_conf


def objects(jail: Jail) -> list[Object]:
    """Return what pods of several parts mount, and the profile that they run under."""
    names, ssh = jail.names, jail.ssh
    files = {
        names.sysctl: {limits.SYSCTL_FILE: limits.sysctl_conf()},
        ssh.root_keys: {places.KEYS_FILE: ssh.authorized_keys},
        names.worker_sshd: {ssh_conf.SSHD_FILE: ssh_conf.sshd_config(ssh.port)},
        names.supervisord: {ssh_conf.SUPERVISORD_FILE: ssh_conf.supervisord_conf()},
    }
    made = [config_map(jail.part, name, data) for name, data in files.items()]
    return [*made, *apparmor.objects(jail)]


def config_map(part: Part, name: str, data: dict[str, str]) -> Object:
    """Hold files."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": marks.metadata(part, name),
        "data": data,
    }
