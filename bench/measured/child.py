"""A measured process from outside: start it, wait for what it says, ask it, end it."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

Told = dict[str, Any]
PATIENCE_S = 300.0


class Child:
    """One `bench.measured.subject`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def until(self, what: str) -> Told:
        """Return the next thing it says of this sort."""
        assert self.process.stdout is not None
        async with asyncio.timeout(PATIENCE_S):
            while line := await self.process.stdout.readline():
                told: Told = json.loads(line)
                if told["what"] == what:
                    return told
        raise RuntimeError(f"the measured process ended before it was {what}")

    async def look(self) -> Told:
        """Ask it for everything; its delays and stalls begin anew."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"all\n")
        return await self.until("look")

    async def glance(self) -> Told:
        """Ask it for what costs it nothing to tell."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"some\n")
        return await self.until("glance")

    async def seen(self, figure: str, at_least: float) -> Told:
        """Ask until a figure is reached."""
        while True:
            told = await self.glance()
            if told[figure] >= at_least:
                return told
            await asyncio.sleep(0.5)

    def freeze(self) -> None:
        """Stop it without its knowing."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()

    async def end(self) -> None:
        """End it well."""
        if self.process.returncode is None and self.process.stdin is not None:
            self.process.stdin.close()
        await self.process.wait()


@asynccontextmanager
async def subject(kubeconfig: Path, *words: str) -> AsyncIterator[Child]:
    """Run the toy operator for a block."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.measured.subject", "--kubeconfig", str(kubeconfig), *words,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=1 << 24,
    )  # fmt: skip
    child = Child(process)
    try:
        yield child
    finally:
        await child.end()


async def floor(kubeconfig: Path, namespace: str, pods: int) -> Told:
    """Run the bare client."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.measured.floor", "--kubeconfig", str(kubeconfig),
        "--namespace", namespace, "--pods", str(pods), stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, _ = await process.communicate()
    told: Told = json.loads(out)
    return told


@asynccontextmanager
async def line(kubeconfig: Path, herd: int) -> AsyncIterator[None]:
    """Run the line that never waits for a block; `kubeconfig` is where its way is written."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.measured.line", "--kubeconfig", str(kubeconfig),
        "--herd", str(herd), stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        await process.stdout.readline()
        yield
    finally:
        process.kill()
        await process.wait()
