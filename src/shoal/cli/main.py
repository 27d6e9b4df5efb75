"""The `shoal` command."""

import errno
import sys
from collections.abc import Mapping

import click

from ..host.run import CommandError
from ..local.errors import LocalError
from .cache import cache
from .environment import debugging
from .exporter import exporter
from .local import local
from .operator import operator

# What the machine refuses, and what its owner can do about it.
CURES: Mapping[int | None, str] = {
    errno.ENOSPC: "free some space, or set SHOAL_CACHE and SHOAL_STATE to folders on a larger disk",
    errno.EDQUOT: "free some space, or set SHOAL_CACHE and SHOAL_STATE to folders on a larger disk",
    errno.EACCES: "look who owns it, or become root",
    errno.EPERM: "become root; inside a container, start it privileged",
    errno.EROFS: "set SHOAL_CACHE and SHOAL_STATE to folders that can be written",
    errno.EMFILE: "`ulimit -n 65536`, and again",
    errno.ENOMEM: "end other programs, or have fewer nodes",
}
UNKNOWN_CURE = "again with SHOAL_DEBUG=1 it shows where that happened"


@click.group()
@click.version_option(package_name="shoal")
def shoal() -> None:
    """Slurm clusters on Kubernetes."""


shoal.add_command(local)
shoal.add_command(operator)
shoal.add_command(exporter)
local.add_command(cache)


def main() -> None:
    """Run the command; an error that a user can mend is a message, not a trace."""
    try:
        shoal()
    except (LocalError, CommandError, OSError) as error:
        if debugging():
            raise
        click.echo(f"shoal: {told(error)}", err=True)
        sys.exit(1)


def told(error: Exception) -> str:
    """Return an error in words, with its cure."""
    if not isinstance(error, OSError):
        return str(error)
    # An OSError of our own making has words alone, the kernel's a number and mostly a file.
    words = [str(error.filename)] if error.filename else []
    words.append(error.strerror or str(error) or type(error).__name__)
    return f"{': '.join(words)}\n  cure: {CURES.get(error.errno, UNKNOWN_CURE)}"
