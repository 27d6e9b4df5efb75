"""What the script that fills a jail promises, on folders of this machine, killed at every step."""

import os
import subprocess
from pathlib import Path

import pytest

from shoal.local.buildah import SYSTEM_PATH

SCRIPT = Path(__file__).parents[3] / "images/jail/populate_jail_entrypoint.sh"
POPULATED = "etc/soperator-jail-populated"
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="a jail is root's")

# Stands before the real program of its name. Each call is counted, and before the one that is asked
# for the script is killed. Nothing is synced, which would only be seen after a power cut, and waits
# for all that others write to this disk.
COUNTER = """#!/bin/bash
printf x >>"$COUNT"
read -r calls <"$COUNT"
if [ ${#calls} = "$KILL_AT" ]; then kill -9 $PPID; exit 1; fi
[ "${0##*/}" = sync ] || PATH=${PATH#*:} exec "${0##*/}" "$@"
"""
EFFECTS = ("mkdir", "touch", "mv", "rm", "chmod", "chown", "sync", "tar", "ssh-keygen", "cat")
# As many calls as a run makes; a test counts them.
CALLS = 18


class Jail:
    """A volume to fill, the image's root and a snapshot, in folders of a test."""

    def __init__(self, folder):
        self.folder = folder
        self.path, self.snapshot, self.image = (folder / n for n in ("jail", "snapshot", "image"))
        for place in (self.path, self.snapshot, self.image):
            place.mkdir()
        fill(self.image, "image")
        programs = folder / "programs"
        programs.mkdir()
        for name in EFFECTS:
            (programs / name).write_text(COUNTER)
            (programs / name).chmod(0o755)
        self.count = folder / "count"

    def run(self, *, overwrite=False, kill_at=0):
        """Run the script; return its exit code."""
        self.count.write_text("")
        environment = {
            "PATH": f"{self.folder / 'programs'}:{SYSTEM_PATH}",
            "OVERWRITE": str(int(overwrite)),
            "COUNT": str(self.count),
            "KILL_AT": str(kill_at),
        }
        words = ["bash", SCRIPT, self.path, self.snapshot, self.image]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        self.said = done.stdout + done.stderr
        return done.returncode

    @property
    def populated(self):
        return (self.path / POPULATED).exists()

    def contents(self):
        """Return every file, without the keys that are new in each jail."""
        files = (file for file in self.path.rglob("*") if file.is_file())
        return {
            str(file.relative_to(self.path)): file.read_text()
            for file in files
            if ".ssh" not in file.parts and file.name != ".populate.lock"
        }

    def keys(self):
        """Return root's public key, and the keys that may log in as root."""
        ssh = self.path / "root/.ssh"
        return (ssh / "id_ecdsa.pub").read_text(), (ssh / "authorized_keys").read_text()


def fill(root, word):
    """Lay out a small root file system."""
    for name in ("dev", "etc", "usr/bin", "root", "tmp"):
        (root / name).mkdir(parents=True)
    (root / "etc/version").write_text(word)
    (root / "usr/bin/tool").write_text(f"#!/bin/sh\necho {word}\n")
    (root / "usr/bin/tool").chmod(0o4755)
    # As in two images: same name, same size, same date, another content.
    os.utime(root / "etc/version", (1, 1))


@pytest.fixture
def jail(tmp_path):
    return Jail(tmp_path)


IMAGE = {"etc/version": "image", "usr/bin/tool": "#!/bin/sh\necho image\n", POPULATED: ""}


def test_an_empty_volume_becomes_the_images_root(jail):
    (jail.path / "lost+found").mkdir()
    assert jail.run() == 0
    assert jail.contents() == IMAGE
    assert (jail.path / "usr/bin/tool").stat().st_mode & 0o7777 == 0o4755
    assert (jail.path / "lost+found").is_dir()


def test_sshd_may_chroot_into_it(jail):
    jail.path.chmod(0o777)
    assert jail.run() == 0
    assert jail.path.stat().st_mode & 0o7777 == 0o755
    assert jail.path.stat().st_uid == 0


def test_root_may_log_in_anywhere_with_the_jails_own_key(jail):
    assert jail.run() == 0
    public, allowed = jail.keys()
    assert public.startswith("ecdsa-")
    assert allowed == public


def test_a_populated_jail_stays_as_it_is(jail):
    assert jail.run() == 0
    (jail.path / "etc/version").write_text("a user's")
    before = jail.keys()
    assert jail.run() == 0
    assert (jail.path / "etc/version").read_text() == "a user's"
    assert jail.keys() == before


