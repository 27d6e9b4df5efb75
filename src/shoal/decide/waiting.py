"""What a new configuration waits for before Slurm is asked about it. Pure.

Reasons, each documented at the check that gives it, are those of the Controller's condition. While
one of them holds, the configuration in use stays.
"""

from collections.abc import Callable
from dataclasses import dataclass

from ..model.accounting import Accounting, ManagedAccounting
from ..model.config import Config
from .conditions import Failed

# A ConfigMap holds 1 MiB; what is left is for what a trial adds.
LIMIT_BYTES = 1_000_000
SLURMDBD = "accounting_storage/slurmdbd"


@dataclass(frozen=True)
class Prospect:
    """A configuration that is wanted, and what it depends on."""

    config: Config
    size_bytes: int = 0  # of all files together
    in_use: str | None = None  # slurm.conf as slurmctld has it; None: it has none
    accounting: Accounting | None = None
    accounting_settled: bool = False  # all pods of a managed one are ready, and the newest
    accounting_at: str = ""  # where the user asks for it; empty: by a reference


Check = Callable[[Prospect], Failed | None]


def files_missing(prospect: Prospect) -> Failed | None:
    """Fail as `Missing` while a ConfigMap with files of the user is not there."""
    lacking = [source for source in prospect.config.sources if not source.digest]
    if not lacking:
        return None
    words = "; ".join(f"{source.field}: {source} is not there" for source in lacking)
    return Failed("Missing", f"{words}; create it, or name another")


def files_too_large(prospect: Prospect) -> Failed | None:
    """Fail as `ConfigTooLarge` when the files do not fit into one ConfigMap."""
    if prospect.size_bytes <= LIMIT_BYTES:
        return None
    fields = sorted({source.field for source in prospect.config.sources if source.field})
    words = f"{prospect.size_bytes} bytes of files together, of at most {LIMIT_BYTES}"
    cure = "bring the large ones in the image, or on a volume of spec.template"
    return Failed("ConfigTooLarge", f"{', '.join(fields) or 'spec.extraConf'}: {words}; {cure}")


def slurmdbd_starting(prospect: Prospect) -> Failed | None:
    """Fail as `AccountingStarting` while a slurmdbd that is new to the cluster is not ready.

    A slurmctld that is told of it before it listens never registers there, and the records of its
    jobs are lost.
    """
    accounting = prospect.accounting
    if prospect.in_use is None or not isinstance(accounting, ManagedAccounting):
        return None
    if SLURMDBD in prospect.in_use or prospect.accounting_settled:
        return None
    usual = f"spec.accountingRef: Accounting {accounting.part.name}"
    return Failed("AccountingStarting", f"{prospect.accounting_at or usual} is not ready yet")


CHECKS: tuple[Check, ...] = (files_missing, files_too_large, slurmdbd_starting)


def waiting(prospect: Prospect) -> Failed | None:
    """Say why a configuration is not even tried yet, and what to do; None: it may be."""
    failed = next((found for check in CHECKS if (found := check(prospect))), None)
    if failed is None or prospect.in_use is None:
        return failed
    return Failed(failed.reason, f"{failed.message}; the configuration in use stays until then")
