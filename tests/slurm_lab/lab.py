"""A Slurm cluster in one place: MariaDB, slurmdbd, slurmctld, slurmrestd, slurmds of one series."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from shoal.host.run import Finished

from . import tokens
from .conf import DATABASE, SLURM, Conf, Keys, files_of
from .container import Container, File, Wanted
from .image import Images
from .space import Space, wait_for

DAEMONS = ("mariadb", "slurmdbd", "slurmctld", "slurmrestd")
PORTS = {"mariadb": 3306, "slurmdbd": 6819, "slurmctld": 6817, "slurmrestd": 6820}
PROGRAMS = {"mariadb": "mariadbd"}  # where a daemon is not called as its image is
SLURMD_PORT = 17000  # of the first worker; they share an address
START_S = 60.0

# One account, in which everybody may run jobs; `carol` may change nodes as well.
ACCOUNTS = (
    ("add", "account", "lab", "Description=lab", "Organization=lab"),
    ("add", "user", "slurm,alice,bob,carol", "Account=lab"),
    ("modify", "user", "carol", "set", "AdminLevel=Administrator"),
)


@dataclass(frozen=True)
class Options:
    """How a lab differs from the plain one."""

    workers: int = 2
    conf: Conf = field(default_factory=Conf)
    # Workers that slurm.conf names, with this much more on their line, such as CPUs=100. Fifty
    # dynamic ones of 200 processors did not get registered within a minute among 10,000 nodes.
    static: str | None = None
    # Beyond it, slurmrestd is told that there is no more memory; one list of jobs could take all.
    slurmrestd_bytes: int = 2 << 30
    slurmrestd_environment: Mapping[str, str] = field(default_factory=dict)


class Lab:
    """A cluster; entering starts all of it, leaving it leaves nothing behind."""

    def __init__(self, images: Images, options: Options | None = None) -> None:
        self.images = images
        self.options = options or Options()
        self.keys = Keys()
        self.space = Space()
        self.containers: dict[str, Container] = {}

    @property
    def series(self) -> str:
        """Slurm's series, such as 26.05."""
        return self.images.series

    @property
    def url(self) -> str:
        """Where slurmrestd answers."""
        return f"http://{self.space.address}:{PORTS['slurmrestd']}"

    @property
    def jwt_key(self) -> bytes:
        """What slurmctld checks tokens with."""
        return self.keys.jwt

    @property
    def workers(self) -> list[str]:
        """The names of the nodes."""
        return [f"w-{i}" for i in range(self.options.workers)]

    def token(self, user: str = "slurm") -> str:
        """Return a good token."""
        return tokens.sign(self.keys.jwt, tokens.claims(user))

    def run(self, *words: str, check: bool = True, user: str = "0:0") -> Finished:
        """Run a command where slurmctld runs, with its configuration."""
        return self.containers["slurmctld"].run(*words, check=check, user=user)

    # -- daemons

    def start(self, name: str) -> None:
        """Start a daemon that is stopped, and wait until it serves."""
        self.containers[name].start()
        self._wait_until_serving(name)

    def stop(self, name: str) -> None:
        """Let a daemon end."""
        self.containers[name].stop()

    def kill(self, name: str) -> None:
        """Kill a daemon and everything in its container."""
        self.containers[name].kill()

    def freeze(self, name: str) -> None:
        """Let a daemon hang."""
        self.containers[name].freeze()

    def thaw(self, name: str) -> None:
        """Let it go on."""
        self.containers[name].thaw()

    def restart(self, name: str) -> None:
        """Stop a daemon and start it again."""
        self.stop(name)
        self.start(name)

    def replace_jwt_key(self, key: bytes) -> None:
        """Put another key in the place of the one for tokens; no daemon reads it by itself."""
        self.keys.jwt = key
        for name in ("slurmctld", "slurmdbd"):
            self.containers[name].write("/etc/slurm/jwt.key", File(key, SLURM))

    # -- the whole

    def __enter__(self) -> Self:
        try:
            self._make()
            for name in DAEMONS:
                self.containers[name].start()
                if name != "slurmctld":
                    self._wait_until_serving(name)
            self._wait_until_serving("slurmctld")
            for name in self.workers:
                self.containers[name].start()
            for words in ACCOUNTS:
                self.run("sacctmgr", "--immediate", *words)
            self.wait_until_idle()
        except BaseException as error:
            error.add_note(self.logs())
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End everything."""
        self.space.close()
        for container in self.containers.values():
            container.wait()

    def wait_until_idle(self) -> None:
        """Wait until every worker could run a job."""

        def idle() -> bool:
            words = ("--noheader", "--Node", "--partition=all", "--format=%T")
            said = self.run("sinfo", *words, check=False).stdout
            return said.split() == ["idle"] * len(self.workers)

        wait_for("idle workers", idle, START_S)

    def logs(self, lines: int = 20) -> str:
        """Return the end of each log."""
        each = self.containers.items()
        return "\n".join(f"== {name}\n{one.said(lines)}" for name, one in each)

    def _make(self) -> None:
        options = self.options
        arguments = {
            "mariadb": ("--silent-startup", "--innodb-buffer-pool-size=64M"),
            "slurmrestd": ("-a", "rest_auth/jwt", f"0.0.0.0:{PORTS['slurmrestd']}"),
        }
        environment: dict[str, Mapping[str, str]] = {
            "mariadb": DATABASE,
            "slurmrestd": {
                "SLURM_JWT": "daemon",
                "MALLOC_ARENA_MAX": "1",
                "SLURMRESTD_SECURITY": "disable_unshare_files,disable_unshare_sysv",
                **options.slurmrestd_environment,
            },
        }
        for name in DAEMONS:
            self._add(name, name, arguments.get(name, ()), environment.get(name, {}))
        for i, name in enumerate(self.workers):
            itself = ("-Z", "--conf", f"Port={SLURMD_PORT + i} Feature=all")
            words = ("--conf-server", "slurmctld:6817", *(itself if options.static is None else ()))
            self._add(name, "slurmd", words)

    def _add(
        self,
        name: str,
        daemon: str,
        arguments: tuple[str, ...],
        environment: Mapping[str, str] | None = None,
    ) -> None:
        wanted = Wanted(
            self.images.of[daemon],
            PROGRAMS.get(daemon, daemon),
            arguments,
            environment or {},
            files_of(daemon, self._conf(), self.keys, self.space.address),
            self.options.slurmrestd_bytes if daemon == "slurmrestd" else 0,
        )
        self.containers[name] = Container(name, wanted, self.space)

    def _conf(self) -> Conf:
        conf, count, static = self.options.conf, self.options.workers, self.options.static
        if static is None or not count:
            return conf
        port = f"Port=[{SLURMD_PORT}-{SLURMD_PORT + count - 1}]"
        line = f"NodeName=w-[0-{count - 1}] NodeAddr=slurmctld {port} Feature=all {static}"
        return replace(conf, lines=(line, *conf.lines))

    def _wait_until_serving(self, name: str) -> None:
        container = self.containers[name]

        def serving() -> bool:
            if container.first() is None:
                raise RuntimeError(f"{name} has ended:\n{container.said()}")
            if name == "slurmctld":
                return " is UP" in self.run("scontrol", "ping", check=False).stdout
            return name in self.workers or answers(self.space.address, PORTS[name])

        try:
            wait_for(f"{name} to serve", serving, START_S)
        except TimeoutError as late:
            raise TimeoutError(f"{late}\n{container.said()}") from late


def answers(address: str, port: int) -> bool:
    """Say whether somebody listens there."""
    try:
        with socket.create_connection((address, port), timeout=1):
            return True
    except OSError:
        return False
