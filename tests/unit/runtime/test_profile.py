import asyncio
import tracemalloc

import pytest

from fakes.loop import VirtualLoop
from shoal.runtime import clock, profile

LOOP = VirtualLoop


@pytest.fixture(autouse=True)
def untraced():
    """Leave memory untraced."""
    yield
    tracemalloc.stop()


async def asked(served, name: str) -> tuple[int, str]:
    answer = await served[f"{profile.ROOT}{name}"](b"", {})
    assert answer.content_type == "text/plain"
    return answer.status, answer.body.decode()


def busy() -> int:
    return sum(range(1000))


async def works() -> None:
    while True:
        busy()
        await clock.sleep(1)


@pytest.fixture
async def working():
    """Give a task that does something every second."""
    task = asyncio.create_task(works(), name="worker-7")
    yield task
    task.cancel()
    await asyncio.wait([task])


async def test_a_profile_names_what_the_loop_did(working):
    status, text = await asked(profile.paths(), "profile")
    assert status == 200
    assert "(busy)" in text


async def test_two_profiles_at_a_time_are_one_too_many():
    served = profile.paths()
    first = asyncio.create_task(asked(served, "profile"))
    await clock.sleep(1)
    assert (await asked(served, "profile"))[0] == 409
    assert (await first)[0] == 200
    assert (await asked(served, "profile"))[0] == 200


async def test_memory_is_traced_only_from_the_first_question_on_and_until_told_not_to():
    served = profile.paths()
    assert not tracemalloc.is_tracing()
    await asked(served, "heap")
    kept = [bytes(1000) for _ in range(100)]
    _, text = await asked(served, "heap")
    assert "test_profile.py" in text
    await asked(served, "heap/stop")
    assert (len(kept), tracemalloc.is_tracing()) == (100, False)


async def test_every_task_is_told_with_the_place_where_it_waits(working):
    await clock.sleep(1)
    _, text = await asked(profile.paths(), "goroutine")
    assert "worker-7\n" in text
    assert "test_profile.py" in text


async def test_the_list_has_every_path():
    served = profile.paths()
    _, text = await asked(served, "")
    assert {line.partition(": ")[0] for line in text.splitlines()} == set(served) - {profile.ROOT}
