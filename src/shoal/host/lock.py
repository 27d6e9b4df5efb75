"""One at a time, across processes and threads."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def locked(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock file `path` for a block; call `waiting` first when somebody else holds it.

    The kernel lets go of it when its holder dies, so a lock is never left behind; the file goes
    with the block.
    """
    with _held(path, waiting):
        try:
            yield
        finally:
            # While it is still held: only its holder may take the name away.
            path.unlink(missing_ok=True)


@contextmanager
def _held(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    said = False
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if not said:
                    waiting()
                said = True
                fcntl.flock(handle, fcntl.LOCK_EX)
            # The holder before us took the file away, and the next one locks another of that name.
            if _has_the_name(handle, path):
                yield
                return


def _has_the_name(handle: IO[str], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle.fileno()), path.stat())
    except FileNotFoundError:
        return False


def is_held(path: Path) -> bool:
    """Say whether somebody holds the lock file `path` right now."""
    try:
        with path.open() as handle:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
