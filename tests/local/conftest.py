"""Clusters for the tests: one of three nodes for everything gentle, others made and taken down.

They live in a state folder of their own, so that nobody's clusters are touched: that of the user
(SHOAL_STATE, or its default) with `-test` behind its name. Whatever an earlier run left in there,
killed before it could clean up, goes first.
"""

import fcntl
import itertools
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from . import python_image
from .clusters import Local, run

LOG_LINES, LOG_WIDTH = 10, 240


def settings() -> dict[str, str]:
    """Return the environment in which the tests call `shoal`."""
    usual = os.environ.get("SHOAL_STATE") or Path.home() / ".local/state/shoal"
    return {**os.environ, "SHOAL_STATE": f"{usual}-test"}


def leftovers(environment: Mapping[str, str]) -> list[Local]:
    """Return every cluster in the tests' state folder."""
    files = sorted(Path(environment["SHOAL_STATE"]).glob("*/cluster.json"))
    return [Local(file.parent.name, environment) for file in files]


@pytest.fixture(scope="session")
def environment() -> Iterator[Mapping[str, str]]:
    """Give the environment for `shoal`, with a state folder that nobody else uses meanwhile."""
    found = settings()
    state = Path(found["SHOAL_STATE"])
    if shutil.which("shoal") is None:
        pytest.fail("the command `shoal` is not on the PATH: run the tests by `make test`")
    state.mkdir(parents=True, exist_ok=True)
    with state.with_name(f"{state.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pytest.fail(f"another test run uses {state}: wait for it, or set SHOAL_STATE")
        take_down(leftovers(found))
        yield found
        take_down(leftovers(found))


@pytest.fixture(scope="session")
def t3(environment: Mapping[str, str]) -> Local:
    """Give the cluster of three nodes that all gentle tests share."""
    cluster = Local("t3", environment)
    cluster.up("--nodes=3")
    return cluster


@pytest.fixture
def ns(t3: Local) -> Iterator[Local]:
    """Give `t3` with an empty namespace, which goes with the test."""
    yield from namespaces(t3)


@pytest.fixture(scope="module")
def shared_ns(t3: Local) -> Iterator[Local]:
    """Give `t3` with a namespace that the tests of a module share."""
    yield from namespaces(t3)


NUMBERS = itertools.count(1)


def namespaces(cluster: Local) -> Iterator[Local]:
    """Give `cluster` with a namespace in which pods can be made."""
    mine = replace(cluster, namespace=f"test-{next(NUMBERS)}")
    mine.kubectl("create", "namespace", mine.namespace)
    mine.kubectl("wait", "--for=create", "serviceaccount/default", "--timeout=60s")
    yield mine
    mine.kubectl("delete", "namespace", mine.namespace, "--wait=false")


@pytest.fixture
def mended(t3: Local) -> Iterator[Local]:
    """Give `t3` to a test that breaks something, and mend it afterwards."""
    yield t3
    t3.shoal("up")


@pytest.fixture(scope="session")
def python_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give an archive with the image `python_image.NAME`."""
    archive = tmp_path_factory.mktemp("images") / "python.tar"
    python_image.write(archive)
    return archive


@pytest.fixture(scope="session")
def python(t3: Local, python_archive: Path) -> str:
    """Give the name of an image with Python, loaded into `t3`."""
    t3.shoal("load", python_archive)
    return python_image.NAME


Make = Callable[..., Local]


@pytest.fixture
def make(environment: Mapping[str, str]) -> Iterator[Make]:
    """Give a function that makes clusters; they are gone after the test."""
    yield from makers(environment)


@pytest.fixture(scope="module")
def make_shared(environment: Mapping[str, str]) -> Iterator[Make]:
    """Give a function that makes clusters; they are gone after the module."""
    yield from makers(environment)


def makers(environment: Mapping[str, str]) -> Iterator[Make]:
    """Give a function `make(name, *options of up)`, and take down what it made."""
    made: list[Local] = []

    def make(name: str, *options: str) -> Local:
        cluster = Local(name, environment)
        made.append(cluster)
        cluster.up(*options)
        return cluster

    yield make
    take_down(made)


def take_down(clusters: list[Local]) -> None:
    """Take all of them down, and complain only then."""
    ends = [cluster.shoal("down", check=False) for cluster in clusters]
    assert not [str(done) for done in ends if done.code != 0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Function, call: pytest.CallInfo[None]):
    """Show how the clusters are when a test fails, and what its operator said."""
    report = yield
    operator = item.funcargs.get("operator") if hasattr(item, "funcargs") else None
    if report.failed and operator is not None:
        report.sections.append(("operator", f"{operator.log()}\n{operator.doing()}"))
    if report.failed and call.when != "teardown":
        for cluster in leftovers(settings()):
            # `t3` is always there; the others are there because this test has made them.
            if cluster.name != "t3" or "t3" in item.fixturenames:
                report.sections.append((f"cluster {cluster.name}", state_of(cluster)))
    return report


def state_of(cluster: Local) -> str:
    """Return what somebody who looks for a failure's cause reads first."""
    status, parts = cluster.shoal("status", check=False), list[str]()
    # The addresses of a cluster that has lost its link lead out of this machine.
    if " ready\n" in status.out:
        for words in (
            ("get", "pods", "--all-namespaces", "--output=wide"),
            ("get", "events", "--all-namespaces", "--sort-by=.lastTimestamp"),
        ):
            done = run("kubectl", *words, env=cluster.shell, check=False)
            parts.append("\n".join(str(done).splitlines()[-40:]))
    parts += [str(status), str(cluster.shoal("logs", f"--lines={LOG_LINES}", check=False))]
    return "\n".join(line[:LOG_WIDTH] for part in parts for line in part.splitlines())
