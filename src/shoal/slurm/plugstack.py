"""plugstack.conf: the SPANK plugins, one a line. Pure.

Its reader (plugstack.c) is not the one of the other files: words between spaces, a # anywhere
starts a comment, and neither quotes nor escapes nor continued lines are known.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from .conf import ConfError, Include, Place

MAX_LINE = 4095  # bytes with the line end; Slurm reads what goes beyond as another line


@dataclass(frozen=True)
class Plugin:
    """A plugin to load; a job fails without it where it is required."""

    path: str
    arguments: tuple[str, ...] = ()
    required: bool = True
    place: Place = field(default=Place(), compare=False)


Line = Plugin | Include


def parse(text: str, source: str = "plugstack.conf") -> tuple[Line, ...]:
    """Return the lines of a file; `source` is what errors call it."""
    found: list[Line] = []
    for number, raw in enumerate(text.split("\n"), 1):
        place = Place(source, number)
        line = raw.partition("#")[0].replace("\t", " ")
        if not line.isprintable():  # a CR too: Slurm takes it for a part of the last word
            raise ConfError(place, "", f"{line!r} holds a character that cannot be seen; remove it")
        match line.split():
            case []:
                continue
            case ["required" | "optional" as kind, path, *arguments]:
                found.append(Plugin(path, tuple(arguments), kind == "required", place))
            case ["include", path]:
                found.append(Include(path, place))
            case words:
                raise ConfError(
                    place,
                    words[0],
                    "write `required PATH ...`, `optional PATH ...`, `include PATH`",
                )
    return tuple(found)


def write(lines: Iterable[Line]) -> str:
    """Return the text of a file, or refuse a word that would be read as something else."""
    return "".join(f"{_written(line)}\n" for line in lines)


def _written(line: Line) -> str:
    match line:
        case Plugin(path, arguments, required, _):
            words = ["required" if required else "optional", path, *arguments]
        case Include(path, _):
            words = ["include", path]
    for word in words:
        if not word or not word.isprintable() or " " in word or "#" in word:
            raise ConfError(line.place, repr(word), "must be one word without a #")
    text = " ".join(words)
    if len(text.encode()) >= MAX_LINE:
        raise ConfError(line.place, words[1], f"takes more than {MAX_LINE} bytes; shorten it")
    return text
