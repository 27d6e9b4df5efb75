"""What cannot be done is refused with the reason and the cure, and nothing is left of the try."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from .clusters import UNPRIVILEGED, Done, Local, run


@pytest.fixture
def alone(environment: Mapping[str, str], tmp_path: Path) -> Iterator[Mapping[str, str]]:
    """Give an environment with an empty state folder."""
    state = tmp_path / "state"
    found = {**environment, "SHOAL_STATE": str(state)}
    yield found
    # Only a refusal that failed leaves a cluster; it must not stay.
    for file in state.glob("*/cluster.json"):
        Local(file.parent.name, found).shoal("down")


def refused(done: Done, *words: str) -> None:
    """See that it was refused in these words, with a cure and without a trace."""
    assert done.code == 1, done
    assert "cure:" in done.err
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err


def shoal(environment: Mapping[str, str], *words: str) -> Done:
    return run("shoal", "local", *words, env=environment, check=False, timeout_s=60)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--nodes=0"], ["--nodes 0", "1 to 200"]),
        (["--nodes=-1"], ["--nodes -1", "1 to 200"]),
        (["--nodes=9999"], ["--nodes 9999", "1 to 200"]),
        (["--name="], ["--name", "a-z"]),
        (["--name=Big"], ["--name 'Big'", "a-z"]),
        (["--name=../there"], ["--name '../there'", "a-z"]),
        (["--name=" + 31 * "a"], ["--name", "1 to 30"]),
        (["--with=nonsense"], ["--with nonsense", "controller-manager"]),
        (["--images=nonsense"], ["nonsense", "slurmd:26.05"]),
        (["--control-plane-only", "--nodes=2"], ["--nodes", "--control-plane-only"]),
        (["--control-plane-only", "--images=slurmd"], ["--images", "nodes"]),
        (["--control-plane-only", "--port=99999"], ["--port 99999", "65535"]),
        (["--port=20000"], ["--port", "--control-plane-only"]),
    ],
    ids=lambda value: " ".join(value) if value[0].startswith("--") else "",
)
def test_up_refuses_what_cannot_be_and_names_the_option_and_the_cure(alone, words, said):
    refused(shoal(alone, "up", *words), *said)
    assert not Path(alone["SHOAL_STATE"]).exists() or not [*Path(alone["SHOAL_STATE"]).glob("*/")]


EVERY_COMMAND = (
    ["status"],
    ["env"],
    ["kubeconfig"],
    ["load", "slurmd"],
    ["logs"],
    ["exec", "n0", "true"],
    ["node", "stop", "n0"],
    ["node", "start", "n0"],
    ["node", "reboot", "n0"],
    ["node", "partition", "n0"],
    ["node", "heal", "n0"],
)


@pytest.mark.parametrize("words", EVERY_COMMAND, ids=" ".join)
def test_a_command_on_a_cluster_that_is_not_there_says_which_there_are(t3, words):
    done = shoal(t3.environment, *words, "--name=nowhere")
    refused(done, "there is no cluster nowhere", "there is: t3")


@pytest.mark.parametrize("words", [["status"], ["exec", "n0", "true"], ["down"]], ids=" ".join)
def test_a_name_never_leads_out_of_the_state_folder(t3, words):
    outside = f"../{t3.folder.parent.name}/t3"
    environment = {**t3.environment, "SHOAL_STATE": str(t3.folder.parents[1] / "elsewhere")}
    refused(shoal(environment, *words, f"--name={outside}"), "is no cluster name")
    assert t3.folder.is_dir()


@pytest.mark.parametrize("command", ["stop", "start", "reboot", "partition", "heal"])
def test_a_node_that_is_not_there_is_named_with_those_that_are(t3, command):
    refused(t3.shoal(f"node {command}", "n7", check=False), "no node n7", "n0, n1, n2")


def test_a_machine_or_log_that_is_not_there_is_named_with_those_that_are(t3):
    refused(t3.shoal("exec", "n7", "true", check=False), "no machine n7", "cp, n0, n1, n2")
    refused(t3.shoal("logs", "n7", check=False), "no machine n7", "cp, n0, n1, n2")
    refused(t3.shoal("logs", "n0", "nonsense", check=False), "no log of nonsense", "kubelet")


def test_an_image_or_archive_that_is_not_there_is_refused(t3):
    refused(t3.shoal("load", "nonsense:1", check=False), "nonsense:1", "slurmd:26.05")
    refused(t3.shoal("load", "./nothing.tar", check=False), "./nothing.tar", "no such file")


def test_a_cluster_only_grows_and_keeps_its_shape(t3):
    refused(t3.shoal("up", "--nodes=2", check=False), "3 nodes, not 2", "down")
    refused(t3.shoal("up", "--nodes=9999", check=False), "--nodes 9999", "1 to 200")
    refused(t3.shoal("up", "--control-plane-only", check=False), "exists with nodes", "down")


def test_nodes_without_root_are_refused_with_the_cure(environment, tmp_path):
    own = {"SHOAL_STATE": str(tmp_path / "state"), "SHOAL_CACHE": str(tmp_path / "cache")}
    done = run(*UNPRIVILEGED, "shoal", "local", "up", env={**environment, **own}, check=False)
    refused(done, "nodes need root", "sudo", "--control-plane-only")


def test_a_folder_that_cannot_be_written_is_refused_with_the_cure(environment, tmp_path):
    own = {"SHOAL_STATE": str(tmp_path / "state"), "SHOAL_CACHE": str(tmp_path / "cache")}
    words = ("shoal", "local", "up", "--control-plane-only")
    done = run(*UNPRIVILEGED, *words, env={**environment, **own}, check=False)
    refused(done, own["SHOAL_STATE"], "set SHOAL_CACHE and SHOAL_STATE")


def test_an_unknown_option_or_command_shows_how_it_is_meant(alone):
    for words in (["upp"], ["up", "--nods=3"], ["up", "--nodes=many"]):
        done = shoal(alone, *words)
        assert done.code == 2
        assert re.search(r"^Usage: shoal local", done.err)
        assert "Traceback" not in done.err


def test_more_nodes_than_this_machine_can_watch_are_refused_before_any_is_made(alone):
    limit = int(Path("/proc/sys/fs/inotify/max_user_instances").read_text())
    if limit > 1600:
        pytest.skip(f"200 nodes fit: fs.inotify.max_user_instances is {limit}")
    refused(shoal(alone, "up", "--nodes=200"), "inotify", "fs.inotify.max_user_instances")
    assert not [*Path(alone["SHOAL_STATE"]).glob("*/")]
