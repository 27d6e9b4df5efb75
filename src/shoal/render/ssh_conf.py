"""sshd_config and authorized_keys. Pure."""

from collections.abc import Iterator, Sequence

from .sections import heading

Line = tuple[str, str]

_BOTH: Sequence[Line] = (
    ("Include", "/etc/ssh/sshd_config.d/*.conf"),
    ("UsePAM", "yes"),
    ("Subsystem", "sftp internal-sftp"),
)
LOGIN: Sequence[Line] = (*_BOTH, ("X11Forwarding", "yes"))
# Either of the two will do; who may come in at all, pam_slurm_adopt decides.
WORKER: Sequence[Line] = (*_BOTH, ("AuthenticationMethods", "publickey password"))


def sshd_config(ours: Sequence[Line], extra: str) -> str:
    """Return sshd_config; ours is left out where the user sets a keyword, as the first line counts.

    Two lines for one Subsystem would even keep sshd from starting.
    """
    said = set(_keywords(extra)) - {"include"}
    text = "".join(f"{key} {value}\n" for key, value in ours if key.lower() not in said)
    if not extra.strip():
        return heading("GENERAL") + text
    return heading("GENERAL") + text + heading("EXTRA CONFIG") + _ended(extra)


def authorized_keys(keys: str) -> str:
    """Return the file with the keys that root may log in with."""
    return heading("ROOT") + (_ended(keys) if keys.strip() else "")


def _keywords(extra: str) -> Iterator[str]:
    """Return the keywords that hold for everybody: those before the first Match."""
    for line in extra.splitlines():
        words = line.replace("=", " ").split()
        if not words or words[0].startswith("#"):
            continue
        if words[0].lower() == "match":
            return
        yield words[0].lower()


def _ended(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"
