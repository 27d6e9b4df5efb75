import json
import re
import subprocess
import tarfile
import tomllib
from contextlib import contextmanager
from pathlib import Path

import pytest

from shoal.local import bases, images
from shoal.local.errors import LocalError
from shoal.local.images import BUNDLE_OF, BUNDLES, GROUND, SLURM, inputs, key, named
from shoal.local.settings import Settings

ROOT = Path(__file__).parents[3]
CONTAINERFILES = sorted((ROOT / "images").glob("*/Containerfile"))
SCRIPTS = [*(ROOT / "images").rglob("*.bash"), ROOT / "images/add-packages"]


class Quiet:
    """Shows nothing and fails when asked to: a cached image has no work to show."""

    @contextmanager
    def part(self, name, expect_s):  # noqa: ARG002 - the protocol has it
        pytest.fail(f"{name} is being built")
        yield


@pytest.fixture
def programs(tmp_path):
    (tmp_path / "machine").write_bytes(b"machine")
    return tmp_path


def instructions(containerfile, word):
    text = re.sub(r"\\\n\s*", " ", containerfile.read_text())
    return re.findall(rf"^{word} (.*)$", text, re.MULTILINE)


# -- tables


def test_no_two_images_have_one_name():
    names = [recipe.name for bundle in BUNDLES for recipe in bundle.recipes]
    assert len(names) == len(set(names))


def test_every_containerfile_is_built_and_every_image_has_one():
    folders = {ROOT / bundle.reads[0] / "Containerfile" for bundle in BUNDLES}
    assert folders == set(CONTAINERFILES)


def test_both_series_of_slurm_have_every_daemon():
    assert set(SLURM) == {"24.11", "26.05"}
    for series, names in SLURM.items():
        assert names == tuple(f"{daemon}:{series}" for daemon in images.DAEMONS)


def test_the_images_of_one_series_share_an_archive():
    assert all(len({BUNDLE_OF[name].title for name in names}) == 1 for names in SLURM.values())


def test_only_the_ground_needs_go_programs():
    assert {n for n, bundle in BUNDLE_OF.items() if bundle.programs} == set(GROUND)


def test_versions_are_those_of_their_sources():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == images.VERSION


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["none"], ()),
        (["slurmd:26.05"], ("slurmd:26.05",)),
        (["login"], ("login:24.11", "login:26.05")),
        (["mariadb", "mariadb:11.8"], ("mariadb:11.8",)),
    ],
)
def test_a_user_names_images_with_or_without_a_tag(words, found):
    assert named(words) == found


@pytest.mark.parametrize("dialect", ["slinky", "nebius"])
def test_the_images_of_one_api_have_no_other_slurm_among_them(dialect):
    others = {"slinky": "worker_slurmd", "nebius": "slurmd"}
    found = {name.partition(":")[0] for name in named([dialect])}
    assert others[dialect] not in found
    assert {"mariadb", "shoal"} < found


def test_all_is_everything_but_the_ground():
    assert set(named(["all"])) == set(BUNDLE_OF) - set(GROUND)


def test_an_unknown_image_is_refused_with_the_names_that_there_are():
    with pytest.raises(LocalError, match=r"slurmd:1\.0") as refused:
        named(["slurmd:1.0"])
    assert "slurmd:26.05" in refused.value.cure


# -- Containerfiles


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda b: b.title)
def test_every_copied_file_is_in_the_context(bundle, programs):
    context = inputs(bundle, programs)
    for copy in instructions(ROOT / bundle.reads[0] / "Containerfile", "COPY"):
        if "--from=" in copy:
            continue
        words = [word for word in copy.split() if not word.startswith("--")]
        for source in words[:-1]:
            assert any(name == source or name.startswith(f"{source}/") for name in context), copy


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda b: b.title)
def test_every_target_is_a_stage_and_every_argument_is_declared(bundle):
    containerfile = ROOT / bundle.reads[0] / "Containerfile"
    stages = {words.split()[-1] for words in instructions(containerfile, "FROM")}
    declared = {words.partition("=")[0] for words in instructions(containerfile, "ARG")}
    assert {recipe.target for recipe in bundle.recipes} - {""} <= stages
    assert set(bundle.args) <= declared


@pytest.mark.parametrize("path", CONTAINERFILES, ids=lambda p: p.parent.name)
def test_only_debian_and_nothing_are_built_upon(path):
    stages: set[str] = set()
    for words in instructions(path, "FROM"):
        start, _, stage = words.partition(" AS ")
        assert start == "scratch" or start in stages or start.startswith("docker.io/library/debian")
        stages.add(stage)


