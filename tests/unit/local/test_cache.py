import json
from dataclasses import replace
from pathlib import Path

import pytest

from shoal.host.lock import locked
from shoal.local import bases, cache, images, programs, toolchain
from shoal.local.cache import Use
from shoal.local.catalogue import PROGRAMS
from shoal.local.settings import Settings

OLD = "0123456789abcdef"


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """Give an empty cache on a machine without Go."""
    monkeypatch.setattr(toolchain, "USUAL", tmp_path / "nowhere")
    (tmp_path / "cache").mkdir()
    return Settings(tmp_path / "cache", tmp_path / "state")


def put(file: Path, content: str = "12345") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    return file


def uses(settings: Settings) -> dict[str, Use]:
    return {f"{entry.kind} {entry.key}": entry.use for entry in cache.entries(settings)}


def prune(settings: Settings) -> set[str]:
    """Remove what nobody uses; return the files that are left."""
    for entry in cache.entries(settings):
        if entry.use is Use.NOBODY:
            cache.prune(entry, lambda: None)
    cache.tidy(settings)
    found = (path for path in settings.cache.rglob("*") if not path.is_dir())
    return {str(path.relative_to(settings.cache)) for path in found}


def go() -> toolchain.Toolchain:
    return toolchain.Toolchain(Path("/x/go/bin/go"), toolchain.carried())


def test_an_empty_cache_holds_nothing(settings):
    assert cache.entries(settings) == []
    assert cache.entries(replace(settings, cache=settings.cache / "none")) == []


def test_what_this_version_would_use_stays_and_what_older_ones_used_goes(settings):
    here = settings.cache
    kept = {
        put(programs.place(here, PROGRAMS["etcd"], go())),
        put(programs.place(here, PROGRAMS["kwok"], go())),
        put(bases.archive_of(here, "trixie")),
        put(here / "go-toolchain" / toolchain.carried() / "go/bin/go"),
    }
    for old in (f"programs/{OLD}/etcd", f"images/{OLD}.oci.tar", f"bases/{OLD}.tar"):
        put(here / old)
    put(here / "go-toolchain/1.20.1/go/bin/go")
    unused = {name for name, use in uses(settings).items() if use is Use.NOBODY}
    assert unused == {f"programs {OLD}", f"images {OLD}", f"base {OLD}", "go 1.20.1"}
    assert prune(settings) == {str(path.relative_to(here)) for path in kept}


def test_an_image_is_used_while_its_recipe_is_as_it_was(settings):
    bundle = images.BUNDLE_OF["mariadb:11.8"]
    archive = images.archive_of(settings.cache, images.key(bundle, images.inputs(bundle, None)))
    put(archive)
    assert uses(settings) == {f"images {archive.name.partition('.')[0]}": Use.CURRENT}


def test_what_has_no_key_is_listed_and_never_removed(settings):
    for name in ("go/build/x", "go/mod/y", "others/z"):
        put(settings.cache / name)
    assert uses(settings) == {"shared go": Use.KEPT, "shared others": Use.KEPT}
    assert len(prune(settings)) == 3


def machine(folder: Path, **told: object) -> Path:
    config = {"programs": [], "mounts": [], **told}
    return put(folder / "machine.json", json.dumps(config))


@pytest.mark.parametrize("how", ["programs", "mounts"])
def test_what_a_running_machine_was_started_from_is_never_removed(settings, start_first, how):
    file = put(settings.cache / f"programs/{OLD}/etcd")
    told = {
        "programs": [{"name": "etcd", "argv": [str(file)]}],
        "mounts": [{"source": str(file), "target": "/opt/shoal/bin/etcd"}],
    }
    # In whatever state folder, and whosever.
    start_first(machine(settings.state.with_name("others") / "n0", **{how: told[how]}))
    assert uses(settings) == {f"programs {OLD}": Use.RUNNING}
    assert prune(settings) == {f"programs/{OLD}/etcd"}


def test_a_machine_that_is_off_keeps_nothing(settings):
    file = put(settings.cache / f"programs/{OLD}/etcd")
    machine(settings.state / "n0", programs=[{"name": "etcd", "argv": [str(file)]}])
    assert uses(settings) == {f"programs {OLD}": Use.NOBODY}


def test_while_a_machine_runs_of_which_nothing_is_known_every_program_stays(settings, start_first):
    put(settings.cache / f"programs/{OLD}/etcd")
    put(settings.cache / f"images/{OLD}.oci.tar")
    start_first(settings.state / "deleted/machine.json")
    assert uses(settings) == {f"programs {OLD}": Use.RUNNING, f"images {OLD}": Use.NOBODY}


def test_a_cache_behind_a_link_is_the_same_cache(settings, start_first, tmp_path):
    file = put(settings.cache / f"programs/{OLD}/etcd")
    start_first(machine(settings.state / "n0", programs=[{"name": "etcd", "argv": [str(file)]}]))
    (tmp_path / "link").symlink_to(settings.cache)
    assert uses(replace(settings, cache=tmp_path / "link")) == {f"programs {OLD}": Use.RUNNING}


@pytest.mark.parametrize(
    ("left", "lock"),
    [
        ("programs/.building-1/x", "programs/.lock"),
        (f"images/.{OLD}.oci.tar.building/x", f"images/.{OLD}.oci.tar.lock"),
        (f"bases/{OLD}.part", f"bases/{OLD}.lock"),
        ("go-toolchain/.installing-1/x", "go-toolchain/.lock"),
    ],
)
def test_what_a_killed_build_left_goes_and_what_a_build_is_making_stays(settings, left, lock):
    put(settings.cache / left)
    with locked(settings.cache / lock, lambda: None):
        assert uses(settings) == {}
    assert list(uses(settings).values()) == [Use.NOBODY]
    assert prune(settings) == set()


def test_a_set_of_links_goes_with_a_program_that_it_leads_to(settings):
    kept = put(programs.place(settings.cache, PROGRAMS["etcd"], go()))
    gone = put(settings.cache / f"programs/{OLD}/etcd")
    whole = programs.assemble(settings.cache, {"etcd": kept})
    broken = programs.assemble(settings.cache, {"etcd": gone})
    prune(settings)
    assert whole.is_dir()
    assert not broken.exists()


def test_an_entry_tells_its_size(settings):
    put(settings.cache / f"programs/{OLD}/etcd", 100 * "x")
    put(settings.cache / f"programs/{OLD}/helm", 11 * "x")
    (entry,) = cache.entries(settings)
    assert entry.size_bytes == 111
