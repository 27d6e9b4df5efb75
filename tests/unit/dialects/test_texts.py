import pytest

from shoal.dialects import texts
from shoal.kube.findings import Doubtful, Wrong
from shoal.slurm import conf

OURS = {"SlurmUser": Wrong, "SlurmdPort": Doubtful}


@pytest.mark.parametrize("text", ["a\nSlurmUser=b", "a#b", 'a"b c', "a b", "a=b"])
def test_no_word_of_a_user_ends_a_value_or_a_line(text):
    (found,) = texts.words({"spec.host": ("StorageHost", text)})
    assert isinstance(found, Wrong)
    assert found.field == "spec.host"


@pytest.mark.parametrize("text", [None, "", "db.example"])
def test_a_word_or_none_passes(text):
    assert list(texts.words({"spec.host": ("StorageHost", text)})) == []


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("slurmuser=a", Wrong, "line 1: SlurmUser is set by the operator, and another value"),
        ("A=1\nSlurmdPort=2", Doubtful, "line 2: SlurmdPort is set by the operator too"),
        ("A", Wrong, "is no Key=Value"),
    ],
)
def test_lines_that_set_what_is_ours_are_told_apart(text, kind, words):
    (found,) = texts.lines("spec.extra", text, OURS, conf.SLURM)
    assert isinstance(found, kind)
    assert words in found.message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A=1\nB=2", "on one line"),
        ("A=1 # b", "starts a comment"),
        ("Nodes=x", "Nodes is set by the operator"),
        ("partitionname=x", "partitionname is set by the operator"),
        ("Default", "is no Key=Value"),
    ],
)
def test_options_stay_on_their_line_and_leave_what_is_ours(text, words):
    (found,) = texts.options("spec.config", text, "PartitionName", ("Nodes",))
    assert words in found.message


def test_options_of_the_users_own_pass():
    assert list(texts.options("spec.config", "Default=YES", "PartitionName", ("Nodes",))) == []
    assert list(texts.options("spec.config", "", "PartitionName", ())) == []


def test_what_would_lose_the_state_or_cut_daemons_off_is_refused():
    refused = {key for key, verdict in texts.SLURM_CONF.items() if verdict is Wrong}
    assert {"StateSaveLocation", "ClusterName", "SlurmctldHost", "AuthType"} <= refused
