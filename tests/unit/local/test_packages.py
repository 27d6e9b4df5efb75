import os
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.host.run import CommandError
from shoal.local import packages
from shoal.local.errors import LocalError
from shoal.local.packages import Need
from shoal.local.settings import Settings


class Silent:
    def __init__(self) -> None:
        self.said: list[tuple[str, int, int]] = []

    def at(self, what: str, done: int = 0, total: int = 0) -> None:
        self.said.append((what, done, total))


def make_settings(tmp_path: Path, *path: Path, offline: bool = False) -> Settings:
    environment = {"PATH": ":".join(map(str, path))}
    return Settings(tmp_path / "cache", tmp_path / "state", (), offline, environment)


def make_program(file: Path, script: str = "exit 0") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


def test_a_command_that_is_there_is_not_missing(tmp_path):
    make_program(tmp_path / "bin" / "frobnicate")
    settings = make_settings(tmp_path, tmp_path / "bin")
    assert packages.missing(settings, [Need("frob", ("frobnicate",))]) == []


def test_a_file_that_cannot_be_run_is_no_command(tmp_path):
    make_program(tmp_path / "frobnicate").chmod(0o644)
    need = Need("frob", ("frobnicate",))
    assert packages.missing(make_settings(tmp_path, tmp_path), [need]) == [need]


def test_one_missing_command_of_several_asks_for_the_package(tmp_path):
    make_program(tmp_path / "frobnicate")
    need = Need("frob", ("frobnicate", "unfrobnicate"))
    assert packages.missing(make_settings(tmp_path, tmp_path), [need]) == [need]


def test_a_cni_folder_counts_only_when_it_is_complete(tmp_path):
    for name in packages.CNI_PLUGINS:
        make_program(tmp_path / "b" / name)
    make_program(tmp_path / "a" / packages.CNI_PLUGINS[0])
    assert packages.cni_folder((tmp_path / "a", tmp_path / "b")) == tmp_path / "b"
    assert packages.cni_folder((tmp_path / "a",)) is None


def test_nothing_is_run_when_nothing_is_missing(tmp_path):
    make_program(tmp_path / "frobnicate")
    settings = make_settings(tmp_path, tmp_path)
    packages.ensure(settings, None, [Need("frob", ("frobnicate",))])
    assert not settings.cache.exists()


def test_a_machine_without_apt_is_told_which_packages_it_needs(tmp_path, monkeypatch):
    monkeypatch.setattr(packages, "SBIN", ())
    with pytest.raises(LocalError) as refused:
        packages.ensure(make_settings(tmp_path), None, [Need("frob", ("frobnicate",))])
    assert "frobnicate" in refused.value.problem
    assert "frob" in refused.value.cure


def test_offline_nothing_is_fetched(tmp_path):
    make_program(tmp_path / "apt-get", "exit 1")
    settings = make_settings(tmp_path, tmp_path, offline=True)
    with pytest.raises(LocalError, match="apt-get install --no-install-recommends frob"):
        packages.ensure(settings, None, [Need("frob", ("frobnicate",))])


def allowed(policy: Path) -> bool:
    if not policy.exists():
        return True
    return subprocess.run([policy, "containerd.service", "start"], check=False).returncode != 101


def test_no_service_starts_while_packages_are_installed(tmp_path):
    policy = tmp_path / "policy-rc.d"
    with packages.no_service_starts(policy):
        assert not allowed(policy)
    assert list(tmp_path.iterdir()) == []


def test_a_policy_that_was_there_comes_back_as_it_was(tmp_path):
    policy = make_program(tmp_path / "policy-rc.d", "exit 104")
    policy.chmod(0o750)
    before = (policy.read_text(), policy.stat().st_ino, policy.stat().st_mode)
    with packages.no_service_starts(policy):
        assert not allowed(policy)
    assert (policy.read_text(), policy.stat().st_ino, policy.stat().st_mode) == before
    assert list(tmp_path.iterdir()) == [policy]


def test_a_policy_that_is_a_link_comes_back_as_a_link(tmp_path):
    policy = tmp_path / "policy-rc.d"
    policy.symlink_to("/bin/false")
    with packages.no_service_starts(policy):
        assert not allowed(policy)
    assert os.readlink(policy) == "/bin/false"


def test_a_policy_comes_back_when_the_installation_fails(tmp_path):
    policy = make_program(tmp_path / "policy-rc.d", "exit 104")
    with pytest.raises(ValueError, match="no"), packages.no_service_starts(policy):
        raise ValueError("no")
    assert "exit 104" in policy.read_text()


KILLED = """
import os, pathlib, sys
from shoal.local import packages
with packages.no_service_starts(pathlib.Path(sys.argv[1])):
    os.kill(os.getpid(), 9)
"""


def killed_while_installing(policy: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, policy], check=False)


def test_an_installer_that_was_killed_forbids_nothing_and_the_next_one_cleans_up(tmp_path):
    policy = tmp_path / "policy-rc.d"
    killed_while_installing(policy)
    assert policy.exists()
    assert allowed(policy)
    with packages.no_service_starts(policy):
        assert not allowed(policy)
    assert list(tmp_path.iterdir()) == []


def test_after_an_installer_was_killed_the_old_policy_still_decides(tmp_path):
    policy = make_program(tmp_path / "policy-rc.d", "exit 104")
    killed_while_installing(policy)
    assert subprocess.run([policy, "x", "start"], check=False).returncode == 104
    with packages.no_service_starts(policy):
        assert not allowed(policy)
    assert list(tmp_path.iterdir()) == [policy]
    assert "exit 104" in policy.read_text()


def test_apts_lines_become_progress(tmp_path):
    part = Silent()
    apt = packages.Apt(make_settings(tmp_path), part)
    for line in (
        "0 upgraded, 2 newly installed, 0 to remove and 3 not upgraded.",
        "Get:1 http://mirror.example/debian bookworm/main amd64 runc amd64 1.1.5 [2710 kB]",
        "Unpacking runc (1.1.5+ds1-1) ...",
        "Setting up runc (1.1.5+ds1-1) ...",
    ):
        apt.line(line)
    assert part.said == [
        ("downloading runc", 0, 0),
        ("unpacking runc", 1, 4),
        ("setting up runc", 2, 4),
    ]


def test_a_package_without_a_candidate_is_not_known(tmp_path):
    policy = (
        "runc:\n  Installed: (none)\n  Candidate: 1.1.5\nfrob:\n  Installed: (none)\n"
        "  Candidate: (none)\n"
    )
    make_program(tmp_path / "apt-cache", f"cat <<'E'\n{policy}E")
    apt = packages.Apt(make_settings(tmp_path, tmp_path), Silent())
    assert not apt.knows(["runc", "frob"])


@pytest.mark.parametrize(
    ("said", "cure"),
    [
        ("E: Could not get lock /var/lib/dpkg/lock-frontend.", "wait"),
        ("E: Unable to locate package frob", "universe"),
        ("W: Failed to fetch http://mirror.example/x  Could not resolve 'mirror'", "network"),
        ("something new", "see what apt says"),
    ],
)
def test_what_apt_says_comes_with_a_cure(said, cure):
    error = packages.explain(CommandError(["apt-get"], 100, said), ["frob"])
    assert cure in error.cure
    assert "frob" in error.cure
    assert said in error.problem
