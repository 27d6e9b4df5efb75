"""What slurmdbd keeps: accounts, users, QOS, associations, clusters."""

from typing import Any

from .records import Body

# What each record is told apart by, and what it has when nobody says otherwise.
KINDS: dict[str, tuple[tuple[str, ...], Body]] = {
    "accounts": (("name",), {"description": "", "organization": "", "coordinators": []}),
    "users": (("name",), {"administrator_level": ["None"], "default": {"account": ""}}),
    "qos": (("name",), {"description": "", "priority": {"set": True, "number": 0}}),
    "associations": (
        ("account", "cluster", "user", "partition"),
        {"account": "", "cluster": "", "user": "", "partition": "", "parent_account": ""},
    ),
    "clusters": (("name",), {"controller": {"host": "", "port": 6817}}),
}


class Slurmdbd:
    """The database of one or more clusters."""

    def __init__(self, cluster: str = "lab") -> None:
        self.records: dict[str, dict[tuple[Any, ...], Body]] = {kind: {} for kind in KINDS}
        self.write("clusters", [{"name": cluster}])
        self.write("accounts", [{"name": "root", "description": "default root account"}])
        self.write("users", [{"name": "root", "administrator_level": ["Administrator"]}])
        self.write("qos", [{"name": "normal", "description": "Normal QOS default"}])
        self.write("associations", [{"account": "root", "cluster": cluster}])

    def read(self, kind: str) -> list[Body]:
        """Return all records of a kind."""
        return list(self.records[kind].values())

    def write(self, kind: str, wanted: list[Body]) -> bool:
        """Make or change records; return whether anything changed."""
        keys, blank = KINDS[kind]
        before = dict(self.records[kind])
        for body in wanted:
            key = tuple(body.get(name, "") for name in keys)
            self.records[kind][key] = self.records[kind].get(key, blank) | body
        return self.records[kind] != before
