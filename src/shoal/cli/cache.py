"""`shoal local cache`: what was built, and what of it may go."""

import sys
from collections.abc import Sequence
from datetime import timedelta

import click

from ..local.bar import progress
from ..local.cache import Entry, Use, entries, prune, tidy
from ..runtime import clock
from .environment import settings


@click.command()
@click.option("--prune", "pruning", is_flag=True, help="Remove what nobody uses.")
def cache(*, pruning: bool) -> None:
    """List what is in the cache by key, with size, age and who uses it."""
    found = entries(settings())
    if not found:
        click.echo(f"{settings().cache} is empty")
        return
    for entry in found:
        click.echo(_line(entry))
    unused = [entry for entry in found if entry.use is Use.NOBODY]
    if pruning:
        _remove(unused)
    else:
        click.echo(
            f"{size(sum(entry.size_bytes for entry in unused))} in {settings().cache} are used by"
            " nobody; `shoal local cache --prune` removes them"
        )


def _remove(unused: Sequence[Entry]) -> None:
    where, freed = settings(), 0
    with progress(sys.stderr).part("pruning the cache", 5 + len(unused)) as part:
        for number, entry in enumerate(unused):
            part.at(f"{entry.kind} {entry.key}", number, len(unused))
            freed += entry.size_bytes
            prune(entry, lambda: part.at("waiting for another process that builds it"))
        part.at("old layers")
        tidy(where)
    click.echo(f"freed {size(freed)}")


def _line(entry: Entry) -> str:
    age = _age(clock.now() - entry.made)
    words = f"{entry.kind:<9} {entry.key:<18} {size(entry.size_bytes):>10} {age:>6}"
    return f"{words}  {entry.use.value}"


def size(count: int) -> str:
    """Return a number of bytes for people."""
    return f"{count / (1 << 30):.1f} GiB" if count >= 1 << 30 else f"{count / (1 << 20):.1f} MiB"


def _age(since: timedelta) -> str:
    minutes = int(since.total_seconds() // 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 48 * 60 else f"{since.days} d"
