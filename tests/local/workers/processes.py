"""The processes inside of pods, as this machine knows them."""

import os
from pathlib import Path

from ..clusters import Local, Object, below, kill


def processes(cluster: Local, pod: Object, program: str) -> list[int]:
    """Return the processes of a program in a pod."""
    inside = f"/pod{pod['metadata']['uid']}/"
    return [
        pid
        for pid in below(cluster.first_processes()[pod["spec"]["nodeName"]])
        if Path(f"/proc/{pid}/comm").read_text().strip() == program
        and inside in Path(f"/proc/{pid}/cgroup").read_text()
    ]


def end_container(cluster: Local, pod: Object, program: str) -> None:
    """End the container that a program runs in, with everything in it and without a word."""
    pid, *_ = processes(cluster, pod, program)
    space = os.readlink(f"/proc/{pid}/ns/pid")
    machine = below(cluster.first_processes()[pod["spec"]["nodeName"]])
    (first,) = [
        one
        for one in machine
        if _number_inside(one) == "1" and os.readlink(f"/proc/{one}/ns/pid") == space
    ]
    kill(first)


def _number_inside(pid: int) -> str:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(line.split()[-1] for line in lines if line.startswith("NSpid:"))
