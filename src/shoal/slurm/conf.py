"""slurm.conf and its relatives as lines of data, read and written. Pure.

`parse` splits a file as Slurm's own parser does (24.11 and 26.05 were asked), and is stricter where
Slurm goes on with something else than was meant:

* `Key+=x` means `Key=x` to Slurm: it knows the operator and heeds it nowhere.
* `Feature= CPUs=2` makes `CPUs=2` the feature. An empty value is `Feature=""`.
* A # starts a comment inside quotes too, so `A="x#y"` leaves the value `"x`.

`write` is the other way round, and safe with values that users gave: what could end a value, a line
or the file is refused, and the error names the field that it came from.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

Pair = tuple[str, str]


@dataclass(frozen=True)
class Place:
    """Where a line comes from: a file or a field such as spec.extraConf, and the line in it."""

    source: str = ""
    line: int = 0

    def __str__(self) -> str:
        line = f"line {self.line}" if self.line else ""
        return ", ".join(filter(None, (self.source, line)))


class ConfError(ValueError):
    """A line that Slurm refuses or reads as another; names the place, the key and the cure."""

    def __init__(self, place: Place, key: str, why: str) -> None:
        super().__init__(": ".join(filter(None, (str(place), key, why))))
        self.place = place
        self.key = key


@dataclass(frozen=True)
class Setting:
    """`Key=Value`, or several of them where the first key opens a record, such as NodeName."""

    pairs: tuple[Pair, ...]
    place: Place = field(default=Place(), compare=False)

    @property
    def key(self) -> str:
        """The first key, as written."""
        return self.pairs[0][0]

    @property
    def value(self) -> str:
        """The first key's value."""
        return self.pairs[0][1]


@dataclass(frozen=True)
class Include:
    """Another file, read in place of this line."""

    path: str
    place: Place = field(default=Place(), compare=False)


@dataclass(frozen=True)
class Comment:
    """What follows a #. Only written: parsing drops comments, as Slurm does."""

    text: str


Line = Setting | Include
Written = Setting | Include | Comment


@dataclass(frozen=True)
class Grammar:
    """What is special in one kind of file; all keys in lower case."""

    records: frozenset[str] = frozenset()  # keys that more pairs may follow on the line
    lists: frozenset[str] = frozenset()  # keys that add up; of any other the last one counts


def _grammar(records: str = "", lists: str = "") -> Grammar:
    found = frozenset(records.lower().split())
    return Grammar(found, found | frozenset(lists.lower().split()))


# What the parsers of 24.11.5 and 26.05.5 keep in arrays: the former has FrontendName, the latter
# PowerAction.
GRAMMARS: Mapping[str, Grammar] = {
    "slurm.conf": _grammar(
        "NodeName PartitionName NodeSet DownNodes FrontendName PowerAction",
        lists="SlurmctldHost Prolog Epilog PrologSlurmctld EpilogSlurmctld",
    ),
    "gres.conf": _grammar("Name NodeName"),
    "topology.conf": _grammar("SwitchName BlockName"),
    "slurmdbd.conf": _grammar(),
    "cgroup.conf": _grammar(),
    "acct_gather.conf": _grammar(),
    "mpi.conf": _grammar(),
}
SLURM = GRAMMARS["slurm.conf"]

# Keys that take one word. Elsewhere a space is quoted and a = is part of the value.
_WORDS = """ClusterName NodeName NodeHostname NodeAddr NodeSet PartitionName DownNodes Nodes Feature
Features SwitchName Switches BlockName SlurmctldHost SlurmctldAddr SlurmUser SlurmdUser
AccountingStorageHost AccountingStorageBackupHost DbdHost DbdAddr DbdBackupHost
StorageHost StorageBackupHost StorageUser StorageLoc"""
WORDS = frozenset(_WORDS.lower().split())

# Options that the operator needs and the user may add to; of other keys the last line wins.
UNITED = ("AuthAltParameters", "AuthInfo", "SlurmctldParameters")

