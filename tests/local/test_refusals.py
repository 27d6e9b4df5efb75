"""What cannot be done is refused with the reason and the cure, and nothing is left of the try."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from .clusters import Done, Local, run

# Python may lie in a folder that only root can open; to look is all that it may do.
UNPRIVILEGED = (
    "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
    "--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search",
)  # fmt: skip


@pytest.fixture
def alone(environment: Mapping[str, str], tmp_path: Path) -> Mapping[str, str]:
    """Give an environment with an empty state folder."""
    return {**environment, "SHOAL_STATE": str(tmp_path / "state")}


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
        (["--control-plane-only", "--images=all"], ["--images", "nodes"]),
        (["--control-plane-only", "--port=99999"], ["--port 99999", "65535"]),
        (["--port=20000"], ["--port", "--control-plane-only"]),
    ],
    ids=lambda value: " ".join(value) if value[0].startswith("--") else "",
)
def test_up_refuses_what_cannot_be_and_names_the_option_and_the_cure(alone, words, said):
    refused(shoal(alone, "up", *words), *said)
    left = [path.name for path in Path(alone["SHOAL_STATE"]).glob("*/")]
    assert left == []


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


@pytest.mark.parametrize("words", [*EVERY_COMMAND, ["down"]], ids=" ".join)
def test_a_name_never_leads_out_of_the_state_folder(t3, alone, words):
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
    tmp_path.chmod(0o777)
    done = run(*UNPRIVILEGED, "shoal", "local", "up", env={**environment, **own}, check=False)
    refused(done, "nodes need root", "sudo", "--control-plane-only")


def test_a_folder_that_cannot_be_written_is_refused_with_the_cure(environment, tmp_path):
    own = {"SHOAL_STATE": str(tmp_path / "state"), "SHOAL_CACHE": str(tmp_path / "cache")}
    tmp_path.chmod(0o755)
    for words in (["up"], ["up", "--control-plane-only"]):
        done = run(*UNPRIVILEGED, "shoal", "local", *words, env={**environment, **own}, check=False)
        refused(done, str(tmp_path), "SHOAL_STATE")


def test_an_unknown_option_or_command_shows_how_it_is_meant(alone):
    for words in (["upp"], ["up", "--nods=3"], ["up", "--nodes=many"]):
        done = shoal(alone, *words)
        assert done.code == 2
        assert re.search(r"^Usage: shoal local", done.err)
        assert "Traceback" not in done.err


def test_no_command_ever_asks_a_cluster_that_is_off(make):
    cluster = make("off")
    shell = cluster.shell
    for pid in cluster.first_processes().values():
        run("kill", "-9", str(pid), env=shell)
    status = cluster.shoal("status", check=False)
    assert "NOT READY" in status.out
    refused(cluster.shoal("node start", "n0", check=False), "not running", "shoal local up")


def test_too_many_nodes_for_this_machine_are_refused_before_they_are_made(make, environment):
    many = Local("many", environment)
    done = many.shoal("up", "--nodes=200", check=False)
    refused(done, "inotify", "fs.inotify.max_user_instances")
    many.shoal("down")
