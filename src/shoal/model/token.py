"""A token for one user of Slurm's REST API. Pure."""

from dataclasses import dataclass, field
from datetime import timedelta

from .part import KeyRef, Marks


@dataclass(frozen=True)
class Token:
    """A token that is kept in a Secret."""

    name: str
    namespace: str
    user: str
    key: KeyRef  # that it is signed with
    secret: KeyRef  # that it is kept in
    lifetime: timedelta
    refresh: bool = True
    marks: Marks = field(default_factory=Marks)
