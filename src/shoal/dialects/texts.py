"""Checks of what users write for Slurm's own files, in any dialect. Pure."""

from collections.abc import Iterable, Mapping

from ..kube.findings import Doubtful, Finding, Findings, Wrong
from ..slurm import conf

# Keys that the operator writes are refused where another value would lose the cluster's state or
# cut its daemons off, and doubted where it merely wins.
SLURM_CONF: Mapping[str, type[Finding]] = {
    **dict.fromkeys(
        ("ClusterName", "SlurmctldHost", "SlurmctldPort", "SlurmctldAddr", "StateSaveLocation"),
        Wrong,
    ),
    **dict.fromkeys(("SlurmUser", "AuthType", "CredType"), Wrong),
    **dict.fromkeys(
        ("AccountingStorageType", "AccountingStorageHost", "AccountingStoragePort"), Doubtful
    ),
    **dict.fromkeys(("AuthAltTypes", "SlurmdPort", "SlurmdSpoolDir", "SlurmdUser"), Doubtful),
    **dict.fromkeys(("SlurmctldLogFile", "SlurmdLogFile", "SlurmSchedLogFile"), Doubtful),
}


def words(values: Mapping[str, tuple[str, str | None]]) -> Findings:
    """Check texts that become one word of a configuration, each with the key that it becomes."""
    for field, (key, text) in values.items():
        try:
            conf.write([conf.setting(key, text or "none")])
        except conf.ConfError as error:
            yield Wrong(field, str(error))


def lines(
    field: str, text: str | None, ours: Mapping[str, type[Finding]], grammar: conf.Grammar
) -> Findings:
    """Check lines for a configuration; `ours` are keys of ours, and what it is to set them."""
    if not text:
        return
    try:
        found = conf.parse(text, grammar)
    except conf.ConfError as error:
        yield Wrong(field, str(error))
        return
    by_key = {key.lower(): (key, verdict) for key, verdict in ours.items()}
    for line in conf.duplicates(found, ours):
        key, verdict = by_key[line.key.lower()]
        yield verdict(field, f"line {line.place.line}: {key} {_OWNED[verdict]}")


def options(field: str, text: str | None, record: str, ours: Iterable[str]) -> Findings:
    """Check options that follow a record such as NodeName on its line."""
    if not text:
        return
    for character, why in _NOT_IN_A_LINE.items():
        if character in text:
            yield Wrong(field, why)
            return
    try:
        (line,) = conf.parse(f"{record}=x {text}")
    except conf.ConfError as error:
        yield Wrong(field, str(error).removeprefix("line 1: "))
        return
    taken = {key.lower() for key in (record, *ours)}
    pairs = line.pairs[1:] if isinstance(line, conf.Setting) else ()
    for key, _ in pairs:
        if key.lower() in taken:
            yield Wrong(field, f"{key} {_OWNED[Wrong]}")


_NOT_IN_A_LINE = {
    "\n": "holds a line end; put all options on one line",
    "\r": "holds a line end; put all options on one line",
    "#": "holds a #, which starts a comment; take the comment out",
}
_OWNED: Mapping[type[Finding], str] = {
    Wrong: "is set by the operator, and another value would break the cluster; take it out",
    Doubtful: "is set by the operator too; this value wins",
}
