"""Lumps, on real sockets: the kernel is the one that keeps back."""

import select
import socket
from collections.abc import Iterator

import pytest

from fakes.loop import VirtualLoop
from shoal.kubeapi.lumps import LUMP_BYTES, MOMENT_S, Lumps
from shoal.runtime import clock

LOOP = VirtualLoop


class Transport:
    """A connection's socket, as asyncio gives it."""

    def __init__(self, ours: socket.socket) -> None:
        self._ours = ours

    def get_extra_info(self, _name: str) -> socket.socket:
        return self._ours


@pytest.fixture
def line() -> Iterator[tuple[socket.socket, socket.socket]]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        theirs = socket.create_connection(server.getsockname())
        ours, _ = server.accept()
    with ours, theirs:
        yield ours, theirs


def readable(ours: socket.socket, within_s: float = 10.0) -> bool:
    return bool(select.select([ours], [], [], within_s)[0])


def busy(ours: socket.socket) -> Lumps:
    lumps = Lumps(Transport(ours))
    lumps.came()
    lumps.came()
    return lumps


async def test_what_comes_after_a_pause_is_heard_at_once(line):
    ours, theirs = line
    lumps = Lumps(Transport(ours))
    lumps.came()
    await clock.sleep(2 * MOMENT_S)
    lumps.came()
    theirs.sendall(b"event")
    assert readable(ours)


async def test_what_follows_densely_is_kept_back_for_a_moment_and_no_longer(line):
    ours, theirs = line
    busy(ours)
    theirs.sendall(b"event")
    assert not readable(ours, 0.1)
    await clock.sleep(MOMENT_S)
    assert readable(ours)


async def test_a_whole_lump_is_heard_before_the_moment_is_over(line):
    ours, theirs = line
    busy(ours)
    theirs.sendall(b"e" * LUMP_BYTES)
    assert readable(ours)


async def test_a_line_that_is_closed_is_heard_at_once(line):
    ours, theirs = line
    busy(ours)
    theirs.sendall(b"event")
    theirs.close()
    assert readable(ours)


async def test_nothing_is_kept_back_after_the_end(line):
    ours, theirs = line
    lumps = busy(ours)
    lumps.end()
    theirs.sendall(b"event")
    assert readable(ours)


async def test_a_line_that_lost_its_socket_is_left_alone(line):
    ours, _ = line
    lumps = Lumps(Transport(ours))
    ours.close()
    lumps.came()
    lumps.came()
    lumps.end()
    assert ours.fileno() == -1