_PAIR = re.compile(
    r"\s*(?P<key>[A-Za-z0-9_.]+)\s*(?P<operator>[-*+/]?)=(?P<gap>\s*)"
    r'(?:"(?P<quoted>[^"]*)"|(?P<bare>\S+))(?=\s|$)',
    re.ASCII,
)
_KEY = re.compile(r"[A-Za-z0-9_.]+", re.ASCII)
_NO_VALUE = re.compile(r"\s*([A-Za-z0-9_.]+)\s*[-*+/]?=\s*", re.ASCII)
_INCLUDE = re.compile(r"include\s+(\S+)\s*", re.ASCII | re.IGNORECASE)
_BEFORE_COMMENT = re.compile(r"(?:\\.|[^\\#])*\\?")
_SPACE = " \t\r"


def setting(key: str, value: str | int, *more: tuple[str, str | int], source: str = "") -> Setting:
    """Return a line to write; `source` is the field that an error about it names."""
    pairs = ((key, value), *more)
    return Setting(tuple((key, _text(value)) for key, value in pairs), Place(source))


def parse(text: str, grammar: Grammar = SLURM, source: str = "") -> tuple[Line, ...]:
    """Return the lines of a file; `source` is what errors call it."""
    found = []
    for number, line in _logical(text, source):
        if line.strip(_SPACE):
            found.append(_read(line, grammar, Place(source, number)))
    return tuple(found)


def write(lines: Iterable[Written], grammar: Grammar = SLURM) -> str:
    """Return the text of a file, or refuse a value that would be read as something else."""
    return "".join(f"{_written(line, grammar)}\n" for line in lines)


def effective(lines: Iterable[Line], grammar: Grammar = SLURM) -> dict[str, list[Setting]]:
    """Return the settings that count, by key in lower case: the last one, or all of a list's."""
    found: dict[str, list[Setting]] = {}
    for line in lines:
        if isinstance(line, Setting):
            key = line.key.lower()
            before = found.setdefault(key, [])
            if key not in grammar.lists:
                before.clear()
            before.append(line)
    return found


def included(
    lines: Iterable[Line], files: Mapping[str, str], grammar: Grammar = SLURM
) -> tuple[Setting, ...]:
    """Return `lines` with each Include replaced by its file; `files` has text by path or name."""
    found: list[Setting] = []
    _include(lines, files, grammar, found)
    return tuple(found)


def duplicates(lines: Iterable[Line], owned: Collection[str]) -> tuple[Setting, ...]:
    """Return the lines that set one of the keys `owned`; their places say where."""
    keys = {key.lower() for key in owned}
    return tuple(line for line in lines if isinstance(line, Setting) and line.key.lower() in keys)


def merged(ours: Iterable[Line], theirs: Iterable[Line]) -> tuple[Setting, ...]:
    """Return the lines that unite our options with the user's, for the keys that both set.

    They go after both, as the last line of a key counts. An option of both is as we have it.
    """
    mine, yours = effective(ours), effective(theirs)
    both = [key for key in UNITED if key.lower() in mine and key.lower() in yours]
    return tuple(_united(key, mine[key.lower()][-1], yours[key.lower()][-1]) for key in both)


def _united(key: str, ours: Setting, theirs: Setting) -> Setting:
    # Names of options are compared without case and kept as written: upstream lower-cases the
    # user's, and with them the paths in jwks=/etc/slurm/Keys.json.
    options = {_option(text): text for line in (theirs, ours) for text in _split(line.value)}
    return Setting(((key, ",".join(sorted(options.values()))),), theirs.place)


def _split(value: str) -> Iterator[str]:
    return filter(None, (text.strip() for text in value.split(",")))


def _option(text: str) -> str:
    return text.partition("=")[0].strip().lower()


def _text(value: str | int) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _logical(text: str, source: str) -> Iterator[tuple[int, str]]:
    """Return the lines without comments, continued ones joined, each with its first number."""
    held, first = "", 1
    for number, raw in enumerate(text.split("\n"), 1):
        before = _BEFORE_COMMENT.match(raw)
        line = before[0] if before else ""
        strays = () if line.isprintable() else [c for c in line if not c.isprintable()]
        for stray in strays:
            if stray not in _SPACE:
                why = f"holds the character {stray!r}; remove it"
                raise ConfError(Place(source, number), "", why)
        # Spaces may follow the backslash that continues a line; two of them are one of the text.
        bare = line.rstrip(_SPACE)
        slashes = len(bare) - len(bare.rstrip("\\"))
        if slashes % 2:
            held += bare[:-1]
            continue
        yield first, re.sub(r"\\(.)", r"\1", held + line)
        held, first = "", number + 1
    if held:
        yield first, re.sub(r"\\(.)", r"\1", held)


