from pathlib import Path

import pytest

from shoal.cli import environment

NAMES = ("SHOAL_CACHE", "SHOAL_STATE", "SHOAL_BIN_DIR", "KUBEBUILDER_ASSETS", "SHOAL_OFFLINE")


@pytest.fixture(autouse=True)
def _nothing_is_set(monkeypatch, tmp_path):
    for name in (*NAMES, "SHOAL_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.chdir(tmp_path)


def test_without_a_word_everything_lies_in_the_users_home():
    found = environment.settings()
    assert found.cache == Path("/home/me/.cache/shoal")
    assert found.state == Path("/home/me/.local/state/shoal")
    assert found.brought == ()
    assert not found.offline
    assert not environment.debugging()


@pytest.mark.parametrize(("name", "field"), [("SHOAL_CACHE", "cache"), ("SHOAL_STATE", "state")])
def test_a_folder_is_named_from_where_the_user_stands(monkeypatch, tmp_path, name, field):
    monkeypatch.setenv(name, "mine")
    assert getattr(environment.settings(), field) == tmp_path / "mine"


def test_the_users_own_programs_come_before_those_of_other_tools(monkeypatch, tmp_path):
    monkeypatch.setenv("KUBEBUILDER_ASSETS", "/opt/assets")
    monkeypatch.setenv("SHOAL_BIN_DIR", "bin")
    assert environment.settings().brought == (tmp_path / "bin", Path("/opt/assets"))


def test_an_empty_variable_is_an_unset_one(monkeypatch):
    for name in (*NAMES, "SHOAL_DEBUG"):
        monkeypatch.setenv(name, "")
    assert environment.settings().cache == Path("/home/me/.cache/shoal")
    assert environment.settings().brought == ()
    assert not environment.settings().offline
    assert not environment.debugging()
