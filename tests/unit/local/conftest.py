"""Processes that look like the first one of a machine, and are nothing but a shell that waits."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from shoal.host import processes
from shoal.host.processes import Process


@pytest.fixture
def start_first(tmp_path: Path) -> Iterator[Callable[[Path], Process]]:
    """Give a function that starts a process with the words of a machine that was told `config`."""
    started = []
    # The shell reads the script `init` from where it stands, and this waits for words or the end.
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    (scripts / "init").write_text("echo ready; read -r word\n")

    def start(config: Path) -> Process:
        words = ["/proc/self/exe", "init", str(config)]
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        shell = subprocess.Popen(words, executable="/bin/bash", cwd=scripts, text=True, **streams)
        started.append(shell)
        assert shell.stdout.readline() == "ready\n"
        found = processes.find(shell.pid)
        assert found is not None
        return found

    yield start
    for shell in started:
        with shell:
            shell.kill()
