"""Conf files in sections, each under a heading. Pure."""

from collections.abc import Iterable, Sequence

from ..slurm import conf


def section(title: str, lines: Sequence[conf.Written]) -> tuple[conf.Written, ...]:
    """Return lines under a heading, and nothing where there are none."""
    if not lines:
        return ()
    return (conf.Comment(""), conf.Comment(f"## {title} ###"), *lines)


def heading(title: str) -> str:
    """Return the heading of text that stands as the user wrote it."""
    return f"#\n### {title} ###\n"


def with_extra(ours: Iterable[conf.Line], theirs: Sequence[conf.Line], extra: str) -> str:
    """Return what follows our lines: the user's text, and the options that both of us set.

    The user's text is kept as it is, comments and all: it has been read as `theirs` before.
    """
    if not extra.strip():
        return ""
    told = extra if extra.endswith("\n") else f"{extra}\n"
    united = conf.merged(ours, theirs)
    return heading("EXTRA CONFIG") + told + conf.write(section("MERGED CONFIG", united))