@pytest.mark.parametrize("path", CONTAINERFILES, ids=lambda p: p.parent.name)
def test_every_image_says_what_it_is(path):
    labels = " ".join(instructions(path, "LABEL"))
    for label in ("title", "version", "source", "licenses"):
        assert f"org.opencontainers.image.{label}=" in labels


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: str(p.relative_to(ROOT / "images")))
def test_a_script_is_sound_shell(path):
    checked = subprocess.run(["bash", "-n", path], capture_output=True, text=True, check=False)
    assert checked.stderr == ""


# -- the words of slurmd


def words_of_slurmd(tmp_path, environment, *arguments):
    """Run slurmd's entrypoint with a fake `supervise` and `slurmd`; return slurmd's words."""
    folder = ROOT / "images/slurm"
    script = (folder / "slurmd.bash").read_text().replace("/usr/local/lib/slurm", str(folder))
    for absent in ("/etc/ssh/sshd_config", "/etc/sssd/sssd.conf"):
        script = script.replace(absent, str(tmp_path / "absent"))
    fakes = {
        "slurmd.bash": script,
        "supervise": "#!/bin/bash\nprintf '%s\\0' \"$@\"\n",
        "slurmd": "#!/bin/sh\necho NodeName=w CPUs=8 Boards=1 SocketsPerBoard=2 CoresPerSocket=2"
        " ThreadsPerCore=2 RealMemory=16000\n",
    }
    for name, text in fakes.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        ["bash", tmp_path / "slurmd.bash", *arguments],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    words = done.stdout.split("\0")[:-1]
    assert words[:3] == ["--keep", "/usr/sbin/slurmd", "--systemd"]
    return words[3:]


CONFIGLESS = ("-Z", "--conf-server", "ctl:6817")


@pytest.mark.parametrize(
    ("environment", "arguments", "node"),
    [
        ({}, ("--conf", "Feature=a Weight=2"), "Feature=a Weight=2"),
        ({}, ("--conf", "'Feature=a Weight=2'"), "Feature=a Weight=2"),
        ({}, ("--conf='Feature=a'",), "'Feature=a'"),
        ({}, ("--conf 'Feature=a Weight=2'",), "Feature=a Weight=2"),
        ({}, ("--conf", """'Feature=a Reason="b c"'"""), 'Feature=a Reason="b c"'),
        ({}, ("--conf", 'Feature=a Reason="b c"'), 'Feature=a Reason="b c"'),
        ({"POD_TOPOLOGY": "s1:u"}, ("--conf", "Feature=a"), "Feature=a Topology=s1:u"),
        ({"SLINKY_TOPOLOGY": "s1"}, ("--conf", "Feature=a"), "Feature=a Topology=s1"),
        ({"SLINKY_TOPOLOGY": "s1"}, ("--conf", """'T=1 Topology='"$SLINKY_TOPOLOGY"''"""),
         "T=1 Topology=s1"),
        ({"SLINKY_TOPOLOGY": ""}, ("--conf", """'Topology='"$SLINKY_TOPOLOGY"' Weight=2'"""),
         "Weight=2"),
        ({"POD_CPUS": "4"}, ("--conf", "Feature=a"), "Feature=a CoreSpecCount=2"),
        ({"POD_CPUS": "8"}, ("--conf", "Feature=a"), "Feature=a"),
        ({"POD_CPUS": "1"}, ("--conf", "Feature=a"), "Feature=a CoreSpecCount=3"),
        ({"POD_CPUS": "4"}, ("--conf", "corespeccount=1"), "corespeccount=1"),
        ({"POD_MEMORY": "6000"}, ("--conf", "Feature=a"), "Feature=a MemSpecLimit=10000"),
        ({"POD_MEMORY": "0", "POD_CPUS": "0"}, ("--conf", "Feature=a"), "Feature=a"),
        ({"POD_MEMORY": "15999"}, (), "MemSpecLimit=1"),
    ],
)  # fmt: skip
def test_slurmd_gets_the_node_as_it_was_written(tmp_path, environment, arguments, node):
    words = words_of_slurmd(tmp_path, environment, *CONFIGLESS, *arguments)
    assert words == [*CONFIGLESS, "--conf", node]


def test_options_of_the_environment_come_before_the_arguments(tmp_path):
    words = words_of_slurmd(tmp_path, {"SLURMD_OPTIONS": "-v -N 'a b'"}, "-b")
    assert words == ["-v", "-N", "a b", "-b"]


def test_a_node_of_slurm_conf_gets_no_node_line(tmp_path):
    assert words_of_slurmd(tmp_path, {"POD_CPUS": "2"}, "-N", "w-0") == ["-N", "w-0"]


# -- keys and archives


