"""What a scrape gets."""

import asyncio
import gzip

from shoal.exporter.catalogue import Collector
from shoal.exporter.pages import Page, prepared

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


def test_a_page_without_anything_is_empty_in_both_forms():
    assert (Page().plain(), gzip.decompress(Page().packed())) == (b"", b"")


async def test_what_is_no_text_does_not_keep_the_rest_from_being_told():
    part = await prepared(iter(["a\ud800 1\n", "b 1\n"]))
    assert b"".join(part.plain) == b"a? 1\nb 1\n"


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
