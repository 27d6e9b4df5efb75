"""How long work shows itself: a bar on a terminal, a plain log elsewhere."""

from contextlib import AbstractContextManager
from typing import Protocol


class Part(Protocol):
    """One piece of work that is under way."""

    def at(self, what: str, done: int = 0, total: int = 0) -> None:
        """Show what is being done right now, and how far it is where that is known."""


class Progress(Protocol):
    """Shows parts, several side by side."""

    def part(self, name: str, expect_s: float) -> AbstractContextManager[Part]:
        """Show `name` until the block ends; `expect_s` is how long it takes as measured."""
