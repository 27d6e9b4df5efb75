"""What one user asked of the API server, from its audit log."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec

WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})
# Somebody who leads says so every other second; that is not work.
NO_WORK = frozenset({"leases"})


class User(msgspec.Struct, frozen=True):
    """Who asked."""

    username: str = ""


class Object(msgspec.Struct, frozen=True):
    """What was asked about."""

    resource: str = ""
    subresource: str = ""


class Line(msgspec.Struct, frozen=True, rename="camel"):
    """What is read of an entry."""

    audit_id: str = msgspec.field(name="auditID")
    verb: str
    user: User
    stage_timestamp: datetime
    object_ref: Object = Object()


@dataclass(frozen=True)
class Call:
    """One request."""

    verb: str
    kind: str
    at: datetime

    @property
    def work(self) -> bool:
        """Say whether it changed something beside a Lease."""
        return self.verb in WRITES and self.kind not in NO_WORK


class Audit:
    """The log, as far as it is about one user."""

    def __init__(self, path: Path, user: str) -> None:
        self._path = path
        self._mark = f'"username":"{user}"'.encode()
        self._user = user
        self._decoder = msgspec.json.Decoder(Line)

    def mark(self) -> int:
        """Return where the log ends now."""
        return self._path.stat().st_size

    def since(self, mark: int) -> list[Call]:
        """Return the requests that were written down after a mark."""
        with self._path.open("rb") as log:
            log.seek(mark)
            return list(self._read(log))

    def _read(self, lines: Iterable[bytes]) -> Iterator[Call]:
        seen = set()
        for line in lines:
            # The API server may be in the middle of the last one.
            if self._mark not in line or not line.endswith(b"\n"):
                continue
            entry = self._decoder.decode(line)
            # A watch is written down when it begins and when it ends.
            if entry.user.username != self._user or entry.audit_id in seen:
                continue
            seen.add(entry.audit_id)
            about = entry.object_ref
            kind = "/".join(word for word in (about.resource, about.subresource) if word)
            yield Call(entry.verb, kind or "discovery", entry.stage_timestamp)


def by_kind(calls: Iterable[Call]) -> Counter[str]:
    """Count requests by verb and kind."""
    return Counter(f"{call.verb} {call.kind}" for call in calls)
