"""The pages that are served."""

import gzip

import pytest

from shoal.exporter import serve
from shoal.exporter.catalogue import Collector
from shoal.exporter.health import Health
from shoal.exporter.pages import Page, prepared

from .builders import value


@pytest.mark.parametrize(
    ("accepted", "takes"),
    [
        ("gzip", True),
        ("gzip;q=1.0,*;q=0.1", True),
        ("identity, GZIP ; q=0.5", True),
        ("*", True),
        ("", False),
        ("identity", False),
        ("gzip;q=0", False),
        ("gzip;q=0.000, identity", False),
        ("deflate", False),
    ],
)
def test_gzip_goes_to_those_who_take_it(accepted, takes):
    assert serve.takes_gzip(accepted) is takes


async def test_a_scrape_gets_the_page_packed_or_plain():
    page, health = Page(), Health.of([])
    page.put(Collector.NODES, await prepared(iter(["a 1\n"])))
    scrape = serve.metrics(page, health)["/metrics"]
    packed = await scrape(b"", {"Accept-Encoding": "gzip"})
    plain = await scrape(b"", {})
    assert gzip.decompress(packed.body) == plain.body == b"a 1\n"
    assert (packed.headers, plain.headers) == ({"Content-Encoding": "gzip"}, {})
    assert plain.content_type == "text/plain; version=0.0.4; charset=utf-8"
    assert health.scrapes == 2


async def test_an_exporter_that_has_seen_nothing_yet_still_answers():
    answer = await serve.metrics(Page(), Health.of([]))["/metrics"](b"", {})
    assert (answer.status, answer.body) == (200, b"")


async def test_whoever_can_answer_is_healthy():
    answer = await serve.metrics(Page(), Health.of([]))["/health"](b"", {})
    assert (answer.status, answer.body) == (200, b"healthy\n")


async def test_the_exporters_own_page_tells_of_scrapes():
    page, health = Page(), Health.of([])
    await serve.metrics(page, health)["/metrics"](b"", {})
    own = await serve.monitoring(page, health)["/metrics"](b"", {})
    assert value(own.body.decode(), "slurm_exporter_metrics_requests_total") == 1
    assert set(serve.monitoring(page, health)) == {"/metrics"}
