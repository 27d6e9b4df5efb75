"""A small cluster as the exporter would tell of it, with something in every metric.

Made from the catalogue alone. Counters grow each time that somebody asks.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from shoal.exporter.catalogue import METRICS, NODE_INFO, Kind, Metric

Labels = Mapping[str, str]


def node(name: str, base: str, **more: str) -> Labels:
    """Return a node as its labels tell of it."""
    standing = dict.fromkeys(
        ("state_is_drain", "state_is_maintenance", "state_is_reserved"), "false"
    )
    return {
        **dict.fromkeys(NODE_INFO, ""),
        **standing,
        "node_name": name,
        "instance_id": f"machine-{name}",
        "state_base": base,
        "address": "10.0.0.1",
        "partition": "main",
        "nvlink_instance_group": "rack-1",
        "nodeset_name": "worker",
        **more,
    }


def drained(name: str, base: str, reason: str, unavailable: str = "true") -> Labels:
    return node(name, base, state_is_drain="true", reason=reason, is_unavailable=unavailable)


NODES = (
    node("w-0", "ALLOCATED"),
    node("w-1", "DOWN", is_unavailable="true", state_is_not_responding="true", reason="gone"),
    drained("w-2", "IDLE", "[node_problem] boot_disk_full: 97 % [hc_program]"),
    drained("w-3", "IDLE", "[hardware_problem] gpu_health_check"),
    drained("w-4", "IDLE", "[user_problem] pod_ephemeral_storage"),
    drained("w-5", "MIXED", "Kill task failed", ""),
    drained("w-6", "IDLE", 'an admin\'s "own" reason, with C:\\ in it'),
    node("w-7", "IDLE", state_is_maintenance="true", state_is_reserved="true"),
    node("w-8", "IDLE", state_is_cloud="true", state_is_powered_down="true"),
    node("w-9", "IDLE", state_is_cloud="true", state_is_powering_up="true"),
)


def job(number: int, state: str, reason: str = "None") -> Labels:
    """Return a job as its labels tell of it."""
    return {
        "job_id": str(number),
        "job_state": state,
        "job_state_reason": reason,
        "slurm_partition": "main",
        "job_name": f"train-{number}",
        "user_name": "ada",
        "user_mail": "ada@example.com",
        "user_id": "1000",
        "standard_error": "",
        "standard_output": f"/home/ada/slurm-{number}.out",
        "array_job_id": "",
        "array_task_id": "",
        "submit_time": "1790000000",
        "start_time": "1790000100" if state != "PENDING" else "",
        "end_time": "",
        "finished_time": "",
    }


JOBS = (
    job(1, "RUNNING"),
    job(2, "RUNNING"),
    job(3, "PENDING", "Resources"),
    job(4, "COMPLETED"),
    job(5, "NODE_FAIL"),
)
ENDS = ("COMPLETED", "FAILED", "NODE_FAIL", "TIMEOUT")
# The values of all other labels; every combination is there.
WORDS: Mapping[str, Sequence[str]] = {
    "partition": ("main", "gpu"),
    "account": ("physics", "biology"),
    "state": ("RUNNING", "PENDING", *ENDS),
    "reason": ("Priority", "Resources", "JobHeldAdmin"),
    "message_type": ("REQUEST_PING", "REQUEST_JOB_INFO"),
    "user": ("root", "ada"),
    "user_id": ("0",),
    "collector": ("nodes", "jobs", "diag", "topology", "accounting"),
    "cause": ("slurmrestd",),
    "source": ("list",),
    "family": ("nodes", "jobs"),
    "code": ("0", "200"),
    "encoding": ("identity", "gzip"),
}
STATES = {
    "slurm_partition_nodes": ("IDLE", "ALLOCATED", "DOWN", "DRAINED"),
    "slurm_job_outcomes_total": ENDS,
    "slurm_ended_jobs_total": ENDS,
}


def series(metric: Metric) -> list[Labels]:
    """Return the labels of each series of a metric."""
    wanted = metric.labels
    tables = [t for key, t in (("node_name", NODES), ("job_id", JOBS)) if key in wanted]
    if tables:
        rows = [{k: v for row in rows for k, v in row.items()} for rows in product(*tables)]
        return [{label: row[label] for label in wanted} for row in rows]
    words = {**WORDS, "state": STATES.get(metric.name, WORDS["state"])}
    values = product(*(words[label] for label in wanted))
    return [dict(zip(wanted, row, strict=True)) for row in values]


def number(metric: Metric, place: int, times: int) -> float:
    """Return a value for the series at `place` of a metric that was asked for so many times."""
    if metric.words.endswith("always 1.") or "always 1;" in metric.words:
        return 1
    if metric.name.endswith("_timestamp_seconds"):
        return time.time() - 20  # noqa: TID251 - a clock is what a timestamp comes from
    if metric.name == "slurm_exporter_collector_up":
        return place % 2
    return 100 + times * (place + 1) if metric.kind is Kind.COUNTER else 10 + place


def text(port: int, times: int) -> str:
    """Return what a port of the exporter serves when it is asked for the `times`th time."""
    found = (metric for metric in METRICS if metric.port == port)
    return "\n".join(line for metric in found for line in lines(metric, times)) + "\n"


def lines(metric: Metric, times: int) -> Iterator[str]:
    """Yield the lines of a metric."""
    yield f"# HELP {metric.name} {metric.words}"
    yield f"# TYPE {metric.name} {metric.kind.value}"
    for place, labels in enumerate(series(metric)):
        if metric.kind is not Kind.HISTOGRAM:
            yield f"{metric.name}{written(labels)} {number(metric, place, times)}"
            continue
        bounds = [*(f"{bound:g}" for bound in metric.buckets), "+Inf"]
        for count, bound in enumerate(bounds, 1):
            yield f"{metric.name}_bucket{written({**labels, 'le': bound})} {count * times}"
        yield f"{metric.name}_sum{written(labels)} {100 * times}"
        yield f"{metric.name}_count{written(labels)} {len(bounds) * times}"


def written(labels: Labels) -> str:
    """Return labels in braces; empty ones are left out."""
    escapes = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
    told = [f'{name}="{value.translate(escapes)}"' for name, value in labels.items() if value]
    return "{" + ",".join(told) + "}" if told else ""
