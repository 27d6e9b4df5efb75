"""Hostlists as Slurm 24.11.5 and 26.05.5 read and write them, and as ClusterShell does."""

import pytest
from ClusterShell.NodeSet import NodeSet
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.slurm import hostlists
from shoal.slurm.hostlists import HostlistError, expand, fold

numbers = st.builds("{:0{}d}".format, st.integers(0, 1200), st.integers(0, 4))
prefixes = st.sampled_from(["w-", "gpu", "r1n", "r10n", "a.b", "x_", "08-", ""])
suffixes = st.sampled_from(["", "", "", "x", "-a", ".dc1"])
some_names = st.lists(st.builds("{}{}{}".format, prefixes, numbers, suffixes), max_size=40)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ""),
        (",", ""),
        ("login", "login"),
        ("w-[0-3,5]", "w-0 w-1 w-2 w-3 w-5"),
        ("n-[08-11]", "n-08 n-09 n-10 n-11"),
        ("n[1,01,001]", "n1 n01 n001"),
        ("n[01-3]", "n01 n02 n03"),
        ("n[8-010]", "n8 n9 n10"),
        ("r[0-1]n[00-01]", "r0n00 r0n01 r1n00 r1n01"),
        ("r[0-1]n[00-01].dc[1-2]", "r0n00.dc1 r0n00.dc2 r0n01.dc1 r0n01.dc2"
                                   " r1n00.dc1 r1n00.dc2 r1n01.dc1 r1n01.dc2"),
        ("n[1-2][3-4]", "n13 n14 n23 n24"),
        ("n[1-2]x", "n1x n2x"),
        ("[1-3]", "1 2 3"),
        ("b,a,,b c\n", "b a c"),
        ("n[1-2,2-3],n1", "n1 n2 n3"),
        ("/dev/nvidia[0-1]", "/dev/nvidia0 /dev/nvidia1"),
        ("n123456789012345678", "n123456789012345678"),
        ("n000000000000000000000001", "n000000000000000000000001"),
    ],
)  # fmt: skip
def test_a_hostlist_stands_for_the_names_that_slurm_sees_each_once_in_order(text, names):
    assert expand(text) == tuple(names.split())


@pytest.mark.parametrize(
    ("text", "character", "why"),
    [
        ("n]1", 2, "a ] without its ["),
        ("a,n[1-", 4, "a [ without its ]"),
        ("n[[1]]", 2, "a [ inside of [...]"),
        ("n[1[2-3]]", 2, "a [ inside of [...]"),
        ("n[]", 3, "'' is no number and no range"),
        ("n[1,a]", 5, "'a' is no number and no range"),
        ("n[1, 3]", 5, "' 3' is no number and no range"),
        ("n[1-3:2]", 3, "'1-3:2' is no number"),
        ("n[-1]", 3, "'-1' is no number"),
        ("n[1--2]", 3, "'1--2' is no number"),
        ("n[٣]", 3, "is no number"),
        ("n[0-1,3-2]", 7, "the range 3-2 runs backwards"),
        ("n[0-65536]", 3, "at most 65536 names in a range; split 0-65536"),
        ("n[0-1000000000000000000]", 3, "at most 18 digits"),
        ("n1234567890123456789", 1, "ends in more than 18 digits"),
        ("a,n[0-1]234567890123456789", 3, "ends in more than 18 digits"),
        ("switch{s1}", 7, "known to slurmctld alone"),
        ("a\\,b", 2, "is not for names"),
        ("n\x00", 2, "is not for names"),
        ('"n"', 1, "is not for names"),
        ("n1=n2", 3, "is not for names"),
        ("n1#", 3, "is not for names"),
        ("nœud", 2, "is not for names"),
    ],
)
def test_what_slurm_would_refuse_or_misread_is_an_error_that_says_where(text, character, why):
    with pytest.raises(HostlistError) as caught:
        expand(text)
    assert f"character {character}: " in str(caught.value)
    assert why in str(caught.value)
    assert repr(text) in str(caught.value)
    assert caught.value.position == character - 1


@pytest.mark.parametrize(
    "text",
    [
        "n[0-65535]x[0-65535]",
        "n" + "[0-65535]" * 10_000,
        "n[" + ",".join(["0-65535"] * 10_000) + "]",
        ",".join(["n[0-65535]"] * 10_000),
    ],
    ids=lambda text: text[:12],
)
def test_a_hostlist_of_too_many_names_is_refused_before_it_is_written_out(text, monkeypatch):
    monkeypatch.setattr(hostlists, "MAX_NAMES", 70_000)
    with pytest.raises(HostlistError, match="more than 70000 names") as caught:
        expand(text)
    assert len(str(caught.value)) < 200


