"""The cache loses what nobody uses, and never what a running cluster was started from."""

import shutil
import tarfile
from pathlib import Path

import pytest

from shoal.local import bases, cache
from shoal.local.buildah import Buildah
from shoal.local.settings import Settings

from .clusters import Local, kill, run, wait_for

OLD, OLDER = "0123456789abcdef", "00000000000000ff"


@pytest.fixture
def old(t3: Local, tmp_path: Path) -> Local:
    """Give a control plane that was started from programs which no version of now would use."""
    there, here = Path(t3.shell["PATH"].partition(":")[0]), tmp_path / "cache"
    for key in (OLD, OLDER):
        (here / "programs" / key).mkdir(parents=True)
        for program in ("etcd", "kube-apiserver", "kubectl", "machine"):
            shutil.copy((there / program).resolve(), here / "programs" / key)
    own = {"SHOAL_CACHE": str(here), "SHOAL_BIN_DIR": str(here / "programs" / OLD)}
    return Local("p1", {**t3.environment, **own})


def test_prune_spares_what_a_cluster_runs_until_it_is_down(old):
    programs, state = Path(old.environment["SHOAL_CACHE"]) / "programs", old.folder.parent
    old.shoal("up", "--control-plane-only")
    try:
        # Somebody else's shell: another state folder, and the same cache.
        other = {**old.environment, "SHOAL_STATE": f"{state}-other", "SHOAL_BIN_DIR": ""}
        listed = run("shoal", "local", "cache", env=other).out
        assert f"programs  {OLD} " in listed
        run("shoal", "local", "cache", "--prune", env=other)
        assert [p.name for p in programs.glob("0*")] == [OLD]
        # What was killed is started again from the file that was spared.
        before = old.programs()["cp", "etcd"]
        kill(before)
        wait_for(
            "another etcd", lambda: old.programs().get(("cp", "etcd")), lambda p: p and p != before
        )
    finally:
        old.shoal("down")
    run("shoal", "local", "cache", "--prune", env=other)
    assert [p.name for p in programs.glob("0*")] == []


@pytest.fixture
def storage(environment, tmp_path: Path) -> tuple[Settings, Buildah]:
    """Give a storage with a base of now and an old one, and an image on each."""
    settings = Settings(tmp_path / "cache", tmp_path / "state", environment=dict(environment))
    buildah = Buildah(settings.cache / "buildah", settings.environment)
    archive, context = tmp_path / "root.tar", tmp_path / "context"
    context.mkdir()
    for name in (f"{bases.STORED}:{OLD}", bases.stored("trixie")):
        (context / "file").write_text(name)
        with tarfile.open(archive, "w") as tar:
            tar.add(context / "file", "etc/file")
        buildah.import_root(archive, name)
        # The second takes its name from the first, which nobody can ask for any more then.
        (context / "Containerfile").write_text(f"FROM {name}\nCOPY file /file\n")
        buildah.build(context, ("--tag=docker.io/shoal/thing:1",), print)
    return settings, buildah


def images(buildah: Buildah) -> int:
    return len(buildah._run("images", "--all", "--quiet").split())


def test_layers_that_no_image_of_now_stands_on_go_and_the_others_stay(storage):
    settings, buildah = storage
    before = images(buildah)
    assert len(buildah.names(bases.STORED)) == 2
    cache.tidy(settings)
    assert buildah.names(bases.STORED) == [bases.stored("trixie")]
    assert buildah.has("docker.io/shoal/thing:1")
    assert images(buildah) == before // 2
