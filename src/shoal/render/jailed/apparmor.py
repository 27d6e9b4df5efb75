"""An AppArmor profile for pods that people work in. Pure.

They may do what privileged pods may, but for writing to what the GPU's driver brought: a package
that somebody installs in the jail would else replace the driver's files on the node.
"""

from ...kube.objects import Object
from ...model.jail import Jail
from .. import marks

_RIGHTS = (
    "file",
    "mount",
    "remount",
    "umount",
    "pivot_root",
    "capability",
    "network",
    "unix",
    "dbus",
    "ptrace",
    "signal",
)
_FOLDERS = (
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/local/lib/x86_64-linux-gnu",
    "/usr/local/nvidia/lib64",
)
_DRIVER = (
    *(f"{folder}/{file}" for folder in _FOLDERS for file in ("libcuda*", "libnvidia-*")),
    "/usr/lib/x86_64-linux-gnu/libnvcuvid*",
    "/usr/bin/nvidia-*",
    "/usr/bin/nv-fabricmanager",
    "/lib/firmware/nvidia/**",
)


def objects(jail: Jail) -> list[Object]:
    """Return the profile, where the user wants it."""
    if not jail.app_armor:
        return []
    return [
        {
            "apiVersion": "security-profiles-operator.x-k8s.io/v1alpha1",
            "kind": "AppArmorProfile",
            "metadata": marks.metadata(jail.part, jail.app_armor),
            "spec": {"policy": policy(jail.app_armor)},
        }
    ]


def policy(name: str) -> str:
    """Return the profile's text."""
    rights = (*(f"{right}," for right in _RIGHTS), "/** lrixw,")
    denied = (f"deny {path} w," for path in _DRIVER)
    inside = "".join(f"  {line}\n" for line in ("include <abstractions/base>", *rights, *denied))
    head = "#include <tunables/global>\n\n"
    return f"{head}profile {name} flags=(attach_disconnected,mediate_deleted) {{\n{inside}}}\n"
