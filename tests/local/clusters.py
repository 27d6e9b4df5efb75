"""A local cluster as its user sees it: the `shoal` command, and kubectl and helm from its `env`."""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import pytest

T = TypeVar("T")
Object = dict[str, Any]

# As long as anything here may take on a slow machine; what takes longer has failed.
PATIENCE_S = 120
# As long as the clusters of other suites may be in the way of one.
CROWDED_S = 900
# Before a command: run it as nobody. Python may lie in a folder that only root can open, so to look
# is left to it.
UNPRIVILEGED = (
    "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
    "--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search",
)  # fmt: skip


@dataclass(frozen=True)
class Done:
    """What a program left behind."""

    words: tuple[str, ...]
    code: int
    out: str
    err: str

    def __str__(self) -> str:
        return f"{' '.join(self.words)}: exit code {self.code}\n{self.out}{self.err}"


def run(
    *words: str | Path,
    env: Mapping[str, str],
    stdin: str = "",
    check: bool = True,
    timeout_s: float = 300,
) -> Done:
    """Run a program to its end; with `check`, a code other than 0 fails the test."""
    texts = tuple(map(str, words))
    done = subprocess.run(
        texts, env=env, input=stdin, capture_output=True, text=True, timeout=timeout_s, check=False
    )
    result = Done(texts, done.returncode, done.stdout, done.stderr)
    if check and result.code != 0:
        pytest.fail(str(result))
    return result


def wait_for(
    what: str,
    look: Callable[[], T],
    good: Callable[[T], object] = bool,
    timeout_s: float = PATIENCE_S,
) -> T:
    """Look until it is `good`, and return what was seen then; else say what was awaited."""
    deadline = time.monotonic() + timeout_s
    while not good(seen := look()):
        if time.monotonic() > deadline:
            pytest.fail(f"waited {timeout_s:g} s for {what}; seen last: {seen}")
        time.sleep(0.2)
    return seen


@dataclass(frozen=True)
class Local:
    """A cluster by its name; `namespace` is where kubectl and helm work."""

    name: str
    environment: Mapping[str, str] = field(repr=False)
    namespace: str = "default"

    @property
    def folder(self) -> Path:
        """Everything that the cluster writes."""
        return Path(self.environment["SHOAL_STATE"]) / self.name

    def words(self, command: str, *words: str | Path) -> list[str]:
        """Return the words of `shoal local COMMAND` for this cluster."""
        return ["shoal", "local", *command.split(), "--name", self.name, *map(str, words)]

    def shoal(
        self, command: str, *words: str | Path, check: bool = True, timeout_s: float = 600
    ) -> Done:
        """Run `shoal local COMMAND` on this cluster."""
        argv = self.words(command, *words)
        return run(*argv, env=self.environment, check=check, timeout_s=timeout_s)

    def up(self, *options: str) -> None:
        """Bring it up, as soon as the clusters beside it leave enough inotify instances."""
        done = wait_for(
            "inotify instances",
            lambda: self.shoal("up", *options, check=False),
            lambda seen: seen.code == 0 or "inotify instances left" not in seen.err,
            CROWDED_S,
        )
        if done.code != 0:
            pytest.fail(str(done))

    @cached_property
    def shell(self) -> Mapping[str, str]:
        """The environment of a shell in which `eval "$(shoal local env)"` was run."""
        script = f'eval "$({" ".join(self.words("env"))})"; exec env -0'
        printed = run("bash", "-euc", script, env=self.environment).out
        return dict(line.split("=", 1) for line in printed.split("\0") if line)

    @property
    def host(self) -> str:
        """This machine's address, as the cluster sees it."""
        return self.shell["SHOAL_HOST"]

    def kubectl(self, *words: str | Path, stdin: str = "", check: bool = True) -> Done:
        """Run kubectl on this cluster, in its namespace."""
        return run(
            "kubectl", f"--namespace={self.namespace}", *words,
            env=self.shell, stdin=stdin, check=check,
        )  # fmt: skip

    def helm(self, *words: str | Path) -> Done:
        """Run helm on this cluster, in its namespace."""
        return run("helm", f"--namespace={self.namespace}", *words, env=self.shell)

    def apply(self, *objects: Object) -> None:
        """Make the API server hold `objects`."""
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
        self.kubectl("apply", "--filename=-", stdin=text)

    def get(self, kind: str, *words: str) -> Any:
        """Return an object, or the list of objects where no name is given."""
        answer = json.loads(self.kubectl("get", kind, *words, "--output=json").out)
        return answer.get("items", answer)

    def exists(self, kind: str, name: str) -> bool:
        """Say whether there is such an object."""
        return bool(self.kubectl("get", kind, name, "--ignore-not-found", "--output=name").out)

    def wait(self, condition: str, *what: str) -> None:
        """Wait until the objects `what` have the condition."""
        self.kubectl("wait", f"--for={condition}", f"--timeout={PATIENCE_S}s", *what)

    def ready_nodes(self) -> set[str]:
        """Name the nodes that are Ready."""
        return {node["metadata"]["name"] for node in self.get("nodes") if is_ready(node)}

    def programs(self) -> dict[tuple[str, str], int]:
        """Return the pid of every program that `status` shows, by machine and name."""
        found, machine = {}, ""
        for line in self.shoal("status", check=False).out.splitlines()[1:]:
            name, *words = line.split()
            if not line.startswith("    "):
                machine = name.rstrip(":")
            elif words[0] == "pid":
                found[machine, name] = int(words[1])
        return found

    def first_processes(self) -> dict[str, int]:
        """Return the pid of every machine's first process."""
        folders = [self.folder / "control-plane", *sorted(self.folder.glob("nodes/*"))]
        files = [folder / "process.json" for folder in folders]
        return {
            file.parent.name: json.loads(file.read_text())["pid"]
            for file in files
            if file.is_file()
        }

    def servers(self, machine: str) -> set[int]:
        """Return the processes of containers on a machine that answer requests."""
        return {
            pid
            for pid in below(self.first_processes()[machine])
            if command_line(pid).startswith("/machine serve")
        }


def is_ready(thing: Object) -> bool:
    """Say whether a node or a pod has the condition Ready."""
    conditions = thing.get("status", {}).get("conditions", [])
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def containers(pods: Sequence[Object]) -> dict[str, tuple[str, int]]:
    """Return each pod's container by id, with how often it was restarted."""
    return {
        pod["metadata"]["name"]: (status["containerID"], status["restartCount"])
        for pod in pods
        for status in pod["status"].get("containerStatuses", [])
        if "containerID" in status
    }


def below(first: int) -> set[int]:
    """Return a process and everything that it holds: its children, theirs, and so on."""
    found, waiting = set(), {first}
    while waiting:
        pid = waiting.pop()
        found.add(pid)
        for file in Path(f"/proc/{pid}/task").glob("*/children"):
            with contextlib.suppress(OSError):  # it has ended meanwhile
                waiting |= set(map(int, file.read_text().split())) - found
    return found


def command_line(pid: int) -> str:
    """Return the words of a process; none when it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").replace("\0", " ")
    except OSError:
        return ""


def kill(pid: int) -> None:
    """End a process at once."""
    os.kill(pid, signal.SIGKILL)


def alive(pid: int) -> bool:
    """Say whether there is a process with this pid (a zombie is none)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False
