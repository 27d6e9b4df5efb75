"""Conf files as the parsers of Slurm 24.11.5 and 26.05.5 read them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.slurm import conf
from shoal.slurm.conf import (
    GRAMMARS,
    SLURM,
    Comment,
    ConfError,
    Grammar,
    Include,
    Place,
    Setting,
    duplicates,
    effective,
    included,
    merged,
    parse,
    setting,
    write,
)


def read(text: str, grammar: Grammar = SLURM) -> list[str]:
    """Return each line as its pairs, with the values in repr."""
    lines = parse(text, grammar)
    return [" ".join(f"{key}={value!r}" for key, value in line.pairs) for line in lines]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("\n \t\n# all comment \\\n", []),
        ("A=1", ["A='1'"]),
        ("  A = 1  \r\nB=2\r\n", ["A='1'", "B='2'"]),
        ('A="x y"', ["A='x y'"]),
        ('A=""', ["A=''"]),
        ("A=x=y,z=1", ["A='x=y,z=1'"]),
        ('A=a"b"c', ["A='a\"b\"c'"]),
        ("A=1 # B=2", ["A='1'"]),
        ("A=1#2", ["A='1'"]),
        (r"A=1\#2 # 3", ["A='1#2'"]),
        (r"A=1\\2", [r"A='1\\2'"]),
        ("A=1,\\\n2,\\  \n3\nB=4", ["A='1,2,3'", "B='4'"]),
        ("A=1\\", ["A='1'"]),
        ("A=1 # no \\\nB=2", ["A='1'", "B='2'"]),
        ("A=1\\\\\nB=2", [r"A='1\\'", "B='2'"]),
        ("A=é", ["A='é'"]),
        ("A=1 # \x0b\xa0", ["A='1'"]),
        ("NodeName=n[1-2] CPUs=2 \\\n State=CLOUD", ["NodeName='n[1-2]' CPUs='2' State='CLOUD'"]),
        ('nodename=n Reason="a b" Feature=""', ["nodename='n' Reason='a b' Feature=''"]),
        ("PartitionName=p Nodes=ALL Default=YES", ["PartitionName='p' Nodes='ALL' Default='YES'"]),
        ("NodeSet=s Feature=f", ["NodeSet='s' Feature='f'"]),
        ("DownNodes=n1 State=DOWN", ["DownNodes='n1' State='DOWN'"]),
        ("AuthAltParameters = jwt_key=/k", ["AuthAltParameters='jwt_key=/k'"]),
    ],
)
def test_lines_are_read_as_slurm_reads_them(text, lines):
    assert read(text) == lines


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("A=1\n\nno pair", "f, line 3: 'no pair' is no Key=Value and no Include"),
        ("A", "f, line 1: 'A' is no Key=Value"),
        ("A=\nB=1", 'f, line 1: A: has no value; write A=""'),
        (
            "A=1 B=2",
            "f, line 1: A: takes one value; quote it all, or put 'B=2' on a line of its own",
        ),
        ("A=1 -f", "f, line 1: A: takes one value"),
        ("A=1\\\n B=2\\\n C=3\nD", "f, line 1: A: takes one value"),
        ("A=1, \\ # and\n B=2", "f, line 1: A: takes one value"),
        ("A=1\\\n2\nB=", "f, line 3: B: has no value"),
        ("NodeName=n junk", "f, line 1: 'junk' is no Key=Value"),
        ("NodeName=n Topology=", 'f, line 1: Topology: has no value; write Topology=""'),
        ("NodeName=n Topology= CPUs=2", "Topology: has no value, and Slurm takes CPUs=2 for it"),
        ("NodeName= CPUs=2", "NodeName: has no value, and Slurm takes CPUs=2 for it"),
        ("A+=1", "f, line 1: A: Slurm reads += as =; write the whole value after ="),
        ("A -= 1", "f, line 1: A: Slurm reads -= as ="),
        ('A="x', 'f, line 1: A: the quotes around "x do not close'),
        ('A="x#y"', 'f, line 1: A: the quotes around "x do not close'),
        ('A="x"y', 'f, line 1: A: the quotes around "x"y do not close'),
        (r'A="x\"y"', "f, line 1: A: the quotes around"),
        (" include x", "f, line 1: 'include x' is no Key=Value"),
        ("include", "f, line 1: 'include' is no Key=Value"),
        ("include a b", "f, line 1: 'include a b' is no Key=Value"),
        ("A=1\nB=\x002", "f, line 2: holds the character '\\x00'; remove it"),
        ("A=1\x0bB=2", "f, line 1: holds the character '\\x0b'"),
        ("A=1\x85B=2", "f, line 1: holds the character '\\x85'"),
        ("\ufeffA=1", "f, line 1: holds the character '\\ufeff'"),
        ("A-B=1", "f, line 1: 'A-B=1' is no Key=Value"),
    ],
)
def test_a_line_that_slurm_refuses_or_misreads_is_an_error_with_its_place(text, error):
    with pytest.raises(ConfError) as caught:
        parse(text, source="f")
    assert error in str(caught.value)


def test_a_line_knows_where_it_began():
    lines = parse("A=1\n\nB=2,\\\n3\nInclude x.conf\nC=4", source="spec.extraConf")
    assert [line.place for line in lines] == [Place("spec.extraConf", n) for n in (1, 3, 5, 6)]
    assert str(lines[1].place) == "spec.extraConf, line 3"


@pytest.mark.parametrize("line", ["include a/b.conf", "Include  a/b.conf \r", "INCLUDE\ta/b.conf"])
def test_an_include_is_a_line_of_its_own_kind(line):
    assert parse(line) == (Include("a/b.conf"),)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gres.conf", "Name=gpu Type=h200 File=/dev/nvidia[0-7]"),
        ("gres.conf", "NodeName=n[0-1] AutoDetect=off Name=gpu Count=8"),
        ("topology.conf", "SwitchName=s Switches=a,b LinkSpeed=1"),
        ("topology.conf", "BlockName=b Nodes=n[0-3]"),
    ],
)
def test_each_file_has_its_own_records(name, text):
    (line,) = parse(text, GRAMMARS[name])
    assert len(line.pairs) == len(text.split())
    with pytest.raises(ConfError, match="takes one value"):
        parse(text, GRAMMARS["cgroup.conf"])


@pytest.mark.parametrize("name", GRAMMARS)
def test_plain_lines_are_the_same_in_every_file(name):
    assert read('AutoDetect=nvml\nX="a b" # c', GRAMMARS[name]) == ["AutoDetect='nvml'", "X='a b'"]


def test_of_a_key_set_twice_the_last_counts_and_of_a_list_all_do():
    found = effective(parse("A=1\nProlog=a\nNodeName=n\na=2\nProlog=b\nNodeName=m\nInclude x\n"))
    assert {key: [line.value for line in lines] for key, lines in found.items()} == {
        "a": ["2"],
        "prolog": ["a", "b"],
        "nodename": ["n", "m"],
    }


# Included files


FILES = {
    "base.conf": "ClusterName=Lab\nA=1\ninclude more.conf\n",
    "more.conf": "B=2\n",
    "lab.conf": "C=3\n",
    "loop.conf": "include loop.conf\n",
    "ping.conf": "include pong.conf\n",
    "pong.conf": "A=1\ninclude ping.conf\n",
}


def test_an_include_is_replaced_by_its_file_and_lines_keep_their_places():
    lines = included(parse("include /etc/slurm/base.conf\nD=4\ninclude %c.conf", source="s"), FILES)
    assert [(line.key, line.value, str(line.place)) for line in lines] == [
        ("ClusterName", "Lab", "base.conf, line 1"),
        ("A", "1", "base.conf, line 2"),
        ("B", "2", "more.conf, line 1"),
        ("D", "4", "s, line 2"),
        ("C", "3", "lab.conf, line 1"),
    ]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("A=1\ninclude none.conf", "s, line 2: Include: there is no file none.conf"),
        ("include %c.conf", "s, line 1: Include: there is no file %c.conf"),
        ("include loop.conf", "loop.conf, line 1: Include: loop.conf includes itself"),
        ("include ping.conf", "pong.conf, line 2: Include: ping.conf includes itself"),
    ],
)
def test_an_include_that_cannot_be_is_an_error_with_its_place(text, error):
    with pytest.raises(ConfError) as caught:
        included(parse(text, source="s"), FILES)
    assert str(caught.value) == error


# Writing


def test_lines_are_written_in_order_with_quotes_where_slurm_needs_them():
    text = write(
        [
            Comment("## GENERAL ###"),
            setting("ClusterName", "lab"),
            setting("SlurmctldPort", 6817),
            setting("SlurmctldParameters", "enable_configless,idle_on_node_suspend"),
            setting("AuthAltParameters", "jwt_key=/etc/slurm/jwt.key"),
            setting("RebootProgram", "/sbin/shutdown -r now"),
            setting("MailProg", ""),
            setting("UsePAM", value=True),
            setting("NodeName", "w-[0-3]", ("CPUs", 2), ("Reason", "not yet")),
            Comment(""),
            Include("/etc/slurm/extra.conf"),
        ]
    )
    assert text == (
        "### GENERAL ###\n"
        "ClusterName=lab\n"
        "SlurmctldPort=6817\n"
        "SlurmctldParameters=enable_configless,idle_on_node_suspend\n"
        "AuthAltParameters=jwt_key=/etc/slurm/jwt.key\n"
        'RebootProgram="/sbin/shutdown -r now"\n'
        'MailProg=""\n'
        "UsePAM=yes\n"
        'NodeName=w-[0-3] CPUs=2 Reason="not yet"\n'
        "#\n"
        "include /etc/slurm/extra.conf\n"
    )


@pytest.mark.parametrize(
    "value",
    ["a\nB=1", "a\rB=1", "a\x00", "a\x0bB=1", "a\x1b[0m", "a\x7f", "a\x85B", "a\u2028B", "a\xa0b",
     "\u202ea", "\ud800", "a#b", "#", '"', '"a"', 'a "b"', '"a', 'x y"'],
)  # fmt: skip
def test_a_value_that_could_end_its_line_is_refused_with_its_field(value):
    line = setting("Key", value, source="spec.clusterName")
    with pytest.raises(ConfError, match=r"^spec\.clusterName: Key: .*; remove it$"):
        write([line])


@pytest.mark.parametrize("value", ["a b", "a=b", "a B=1", 'a"b'])
@pytest.mark.parametrize("key", ["ClusterName", "nodename", "Nodes", "Feature", "StorageUser"])
def test_a_key_that_takes_one_word_gets_one(key, value):
    with pytest.raises(ConfError, match=f"spec.x: {key}: .* is not one word"):
        write([setting(key, value, source="spec.x")])


@pytest.mark.parametrize("key", ["", "A B", "A=B", "A\nB", "A#", "A-B", "é", "include", "Include"])
def test_a_key_that_is_none_is_refused(key):
    with pytest.raises(ConfError, match="is no key"):
        write([setting(key, "1")])


@pytest.mark.parametrize("path", ["", "a b", "a\nB=1", "a#b", '"a"', "a\\"])
def test_an_include_cannot_become_another_line(path):
    with pytest.raises(ConfError, match="is no path"):
        write([Include(path, Place("spec.x"))])


def test_a_comment_cannot_become_another_line():
    with pytest.raises(ConfError, match="must be one line"):
        write([Comment("a\nB=1")])


@pytest.mark.parametrize("pairs", [(), (("A", "1"), ("B", "2"))])
def test_only_a_record_has_more_than_one_pair(pairs):
    with pytest.raises(ConfError, match="must be one Key=Value"):
        write([Setting(pairs)])


KEYS = st.sampled_from(["Key", "a.b_9", "Includes", "Reason", "Feature", "X"])
VALUES = st.text(st.characters(codec="utf-8") | st.sampled_from(' \\"#=,\n'), max_size=12)
SETTINGS = st.builds(lambda key, value: Setting(((key, value),)), KEYS, VALUES)
RECORDS = st.builds(
    lambda name, more: Setting((("NodeName", name), *more)),
    VALUES,
    st.lists(st.tuples(KEYS, VALUES), max_size=3),
)
LINES = SETTINGS | RECORDS | st.builds(Include, VALUES)


def fits(line: conf.Line) -> bool:
    try:
        write([line])
    except ConfError:
        return False
    return True


@settings(deadline=None, max_examples=60)
@given(st.lists(LINES.filter(fits), max_size=5))
def test_what_is_written_is_read_back(lines):
    assert parse(write(lines)) == tuple(lines)


@settings(deadline=None, max_examples=60)
@given(st.lists(LINES, max_size=5))
def test_no_line_is_read_as_more_lines_or_fewer(lines):
    kept = [line for line in lines if fits(line)]
    assert len(parse(write(kept))) == len(kept)


@settings(deadline=None, max_examples=60)
@given(st.text(st.sampled_from('AB=" \\#\n\txé+'), max_size=30))
def test_what_is_read_and_can_be_written_means_the_same_again(text):
    try:
        lines = parse(text)
        again = parse(write(lines))
    except ConfError:
        return
    assert again == lines


# Ours and theirs


OURS = (
    setting("SlurmctldParameters", "enable_configless,reconfig_on_restart"),
    setting("AuthInfo", "use_client_ids"),
    setting("AuthAltParameters", "jwt_key=/etc/slurm/jwt.key"),
    setting("ClusterName", "lab"),
)


def united(extra: str) -> list[tuple[str, str]]:
    return [line.pairs[0] for line in merged(OURS, parse(extra))]


@pytest.mark.parametrize(
    ("extra", "lines"),
    [
        ("", []),
        ("MaxNodeCount=9\nClusterName=mine", []),
        ("authinfo=cred_expire=60", [("AuthInfo", "cred_expire=60,use_client_ids")]),
        ("AuthInfo=a\nAuthInfo=b", [("AuthInfo", "b,use_client_ids")]),
        ("AuthInfo=use_client_ids,USE_CLIENT_IDS", [("AuthInfo", "use_client_ids")]),
        (
            "AuthAltParameters=JWT_KEY=/mine,jwks=/Keys.json",
            [("AuthAltParameters", "jwks=/Keys.json,jwt_key=/etc/slurm/jwt.key")],
        ),
        ('AuthInfo="z, a ,, "', [("AuthInfo", "a,use_client_ids,z")]),
        (
            "SlurmctldParameters=cloud_dns\nAuthInfo=x",
            [
                ("AuthInfo", "use_client_ids,x"),
                ("SlurmctldParameters", "cloud_dns,enable_configless,reconfig_on_restart"),
            ],
        ),
    ],
)
def test_options_of_both_are_united_sorted_and_ours_win(extra, lines):
    assert united(extra) == lines


def test_a_key_that_only_they_set_stays_theirs():
    assert merged(OURS[:1], parse("AuthInfo=x")) == ()


def test_merging_twice_changes_nothing():
    once = merged(OURS, parse("AuthInfo=x\nSlurmctldParameters=b,a"))
    assert merged(OURS, once) == once


def test_a_key_of_ours_that_they_set_is_found_with_its_line():
    lines = parse(
        "A=1\nclustername=mine\nInclude x\nStateSaveLocation=/tmp", source="spec.extraConf"
    )
    found = duplicates(lines, ["ClusterName", "StateSaveLocation", "SlurmUser"])
    assert [f"{line.place}: {line.key}" for line in found] == [
        "spec.extraConf, line 2: clustername",
        "spec.extraConf, line 4: StateSaveLocation",
    ]
