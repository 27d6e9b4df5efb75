"""AppArmor profiles, as users name them. Pure."""

from ..kube.objects import Object

_LOCALHOST = "localhost/"
_NAMED = {"unconfined": "Unconfined", "runtime/default": "RuntimeDefault"}


def app_armor(told: str) -> Object:
    """Return some of a container's security context: the profile that `told` names."""
    if told.startswith(_LOCALHOST):
        name = told.removeprefix(_LOCALHOST)
        return {"appArmorProfile": {"type": "Localhost", "localhostProfile": name}}
    if kind := _NAMED.get(told):
        return {"appArmorProfile": {"type": kind}}
    raise ValueError(
        f"appArmorProfile: {told!r} is no profile; write unconfined, runtime/default or "
        "localhost/NAME"
    )
