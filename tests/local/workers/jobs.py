"""Jobs that run until they are told to end, and what has become of them."""

import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from ..clusters import wait_for
from ..slinky.site import Site

# Each runs until its file is there, whatever happens around it.
UNTIL_TOLD = "--wrap=while [ ! -e /tmp/end-$SLURM_JOB_ID ]; do sleep 0.2; done"
PATIENCE_S = 480.0  # a machine may have much else to do
AT_WORK = ("RUNNING", "COMPLETING")
TO_COME = frozenset({"PENDING", *AT_WORK})
WELL = {"JobState": "COMPLETED", "Restarts": "0", "ExitCode": "0:0"}


@dataclass(frozen=True)
class Job:
    """A job on one node; its pod has the node's name, or another one."""

    site: Site
    number: str
    node: str
    began: str
    pod: str

    def fields(self) -> Mapping[str, str]:
        """Return what slurmctld says of it; nothing when it does not answer."""
        words = ("scontrol", "show", "job", self.number, "--oneliner")
        return fields(self.site.run(*words, check=False).out)

    def runs(self) -> bool:
        """Say whether it runs, and has from its beginning, once slurmctld answers."""
        seen = wait_for(f"an answer on job {self.number}", self.fields)
        how = (seen.get("JobState"), seen.get("Restarts"), seen.get("StartTime"))
        if how != ("RUNNING", "0", self.began):
            # The report has this, and else only that it was not so.
            sys.stdout.write(f"job {self.number}, which began {self.began}: {seen}\n")
            return False
        return True

    def end(self) -> None:
        """Let it end."""
        self.site.run("touch", f"/tmp/end-{self.number}", pod=self.pod)

    def ended_well(self) -> None:
        """Wait for its end, which must be a good one, and the only one."""
        seen = wait_for(
            f"the end of job {self.number}",
            self.fields,
            lambda seen: seen.get("JobState", "RUNNING") not in AT_WORK,
            PATIENCE_S,
        )
        found = {key: seen.get(key) for key in (*WELL, "StartTime", "NodeList")}
        assert found == {**WELL, "StartTime": self.began, "NodeList": self.node}

    def has_steps(self) -> bool:
        """Say whether processes of it are in its pod, whatever slurmctld knows."""
        # The pattern does not match the process that looks for it. A process that ends meanwhile is
        # an error to grep, unless it has found something.
        found = rf"grep -qsa 'slurmstepd: \[{self.number}\.' /proc/[0-9]*/cmdline; echo $?"

        def look() -> str:
            return self.site.run("sh", "-c", found, pod=self.pod, check=False).out.strip()

        return wait_for(f"a look into {self.pod}", look, lambda code: code in ("0", "1")) == "0"


def start(site: Site, node: str, *options: str, partition: str = "", pod: str = "") -> Job:
    """Return a job that runs on a node until it is told to end."""
    partition = partition or node.rpartition("-")[0]
    words = (f"--partition={partition}", f"--nodelist={node}", *options, UNTIL_TOLD)
    number = site.submit(*words)
    site.runs(number)
    found = Job(site, number, node, "", pod or node)
    return replace(found, began=found.fields()["StartTime"])


def ended(site: Site, number: str) -> Mapping[str, tuple[str, str]]:
    """Return how each ended task of an array has ended, with how often it was started again."""
    done = site.run("scontrol", "show", "job", number, "--oneliner", check=False)
    found = (fields(line) for line in done.out.splitlines())
    return {
        one["ArrayTaskId"]: (one["JobState"], one.get("Restarts", ""))
        for one in found
        if one.get("JobState", "PENDING") not in TO_COME
    }


def said_of(site: Site, number: str, tasks: Collection[str]) -> str:
    """Return what slurmctld has logged of tasks of an array."""
    log = site.kubectl("logs", "slurm-controller-0", "--container=slurmctld", check=False).out
    names = [f"JobId={number}_{task}(" for task in tasks]
    return "\n".join(line for line in log.splitlines() if any(name in line for name in names))


def fields(line: str) -> Mapping[str, str]:
    """Return the fields of a line as scontrol writes them."""
    return dict(word.partition("=")[::2] for word in line.split())
