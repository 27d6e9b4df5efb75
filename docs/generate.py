"""Write the command reference from the commands themselves: `python docs/generate.py FOLDER`."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from shoal.cli.main import shoal

WIDTH = 80  # of the help texts, whatever the terminal has
HEADER = "<!-- Made by `make generate` from the commands' own help. Do not edit. -->\n"


def sections(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield the help of `command`, then that of everything below it."""
    yield f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None and not below.hidden:
                yield from sections(below, click.Context(below, context, name))


def pages(root: click.Group) -> Iterator[tuple[str, str]]:
    """Yield name and text of one page for each command right below `root`."""
    top = click.Context(root, info_name="shoal", terminal_width=WIDTH, max_content_width=WIDTH)
    for name, command in sorted(root.commands.items()):
        parts = sections(command, click.Context(command, top, name))
        yield f"shoal-{name}.md", "\n".join([HEADER, f"# shoal {name}\n", *parts])


def main() -> None:
    """Write every page into the folder that the command line names; that folder is all ours."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.md"):
        old.unlink()
    for name, text in pages(shoal):
        (folder / name).write_text(text)


if __name__ == "__main__":
    main()
