import re
import threading
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from shoal.local import brought, catalogue, gobuild, programs, toolchain
from shoal.local.catalogue import KWOK_ALONE, PROGRAMS, SHARED
from shoal.local.errors import LocalError
from shoal.local.settings import Settings

# What our own code asks of Go, played by a shell script that keeps a diary.
FAKE_GO = """
echo "$@" >> {diary}
env | grep '^GO' | sort > {diary}.env
case $1 in
version) echo "go version go{version} linux/amd64" ;;
list) echo "go: downloading example.org/a v1.0.0"; echo example.org/a; echo "example.org/m main" ;;
build)
    echo example.org/a
    {build}
    while [ $# -gt 0 ]; do
        case $1 in
        -o) out=$2; mkdir -p "$out"; shift ;;
        -ldflags) shift ;;
        */v3) echo built > "$out/server" ;;
        */*) echo built > "$out/${{1##*/}}"; chmod +x "$out/${{1##*/}}" ;;
        esac
        shift
    done ;;
esac
"""


class Heard:
    def __init__(self) -> None:
        self.parts: list[str] = []
        self.said: list[tuple[str, int, int]] = []

    @contextmanager
    def part(self, name: str, expect_s: float):
        assert expect_s > 0
        self.parts.append(name)
        yield self

    def at(self, what: str, done: int = 0, total: int = 0) -> None:
        self.said.append((what, done, total))