def test_overwriting_leaves_nothing_but_the_new_root(jail):
    assert jail.run() == 0
    (jail.path / "home/alice").mkdir(parents=True)
    (jail.path / "home/alice/data").write_text("old")
    (jail.path / "tmp/old").write_text("old")
    (jail.image / "etc/version").write_text("other")
    os.utime(jail.image / "etc/version", (1, 1))
    assert jail.run(overwrite=True) == 0
    assert jail.contents() == {**IMAGE, "etc/version": "other"}


def test_a_snapshot_with_files_is_the_source(jail):
    fill(jail.snapshot, "taken")
    (jail.snapshot / POPULATED).write_text("of the jail it was taken from")
    (jail.snapshot / "tmp/old").write_text("old")
    assert jail.run() == 0
    assert jail.contents() == {
        "etc/version": "taken",
        "usr/bin/tool": "#!/bin/sh\necho taken\n",
        POPULATED: "",
    }


def test_an_empty_snapshot_is_none(jail):
    (jail.snapshot / "lost+found").mkdir()
    assert jail.run() == 0
    assert jail.contents() == IMAGE


@pytest.mark.parametrize("sign", [".populated", "two folders"])
def test_a_jail_of_an_earlier_version_is_marked_and_kept(jail, sign):
    fill(jail.path, "in use")
    if sign == ".populated":
        (jail.path / sign).touch()
        (jail.path / "dev").rmdir()
    assert jail.run() == 0
    assert jail.populated
    assert not (jail.path / ".populated").exists()
    assert jail.contents()["etc/version"] == "in use"


def test_other_files_are_never_deleted_unasked(jail):
    (jail.path / "thesis").write_text("the only copy")
    assert jail.run() == 1
    assert "OVERWRITE=1" in jail.said
    assert not jail.populated
    assert jail.contents() == {"thesis": "the only copy"}
    assert jail.run(overwrite=True) == 0
    assert jail.contents() == IMAGE


def test_half_a_copy_is_made_whole(jail):
    (jail.path / ".populating").touch()
    fill(jail.path, "image")
    (jail.path / "usr/bin/tool").write_text("#!/bin")
    (jail.path / "usr/other").write_text("of another image")
    assert jail.run() == 0
    assert jail.contents() == IMAGE


def starts(kind, jail):
    """Bring a jail into one of the states that a run may find; say whether to overwrite."""
    if kind == "full":
        fill(jail.path, "old")
        (jail.path / "etc/old").write_text("old")
        (jail.path / POPULATED).touch()
    return kind == "full"


@pytest.mark.parametrize("at", range(1, CALLS + 1))
@pytest.mark.parametrize("kind", ["empty", "full"])
def test_killed_at_any_step_and_started_again_it_gives_the_same_end(jail, kind, at):
    overwrite = starts(kind, jail)
    killed = jail.run(overwrite=overwrite, kill_at=at) != 0
    # Whoever sees the mark may rely on every file.
    if jail.populated and (jail.contents() != IMAGE):
        assert kind == "full"
        assert jail.contents()["etc/old"] == "old"
        assert killed
    # The second run may have been told nothing of overwriting, unless the first had not begun.
    assert jail.run(overwrite=overwrite and jail.populated) == 0
    assert jail.contents() == IMAGE
    public, allowed = jail.keys()
    assert public in allowed


@pytest.mark.parametrize("at", range(1, 7))
def test_a_jail_in_use_survives_any_end_of_its_marking(jail, at):
    fill(jail.path, "in use")
    (jail.path / ".populated").touch()
    jail.run(kill_at=at)
    assert jail.contents()["etc/version"] == "in use"
    assert jail.run() == 0
    assert jail.contents()["etc/version"] == "in use"
    assert jail.populated


@pytest.mark.parametrize("kind", ["empty", "full"])
def test_the_tests_kill_a_run_at_each_of_its_calls(jail, kind):
    overwrite = starts(kind, jail)
    assert jail.run(overwrite=overwrite) == 0
    assert len(jail.count.read_text()) == CALLS


def test_two_runs_at_once_give_one_jail(jail):
    words = ["bash", SCRIPT, jail.path, jail.snapshot, jail.image]
    for number in range(300):
        (jail.image / f"usr/{number}").write_text("x" * number)
    environment = {"PATH": SYSTEM_PATH, "OVERWRITE": "0"}
    runs = [
        subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [run.communicate()[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0]
    assert sum("copying" in text for text in said) == 1
    assert {f"usr/{number}" for number in range(300)} <= set(jail.contents())
    assert jail.populated
