"""limits.conf and sysctl.conf. Pure."""

FILE = "limits.conf"
SYSCTL_FILE = "sysctl.conf"
EMPTY = "#Empty security limits file\n"
# Programs of jobs lock memory for their networks, and open a file for each peer.
_UNLIMITED = (
    *("core", "data", "fsize", "sigpending", "memlock", "rss", "msgqueue", "rtprio", "stack"),
    *("cpu", "nproc", "as", "locks"),
)
_GIVEN = {"nofile": "1048576", "nice": "-20"}


def limits_conf(asked: str, ours: str = EMPTY) -> str:
    """Return limits.conf: what the user wants, or `ours`."""
    if not asked.strip():
        return ours
    return asked if asked.endswith("\n") else f"{asked}\n"


def unlimited() -> str:
    """Return limits.conf for pods in which jobs run."""
    values = {**dict.fromkeys(_UNLIMITED, "unlimited"), **_GIVEN}
    return "".join(
        f"* {kind} {what} {value}\n" for what, value in values.items() for kind in ("soft", "hard")
    )


def sysctl_conf() -> str:
    """Return sysctl.conf."""
    return "vm.max_map_count=655300\n"
