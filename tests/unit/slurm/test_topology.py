"""topology.conf and the places of nodes."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.slurm.conf import ConfError
from shoal.slurm.hostlists import expand, fold
from shoal.slurm.topology import Attachment, Block, Blocks, Switch, Tree, attachments, parse, write

TREE = Tree(
    (
        Switch("root", switches=("s0", "s1", "s2")),
        Switch("s0", nodes=("w-0", "w-1"), link_speed=100),
        Switch("s1", nodes=("w-2", "w-3", "login")),
        Switch("s2"),
    )
)
TREE_CONF = """\
SwitchName=root Switches=s[0-2]
SwitchName=s0 Nodes=w-[0-1] LinkSpeed=100
SwitchName=s1 Nodes=login,w-[2-3]
SwitchName=s2
"""
BLOCKS = Blocks((Block("b0", ("w-0", "w-1")), Block("b1", ("w-2",))), (2, 4))
BLOCKS_CONF = "BlockName=b0 Nodes=w-[0-1]\nBlockName=b1 Nodes=w-2\nBlockSizes=2,4\n"


def ordered(names: tuple[str, ...]) -> tuple[str, ...]:
    return expand(fold(names))


def test_a_tree_is_written_folded_and_in_order():
    assert write(TREE) == TREE_CONF


def test_blocks_are_written_with_their_sizes():
    assert write(BLOCKS) == BLOCKS_CONF
    assert write(Blocks(BLOCKS.blocks[1:])) == "BlockName=b1 Nodes=w-2\n"


def test_a_tree_is_read_with_its_lines():
    found = parse("# ours\n" + TREE_CONF.replace("SwitchName=s1", "switchname=s1"))
    assert found == Tree((*TREE.switches[:2], Switch("s1", nodes=("login", "w-2", "w-3")),
                          TREE.switches[3]))  # fmt: skip
    assert [str(switch.place) for switch in found.switches] == [
        f"topology.conf, line {number}" for number in (2, 3, 4, 5)
    ]


def test_blocks_are_read_with_their_lines():
    found = parse('BlockSizes="2, 4"\n' + BLOCKS_CONF.replace("BlockSizes=2,4\n", ""))
    assert found == BLOCKS
    assert [block.place.line for block in found.blocks] == [2, 3]
    assert found.place.line == 1


def test_a_file_without_lines_is_a_tree_without_switches():
    assert parse("# nothing yet\n") == Tree(())


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("SwitchName=s\nBlockName=b", "t, line 1: SwitchName: a tree has no blocks"),
        ("SwitchName=s\nBlockSizes=2", "t, line 1: SwitchName: a tree has no blocks"),
        ("SwitchName=s Node=n", "t, line 1: Node: is none of linkspeed, nodes, switches"),
        ("BlockName=b Switches=s", "t, line 1: Switches: is none of nodes"),
        ("SwitchName=s Nodes=n[1-", "t, line 1: Nodes: hostlist 'n[1-', character 2: a [ without"),
        ("SwitchName=s Switches=a]", "t, line 1: Switches: hostlist 'a]', character 2"),
        ("SwitchName=s Switches=leaf-12345678901234567890", "Switches: hostlist"),
        ("SwitchName=s LinkSpeed=fast", "t, line 1: LinkSpeed: 'fast' is no number"),
        ("BlockName=b Nodes=n\nBlockSizes=4,x", "t, line 2: BlockSizes: 'x' is no number"),
        ("BlockSizes=-4", "t, line 1: BlockSizes: '-4' is no number"),
        ("ClusterName=x", "t, line 1: ClusterName: write SwitchName, BlockName or BlockSizes"),
        ("include x.conf", "t, line 1: Include: there is no file x.conf"),
        ("SwitchName=", "t, line 1: SwitchName: has no value"),
    ],
)
def test_a_line_that_is_no_topology_is_an_error_with_its_place(text, error):
    with pytest.raises(ConfError) as caught:
        parse(text, source="t")
    assert error in str(caught.value)


@pytest.mark.parametrize("name", ["a b", "a\nSwitchName=b", "a#", "a=b", 'a"'])
def test_no_name_can_become_another_line(name):
    for topology in (Tree((Switch(name),)), Blocks((Block(name),))):
        with pytest.raises(ConfError):
            write(topology)


NAMES = st.sampled_from(
    ["a", "b-x", *(f"{p}{n}" for p in ("w-", "r1s") for n in (0, "01", 2, 10, 11))]
)
LISTS = st.lists(NAMES, max_size=6, unique=True).map(lambda names: ordered(tuple(names)))
SWITCHES = st.builds(Switch, NAMES, LISTS, LISTS, st.none() | st.integers(0, 10**8))
TREES = st.builds(Tree, st.lists(SWITCHES, max_size=5).map(tuple))
BLOCK_ROWS = st.builds(
    Blocks,
    st.lists(st.builds(Block, NAMES, LISTS), min_size=1, max_size=5).map(tuple),
    st.lists(st.integers(0, 10**8), max_size=3).map(tuple),
)


@settings(deadline=None, max_examples=50)
@given(TREES | BLOCK_ROWS)
def test_what_is_written_is_read_back(topology):
    assert parse(write(topology)) == topology


@settings(deadline=None, max_examples=50)
@given(TREES, st.randoms())
def test_the_order_of_children_changes_no_byte(tree, random):
    shuffled = [
        replace(switch, nodes=tuple(random.sample(switch.nodes, len(switch.nodes))))
        for switch in tree.switches
    ]
    assert write(Tree(tuple(shuffled))) == write(tree)


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ("", ()),
        ("topo-switch:s2", (Attachment("topo-switch", ("s2",)),)),
        (
            "topo-switch:s2,topo-block:b2",
            (Attachment("topo-switch", ("s2",)), Attachment("topo-block", ("b2",))),
        ),
        (
            "default:fabric:spine_1:leaf.3",
            (Attachment("default", ("fabric", "spine_1", "leaf.3")),),
        ),
    ],
)
def test_the_places_of_a_node_are_read_and_written_back(spec, found):
    assert attachments(spec) == found
    assert ",".join(map(str, found)) == spec


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        ("s2", "'s2' is no place; write TOPOLOGY:UNIT"),
        ("topo:", "'topo:' is no place"),
        (":s2", "':s2' is no place"),
        ("a:b,", "'' is no place"),
        ("a:b, c:d", "' c:d' is no place"),
        ("a:b::c", "'a:b::c' is no place"),
        ("a:b CPUs=9", "'a:b CPUs=9' is no place"),
        ("a:b\nc:d", "is no place"),
        ("a:b'", "is no place"),
        ("a:$(x)", "is no place"),
        ("a:s[1-2]", "is no place"),
        ("a:b,a:c", "a: is there twice; a node has one place in each"),
    ],
)
def test_a_spec_that_is_none_is_refused_with_its_source(spec, error):
    with pytest.raises(ConfError) as caught:
        attachments(spec, source="annotation x")
    assert str(caught.value).startswith("annotation x: ")
    assert error in str(caught.value)
