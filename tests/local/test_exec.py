"""Commands in pods of a real cluster, by the client that the operator has."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from shoal.kubeapi.access import Fixed, from_kubeconfig
from shoal.kubeapi.client import Client
from shoal.kubeapi.errors import (
    ForbiddenError,
    InvalidError,
    NotFoundError,
    ServerError,
    UnreachableError,
)
from shoal.kubeapi.exec import NOT_RUN, Ran, execute, in_pod
from shoal.runtime import clock

from .clusters import Local
from .conftest import namespaces
from .objects import pod
from .python_image import command

FOREVER = "import threading; threading.Event().wait()"


@pytest.fixture(scope="module")
def there(t3: Local, python: str) -> Iterator[Local]:
    """Give a namespace with a pod `p` that has Python."""
    for space in namespaces(t3):
        space.apply(pod("p", image=python, command=command(FOREVER)))
        space.wait("condition=Ready", "pod/p")
        yield space


@pytest.fixture
async def client(there: Local) -> AsyncIterator[Client]:
    """Give a client with all rights."""
    access = from_kubeconfig(Path(there.shell["KUBECONFIG"]), there.shell)
    async with Client(access, "test") as made:
        yield made


async def run(client: Client, there: Local, script: str, *words: str, **bounds) -> Ran:
    return await execute(client, there.namespace, "p", "main", command(script, *words), **bounds)


@pytest.mark.parametrize("code", [0, 3])
async def test_the_exit_code_and_both_outputs_come_back(client, there, code):
    script = f"import sys; print(sys.argv[1:]); print('oh', file=sys.stderr); sys.exit({code})"
    ran = await run(client, there, script, "a b", "$HOME;*", "")
    assert ran == Ran(code, "['a b', '$HOME;*', '']\n", "oh\n")


async def test_output_of_more_than_a_mebibyte_is_cut_and_the_exit_code_still_comes(client, there):
    script = "import sys; sys.stdout.write('x' * (3 << 20)); sys.stdout.flush(); sys.exit(3)"
    ran = await run(client, there, script, limit=1 << 20)
    assert (ran.code, len(ran.stdout), ran.cut) == (3, 1 << 20, True)
    whole = await run(client, there, script, limit=4 << 20)
    assert (whole.code, len(whole.stdout), whole.cut) == (3, 3 << 20, False)


async def test_a_command_without_an_end_is_given_up_in_time(client, there):
    began = clock.ticks()
    with pytest.raises(UnreachableError, match="no end after 2 s"):
        await run(client, there, FOREVER, timeout_s=2)
    assert clock.ticks() - began < 30


async def test_what_is_not_there_is_told_in_kubernetes_words(client, there):
    with pytest.raises(NotFoundError, match='pods "nobody" not found'):
        await execute(client, there.namespace, "nobody", "main", ["true"])
    with pytest.raises(InvalidError, match="container nothing is not valid"):
        await execute(client, there.namespace, "p", "nothing", ["true"])
    with pytest.raises(ServerError, match="nowhere"):
        await execute(client, there.namespace, "p", "main", ["/nowhere"])
    ran = await in_pod(client, there.namespace, "nobody", "main")(["true"])
    assert (ran.code, 'pods "nobody" not found' in ran.stderr) == (NOT_RUN, True)


async def test_a_command_takes_the_right_to_run_commands_and_no_more(client, there):
    who = f"system:serviceaccount:{there.namespace}:default"
    access = replace(client.access, credentials=Fixed({"Impersonate-User": who}))
    async with Client(access, "test") as stranger:
        with pytest.raises(ForbiddenError, match="pods/exec"):
            await run(stranger, there, "")
        words = ("--verb=create,get", "--resource=pods/exec")
        there.kubectl("create", "role", "runs", *words)
        account = f"--serviceaccount={there.namespace}:default"
        there.kubectl("create", "rolebinding", "runs", "--role=runs", account)
        assert (await run(stranger, there, "")).code == 0
