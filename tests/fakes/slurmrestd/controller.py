"""The paths below /slurm: what of slurmctld goes into which answer."""

from .calls import Call, Unchanged
from .records import Body, number
from .series import WORDS, Refused
from .slurmctld import ORDERS, Slurmctld

NODE_FIELDS = frozenset(
    {
        "address", "comment", "extra", "features", "features_act", "gres", "hostname", "name",
        "reason", "reason_uid", "resume_after", "state", "weight",
    }
)  # fmt: skip


NO_JOBS = (("jobs", []), ("last_update", number(0)))


def ping(call: Call) -> Body:
    """Tell whether slurmctld answered; one that does not like the token does not."""
    up = bool(call.user)
    told: Body = {"hostname": "ctl", "latency": 500}
    if call.version < 45:
        told |= {"pinged": "UP" if up else "DOWN", "mode": "primary"}
    if call.version >= 42:
        told |= {"responding": up, "primary": True}
    return {"pings": [told]}


def nodes(slurm: Slurmctld, call: Call) -> Body:
    """List all nodes, unless nothing changed."""
    if slurm.unchanged("nodes", call.since):
        raise Unchanged
    if slurm.series.probe_bug and slurm.unchanged("partitions", call.since):
        raise Refused(-1, "Unable to query partitions", "_dump_nodes")
    return _dated("nodes", slurm.node_bodies(slurm.nodes, call.version), slurm.now)


def node(slurm: Slurmctld, call: Call) -> Body:
    """Tell of one node; a hostlist is no name of one."""
    name = call.names[0]
    if name not in slurm.nodes:
        raise Refused(0, f"Failure to query node {name}", "_dump_nodes")
    return _dated("nodes", slurm.node_bodies([name], call.version), slurm.now)


def update_nodes(slurm: Slurmctld, call: Call) -> Body:
    """Change many nodes."""
    names = call.body.get("name", [])
    if isinstance(names, str):
        call.warnings.append("Expected a list for field `name`")
        names = [names]
    slurm.update_nodes(call.user, names, _change(call))
    return {}


def update_node(slurm: Slurmctld, call: Call) -> Body:
    """Change the node or the hostlist in the path."""
    slurm.update_nodes(call.user, call.names, _change(call))
    return {}


def _change(call: Call) -> Body:
    call.warn_of_strangers(NODE_FIELDS | ({"topology_str"} if call.version >= 43 else set()))
    state = call.body.get("state", [])
    change = call.body | ({"state": [state]} if isinstance(state, str) else {"state": state})
    if wrong := [order for order in change["state"] if order not in ORDERS]:
        raise Refused(9207, f"Unknown flag {wrong[0]}", "#/state/")
    if isinstance(weight := change.get("weight"), dict):
        change["weight"] = weight["number"]
    return change


def create_node(slurm: Slurmctld, call: Call) -> Body:
    """Create nodes."""
    slurm.create_nodes(call.user, call.body["node_conf"])
    return {}


def delete_node(slurm: Slurmctld, call: Call) -> Body:
    """Delete the node or the hostlist in the path."""
    slurm.delete_nodes(call.user, call.names[0])
    return {}


def jobs(slurm: Slurmctld, call: Call) -> Body:
    """List all jobs; that nothing changed is a warning here."""
    if slurm.unchanged("jobs", call.since):
        call.warnings.append(f"No job changes since update_time[{call.since}]")
        return {"jobs": []}
    return _dated("jobs", [one.body() for one in slurm.jobs.values()], slurm.now)


def job(slurm: Slurmctld, call: Call) -> Body:
    """Tell of one job, with all tasks of its array."""
    wanted = call.names[0].partition("_")[0]
    number_ = int(wanted) if wanted.isdecimal() else 0
    found = [one for one in slurm.jobs.values() if number_ in (one.job_id, one.array_job_id)]
    if not found or not number_:
        words = f"Unable to query JobId={call.names[0]}"
        raise Refused(2017, words, "_handle_job_get", NO_JOBS)
    return _dated("jobs", [one.body() for one in found], slurm.now)


def job_states(slurm: Slurmctld, call: Call) -> Body:
    """List all jobs and their states."""
    told = [{"job_id": one.label, "state": list(one.state)} for one in slurm.jobs.values()]
    return {"jobs": told}


