import os

import pytest
from click.testing import CliRunner

from shoal.cli.cache import size
from shoal.cli.main import shoal

OLD = "0123456789abcdef"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Give a cache with one old image in it, of yesterday."""
    archive = tmp_path / "images" / f"{OLD}.oci.tar"
    archive.parent.mkdir()
    archive.write_bytes(bytes(3 << 20))
    yesterday = archive.stat().st_mtime - 86400
    os.utime(archive, (yesterday, yesterday))
    monkeypatch.setenv("SHOAL_CACHE", str(tmp_path))
    return tmp_path


def shoal_cache(*words: str) -> str:
    done = CliRunner().invoke(shoal, ["local", "cache", *words])
    assert done.exit_code == 0, done.output
    return done.output


def test_the_cache_is_listed_by_key_with_size_and_age_and_use(cache):
    said = shoal_cache()
    assert f"images    {OLD}      3.0 MiB   24 h  used by nobody" in said
    assert f"3.0 MiB in {cache} are used by nobody; `shoal local cache --prune`" in said
    assert [file.name for file in (cache / "images").iterdir()] == [f"{OLD}.oci.tar"]


def test_prune_removes_what_nobody_uses_and_says_how_much_that_was(cache):
    assert "freed 3.0 MiB" in shoal_cache("--prune")
    assert not any((cache / "images").iterdir())
    assert shoal_cache("--prune") == f"{cache} is empty\n"


def test_an_empty_cache_is_told_as_one(tmp_path, monkeypatch):
    monkeypatch.setenv("SHOAL_CACHE", str(tmp_path))
    assert shoal_cache() == f"{tmp_path} is empty\n"


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0.0 MiB"), (3 << 19, "1.5 MiB"), (5 << 30, "5.0 GiB")]
)
def test_sizes_are_for_people(count, said):
    assert size(count) == said
