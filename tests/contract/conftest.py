"""The same tests on the fake API server and on a real one: the fake may not know more.

The real one is a control plane of its own, in a state folder of its own, for this package only.
"""

import fcntl
import itertools
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from .apis import Api, FakeOne, RealOne
from .real import real

__all__ = ["real"]  # the fixture

NUMBERS = itertools.count(1)
# As long as clusters of other suites may be in the way of this one.
CROWDED_S = 900


def shoal(command: str, *words: str, state: Path) -> None:
    program = Path(sys.executable).with_name("shoal")
    environment = {**os.environ, "SHOAL_STATE": str(state)}
    deadline = time.monotonic() + CROWDED_S
    while True:
        done = subprocess.run(
            [program, "local", command, "--name=contract", *words],
            env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if "inotify instances left" not in done.stderr or time.monotonic() > deadline:
            break
        time.sleep(1)
    if done.returncode != 0:
        pytest.fail(f"shoal local {command}: exit code {done.returncode}\n{done.stderr}")


@pytest.fixture(scope="package")
def cluster() -> Iterator[Path]:
    """Give the state folder of a control plane that nobody else uses."""
    usual = os.environ.get("SHOAL_STATE") or Path.home() / ".local/state/shoal"
    state = Path(f"{usual}-contract-test")
    state.mkdir(parents=True, exist_ok=True)
    with state.with_name(f"{state.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shoal("down", state=state)  # what a killed run left behind
        try:
            up = ("--control-plane-only", "--with=controller-manager")
            shoal("up", *up, state=state)
            yield state / "contract"
        finally:
            shoal("down", state=state)


@pytest.fixture(params=["fake", "real"])
async def api(request: pytest.FixtureRequest) -> AsyncIterator[Api]:
    """Give an API server with a new namespace."""
    made: Api
    if request.param == "fake":
        made = FakeOne(f"t{next(NUMBERS)}")
    else:
        folder = request.getfixturevalue("cluster")
        access = request.getfixturevalue("real")
        made = RealOne(f"t{next(NUMBERS)}", folder, access)
    async with made:
        yield made
