"""The processes inside of pods, as this machine knows them."""

import os
from contextlib import suppress
from pathlib import Path

from ..clusters import Local, Object, below, kill


def processes(cluster: Local, pod: Object, program: str) -> list[int]:
    """Return the processes of a program in a pod."""
    inside = f"/pod{pod['metadata']['uid']}/"
    return [
        pid
        for pid in below(cluster.first_processes()[pod["spec"]["nodeName"]])
        if _told(pid, "comm").strip() == program and inside in _told(pid, "cgroup")
    ]


def end_container(cluster: Local, pod: Object, program: str) -> None:
    """End the container that a program runs in, with everything in it and without a word."""
    pid, *_ = processes(cluster, pod, program)
    space = _space(pid)
    machine = below(cluster.first_processes()[pod["spec"]["nodeName"]])
    (first,) = [one for one in machine if _number_inside(one) == "1" and _space(one) == space]
    kill(first)


# A process that has ended meanwhile is none of those that are looked for.


def _told(pid: int, what: str) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/{what}").read_text()
    return ""


def _space(pid: int) -> str:
    with suppress(OSError):
        return os.readlink(f"/proc/{pid}/ns/pid")
    return ""


def _number_inside(pid: int) -> str:
    lines = _told(pid, "status").splitlines()
    return next((line.split()[-1] for line in lines if line.startswith("NSpid:")), "")