def make_program(file: Path, script: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


def make_go(folder: Path, version: str = "1.26.8", build: str = "") -> Path:
    script = FAKE_GO.format(diary=folder / "diary", version=version, build=build)
    return make_program(folder / "go", script)


def make_settings(tmp_path: Path, *path: Path, brought: tuple[Path, ...] = ()) -> Settings:
    folders = [*path, Path("/usr/bin"), Path("/bin")]
    environment = {"PATH": ":".join(map(str, folders))}
    return Settings(tmp_path / "cache", tmp_path / "state", brought, environment=environment)


def builds(folder: Path) -> list[str]:
    return [line for line in (folder / "diary").read_text().splitlines() if line[:6] == "build "]


@pytest.fixture(autouse=True)
def _no_go_of_this_machine(monkeypatch, tmp_path):
    monkeypatch.setattr(toolchain, "USUAL", tmp_path / "nowhere")


# The table


def required(module: catalogue.Module) -> dict[str, str]:
    lines = re.findall(r"^\t(\S+) v(\S+)", (module.folder / "go.mod").read_text(), re.MULTILINE)
    return dict(lines)


@pytest.mark.parametrize(
    ("module", "requirement", "version"),
    [
        (SHARED, "k8s.io/kubernetes", programs.KUBERNETES),
        (SHARED, "go.etcd.io/etcd/server/v3", programs.ETCD),
        (SHARED, "helm.sh/helm/v3", programs.HELM),
        (SHARED, "github.com/coredns/coredns", programs.COREDNS),
        (KWOK_ALONE, "sigs.k8s.io/kwok", programs.KWOK),
    ],
)
def test_the_versions_are_those_that_go_mod_has(module, requirement, version):
    assert required(module)[requirement] == version


def test_kubernetes_own_modules_are_all_of_its_version():
    text = (SHARED.folder / "go.mod").read_text()
    replaced = dict(re.findall(r"^\t(\S+) => \1 v(\S+)$", text, re.MULTILINE))
    assert len(replaced) == 31
    assert set(replaced.values()) == {f"0.{programs.KUBERNETES.partition('.')[2]}"}


def test_a_program_of_ours_has_its_source_here():
    for program in PROGRAMS.values():
        assert not program.ours or list((program.module.folder / program.package).glob("*.go"))


def test_the_toolchain_that_we_bring_can_build_the_modules():
    for module in (SHARED, KWOK_ALONE):
        needed = toolchain.numbers(toolchain.needed(module.folder))
        assert toolchain.numbers(toolchain.carried()) >= needed


# The key


def make_module(folder: Path) -> Path:
    for name in ("go.mod", "go.sum", "machine/main.go", "storage/main.go", "shared/shared.go"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


@pytest.mark.parametrize(
    ("edited", "changed"),
    [
        ("go.mod", {"kubelet", "machine", "storage"}),
        ("go.sum", {"kubelet", "machine", "storage"}),
        ("machine/main.go", {"machine"}),
        ("machine/new.go", {"machine"}),
        ("machine/main_test.go", set()),
        ("shared/shared.go", {"machine", "storage"}),
    ],
)
def test_a_key_changes_with_what_a_program_is_built_of_and_nothing_else(tmp_path, edited, changed):
    module = make_module(tmp_path)

    def keys() -> dict[str, str]:
        every = ("kubelet", "machine", "storage")
        return {name: programs.key(PROGRAMS[name], module, "1.26") for name in every}

    before = keys()
    (module / edited).write_text("edited")
    after = keys()
    assert {name for name in after if after[name] != before[name]} == changed


def test_a_key_changes_with_the_go_version_and_the_flags(tmp_path):
    module = make_module(tmp_path)
    kubelet = PROGRAMS["kubelet"]
    other_flags = replace(kubelet, module=replace(SHARED, ldflags="-s"))
    keys = {
        programs.key(kubelet, module, "1.26"),
        programs.key(kubelet, module, "1.27"),
        programs.key(other_flags, module, "1.26"),
    }
    assert len(keys) == 3


# Building


def test_what_is_missing_is_built_by_one_call_and_only_once(tmp_path):
    make_go(tmp_path / "bin")
    settings = make_settings(tmp_path, tmp_path / "bin")
    heard = Heard()
    wanted = ("etcd", "kubelet", "machine")
    folder = programs.provide(settings, heard, wanted)
    assert sorted(file.name for file in folder.iterdir()) == sorted(wanted)
    assert all(file.read_text() == "built\n" for file in folder.iterdir())
    assert programs.provide(settings, heard, wanted) == folder
    assert len(builds(tmp_path / "bin")) == 1
    assert heard.parts == ["programs"]


def test_a_program_more_builds_that_program_alone(tmp_path):
    make_go(tmp_path / "bin")
    settings = make_settings(tmp_path, tmp_path / "bin")
    programs.provide(settings, Heard(), ("kubelet",))
    programs.provide(settings, Heard(), ("kubelet", "helm"))
    first, second = builds(tmp_path / "bin")
    assert first.endswith("/programs/ k8s.io/kubernetes/cmd/kubelet")
    assert second.endswith("/programs/ helm.sh/helm/v3/cmd/helm")


def test_kwok_is_built_from_its_own_module(tmp_path):
    make_go(tmp_path / "bin")
    heard = Heard()
    settings = make_settings(tmp_path, tmp_path / "bin")
    programs.provide(settings, heard, ("kubelet", "kwok"))
    assert heard.parts == ["programs", "kwok"]
    assert "kwok" not in programs.DEFAULT


def test_two_at_once_build_once_and_the_second_says_that_it_waits(tmp_path):
    make_go(tmp_path / "bin", build="sleep 0.5")
    settings = make_settings(tmp_path, tmp_path / "bin")
    heard = Heard()
    threads = [
        threading.Thread(target=programs.provide, args=(settings, heard, ("kubelet",)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert len(builds(tmp_path / "bin")) == 1
    assert ("waiting for another process that builds them", 0, 0) in heard.said


def test_a_build_that_fails_leaves_nothing_but_its_log(tmp_path):
    make_go(tmp_path / "bin", build="echo './x.go:1:1: syntax error'; exit 1")
    settings = make_settings(tmp_path, tmp_path / "bin")
    with pytest.raises(LocalError, match="syntax error") as failed:
        programs.provide(settings, Heard(), ("kubelet",))
    left = settings.cache / "programs"
    assert str(left / "build.log") in failed.value.cure
    assert [file.name for file in left.iterdir()] == ["build.log"]


def test_a_full_disk_is_said_even_when_the_log_does_not_fit(tmp_path):
    make_go(tmp_path / "bin", build="echo 'write x: no space left on device'; exit 1")
    settings = make_settings(tmp_path, tmp_path / "bin")
    (settings.cache / "programs" / "build.log").mkdir(parents=True)
    with pytest.raises(LocalError, match="the disk is full"):
        programs.provide(settings, Heard(), ("kubelet",))


def test_the_scratch_folder_of_a_killed_build_goes_with_the_next(tmp_path):
    make_go(tmp_path / "bin")
    settings = make_settings(tmp_path, tmp_path / "bin")
    dead = settings.cache / "programs" / ".building-1"
    dead.mkdir(parents=True)
    programs.provide(settings, Heard(), ("kubelet",))
    assert not dead.exists()


def test_the_users_proxy_reaches_go_and_the_users_flags_do_not(tmp_path):
    settings = make_settings(tmp_path)
    theirs = {"GOPROXY": "https://proxy.example", "GOFLAGS": "-mod=vendor", "GOOS": "plan9"}
    given = gobuild.environment(replace(settings, environment=theirs), tmp_path)
    assert given["GOPROXY"] == "https://proxy.example"
    assert given["GOFLAGS"] == "-buildvcs=false -mod=readonly"
    assert "GOOS" not in given


def test_offline_go_asks_no_proxy(tmp_path):
    settings = replace(make_settings(tmp_path), offline=True)
    assert gobuild.environment(settings, tmp_path)["GOPROXY"] == "off"


def test_gos_lines_become_progress():
    heard = Heard()
    counted = gobuild.Counted(heard)
    counted.fetching("go: downloading example.org/a v1.0.0")
    counted.expect("go: downloading example.org/a v1.0.0\n\nexample.org/a\nexample.org/m main\n")
    counted.compiling("example.org/a")
    counted.compiling("example.org/m")
    assert heard.said == [
        ("downloading example.org/a (1)", 0, 0),
        ("compiling", 0, 2),
        ("compiling example.org/a", 1, 2),
        ("linking example.org/m", 2, 2),
    ]


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ('go: x@v1: Get "https://p.example": dial tcp: lookup p: no such host', "registry"),
        ("go: x@v1: reading https://p.example/x: 502 Bad Gateway", "registry"),
        ("verifying x@v1: checksum mismatch\n\tdownloaded: h1:a", "not the one that go.sum names"),
        ("write /tmp/x: no space left on device", "disk is full"),
        ("go: x@v1: module lookup disabled by GOPROXY=off", "switched off"),
        ("open /cache/x: permission denied", "cannot be written"),
        ("k8s.io/api: compile: signal: killed", "memory"),
        ("missing go.sum entry for module providing package x", "do not cover"),
        ("a.go:1:2: undefined: x", "do not build"),
    ],
)
def test_what_go_says_comes_with_a_cure(tmp_path, said, problem):
    error = gobuild.explain(f"internal/abi\n{said}\n", make_settings(tmp_path))
    assert problem in error.problem
    assert said.splitlines()[0] in error.problem
    assert "internal/abi" not in error.problem
    assert error.cure


# Which Go


def test_a_go_that_is_too_old_is_passed_over_for_a_newer_one(tmp_path):
    make_go(tmp_path / "old", "1.19.8")
    newer = make_go(tmp_path / "new", "1.25.1")
    settings = make_settings(tmp_path, tmp_path / "old", tmp_path / "new")
    assert toolchain.choose(settings, "1.24.0") == toolchain.Toolchain(newer, "1.25.1")


def test_a_machine_without_go_gets_one_into_the_cache(tmp_path):
    settings = make_settings(tmp_path)
    chosen = toolchain.choose(replace(settings, environment={}), "1.24.0")
    assert chosen.go.is_relative_to(settings.cache)
    assert chosen.version == toolchain.carried()


def test_offline_a_missing_go_is_an_error_with_a_cure(tmp_path):
    settings = replace(make_settings(tmp_path), environment={}, offline=True)
    with pytest.raises(LocalError, match="install Go"):
        programs.provide(settings, Heard(), ("kubelet",))


# Brought programs


def make_kubernetes(folder: Path, name: str, version: str) -> Path:
    return make_program(
        folder / name, f"echo run >> {folder}/{name}.diary; echo Kubernetes v{version}"
    )


def test_what_the_user_brings_needs_no_go(tmp_path):
    named = tmp_path / "named"
    for name in programs.DEFAULT:
        make_kubernetes(named, name, "1.34.1")
    settings = make_settings(tmp_path, brought=(named,))
    heard = Heard()
    folder = programs.provide(settings, heard)
    assert {file.name for file in folder.iterdir()} == set(programs.DEFAULT)
    assert (named / "kubelet.diary").read_text() == "run\n"
    assert heard.parts == []


def test_a_brought_program_of_another_minor_is_refused_by_name(tmp_path):
    file = make_kubernetes(tmp_path / "named", "kubelet", "1.32.4")
    settings = make_settings(tmp_path, brought=(tmp_path / "named",))
    with pytest.raises(LocalError) as refused:
        programs.provide(settings, Heard(), ("kubelet",))
    assert str(file) in refused.value.problem
    assert "1.32.4" in refused.value.problem
    assert "SHOAL_BIN_DIR" in refused.value.cure


def test_a_brought_program_that_does_not_run_is_refused(tmp_path):
    make_program(tmp_path / "named" / "kubelet", "exit 1")
    settings = make_settings(tmp_path, brought=(tmp_path / "named",))
    with pytest.raises(LocalError, match="does not tell its version"):
        programs.provide(settings, Heard(), ("kubelet",))


def test_a_named_folder_that_does_not_exist_is_refused(tmp_path):
    settings = make_settings(tmp_path, brought=(tmp_path / "typo",))
    with pytest.raises(LocalError, match="no such folder"):
        programs.provide(settings, Heard(), ("kubelet",))


def test_the_first_named_folder_wins(tmp_path):
    first = make_kubernetes(tmp_path / "first", "kubelet", "1.34.0")
    make_kubernetes(tmp_path / "second", "kubelet", "1.34.4")
    settings = make_settings(tmp_path, brought=(tmp_path / "first", tmp_path / "second"))
    assert brought.named(settings, PROGRAMS["kubelet"]) == first


def test_the_path_is_used_where_it_has_exactly_our_version(tmp_path):
    make_kubernetes(tmp_path / "other", "kubelet", "1.34.3")
    right = make_kubernetes(tmp_path / "right", "kubelet", programs.KUBERNETES)
    settings = make_settings(tmp_path, tmp_path / "other", tmp_path / "right")
    assert brought.on_path(settings, PROGRAMS["kubelet"]) == right


def test_another_version_on_the_path_is_passed_over_in_silence(tmp_path):
    make_kubernetes(tmp_path / "bin", "kubectl", "1.32.4-dispatcher")
    make_go(tmp_path / "bin")
    settings = make_settings(tmp_path, tmp_path / "bin")
    folder = programs.provide(settings, Heard(), ("kubectl",))
    assert (folder / "kubectl").read_text() == "built\n"


@pytest.mark.parametrize("name", ["coredns", "machine", "storage"])
def test_our_own_programs_are_never_taken_from_the_path(tmp_path, name):
    make_kubernetes(tmp_path / "bin", name, programs.COREDNS)
    settings = make_settings(tmp_path, tmp_path / "bin")
    assert brought.on_path(settings, PROGRAMS[name]) is None


def test_a_brought_program_is_used_where_it_is(tmp_path):
    file = make_kubernetes(tmp_path / "named", "kubelet", "1.34.1")
    settings = make_settings(tmp_path, brought=(tmp_path / "named",))
    folder = programs.provide(settings, Heard(), ("kubelet",))
    assert (folder / "kubelet").resolve() == file


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("Kubernetes v1.34.4", "1.34.4"),
        ('{"clientVersion": {"minor": "32+", "gitVersion": "v1.32.4-dispatcher"}}', "1.32.4"),
        ("v3.19.5+gabcdef0", "3.19.5"),
        ("etcd Version: 3.6.5\nGo Version: go1.26.8", "3.6.5"),
        ("kwok version v0.7.0 go1.26.8 (linux/amd64)", "0.7.0"),
        ("usage: kubelet", None),
    ],
)
def test_versions_are_read_from_what_programs_say(text, version):
    assert brought.version(text) == version
