"""Short ways to have an object of slurm.nebius.ai judged."""

from typing import Any

from shoal.dialects.nebius.admission import review
from shoal.kube.findings import Known, Lookups, Verdict

from .objects import KIND, make

ALONE = Known()


def created(kind: str, name: str = "slurm", ask: Lookups = ALONE, **spec: Any) -> Verdict:
    """Return what is said of an object that is new."""
    return review(KIND[kind], "CREATE", make(kind, name, **spec), {}, ask)


def updated(old: dict[str, Any], new: dict[str, Any], ask: Lookups = ALONE) -> Verdict:
    """Return what is said of a change."""
    return review(KIND[new["kind"]], "UPDATE", new, old, ask)
