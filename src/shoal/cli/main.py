"""The `shoal` command."""

import sys

import click

from ..host.run import CommandError
from ..local.errors import LocalError
from .local import local


@click.group()
@click.version_option(package_name="shoal")
def shoal() -> None:
    """Slurm clusters on Kubernetes."""


shoal.add_command(local)


def main() -> None:
    """Run the command; an error that a user can mend is a message, not a trace."""
    try:
        shoal()
    except (LocalError, CommandError) as error:
        click.echo(f"shoal: {error}", err=True)
        sys.exit(1)
