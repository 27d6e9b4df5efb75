"""Objects of slinky.slurm.net, and what the model says of them."""

from typing import Any

import msgspec

from shoal.dialects.slinky import read, types
from shoal.dialects.slinky.types import TYPES
from shoal.model.observed import Found

from .objects import make

NOTHING = Found({}, {})


def understood(kind: str, obj: dict[str, Any], found: Found = NOTHING) -> object:
    """Return what the model says of an object, all of it."""
    one, around = msgspec.convert(obj, TYPES[kind]), read.Around(found)
    match one:
        case types.Controller():
            return read.cluster(one, [], None, around)
        case types.NodeSet():
            return read.nodeset(one, around)
        case types.LoginSet():
            return read.login(one, around)
        case types.Accounting():
            return read.accounting(one, around)
        case types.RestApi():
            return read.rest(one, around)
        case _:
            return read.token(one, found)


def the(kind: str, name: str = "slurm", found: Found = NOTHING, **spec: Any) -> Any:
    return understood(kind, make(kind, name, **spec), found)