def submit(slurm: Slurmctld, call: Call) -> Body:
    """Submit a job."""
    if "job" not in call.body:
        raise Refused(9000, 'Specifying either "job" or "jobs" fields are required', "submit")
    made = slurm.submit(call.user, call.body["job"])
    return {"job_id": made.job_id, "step_id": "batch", "job_submit_user_msg": ""}


def cancel(slurm: Slurmctld, call: Call) -> Body:
    """Send a signal to a job."""
    job_id = int(call.names[0])
    code = slurm.signal(call.user, job_id, call.query.get("signal", "KILL"))
    error = {"string": WORDS[code], "code": code, "message": WORDS[code]}
    told = {"error": error, "step_id": str(job_id), "job_id": number(job_id)}
    return {"status": [told] if code else []}


def requeue(slurm: Slurmctld, call: Call) -> Body:
    """Requeue jobs."""
    for job_id in call.body.get("jobs", ()):
        slurm.requeue(call.user, int(job_id))
    return {"status": []}


def reservations(slurm: Slurmctld, call: Call) -> Body:
    """List all reservations, unless nothing changed."""
    if slurm.unchanged("reservations", call.since):
        raise Unchanged
    return _dated("reservations", [_told(one) for one in slurm.reservations.values()], slurm.now)


def reservation(slurm: Slurmctld, call: Call) -> Body:
    """Tell of one reservation."""
    name = call.names[0]
    if name not in slurm.reservations:
        raise Refused(0, "Unable to query reservations", "slurm_load_reservations()")
    return _dated("reservations", [_told(slurm.reservations[name])], slurm.now)


def reserve(slurm: Slurmctld, call: Call) -> Body:
    """Create or change a reservation."""
    slurm.reserve(call.user, call.body)
    return {}


def unreserve(slurm: Slurmctld, call: Call) -> Body:
    """Delete a reservation."""
    slurm.unreserve(call.user, call.names[0])
    return {}


def _told(one: Body) -> Body:
    return one | {key: number(one[key]) for key in ("start_time", "end_time")}


def partitions(slurm: Slurmctld, call: Call) -> Body:
    """List all partitions, unless nothing changed."""
    if slurm.unchanged("partitions", call.since):
        raise Unchanged
    told = [one.body(slurm.nodes) for one in slurm.partitions.values()]
    return _dated("partitions", told, slurm.now)


def partition(slurm: Slurmctld, call: Call) -> Body:
    """Tell of one partition."""
    name = call.names[0]
    if name in slurm.partitions:
        return _dated("partitions", [slurm.partitions[name].body(slurm.nodes)], slurm.now)
    words = f"Unable to find partition {name}"
    if not slurm.series.partition_warning:
        raise Refused(9000, words, "op_handler_partition")
    call.warnings.append(words)
    return {}


def write_partitions(slurm: Slurmctld, call: Call) -> Body:
    """Create or change partitions."""
    for wanted in call.body["partitions"]:
        slurm.write_partition(call.user, wanted)
    return {}


def delete_partition(slurm: Slurmctld, call: Call) -> Body:
    """Delete a partition."""
    slurm.delete_partition(call.user, call.names[0])
    return {}


def diag(slurm: Slurmctld, call: Call) -> Body:
    """Tell slurmctld's counters."""
    states = [one.state[0] for one in slurm.jobs.values()]
    return {
        "statistics": {
            "server_thread_count": 1,
            "agent_queue_size": 0,
            "jobs_submitted": len(states),
            "jobs_pending": states.count("PENDING"),
            "jobs_running": states.count("RUNNING"),
            "jobs_completed": states.count("COMPLETED"),
            "jobs_canceled": states.count("CANCELLED"),
            "jobs_failed": states.count("NODE_FAIL"),
            "job_states_ts": number(slurm.now),
            "rpcs_by_message_type": [
                {"message_type": "REQUEST_PING", "type_id": 1008, "count": 1, "total_time": 100}
            ],
            "rpcs_by_user": [{"user": "slurm", "user_id": 1001, "count": 1, "total_time": 100}],
        }
    }


def conf(slurm: Slurmctld, call: Call) -> Body:
    """Tell the configuration."""
    return {"slurm_conf": {"ClusterName": slurm.cluster, "AuthType": "auth/slurm"}}


def reconfigure(slurm: Slurmctld, call: Call) -> Body:
    """Have slurmctld read its configuration."""
    slurm.reconfigure(call.user)
    return {}


def _dated(what: str, items: list[Body], now: int) -> Body:
    return {what: items, "last_update": number(now)}
