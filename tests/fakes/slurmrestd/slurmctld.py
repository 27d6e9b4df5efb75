"""What slurmctld does when it is asked to; slurmrestd's part is elsewhere."""

import math
from collections.abc import Callable, Iterable
from typing import Any

from .records import Body, Job, Node, Partition, expand
from .series import Refused, Series

# What a node update may ask for; anything else does not get past slurmrestd.
ORDERS = frozenset(
    {"DRAIN", "UNDRAIN", "RESUME", "DOWN", "IDLE", "FAIL", "FUTURE", "POWER_DOWN", "POWER_UP"}
)


class Slurmctld:
    """One cluster's nodes, jobs, partitions and reservations."""

    def __init__(self, series: Series, now: Callable[[], float], cluster: str = "lab") -> None:
        self.series = series
        self.cluster = cluster
        self._now = now
        self.nodes: dict[str, Node] = {}
        self.jobs: dict[int, Job] = {}
        self.partitions: dict[str, Partition] = {"all": Partition("all")}
        self.reservations: dict[str, Body] = {}
        # Whoever may change things, and whoever there is.
        self.administrators = {"root", "slurm"}
        self.users = {"root", "slurm", "alice", "bob"}
        self.accounts = {"root", "lab"}
        self.changed = dict.fromkeys(("nodes", "partitions", "jobs", "reservations"), self.now)
        self.bad_config = False  # dies at the next reconfigure
        self.reconfigured = 0
        self._last_job = 0

    @property
    def now(self) -> int:
        """Return slurmctld's time, in whole seconds as it has it."""
        return int(self._now())

    # -- what tests do by hand

    def add(self, hostlist: str, **fields: Any) -> None:
        """Register nodes, as their slurmds do."""
        for name in expand(hostlist):
            registered = {"started": self.now, "version": self.series.release}
            self.nodes[name] = Node(name, **{**registered, **fields})
        self._touch("nodes")

    def start(self, nodes: str = "", **fields: Any) -> Job:
        """Put a job on `nodes`, or into the queue."""
        self._last_job += 1
        names = expand(nodes)
        running = {"state": ["RUNNING"], "start": self.now} if names else {}
        job = Job(self._last_job, nodes=names, submit=self.now, **{**running, **fields})
        self.jobs[job.job_id] = job
        self._touch("jobs", "nodes")
        return job

    def end(self, job_id: int, state: str = "COMPLETED") -> None:
        """End a job."""
        job = self.jobs[job_id]
        job.state, job.end = [state], self.now
        self._touch("jobs", "nodes")

    # -- asked whether anything is new

    def unchanged(self, what: str, since: int | None) -> bool:
        """Say whether nothing changed; a change in the very second of the last answer is one."""
        return since is not None and since - 1 >= self.changed[what]

    def _touch(self, *what: str) -> None:
        for kind in what:
            self.changed[kind] = self.now

    # -- nodes

    def node_bodies(self, names: Iterable[str], version: int) -> list[Body]:
        """Return nodes as slurmrestd writes them."""
        jobs = [job for job in self.jobs.values() if job.holds]
        return [self.nodes[name].body(jobs, self._partitions_of(name), version) for name in names]

    def _partitions_of(self, name: str) -> list[str]:
        everywhere = self.partitions.values()
        return [one.name for one in everywhere if one.nodes is None or name in one.nodes]

    def update_nodes(self, user: str, names: list[str], change: Body) -> None:
        """Change nodes, all or none; but a node that cannot be resumed stops no other."""
        self._administrator(user, "slurm_update_node()")
        wanted = [name for hostlist in names for name in expand(hostlist)]
        self._known(wanted, "Failure to update node")
        refused = None
        for name in wanted:
            refused = self._update(user, self.nodes[name], change) or refused
        self._touch("nodes")
        if refused:
            raise refused

    def _update(self, user: str, node: Node, change: Body) -> Refused | None:
        plain = ("comment", "extra", "gres", "features", "features_act", "topology_str", "weight")
        for name in plain:
            if name in change:
                setattr(node, name, change[name])
        for name in ("address", "hostname"):
            if name in change:
                setattr(node, name, change[name][0])
        if "reason" in change:
            node.reason, node.reason_at, node.reason_by = change["reason"], self.now, user
        for order in change.get("state", ()):
            if refused := self._order(node, order):
                return refused
        return None

    def _order(self, node: Node, order: str) -> Refused | None:
        drained = "DRAIN" in node.flags
        if order == "RESUME" and not (node.down or drained):
            number = self.series.not_resumable
            return Refused(number, f"Failure to update node {node.name}", "slurm_update_node()")
        if order == "DRAIN":
            node.flags.add("DRAIN")
        elif order == "DOWN":
            node.down = True
            for job in self._on(node.name):
                self.end(job.job_id, "NODE_FAIL")
        elif order in ("UNDRAIN", "RESUME", "IDLE"):
            node.flags.discard("DRAIN")
            node.down = node.down and order == "UNDRAIN"
            node.reason, node.reason_at, node.reason_by = "", 0, ""
        return None

    def _on(self, name: str) -> list[Job]:
        return [job for job in self.jobs.values() if job.holds and name in job.nodes]

    def create_nodes(self, user: str, conf: str) -> None:
        """Create dynamic nodes from a line of configuration."""
        self._administrator(user, "slurm_create_node()")
        words = dict(word.split("=", 1) for word in conf.split())
        names = expand(words["NodeName"])
        if taken := [name for name in names if name in self.nodes]:
            raise Refused(2168, f"Failure to create node {taken[0]}", "slurm_create_node()")
        cloud = {"CLOUD", "POWERED_DOWN"} if words.get("State") == "CLOUD" else set()
        for name in names:
            cpus = int(words.get("CPUs", 1))
            flags = {"DYNAMIC_NORM", *cloud}
            self.nodes[name] = Node(name, flags=flags, cpus=cpus)
        self._touch("nodes")

    def delete_nodes(self, user: str, hostlist: str) -> None:
        """Delete nodes, all or none."""
        self._administrator(user, "slurm_delete_node()")
        names = expand(hostlist)
        self._known(names, "Failure to update node")
        if busy := [name for name in names if self._on(name)]:
            raise Refused(2016, f"Failure to update node {busy[0]}", "_delete_node")
        for name in names:
            del self.nodes[name]
        self._touch("nodes")

    def _known(self, names: Iterable[str], words: str) -> None:
        if strangers := [name for name in names if name not in self.nodes]:
            raise Refused(2018, f"{words} {strangers[0]}", "_update_node")

    def _administrator(self, user: str, source: str) -> None:
        if user not in self.administrators:
            raise Refused(2010, "", source)

    # -- jobs

    def submit(self, user: str, wanted: Body) -> Job:
        """Take a job, and start it when a node is free."""
        source = "slurm_submit_batch_job()"
        if user not in self.users:
            raise Refused(self.series.stranger, f"Rejecting authentication of user {user}", source)
        if not wanted.get("environment"):
            number = self.series.no_environment
            raise Refused(number, "Batch job submission failed", source)
        if (partition := wanted.get("partition", "all")) not in self.partitions:
            raise Refused(2000, "Batch job submission failed", source)
        if (account := wanted.get("account", "")) and account not in self.accounts:
            raise Refused(2045, "Batch job submission failed", source)
        limit = wanted.get("time_limit", math.inf)
        if isinstance(limit, dict):
            limit = math.inf if limit.get("infinite") else limit["number"]
        required = ",".join(wanted.get("required_nodes", ()))
        job = self.start(
            name=wanted.get("name", ""),
            user=user,
            partition=partition,
            account=account,
            comment=wanted.get("comment", ""),
            output=wanted.get("standard_output", ""),
            required=required,
            limit=limit,
        )
        free = [name for name in expand(required) or self.nodes if self._free(name)]
        if wanted.get("hold"):
            job.reason = "JobHeldUser"
        elif free:
            job.nodes, job.state, job.start = free[:1], ["RUNNING"], self.now
        else:
            job.reason = "Resources"
        return job

    def _free(self, name: str) -> bool:
        node = self.nodes.get(name)
        return node is not None and node.state(self.jobs.values()) == ["IDLE"]

    def signal(self, user: str, job_id: int, name: str) -> int:
        """Send a signal, of which KILL ends a job; return the error number, 0 when it was sent."""
        job = self.jobs.get(job_id)
        if job is None:
            return 2017
        if user not in (self.administrators | {job.user}):
            return 2002
        if not job.holds and "PENDING" not in job.state:
            return 2021
        if name in ("KILL", "SIGKILL"):
            self.end(job_id, "CANCELLED")
        return 0

    def requeue(self, user: str, job_id: int) -> None:
        """Put a job back into the queue."""
        job = self.jobs.get(job_id)
        if job is None:
            raise Refused(2017, f"Failure to requeue JobId={job_id}", "slurm_requeue()")
        if user not in (self.administrators | {job.user}):
            raise Refused(2010, f"Failure to requeue JobId={job_id}", "slurm_requeue()")
        if "PENDING" in job.state:
            raise Refused(2024, f"Requeue JobId={job_id} failed", "op_handler_jobs_requeue")
        job.state, job.nodes, job.start, job.restarts = ["PENDING"], [], 0, job.restarts + 1
        self._touch("jobs", "nodes")

    # -- reservations, partitions, itself

    def reserve(self, user: str, wanted: Body) -> None:
        """Create a reservation, or change the one of that name."""
        self._administrator(user, "slurm_create_reservation()")
        names = [name for hostlist in wanted.get("node_list", ()) for name in expand(hostlist)]
        self._known(names, "Failure to create reservation on")
        before = self.reservations.get(wanted["name"], {"flags": []})
        # What is not said stays as it was.
        flags = {*before["flags"], *wanted.get("flags", ()), *(["SPEC_NODES"] if names else [])}
        start = wanted.get("start_time", {}).get("number", self.now)
        duration = wanted.get("duration", {})
        end = start + 60 * duration.get("number", 60)
        self.reservations[wanted["name"]] = before | {
            "name": wanted["name"],
            "start_time": start,
            "end_time": math.inf if duration.get("infinite") else end,
            "flags": sorted(flags),
            "node_list": ",".join(names),
            "node_count": len(names),
            "users": ",".join(wanted.get("users", ())),
            "accounts": ",".join(wanted.get("accounts", ())),
            "partition": "",
        }
        self._touch("reservations")

    def unreserve(self, user: str, name: str) -> None:
        """Delete a reservation."""
        self._administrator(user, "slurm_delete_reservation()")
        if name not in self.reservations:
            raise Refused(2053, f"Failure to delete reservation {name}", "_delete_reservation")
        del self.reservations[name]
        self._touch("reservations")

    def write_partition(self, user: str, wanted: Body) -> None:
        """Create a partition, or change the one of that name."""
        self._administrator(user, "slurm_update_partition()")
        nodes = wanted.get("nodes", {}).get("configured")
        names = None if nodes in (None, "ALL") else expand(nodes)
        self.partitions[wanted["name"]] = Partition(wanted["name"], names)
        self._touch("partitions", "nodes")

    def delete_partition(self, user: str, name: str) -> None:
        """Delete a partition that no job is in."""
        self._administrator(user, "slurm_delete_partition()")
        if name not in self.partitions:
            raise Refused(2000, f"Failure to delete partition {name}", "slurm_delete_partition()")
        here = [job for job in self.jobs.values() if job.partition == name]
        if any(job.holds or "PENDING" in job.state for job in here):
            raise Refused(2075, f"Failure to delete partition {name}", "slurm_delete_partition()")
        del self.partitions[name]
        self._touch("partitions", "nodes")

    def reconfigure(self, user: str) -> None:
        """Read the configuration again."""
        self._administrator(user, "slurm_reconfigure()")
        self.reconfigured += 1
        self._touch("nodes", "partitions")
