"""What the user adds to Slurm's configuration. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from .part import Files


@dataclass(frozen=True)
class Scripts:
    """Programs that run before and after jobs, each the entries of ConfigMaps."""

    prolog: tuple[Files, ...] = ()
    epilog: tuple[Files, ...] = ()
    prolog_slurmctld: tuple[Files, ...] = ()
    epilog_slurmctld: tuple[Files, ...] = ()

    @property
    def all(self) -> tuple[Files, ...]:
        """Return every ConfigMap."""
        return (*self.prolog, *self.epilog, *self.prolog_slurmctld, *self.epilog_slurmctld)


@dataclass(frozen=True)
class Config:
    """The user's lines and files."""

    extra: str = ""  # lines for slurm.conf
    files: tuple[Files, ...] = ()
    scripts: Scripts = Scripts()
    contents: Mapping[str, bytes] = field(default_factory=dict, repr=False)  # of all files, by name

    @property
    def sources(self) -> tuple[Files, ...]:
        """Return every ConfigMap that becomes files beside slurm.conf, once and in order."""
        named = {found.name: found for found in (*self.files, *self.scripts.all)}
        return tuple(named[name] for name in sorted(named))

    def has(self, file: str) -> bool:
        """Say whether the user brings `file`."""
        return any(file in source.files for source in self.files)

    def filled(self, held: Mapping[str, Mapping[str, bytes]]) -> Self:
        """Return it with what the ConfigMaps hold; of two files with one name the later counts."""
        found = (held.get(source.name, {}).items() for source in self.sources)
        return replace(self, contents={name: text for several in found for name, text in several})
