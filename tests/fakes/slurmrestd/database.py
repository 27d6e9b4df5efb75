"""The paths below /slurmdb."""

from collections.abc import Callable

from .calls import Call
from .records import Body
from .series import Refused
from .slurmctld import Slurmctld
from .slurmdbd import KINDS, Slurmdbd

Answer = Callable[[Slurmdbd, Slurmctld, Call], Body]


def ping(database: Slurmdbd, slurm: Slurmctld, call: Call) -> Body:
    """Tell whether slurmdbd is up; it is, or this would not have been asked."""
    told = {"hostname": "dbd", "responding": True, "latency": 300, "primary": True}
    return {"pings": [told]}


def jobs(database: Slurmdbd, slurm: Slurmctld, call: Call) -> Body:
    """List jobs, by state and cluster."""
    wanted = call.query.get("state", "")
    if "," in wanted:
        raise Refused(9207, f'Unknown flag "{wanted}"', "#/state/")
    told = [
        one.record(slurm.cluster) for one in slurm.jobs.values() if wanted in ("", one.state[0])
    ]
    if call.query.get("cluster", slurm.cluster) != slurm.cluster:
        told = []
    if not told:
        call.warnings.append("slurmdb_jobs_get() found nothing")
    return {"jobs": told}


def content(database: Slurmdbd, slurm: Slurmctld, call: Call) -> Body:
    """List everything."""
    return {kind: database.read(kind) for kind in KINDS}


def reader(kind: str) -> Answer:
    """Return what lists the records of a kind."""

    def read(database: Slurmdbd, slurm: Slurmctld, call: Call) -> Body:
        return {kind: database.read(kind)}

    return read


def writer(kind: str) -> Answer:
    """Return what makes or changes records of a kind."""

    def write(database: Slurmdbd, slurm: Slurmctld, call: Call) -> Body:
        if call.user not in slurm.administrators:
            raise Refused(2002, f"slurmdb_{kind}_add() failed", "slurmdbd")
        if kind == "associations" and not all("user" in one for one in call.body[kind]):
            raise Refused(9200, "Missing required field 'user' in dictionary", "#/associations/")
        database.write(kind, call.body[kind])
        return {}

    return write
