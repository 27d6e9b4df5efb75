"""The two pages: Slurm's metrics for everybody, and the exporter's own."""

from collections.abc import Mapping

from ..kubeapi.server import Answer, Handler, plain
from .health import Health
from .pages import Page
from .text import CONTENT_TYPE


def takes_gzip(accepted: str) -> bool:
    """Say whether an Accept-Encoding allows for gzip: it is named, and not with a weight of 0."""
    for word in accepted.lower().split(","):
        coding, _, weight = word.partition(";")
        if coding.strip() in ("gzip", "*"):
            told = weight.strip().removeprefix("q=").strip() or "1"
            return told.strip("0.") != ""
    return False


def metrics(page: Page, health: Health) -> Mapping[str, Handler]:
    """Return the paths of Slurm's metrics."""

    async def tell(_body: bytes, headers: Mapping[str, str]) -> Answer:
        health.scrapes += 1
        if takes_gzip(headers.get("Accept-Encoding", "")):
            return Answer(200, page.packed(), CONTENT_TYPE, {"Content-Encoding": "gzip"})
        return Answer(200, page.plain(), CONTENT_TYPE)

    async def well(_body: bytes, _headers: Mapping[str, str]) -> Answer:
        # Whoever can say so is: what is wrong with Slurm is no reason to restart the exporter.
        return plain(200, "healthy")

    return {"/metrics": tell, "/health": well}


def monitoring(page: Page, health: Health) -> Mapping[str, Handler]:
    """Return the path of the exporter's own metrics."""

    async def tell(_body: bytes, _headers: Mapping[str, str]) -> Answer:
        return Answer(200, "".join(health.told(page)).encode(), CONTENT_TYPE)

    return {"/metrics": tell}
