"""docs/slurm-errors.md has a section for each class of error, with an example as it was seen."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from shoal.slurmapi import errors, signatures

PAGE = Path(__file__).parents[3] / "docs/slurm-errors.md"


def classes(top: type[Exception]) -> Iterator[type[Exception]]:
    yield top
    for below in top.__subclasses__():
        yield from classes(below)


NAMES = sorted({kind.__name__ for kind in classes(errors.SlurmError)})


def sections() -> dict[str, str]:
    parts = re.split(r"^### `?(\w+)`?$", PAGE.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_a_class_of_errors_is_explained_with_an_example(name: str) -> None:
    section = sections()[name]
    assert "```text" in section or "Never raised itself" in section


def test_no_class_is_explained_that_does_not_exist() -> None:
    assert set(sections()) == set(NAMES)


def test_the_error_of_tokens_is_among_them() -> None:
    assert signatures.TokenError.__name__ in NAMES