def _read(line: str, grammar: Grammar, place: Place) -> Line:
    if found := _INCLUDE.fullmatch(line):
        return Include(found[1], place)
    pairs: list[Pair] = []
    rest = line
    while rest.strip(_SPACE):
        record = bool(pairs) and pairs[0][0].lower() in grammar.records
        if pairs and not record:
            why = f"takes one value; quote it all, or put {rest.strip()!r} on a line of its own"
            raise ConfError(place, pairs[0][0], why)
        pair = _PAIR.match(rest)
        if pair is None:
            raise ConfError(place, *_no_pair(rest))
        record = record or pair["key"].lower() in grammar.records
        if why := _misread(pair, record=record):
            raise ConfError(place, pair["key"], why)
        pairs.append((pair["key"], pair["bare"] or pair["quoted"]))
        rest = rest[pair.end() :]
    return Setting(tuple(pairs), place)


def _no_pair(text: str) -> Pair:
    if empty := _NO_VALUE.fullmatch(text):
        return empty[1], f'has no value; write {empty[1]}=""'
    return "", f"{text.strip()!r} is no Key=Value and no Include"


def _misread(pair: re.Match[str], *, record: bool) -> str:
    """Say what is wrong with a pair that Slurm takes for another than was meant."""
    key, bare = pair["key"], pair["bare"] or ""
    if pair["operator"]:
        return f"Slurm reads {pair['operator']}= as =; write the whole value after ="
    if bare.startswith('"'):
        return f"the quotes around {bare} do not close; neither a # nor a quote may be in them"
    if record and pair["gap"] and _NO_VALUE.match(bare):
        return f'has no value, and Slurm takes {bare} for it; write {key}=""'
    return ""


def _include(
    lines: Iterable[Line],
    files: Mapping[str, str],
    grammar: Grammar,
    found: list[Setting],
    inside: tuple[str, ...] = (),
) -> None:
    for line in lines:
        if isinstance(line, Setting):
            found.append(line)
            continue
        # %c is the ClusterName read so far, in lower case.
        names = [known.value for known in found if known.key.lower() == "clustername"]
        path = line.path.replace("%c", names[-1].lower() if names else "%c")
        # All files are in the folder of slurm.conf: configless Slurm sends no other.
        name = path if path in files else path.rpartition("/")[2]
        if name not in files:
            raise ConfError(line.place, "Include", f"there is no file {path}")
        if name in inside:
            raise ConfError(line.place, "Include", f"{name} includes itself")
        _include(parse(files[name], grammar, name), files, grammar, found, (*inside, name))


def _written(line: Written, grammar: Grammar) -> str:
    match line:
        case Comment(text):
            if not text.isprintable():
                raise ConfError(Place(), "", f"the comment {text!r} must be one line of text")
            return f"#{text}"
        case Include(path, place):
            if not path or not path.isprintable() or set(path) & set(' "#\\'):
                raise ConfError(place, "Include", f"{path!r} is no path")
            return f"include {path}"
        case Setting(pairs, place):
            if len(pairs) != 1 and (not pairs or line.key.lower() not in grammar.records):
                raise ConfError(place, pairs[0][0] if pairs else "", "must be one Key=Value")
            return " ".join(f"{key}={_value(key, value, place)}" for key, value in pairs)


def _value(key: str, value: str, place: Place) -> str:
    if not _KEY.fullmatch(key) or key.lower() == "include":
        raise ConfError(place, repr(key), "is no key: letters, digits, _ and . only")
    if why := _unfit(key, value):
        raise ConfError(place, key, f"{value!r} {why}")
    escaped = value.replace("\\", "\\\\")
    return f'"{escaped}"' if not value or " " in value else escaped


def _unfit(key: str, value: str) -> str:
    if not value.isprintable():
        return "holds a line end or another character that cannot be seen; remove it"
    if "#" in value:
        return "holds a #, which starts a comment; remove it"
    if '"' in value and (value.startswith('"') or " " in value):
        return 'holds a ", which ends a value; remove it'
    if key.lower() in WORDS and set(value) & set(' ="'):
        return f"is not one word, as {key} must be; remove spaces, = and quotes"
    return ""
