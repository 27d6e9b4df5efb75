"""Workers that are renewed in a maintenance window alone, with jobs on them; no job notices."""

import time
from collections.abc import Mapping
from datetime import datetime, timedelta

from shoal.runtime import clock

from ..clusters import Object, wait_for
from . import jobs
from .jobs import PATIENCE_S
from .nodesets import UPDATE, Record, Workers, stays, timed

MINUTES = 4
# As sinfo shows a node in a window that takes no more jobs.
DRAINING = "draining$"


def scheduled(start: datetime, minutes: int = MINUTES) -> Object:
    """Return the strategy of updates in a window."""
    window = {"startTime": start.strftime("%Y-%m-%dT%H:%M:%SZ"), "duration": f"{minutes}m"}
    return {"type": "ScheduledUpdate", "scheduledUpdate": window}


def reservation(workers: Workers) -> Mapping[str, str]:
    """Return the reservation as Slurm has it; nothing where there is none."""
    name = f"SlurmOperatorMaint-{workers.name}"
    words = ("env", "TZ=UTC0", "scontrol", "show", "reservation", name, "--oneliner")
    done = workers.site.run(*words, check=False)
    return jobs.fields(done.out) if done.code == 0 else {}


def told(workers: Workers) -> Object:
    """Return what the NodeSet says of its window."""
    conditions = workers.site.cluster.get("nodeset", workers.name)["status"]["conditions"]
    return next((c for c in conditions if c["type"] == "ReservationCreated"), {})


def begun(workers: Workers, record: Record) -> None:
    """Renew workers in a window that begins now, and want no window any more."""
    workers.make(2)
    busy, idle = workers.node(0), workers.node(1)
    job, old = workers.start(busy), workers.uids()
    workers.renew("second")
    with timed(record, "the idle serves anew in its window after"):
        now = clock.now()
        workers.site.patch(f"nodeset/{workers.name}", {"updateStrategy": scheduled(now, 30)})
        workers.renewed(old, idle, state="maint")
    workers.drains(busy, UPDATE, DRAINING)
    assert job.runs()
    with timed(record, "the busy serves anew after its job by"):
        job.end()
        job.ended_well()
        workers.renewed(old, busy, state="maint")
    strategy = {"type": "OnDelete", "scheduledUpdate": None}
    workers.site.patch(f"nodeset/{workers.name}", {"updateStrategy": strategy})
    wait_for("the window to go", lambda: reservation(workers), lambda seen: not seen, PATIENCE_S)
    workers.serve(2)


def whole(workers: Workers, record: Record, away_s: float = 60) -> None:
    """Have a window come and pass, with a job that ends in it and one that outlives it."""
    workers.make(3)
    idle, sooner, later = (workers.node(n) for n in range(3))
    job, last, old = workers.start(sooner), workers.start(later), workers.uids()
    start = clock.now().replace(microsecond=0) + timedelta(seconds=away_s)
    with timed(record, "the reservation is there after"):
        workers.site.patch(f"nodeset/{workers.name}", {"updateStrategy": scheduled(start)})
        seen = wait_for("the reservation", lambda: reservation(workers), timeout_s=PATIENCE_S)
    assert seen["StartTime"] == start.strftime("%Y-%m-%dT%H:%M:%S")
    assert seen["Duration"] == f"00:{MINUTES:02}:00"
    assert seen["Nodes"] == f"{workers.name}-[0-2]"
    assert {"MAINT", "IGNORE_JOBS"} <= set(seen["Flags"].split(","))
    made = wait_for("word of it", lambda: told(workers), lambda c: c.get("status") == "True")
    assert made["reason"] == "Created"
    workers.renew("second")
    left = (start - clock.now()).total_seconds() - 2
    stays("every worker before the window", lambda: workers.uids() == old, left)
    with timed(record, "the idle serves anew in the window after"):
        workers.renewed(old, idle, state="maint")
    assert job.runs()
    workers.drains(sooner, UPDATE, DRAINING)
    workers.drains(later, UPDATE, DRAINING)
    with timed(record, "the first busy serves anew after its job by"):
        job.end()
        job.ended_well()
        workers.renewed(old, sooner, state="maint")
    assert clock.now() < start + timedelta(minutes=MINUTES), "the window was too short"
    passed(workers, start)
    assert told(workers)["reason"] == "NotExists"
    # No window, no update: it serves on as it is.
    wait_for(
        "the worker of the last job to serve",
        lambda: workers.node_of(later).state,
        lambda state: state in ("mixed", "allocated"),
        PATIENCE_S,
    )
    assert workers.uids()[later] == old[later]
    last.end()
    last.ended_well()
    stays("the worker without a window", lambda: workers.uids()[later] == old[later])
    workers.serve(3)
    assert not reservation(workers)


def passed(workers: Workers, start: datetime) -> None:
    """Wait for the end of a window, and until its reservation is gone by itself."""
    end = start + timedelta(minutes=MINUTES)
    time.sleep(max((end - clock.now()).total_seconds(), 0))
    wait_for("the window to go", lambda: reservation(workers), lambda seen: not seen, PATIENCE_S)
    wait_for("word of it", lambda: told(workers), lambda c: c.get("status") == "False", PATIENCE_S)
