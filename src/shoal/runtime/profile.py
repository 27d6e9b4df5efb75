"""Profiles of a running process by HTTP, as text: time, memory, what is under way.

They cost nothing until somebody asks. The paths are those of Go's pprof, which people know from
other operators; what they answer is Python's.
"""

import asyncio
import cProfile
import io
import pstats
import tracemalloc
from collections.abc import Mapping

from ..kubeapi.server import Answer, Handler, plain
from . import clock

SECONDS = 10.0  # that one profile looks at, well within what a request may take
MOST = 60  # lines of an answer
ROOT = "/debug/pprof/"


def paths() -> Mapping[str, Handler]:
    """Return the paths to serve."""
    lock = asyncio.Lock()  # one profiler at a time is all that Python bears

    async def time(_body: bytes, _headers: Mapping[str, str]) -> Answer:
        if lock.locked():
            return plain(409, "somebody else is being answered; ask again in a moment")
        async with lock:
            return plain(200, await spent(SECONDS))

    async def memory(_body: bytes, _headers: Mapping[str, str]) -> Answer:
        return plain(200, held())

    async def stacks(_body: bytes, _headers: Mapping[str, str]) -> Answer:
        return plain(200, under_way())

    async def stop(_body: bytes, _headers: Mapping[str, str]) -> Answer:
        tracemalloc.stop()
        return plain(200, "memory is no longer traced")

    async def index(_body: bytes, _headers: Mapping[str, str]) -> Answer:
        return plain(200, "\n".join(f"{ROOT}{name}: {words}" for name, words in TOLD.items()))

    served = {"profile": time, "heap": memory, "heap/stop": stop, "goroutine": stacks}
    return {ROOT: index, **{f"{ROOT}{name}": handler for name, handler in served.items()}}


TOLD = {
    "profile": f"what the loop does in the next {SECONDS:g} s, by time",
    "heap": "what memory was asked for since this was first asked; from then on all is slower",
    "heap/stop": "trace memory no more",
    "goroutine": "every task, and where it waits",
}


async def spent(seconds: float) -> str:
    """Return where the time of the next seconds went."""
    profiler = cProfile.Profile()
    profiler.enable()
    try:
        await clock.sleep(seconds)
    finally:
        profiler.disable()
    text = io.StringIO()
    pstats.Stats(profiler, stream=text).sort_stats("cumulative").print_stats(MOST)
    return text.getvalue()


def held() -> str:
    """Return which lines asked for most of the memory that is in use; the first call begins it."""
    if not tracemalloc.is_tracing():
        tracemalloc.start()
        return "memory is traced from now on; ask again later"
    found = tracemalloc.take_snapshot().statistics("lineno")
    whole = sum(row.size for row in found)
    return "\n".join([f"{whole} bytes since tracing began", *map(str, found[:MOST])])


def under_way() -> str:
    """Return every task with the place where it waits."""
    lines = []
    for task in sorted(asyncio.all_tasks(), key=lambda one: one.get_name()):
        places = (
            f"{f.f_code.co_filename}:{f.f_lineno} {f.f_code.co_name}" for f in task.get_stack()
        )
        lines += [task.get_name(), *(f"  {place}" for place in places)]
    return "\n".join(lines)
