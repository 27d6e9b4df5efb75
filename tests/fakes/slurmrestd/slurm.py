"""Slurmrestd itself: paths, versions, tokens, and the shape of every answer."""

import enum
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from shoal.runtime import clock

from . import tokens
from .calls import Call, Unchanged
from .faults import Fault, Planned
from .paths import PING, Route, found
from .records import Body
from .series import SERIES, Refused, Text
from .slurmctld import Slurmctld
from .slurmdbd import Slurmdbd

HEADER = "x-slurm-user-token"
# In a query only these go plain; a comma does not.
STRANGE = re.compile(r"[^A-Za-z0-9~._%+;&=-]")
KEY = b"0123456789abcdef0123456789abcdef"


class Daemon(enum.Enum):
    """How slurmctld or slurmdbd is."""

    UP = "up"
    DOWN = "down"  # nobody listens
    HUNG = "hung"  # stopped, the port still open


@dataclass(frozen=True)
class Asked:
    """A request as it came over the wire."""

    method: str
    path: str  # percent-encoded
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)  # names in lower case
    body: bytes | None = None
    raw_query: str = ""  # percent-encoded, where it came over a wire


@dataclass(frozen=True)
class Reply:
    """What goes back, and how long it takes."""

    code: int
    body: bytes = b""
    content_type: str = "application/json"
    after_s: float = 0.0


class FakeSlurm:
    """A whole Slurm behind slurmrestd."""

    def __init__(
        self, series: str = "26.05", key: bytes = KEY, now: Callable[[], float] | None = None
    ) -> None:
        self.series = SERIES[series]
        self.key_file = key
        self.key = key  # what slurmctld has read, at its start or the last reconfigure
        self.database_key = key  # what slurmdbd has read, at its start
        self.ahead_s = 0.0  # how far Slurm's clock is ahead of ours
        self._now = now or (lambda: clock.now().timestamp())
        self.slurmctld = Slurmctld(self.series, self.now)
        self.slurmdbd = Slurmdbd(self.slurmctld.cluster)
        self._controller = self._database = Daemon.UP
        self.waits_s = 9.5  # how long slurmrestd tries to reach a slurmctld that is down or hung
        self.requests: list[str] = []
        self._planned: list[Planned] = []

    def now(self) -> float:
        """Return Slurm's time."""
        return self._now() + self.ahead_s

    @property
    def controller(self) -> Daemon:
        """Say how slurmctld is."""
        return self._controller

    @controller.setter
    def controller(self, daemon: Daemon) -> None:
        if self._controller is Daemon.DOWN and daemon is Daemon.UP:
            self.key = self.key_file
        self._controller = daemon

    @property
    def database(self) -> Daemon:
        """Say how slurmdbd is."""
        return self._database

    @database.setter
    def database(self, daemon: Daemon) -> None:
        if self._database is Daemon.DOWN and daemon is Daemon.UP:
            self.database_key = self.key_file
        self._database = daemon

    def token(self, user: str = "slurm", lifetime_s: float = 600) -> str:
        """Return a good token."""
        return tokens.make(user, self.key, self.now() + lifetime_s)

    def upgrade(self, series: str) -> None:
        """Replace all daemons by those of another series; the state stays."""
        self.series = self.slurmctld.series = SERIES[series]

    def plan(self, fault: Fault, match: str = "", times: int = 1, nth: int = 1) -> None:
        """Have calls whose "METHOD /path" holds `match` meet a fault, from the `nth` on.

        -1 `times` is until healed.
        """
        self._planned.append(Planned(fault, match, times, nth - 1))

    def heal(self) -> None:
        """Plan no more faults."""
        self._planned.clear()

    def fault(self, asked: Asked) -> Fault | None:
        """Return the fault that this request meets, if any."""
        name = f"{asked.method} {asked.path}"
        return next((plan.fault for plan in self._planned if plan.due(name)), None)

    def count(self, match: str) -> int:
        """Return how many requests so far held `match`."""
        return sum(match in name for name in self.requests)

    # -- answers

    def answer(self, asked: Asked) -> Reply:
        """Do what is asked and return the answer."""
        query = "?" + "&".join(f"{k}={v}" for k, v in asked.query.items()) if asked.query else ""
        self.requests.append(f"{asked.method} {asked.path}{query}")
        try:
            return self._answer(asked)
        except Text as text:
            return Reply(text.code, text.words.encode(), "text/plain")

    def _answer(self, asked: Asked) -> Reply:
        if "," in asked.path:
            raise Text(*self.series.comma)
        if STRANGE.search(asked.raw_query):
            raise Text(500, "Unspecified error")
        route, names, version = found(asked.method, asked.path, self.series.versions)
        if HEADER not in asked.headers:
            raise Text(401, "Authentication failure")
        call = Call(version, [unquote(name) for name in names], asked.query, self._content(asked))
        try:
            call.user = self._admitted(route, asked)
            return self._reply(call, 200, self._carried_out(route, call))
        except Unchanged:
            return Reply(304)
        except Refused as no:
            late = self.waits_s if no.number in (1800, 5004) else 0.0
            return self._reply(call, no.code(self.series), dict(no.content), no, late)

    def _carried_out(self, route: Route, call: Call) -> Body:
        if route is PING:
            return route.answer(call)
        if route.tree == "slurmdb":
            return route.answer(self.slurmdbd, self.slurmctld, call)
        content = route.answer(self.slurmctld, call)
        if route.path == "reconfigure":
            self.key = self.key_file
            if self.slurmctld.bad_config:
                # It says yes first, reads the file, and dies.
                self.controller = Daemon.DOWN
        return content

    def _content(self, asked: Asked) -> Any:
        if not asked.body:
            return {}
        if "json" not in asked.headers.get("content-type", ""):
            raise Text(*self.series.content_type)
        try:
            return json.loads(asked.body)
        except ValueError:
            raise Text(400, "Unable to parse request body") from None

    def _admitted(self, route: Route, asked: Asked) -> str:
        """Return whom slurmctld or slurmdbd takes the caller for."""
        if route.tree == "slurmdb":
            return self._database_user(asked)
        user = self._user(asked, self.key)
        if route is PING:
            return user if self.controller is Daemon.UP else ""
        if self.controller is not Daemon.UP:
            raise Refused(1800 if self.controller is Daemon.DOWN else 5004)
        if not user:
            raise Refused(1007)
        return user

    def _database_user(self, asked: Asked) -> str:
        user = self._user(asked, self.database_key)
        if self.database is not Daemon.UP:
            raise Refused(7000, "Failed to open slurmdbd connection")
        if not user:
            raise Refused(7000, self.series.database_hint or "Failed to open slurmdbd connection")
        return user

    def _user(self, asked: Asked, key: bytes) -> str:
        user = tokens.user_of(asked.headers[HEADER], key, self.now())
        other = asked.headers.get("x-slurm-user-name", user)
        if not user or (other != user and user not in ("root", "slurm")):
            return ""
        return other or ""

    def _reply(
        self, call: Call, code: int, content: Body, no: Refused | None = None, late: float = 0.0
    ) -> Reply:
        major, minor, micro = self.series.release.split(".")
        body = {
            **content,
            "meta": {
                "plugin": {"data_parser": f"data_parser/v0.0.{call.version}"},
                "slurm": {
                    "version": {"major": major, "minor": minor, "micro": micro},
                    "release": self.series.release,
                    "cluster": self.slurmctld.cluster,
                },
            },
            "errors": [no.problem()] if no else [],
            "warnings": [{"description": words, "source": "fake"} for words in call.warnings],
        }
        return Reply(code, json.dumps(body).encode(), after_s=late)