def slurm(tmp_path):
    """Return a bundle's inputs as copies that a test may change."""
    bundle = BUNDLE_OF["slurmd:26.05"]
    copies = {}
    for name, file in inputs(bundle, None).items():
        copies[name] = tmp_path / name
        copies[name].parent.mkdir(parents=True, exist_ok=True)
        copies[name].write_bytes(file.read_bytes())
        copies[name].chmod(file.stat().st_mode)
    return bundle, copies


def test_the_same_files_give_the_same_key(tmp_path):
    bundle, copies = slurm(tmp_path)
    assert key(bundle, copies) == key(bundle, inputs(bundle, None))


@pytest.mark.parametrize("change", [lambda f: f.write_text("x"), lambda f: f.chmod(0o644)])
def test_a_changed_file_or_mode_gives_another_key(tmp_path, change):
    bundle, copies = slurm(tmp_path)
    before = key(bundle, copies)
    change(copies["images/slurm/supervise"])
    assert key(bundle, copies) != before


def test_the_two_series_have_keys_of_their_own():
    old, new = (BUNDLE_OF[f"slurmd:{series}"] for series in ("24.11", "26.05"))
    assert key(old, inputs(old, None)) != key(new, inputs(new, None))
    assert bases.key("trixie") != bases.key("forky")


def test_only_forky_goes_without_a_validity_date():
    assert "Valid-Until" in " ".join(bases.options("forky"))
    assert "Valid-Until" not in " ".join(bases.options("trixie"))


def test_what_is_cached_is_neither_built_nor_fetched(tmp_path, programs):
    settings = Settings(tmp_path / "cache", tmp_path / "state", offline=True)
    wanted = ("slurmd:26.05", *GROUND, "slurmctld:26.05")
    for bundle in {BUNDLE_OF[name] for name in wanted}:
        archive = settings.cache / "images" / f"{key(bundle, inputs(bundle, programs))}.oci.tar"
        archive.parent.mkdir(parents=True, exist_ok=True)
        archive.touch()
    found = images.build(settings, wanted, programs, Quiet())
    assert [image.name for image in found] == [f"docker.io/shoal/{name}" for name in wanted]
    assert found[0].archive == found[2].archive != found[1].archive
    assert all(image.archive.name == f"{image.key}.oci.tar" for image in found)


def test_offline_says_what_is_missing_instead_of_fetching_it(tmp_path):
    settings = Settings(tmp_path / "cache", tmp_path / "state", offline=True)
    with pytest.raises(LocalError, match=r"Slurm 26\.05 are not in the cache"):
        images.build(settings, ["login:26.05"], None, Quiet())


def test_an_image_of_a_program_says_that_the_program_is_missing(tmp_path):
    settings = Settings(tmp_path / "cache", tmp_path / "state")
    with pytest.raises(LocalError, match="the program machine"):
        images.build(settings, ["pause:1"], None, Quiet())


def test_the_same_layout_gives_the_same_archive(tmp_path):
    packed = []
    for turn, order in enumerate((("b", "a"), ("a", "b"))):
        layout = tmp_path / str(turn)
        (layout / "blobs").mkdir(parents=True)
        for name in order:
            (layout / "blobs" / name).write_text(name)
        (layout / "index.json").write_text(json.dumps({}))
        images.pack(layout, tmp_path / f"{turn}.tar")
        packed.append((tmp_path / f"{turn}.tar").read_bytes())
    assert packed[0] == packed[1]
    with tarfile.open(tmp_path / "0.tar") as archive:
        assert archive.getnames() == ["blobs/a", "blobs/b", "index.json"]


# -- mirrors and failures


def test_a_debian_machine_lends_its_mirrors():
    targets = (
        "Debian Debian http://m/debian/\nOther X http://x/\nDebian Debian-Security http://s/\n"
    )
    assert bases.sources("trixie", targets) == [
        "deb http://m/debian/ trixie main",
        "deb http://m/debian/ trixie-updates main",
        "deb http://s/ trixie-security main",
    ]


def test_another_distribution_gets_debians_own_mirror():
    assert bases.sources("trixie", "Ubuntu Ubuntu http://u/ubuntu/\n") == []


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("write /x: no space left on device", "the disk is full"),
        ("E: Failed to fetch http://m/x  Could not resolve 'm'", "cannot be reached"),
        ("buildah: not found", "is missing"),
        ("W: GPG error: http://m: NO_PUBKEY 1", "signatures"),
        ("make: *** 42", "do not build"),
    ],
)
def test_a_failure_is_told_with_its_last_words(tmp_path, said, problem):
    error = images.explain(f"much before\n{said}", "Slurm", tmp_path)
    assert problem in error.problem
    assert error.problem.endswith(said)
