import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.dialects import contents
from shoal.model.observed import Found
from shoal.slurm.keys import Version

CONTENTS = st.dictionaries(st.text("ab\0", max_size=2), st.binary(max_size=3), max_size=3)


@given(CONTENTS, CONTENTS)
def test_the_digest_of_a_configmap_changes_exactly_when_its_contents_do(one, other):
    first, second = (
        contents.files("files", "spec.x", Found({"files": held}, {})) for held in (one, other)
    )
    assert (first.digest == second.digest) is (one == other)
    assert (first.files, first.field, bool(first.digest)) == (tuple(sorted(one)), "spec.x", True)


@given(st.binary(max_size=3), st.binary(max_size=3))
def test_the_digest_of_an_entry_changes_exactly_when_the_entry_does(one, other):
    def digest(held: bytes, beside: bytes) -> str:
        found = Found({}, {"keys": {"mine": held, "other": beside}})
        return contents.secret("keys", "mine", "", found).digest

    assert (digest(one, b"") == digest(other, b"")) is (one == other)
    assert digest(one, one) == digest(one, other) != ""


def test_what_is_not_there_has_no_digest():
    nothing = Found({}, {})
    assert contents.digest(None) == contents.files("a", "", nothing).digest == ""
    assert contents.secret("a", "b", "", nothing).digest == ""
    assert contents.secret("a", "b", "", Found({"a": {"b": b""}}, {"a": {"c": b""}})).digest == ""


def test_entries_of_secrets_and_of_configmaps_are_told_apart():
    found = Found({"a": {"k": b"map"}}, {"a": {"k": b"secret"}})
    secret, entry = (read("a", "k", "spec.f", found) for read in (contents.secret, contents.entry))
    assert (secret.kind, entry.kind) == ("Secret", "ConfigMap")
    assert secret.digest != entry.digest


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("slurmctld:26.05", Version(26, 5)),
        ("cr.example.com/soperator/controller_slurmctld:1.22.1-jammy-slurm25.05.4", Version(25, 5)),
        ("cr.example.com/soperator/controller_slurmctld:3.0.2-slurm25.11.3", Version(25, 11)),
        ("cr.example.com:5000/controller_slurmctld", None),
        ("slurmctld:24.11@sha256:" + "0" * 64, Version(24, 11)),
    ],
)
def test_the_version_is_the_one_that_the_tag_names(image, version):
    assert contents.version(image, {}) == version
    assert contents.version(image, {contents.SLURM_VERSION: "25.08"}) == Version(25, 8)


@pytest.mark.parametrize(
    ("conf", "size"),
    [(b"", 0), (b"#MaxNodeCount=9\nMaxNodeCount=1\nMaxNodeCount=7\n", 7)],
)
def test_the_table_of_nodes_is_as_large_as_the_published_configuration_says(conf, size):
    found = Found({"c": {"slurm.conf": conf}}, {})
    assert contents.node_table("c", found) == size
    assert contents.node_table("other", found) == 0
