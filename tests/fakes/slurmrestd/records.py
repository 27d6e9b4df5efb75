"""What slurmctld keeps of nodes, jobs and partitions, and how slurmrestd writes each of them."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]

RUNNING = {"RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING"}


def number(value: float | None) -> Body:
    """Return a number as slurmrestd wraps it."""
    if value is None:
        return {"set": False, "infinite": False, "number": 0}
    if math.isinf(value):
        return {"set": False, "infinite": True, "number": 0}
    return {"set": True, "infinite": False, "number": int(value)}


def expand(hostlist: str) -> list[str]:
    """Return the names in a hostlist with at most one pair of brackets per name."""
    names: list[str] = []
    for part in re.findall(r"[^,\[]+(?:\[[^\]]*\])?[^,\[]*", hostlist):
        found = re.fullmatch(r"(.*?)\[(.*)\](.*)", part)
        if not found:
            names.append(part)
            continue
        before, ranges, after = found.groups()
        for span in ranges.split(","):
            first, _, last = span.partition("-")
            wide = len(first)
            steps = range(int(first), int(last or first) + 1)
            names += [f"{before}{step:0{wide}}{after}" for step in steps]
    return names


@dataclass
class Job:
    """A job."""

    job_id: int
    name: str = "job"
    user: str = "slurm"
    state: list[str] = field(default_factory=lambda: ["PENDING"])
    reason: str = "None"
    partition: str = "all"
    account: str = ""
    nodes: list[str] = field(default_factory=list)
    required: str = ""
    cpus: int = 1
    submit: int = 0
    start: int = 0
    end: int = 0
    limit: float | None = math.inf  # minutes
    array_job_id: int = 0
    array_task_id: int | None = None
    comment: str = ""
    output: str = ""
    restarts: int = 0
    batch: bool = True  # it has a script
    requeueable: bool = True

    @property
    def holds(self) -> bool:
        """Say whether it is on its nodes."""
        return bool(RUNNING & set(self.state))

    @property
    def label(self) -> str:
        """Return its id as the list of states writes it."""
        if self.array_task_id is None:
            return str(self.job_id)
        return f"{self.array_job_id}_{self.array_task_id}"

    def body(self) -> Body:
        """Return it as slurmrestd writes it."""
        return {
            "account": self.account,
            "admin_comment": "",
            "array_job_id": number(self.array_job_id),
            "array_task_id": number(self.array_task_id),
            "array_task_string": "",
            "batch_flag": self.batch,
            "batch_host": self.nodes[0] if self.nodes else "",
            "comment": self.comment,
            "cpus": number(self.cpus),
            "end_time": number(self.end),
            "extra": "",
            "job_id": self.job_id,
            "job_state": list(self.state),
            "mail_user": "",
            "name": self.name,
            "node_count": number(len(self.nodes) or 1),
            "nodes": ",".join(self.nodes),
            "partition": self.partition,
            "qos": "normal",
            "requeue": self.requeueable,
            "required_nodes": self.required,
            "restart_cnt": self.restarts,
            "standard_error": self.output,
            "standard_output": self.output,
            "start_time": number(self.start),
            "state_reason": self.reason,
            "submit_time": number(self.submit),
            "time_limit": number(self.limit),
            "tres_alloc_str": f"cpu={self.cpus},node={len(self.nodes)}" if self.nodes else "",
            "tres_req_str": f"cpu={self.cpus},node=1",
            "user_id": 1000,
            "user_name": self.user,
        }

    def record(self, cluster: str) -> Body:
        """Return it as slurmdbd keeps it."""
        limit = number(self.limit)
        return {
            "job_id": self.job_id,
            "name": self.name,
            "user": self.user,
            "account": self.account,
            "cluster": cluster,
            "partition": self.partition,
            "nodes": ",".join(self.nodes) or "None assigned",
            "state": {"current": list(self.state[:1]), "reason": self.reason},
            "time": {
                "submission": self.submit,
                "start": self.start,
                "end": self.end,
                "limit": limit,
            },
            "tres": {
                "allocated": [{"type": "cpu", "name": "", "id": 1, "count": self.cpus}],
                "requested": [{"type": "cpu", "name": "", "id": 1, "count": self.cpus}],
            },
            "steps": [],
        }


@dataclass
class Node:
    """A node; what runs on it, slurmctld knows from its jobs."""

    name: str
    down: bool = False
    flags: set[str] = field(default_factory=set)
    reason: str = ""
    reason_at: int = 0
    reason_by: str = ""
    comment: str = ""
    extra: str = ""
    features: list[str] = field(default_factory=list)
    features_act: list[str] = field(default_factory=list)
    gres: str = ""
    address: str = ""
    hostname: str = ""
    topology_str: str = ""
    weight: int = 1
    cpus: int = 2
    started: int = 0
    version: str = ""

    def state(self, jobs: Iterable[Job]) -> list[str]:
        """Return base state and flags."""
        here = [job for job in jobs if job.holds and self.name in job.nodes]
        flags = sorted(self.flags)
        if any("COMPLETING" in job.state for job in here):
            flags.append("COMPLETING")
        if self.down:
            return ["DOWN", *flags]
        used = sum(job.cpus for job in here if "COMPLETING" not in job.state)
        base = "ALLOCATED" if used >= self.cpus else "MIXED" if used else "IDLE"
        return [base, *flags]

    def body(self, jobs: Sequence[Job], partitions: list[str], version: int) -> Body:
        """Return it as slurmrestd writes it in `version`."""
        state = self.state(jobs)
        used = 0
        if state[0] in ("ALLOCATED", "MIXED"):
            used = sum(job.cpus for job in jobs if job.holds and self.name in job.nodes)
        return {
            "name": self.name,
            "state": state,
            "reason": self.reason,
            "reason_changed_at": number(self.reason_at),
            "reason_set_by_user": self.reason_by,
            "comment": self.comment,
            "extra": self.extra,
            "address": self.address or self.name,
            "hostname": self.hostname or self.name,
            "instance_id": "",
            "instance_type": "",
            "features": list(self.features),
            "active_features": list(self.features_act),
            "partitions": partitions,
            "reservation": "",
            "version": self.version,
            "gres": self.gres,
            "gres_used": "",
            "tres": f"cpu={self.cpus},mem=1M,billing={self.cpus}",
            "tres_used": f"cpu={used}" if used else "",
            "cpus": self.cpus,
            "effective_cpus": self.cpus,
            "alloc_cpus": used,
            "real_memory": 1,
            "alloc_memory": 0,
            "free_mem": number(None),
            "boot_time": number(self.started),
            "slurmd_start_time": number(self.started),
            "weight": self.weight,
            **({"topology": self.topology_str} if version >= 43 else {}),
        }


@dataclass
class Partition:
    """A partition; without nodes of its own it has all."""

    name: str
    nodes: list[str] | None = None
    state: str = "UP"

    def body(self, everywhere: Iterable[str]) -> Body:
        """Return it as slurmrestd writes it."""
        names = list(everywhere) if self.nodes is None else self.nodes
        return {
            "name": self.name,
            "node_sets": "",
            "nodes": {"configured": ",".join(names), "total": len(names)},
            "partition": {"state": [self.state]},
        }
