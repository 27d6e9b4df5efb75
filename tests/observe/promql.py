"""Which metrics and labels a query names; no more of PromQL than that takes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

TOKEN = re.compile(
    r"""(?P<text>"(?:\\.|[^"\\])*"|'[^']*')
    | (?P<range>\[[^\]]*\])
    | (?P<number>\d[\w.]*)
    | (?P<word>[A-Za-z_:$][\w:]*)
    | (?P<sign>[{}(),]|[^\s\w{}()[\],"']+)""",
    re.VERBOSE,
)
LISTS = {"by", "without", "on", "ignoring", "group_left", "group_right"}
WORDS = LISTS | {"and", "or", "unless", "offset", "bool"}


@dataclass
class Named:
    """What a query names."""

    # Each use of a metric, with the labels that it is selected by.
    metrics: list[tuple[str, frozenset[str]]] = field(default_factory=list)
    # What is grouped or joined by.
    labels: set[str] = field(default_factory=set)


def named(query: str) -> Named:
    """Return the metrics and labels of a query."""
    found = Named()
    tokens = [(m.lastgroup, m[0]) for m in TOKEN.finditer(query)]
    place = 0
    while place < len(tokens):
        kind, word = tokens[place]
        after = tokens[place + 1][1] if place + 1 < len(tokens) else ""
        if kind != "word":
            place += 1
        elif word in LISTS and after == "(":
            inside = list(until(tokens, place + 2, ")"))
            found.labels |= {text for sort, text in inside if sort == "word"}
            place += len(inside) + 3
        elif after == "{":
            inside = list(until(tokens, place + 2, "}"))
            found.metrics.append((word, frozenset(t for sort, t in inside if sort == "word")))
            place += len(inside) + 3
        else:
            if after not in ("(", "by", "without") and word not in WORDS:
                found.metrics.append((word, frozenset()))
            place += 1
    return found


def until(tokens: list[tuple[str, str]], place: int, end: str) -> Iterator[tuple[str, str]]:
    """Yield the tokens from a place up to a sign."""
    for token in tokens[place:]:
        if token[1] == end:
            return
        yield token
    raise AssertionError(f"no {end} after {tokens[place][1]}")