def test_a_hostlist_may_stand_for_a_million_names_and_no_more():
    assert hostlists.MAX_NAMES == 1_000_000
    with pytest.raises(HostlistError, match="more than 1000000 names"):
        expand("n[0-999]x[0-1000]")


def test_the_names_of_all_items_count(monkeypatch):
    monkeypatch.setattr(hostlists, "MAX_NAMES", 1000)
    assert len(expand("n[0-9]x[0-49],m[1-500]")) == 1000
    with pytest.raises(HostlistError, match="more than 1000 names"):
        expand("n[0-9]x[0-49],m[1-500],o")


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ("", ""),
        ("a", "a"),
        ("n1", "n1"),
        ("n01", "n01"),
        ("n10 n2 n1 n1", "n[1-2,10]"),
        ("n1 n01 n001 n2 n02 n002", "n[1-2,01-02,001-002]"),
        ("n0 n00 n000", "n[0,00,000]"),
        ("n09 n10 n9", "n[9,09-10]"),
        ("n098 n099 n100 n101", "n[098-101]"),
        ("n98 n99 n100 n101", "n[98-101]"),
        ("b a1 a10 a2 a A1", "A1,a,a[1-2,10],b"),
        ("r0n01 r1n00 r0n00 r1n01", "r0n[00-01],r1n[00-01]"),
        ("a-9-1 a-10-1 a-9-2", "a-9-[1-2],a-10-1"),
        ("a01b1 a1b1 a01b2", "a01b[1-2],a1b1"),
        ("n2x n1x", "n1x,n2x"),
        ("10 9 8", "[8-10]"),
    ],
)
def test_names_fold_as_scontrol_shows_them_sorted(names, text):
    assert fold(names.split()) == text
    assert fold(reversed(names.split())) == text


# The two write these in different ways: Slurm n[8-10,08-09] and n[00-100].
@pytest.mark.parametrize(
    ("names", "text"),
    [
        ("n8 n9 n10 n08 n09", "n[8-9,08-10]"),
        ("n098 n99 n100 n1000", "n[99,098,100,1000]"),
        ("n99 n100 n01", "n[01,99,100]"),
    ],
)
def test_padded_and_plain_numbers_meet_as_in_clustershell(names, text):
    assert fold(names.split()) == text == str(NodeSet.fromlist(names.split()))


def test_no_range_is_longer_than_slurm_takes(monkeypatch):
    monkeypatch.setattr(hostlists, "MAX_RANGE", 100)
    names = [f"n{number}" for number in range(150)]
    assert fold(names[:100]) == "n[0-99]"
    assert fold(names) == "n[0-99,100-149]"
    assert set(expand(fold(names))) == set(names)


@pytest.mark.parametrize("name", ["", "a,b", "n[1]", "a b", "a\n", "nœud", 'a"', "a=b", "a#b"])
def test_what_is_no_name_is_never_folded_into_a_hostlist(name):
    with pytest.raises(HostlistError, match="a name has letters, digits"):
        fold(["n1", name])


def test_a_name_that_slurm_would_read_as_another_is_never_folded():
    with pytest.raises(HostlistError, match="end it in a letter"):
        fold(["leaf-12345678901234567890"])


@settings(deadline=None, max_examples=60)
@given(some_names)
def test_folding_loses_no_name_and_adds_none(names):
    assert set(expand(fold(names))) == set(names)


@settings(deadline=None, max_examples=60)
@given(some_names, st.randoms())
def test_the_same_names_fold_alike_in_any_order(names, random):
    shuffled = random.sample(names, len(names))
    assert fold(shuffled) == fold(names) == fold(expand(fold(names)))


@settings(deadline=None, max_examples=60)
@given(some_names)
def test_clustershell_reads_a_fold_as_the_same_names(names):
    assert set(NodeSet(fold(names))) == set(names)


@settings(deadline=None, max_examples=60)
@given(some_names)
def test_a_fold_of_clustershell_is_read_as_the_same_names(names):
    assert set(expand(str(NodeSet.fromlist(names)))) == set(names)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.builds("n{}".format, numbers), max_size=40))
def test_names_with_one_number_fold_as_in_clustershell(names):
    assert fold(names) == str(NodeSet.fromlist(names))


@settings(deadline=None, max_examples=60)
@given(st.text("n01-[],{} \\\n=", max_size=20))
def test_any_text_is_read_or_refused_and_what_is_read_can_be_folded(text):
    try:
        names = expand(text)
    except HostlistError:
        names = ()
    assert set(expand(fold(names))) == set(names)
