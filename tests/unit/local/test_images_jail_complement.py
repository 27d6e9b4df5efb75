"""What the script that gives a jail its node promises, in a mount namespace of this machine."""

import os
import subprocess
from pathlib import Path

import pytest

from shoal.local.buildah import SYSTEM_PATH

SCRIPT = Path(__file__).parents[3] / "images/jail/complement_jail.sh"
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="mounting is root's")

# Slurm's packages and programs are not on this machine: these stand in for what asks for them.
DPKG = "#!/bin/sh\necho /usr/bin/env\n"
LDD = "#!/bin/sh\necho 'library => /usr/lib/os-release (0x1)'\n"
CHROOT = '#!/bin/sh\n[ "$2" = ldconfig ] || exit ${SLURM_RUNS-0}\n'
COMPLEMENT = 'bash "$SCRIPT" -j "$JAIL" -u "$UPPER" -w || exit; '


class Container:
    """A jail and the folder of its submounts, in a mount namespace that goes with each command."""

    def __init__(self, folder):
        self.jail, self.upper, self.programs = (
            folder / name for name in ("jail", "upper", "programs")
        )
        for place in (self.jail, self.upper, self.programs):
            place.mkdir()
        for name in ("dev", "etc", "proc", "root", "run", "sys", "tmp", "usr/bin", "usr/lib"):
            (self.jail / name).mkdir(parents=True)
        for name, text in (("dpkg", DPKG), ("ldd", LDD), ("chroot", CHROOT)):
            (self.programs / name).write_text(text)
            (self.programs / name).chmod(0o755)

    def run(self, script, **variables):
        """Run shell in a namespace of its own; return what it says."""
        environment = {
            "PATH": f"{self.programs}:{SYSTEM_PATH}",
            "SCRIPT": str(SCRIPT),
            "JAIL": str(self.jail),
            "UPPER": str(self.upper),
            **variables,
        }
        words = ["unshare", "--mount", "--propagation=private", "bash", "-c", script]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def look(self):
        """The command that prints what is mounted in the jail."""
        return f"awk '{{ print $5 }}' /proc/self/mountinfo | grep '^{self.jail}/' | sort"

    def mounted(self, before="", after="", **variables):
        """Complement the jail; return what is mounted in it, as often as it is."""
        said = self.run(f"{before}\n{COMPLEMENT}{after}\n{self.look}", **variables)
        return [line.removeprefix(f"{self.jail}/") for line in said.splitlines() if "/" in line]


@pytest.fixture
def container(tmp_path):
    return Container(tmp_path)


def test_a_jail_gets_what_every_root_has(container):
    mounted = container.mounted()
    for place in ("proc", "sys", "dev", "run", "tmp", "var/log", "etc/hosts", "usr/bin/env"):
        assert mounted.count(place) == 1, place


def test_a_second_run_mounts_nothing_more(container):
    # At once, as what the machine itself has mounted changes.
    said = container.run(
        f"{COMPLEMENT}\n{container.look}\necho\n{COMPLEMENT * 3}\n{container.look}"
    )
    once, _, again = said.rpartition("\n\n")
    assert once.split() == again.split()
    assert once


def test_a_volume_appears_at_its_place_below_the_root(container):
    (container.upper / "mnt/my data").mkdir(parents=True)
    mount = 'mount -t tmpfs tmpfs "$UPPER/mnt/my data"; echo kept >"$UPPER/mnt/my data/word"'
    assert container.run(f'{mount}; {COMPLEMENT} cat "$JAIL/mnt/my data/word"').endswith("kept\n")


def test_the_pods_own_token_stays_outside(container):
    secret = (
        "mount -t tmpfs tmpfs /run; mkdir -p /run/secrets/token /run/munge;"
        "mount -t tmpfs tmpfs /run/secrets/token; echo token >/run/secrets/token/word;"
        "mount -t tmpfs tmpfs /run/munge; touch /run/munge/socket;"
    )
    said = container.run(f'{secret}{COMPLEMENT} ls "$JAIL/run/munge" "$JAIL/run/secrets/token"')
    assert "socket" in said
    assert "word" not in said


def test_a_link_in_the_jail_never_leads_out_of_it(container):
    outside = container.jail.parent / "outside"
    outside.write_text("the container's")
    (container.jail / "etc/hosts").symlink_to(outside)
    container.run(COMPLEMENT)
    assert outside.read_text() == "the container's"
    assert not (container.jail / "etc/hosts").is_symlink()


def test_slurm_that_does_not_run_in_the_jail_is_taken_out_again(container):
    assert "usr/bin/env" in container.mounted()
    assert "usr/bin/env" not in container.mounted(SLURM_RUNS="1")


@pytest.mark.parametrize(("own", "mounted"), [("", 1), ("the jail's", 0)])
def test_a_library_of_slurms_is_added_and_never_replaced(container, own, mounted):
    (container.jail / "usr/lib/os-release").write_text(own)
    assert container.mounted().count("usr/lib/os-release") == mounted


def test_only_a_worker_shows_its_spool(container):
    spool = Path("/var/spool/slurmd")
    make = f"mount -t tmpfs tmpfs /var/spool; mkdir {spool};"
    assert "var/spool/slurmd" in container.mounted(before=make)
    login = COMPLEMENT.replace(" -w", "")
    look = "grep -c jail/var/spool /proc/self/mountinfo || true"
    assert container.run(f"{make}{login}{look}").splitlines()[-1] == "0"
