"""The commands of the guide are commands that the charts take."""

import re
import shlex

import pytest

from .helm import ROOT

GUIDE = ROOT / "docs/install.md"
FENCE = re.compile(r"^ *```sh\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
# What only counts with a cluster.
FOR_A_CLUSTER = {
    "--create-namespace", "--wait", "--install", "--reset-then-reuse-values", "--take-ownership",
}  # fmt: skip
FILE = "mine.yaml"  # of a user of SchedMD's chart


def commands():
    """Return the words of each command that installs or upgrades a chart."""
    text = "\n".join(FENCE.findall(GUIDE.read_text())).replace("\\\n", " ")
    split = (shlex.split(line) for line in text.splitlines())
    return [words[1:] for words in split if words[:1] == ["helm"] and words[1] in VERBS]


VERBS = ("install", "upgrade")


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_a_command_of_the_guide_is_taken(helm, words):
    values = ROOT / "tests/charts/upstream-values-in-use.yaml"
    wanted = [str(values) if word == FILE else word for word in words[1:]]
    out = helm.run("template", *(word for word in wanted if word not in FOR_A_CLUSTER))
    assert "kind: " in out


def test_the_guide_has_commands():
    assert {words[0] for words in commands()} == set(VERBS)


def test_the_guide_installs_without_anything_cluster_wide_where_it_says_so(helm):
    (words,) = (words for words in commands() if "webhook.enabled=false" in words)
    out = helm.run("template", *(word for word in words[1:] if word not in FOR_A_CLUSTER))
    assert "operator.clusterRole=false" in words
    assert "kind: Cluster" not in out
    assert "kind: Role\n" in out


def test_every_value_is_explained_or_said_to_have_no_effect():
    known = (ROOT / "charts/slurm-operator/values.schema.json").read_text()
    values = (ROOT / "charts/slurm-operator/values.yaml").read_text()
    readme = (ROOT / "charts/slurm-operator/README.md").read_text()
    names = set(re.findall(r'"(\w+)": \{', known)) - {"properties", "items", "global"}
    defs = set(re.findall(r'#/\$defs/(\w+)"', known))
    told = set(re.findall(r"\w+", values + readme))
    assert names - told - defs == set()
