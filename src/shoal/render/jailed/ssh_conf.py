"""sshd_config where whoever logs in is in the jail, and what starts a worker's daemons. Pure."""

from collections.abc import Sequence

from ...model.jail import FOLDER

SSHD_FILE = "sshd_config"
SUPERVISORD_FILE = "supervisord.conf"
_KEYS = "/etc/ssh/sshd_keys"
_LINES: Sequence[tuple[str, str]] = (
    ("PermitRootLogin", "yes"),
    ("PasswordAuthentication", "no"),
    ("ChallengeResponseAuthentication", "no"),
    ("UsePAM", "yes"),
    ("AcceptEnv", "LANG LC_*"),
    ("X11Forwarding", "no"),
    ("AllowTcpForwarding", "yes"),
    ("Subsystem", "sftp internal-sftp"),
    *(("HostKey", f"{_KEYS}/ssh_host_{kind}_key") for kind in ("rsa", "ecdsa", "ed25519")),
    ("ChrootDirectory", FOLDER),
    ("ClientAliveInterval", "3600"),
    ("ClientAliveCountMax", "5"),
    ("MaxStartups", "100:50:300"),
    ("LoginGraceTime", "120"),
    ("MaxAuthTries", "4"),
    ("LogLevel", "DEBUG3"),
)
# The jail's file is looked at before anybody is in the jail, so it has its whole path.
_MATCHES: Sequence[tuple[str, str, str]] = (
    (
        "User root",
        "AuthorizedKeysFile",
        f"/root/.ssh/authorized_keys {FOLDER}/root/.ssh/authorized_keys",
    ),
    ("User *", "LogLevel", "INFO"),
)
_PROGRAMS: Sequence[tuple[str, int, str]] = (
    ("slurmd", 1, "/opt/bin/slurm/slurmd_entrypoint.sh"),
    ("sshd", 10, f"/usr/sbin/sshd -D -e -f /mnt/ssh-configs/{SSHD_FILE}"),
)
_PROGRAM = """\
[program:{name}]
priority={priority}
command={command}
stdout_logfile=/dev/fd/1
stdout_logfile_maxbytes=0
redirect_stderr=true
autostart=true
autorestart=true
startsecs=0
stopasgroup=true
killasgroup=true
stopsignal=TERM
stopwaitsecs=10
"""


def sshd_config(port: int) -> str:
    """Return sshd_config."""
    plain = "".join(f"{key} {value}\n" for key, value in (("Port", str(port)), *_LINES))
    matches = (f"\nMatch {who}\n    {key} {value}\n" for who, key, value in _MATCHES)
    return plain + "".join(matches)


def supervisord_conf() -> str:
    """Return what runs in a worker: slurmd, then sshd."""
    programs = (
        _PROGRAM.format(name=name, priority=priority, command=command)
        for name, priority, command in _PROGRAMS
    )
    head = "[supervisord]\nnodaemon=true\nlogfile=/dev/null\nlogfile_maxbytes=0\n"
    return "\n".join((head, *programs))
