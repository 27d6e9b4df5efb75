import pytest

from shoal.host.run import CommandError
from shoal.host.stream import stream


def test_each_line_is_seen_errors_among_them():
    lines: list[str] = []
    said = stream("sh", "-c", "echo one; echo two >&2", line=lines.append)
    assert lines == ["one", "two"]
    assert said == "one\ntwo\n"


def test_a_program_that_fails_raises_with_what_it_said():
    with pytest.raises(CommandError, match="exit code 3\nno luck") as failed:
        stream("sh", "-c", "echo no luck; exit 3", line=lambda _: None)
    assert failed.value.code == 3


def test_a_program_that_is_not_there_raises_like_one_that_fails():
    with pytest.raises(CommandError, match="not found"):
        stream("/nowhere/at-all", line=lambda _: None)


def test_a_listener_that_gives_up_ends_the_program():
    def give_up(line: str) -> None:
        raise ValueError(line)

    with pytest.raises(ValueError, match="first"):
        stream("sh", "-c", "echo first; exec sleep 600", line=give_up)
