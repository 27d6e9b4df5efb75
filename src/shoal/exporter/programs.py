"""Slurm's client tools beside the exporter: run one, and read what it prints as it comes."""

import asyncio
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from ..slurmapi.errors import ControllerDownError, TimedOutError, UnknownError

LIMIT_S = 60.0
CHUNK_BYTES = 256 * 1024
# Of what a program complains about.
KEPT = 4096


@dataclass(frozen=True)
class Ran:
    """What a program left behind."""

    code: int
    stdout: str
    stderr: str


async def run(words: Sequence[str], limit_s: float = LIMIT_S) -> Ran:
    """Run a program that prints little, and return what became of it."""
    child = await _started(words)
    try:
        async with asyncio.timeout(limit_s):
            out, err = await child.communicate()
    except TimeoutError as late:
        raise TimedOutError(_name(words), f"not done within {limit_s:g} s") from late
    finally:
        await _ended(child)
    return Ran(child.returncode or 0, out.decode(errors="replace"), err.decode(errors="replace"))


async def printed(
    words: Sequence[str], limit_s: float = LIMIT_S
) -> AsyncGenerator[list[str], None]:
    """Yield the lines that a program prints, many at a time; when its time is over it is killed."""
    child = await _started(words)
    assert child.stdout is not None
    assert child.stderr is not None
    complaints = asyncio.create_task(child.stderr.read(KEPT))
    rest = b""
    try:
        async with asyncio.timeout(limit_s):
            while chunk := await child.stdout.read(CHUNK_BYTES):
                # No line is cut: what follows the last line break waits for the next chunk.
                whole, found, tail = chunk.rpartition(b"\n")
                if not found:
                    rest += chunk
                    continue
                yield (rest + whole).decode(errors="replace").split("\n")
                rest = tail
            if rest:
                yield [rest.decode(errors="replace")]
            code = await child.wait()
            said = " ".join((await complaints).decode(errors="replace").split())
    except TimeoutError as late:
        raise TimedOutError(_name(words), f"not done within {limit_s:g} s") from late
    finally:
        complaints.cancel()
        await _ended(child)
    if code != 0:
        kind = ControllerDownError if "contact slurm controller" in said else UnknownError
        raise kind(_name(words), said or f"exit code {code}")


async def _started(words: Sequence[str]) -> Process:
    try:
        return await asyncio.create_subprocess_exec(
            *words, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, limit=2 * CHUNK_BYTES
        )
    except OSError as error:
        cure = "name the program by its whole path"
        raise UnknownError(_name(words), f"cannot be started: {error}", cure=cure) from error


async def _ended(child: Process) -> None:
    with suppress(ProcessLookupError):
        child.kill()
    await child.wait()


def _name(words: Sequence[str]) -> str:
    """Return what errors call it: the program, not its many arguments."""
    return next((word for word in words if "=" not in word and word != "env"), "env")
