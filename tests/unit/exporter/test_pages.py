"""What a scrape gets."""

import asyncio
import gzip
import time
from itertools import pairwise

from shoal.exporter.catalogue import Collector
from shoal.exporter.pages import PASSES, TURN_S, Page, prepared

HEAD = "# HELP a A.\n# TYPE a gauge\n"


async def test_packed_and_plain_are_the_same():
    page = Page()
    page.put(Collector.JOBS, await prepared(iter([HEAD + "a 1\n", "a 2\n"])))
    page.put(Collector.NODES, await prepared(iter([HEAD + "b 1\n"])))
    assert gzip.decompress(page.packed()) == page.plain()
    assert page.plain().startswith(f"{HEAD}b 1\n".encode())  # in the order of the collectors
    assert page.sizes() == (len(page.plain()), len(page.packed()))


async def test_series_are_counted_without_the_words_about_them():
    page = Page()
    page.put(Collector.JOBS, await prepared(iter([HEAD + "a 1\n", "a 2\na 3\n"])))
    assert page.series == 3


async def test_a_newer_part_takes_the_place_of_the_older_one():
    page = Page()
    for text in ("a 1\n", "a 2\n"):
        page.put(Collector.JOBS, await prepared(iter([text])))
    assert page.plain() == b"a 2\n"


async def test_what_is_dropped_is_shown_no_more():
    page = Page()
    page.put(Collector.JOBS, await prepared(iter(["a 1\n"])))
    page.put(Collector.ACCOUNTING, await prepared(iter(["b 1\n"])))
    for _ in range(2):
        page.drop(Collector.ACCOUNTING)
    assert page.plain() == b"a 1\n"


async def test_a_text_of_several_chunks_is_whole():
    lines = [f"a{number} {'x' * 1000}\n" for number in range(5000)]
    page = Page()
    page.put(Collector.JOBS, await prepared(iter(lines)))
    assert page.plain().decode() == "".join(lines)
    assert gzip.decompress(page.packed()) == page.plain()
    assert page.series == 5000


def test_a_page_without_anything_is_empty_in_both_forms():
    assert (Page().plain(), gzip.decompress(Page().packed())) == (b"", b"")


async def test_what_is_no_text_does_not_keep_the_rest_from_being_told():
    part = await prepared(iter(["a\ud800 1\n", "b 1\n"]))
    assert b"".join(part.plain) == b"a? 1\nb 1\n"


async def test_others_get_through_several_steps_between_two_turns():
    async def count():
        nonlocal steps
        while True:
            steps += 1
            await asyncio.sleep(0)  # noqa: TID251 - as whoever serves would

    steps, seen = 0, []

    def pieces():
        for _ in range(20):
            seen.append(steps)
            began = time.perf_counter()
            while time.perf_counter() - began < 2 * TURN_S:
                pass
            yield "a 1\n"

    other = asyncio.create_task(count())
    await prepared(pieces())
    other.cancel()
    # One to read a request and one to answer it, at least.
    assert {after - before for before, after in pairwise(seen)} == {PASSES}


async def test_others_have_their_turn_while_a_large_part_is_made():
    turns = 0

    async def count():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)  # noqa: TID251 - as whoever serves would

    other = asyncio.create_task(count())
    await prepared("x" * 50_000 + "\n" for _ in range(2000))
    other.cancel()
    assert turns > 3
