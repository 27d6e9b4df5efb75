"""What slurmctld would not start with, and what it warns of."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.slurm.keys import V24_11, V25_05, V26_05
from shoal.slurm.topology import Attachment, Blocks, Named, Other, Switch, Tree, attachments, parse
from shoal.slurm.topology_flaws import Flaw, flaws, misplaced

GOOD = "SwitchName=root Switches=s[0-1]\nSwitchName=s0 Nodes=w-[0-1]\nSwitchName=s1 Nodes=w-[2-3]\n"


def found(text: str, *more) -> list[tuple[str, bool]]:
    return [(flaw.why, flaw.fatal) for flaw in flaws(parse(text, source="t"), *more)]


@pytest.mark.parametrize("version", [None, V24_11, V25_05, V26_05])
@pytest.mark.parametrize("text", [GOOD, "BlockName=b Nodes=w-[0-3]\nBlockSizes=4,8,32\n"])
def test_a_good_topology_has_no_flaws(text, version):
    assert found(text, version, ["w-0", "w-1", "w-2", "w-3"]) == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("# none", "there is no switch and no block; define one"),
        ("BlockSizes=4", "there is no switch and no block; define one"),
        (
            "SwitchName=a Nodes=w\nSwitchName=a Nodes=x",
            "t, line 2: a: is there already (t, line 1); give it another name",
        ),
        (
            "BlockName=a Nodes=w\nBlockName=a Nodes=x",
            "t, line 2: a: is there already (t, line 1); give it another name",
        ),
        (
            "SwitchName=a Switches=b,c\nSwitchName=b Nodes=w",
            "t, line 1: a: the switch c below it is not defined",
        ),
        (
            f"SwitchName={'a' * 64} Nodes=w",
            f"t, line 1: {'a' * 64}: has more than 63 characters; shorten it",
        ),
        ("BlockName=a Nodes=w\nBlockSizes=0", "t, line 2: BlockSizes: 0 must be 1 times 2, 4, 8"),
        ("BlockName=a Nodes=w\nBlockSizes=4,6", "t, line 2: BlockSizes: 6 must be 4 times 2, 4, 8"),
        ("BlockName=a Nodes=w\nBlockSizes=4,12", "t, line 2: BlockSizes: 12 must be 4 times 2"),
        ("BlockName=a Nodes=w\nBlockSizes=4,4", "t, line 2: BlockSizes: 4 must be 4 times 2"),
        ("BlockName=a Nodes=w\nBlockSizes=4,16,8", "t, line 2: BlockSizes: 8 must be 4 times 2"),
    ],
)
def test_what_slurmctld_would_not_start_with_is_fatal(text, why):
    ((said, fatal),) = found(text)
    assert said.startswith(why)
    assert fatal


@pytest.mark.parametrize(
    ("text", "circle"),
    [
        ("SwitchName=a Switches=a", "a"),
        ("SwitchName=a Switches=b\nSwitchName=b Switches=a", "ab"),
        ("SwitchName=r Nodes=w\nSwitchName=a Switches=b\nSwitchName=b Switches=c,d\n"
         "SwitchName=c Switches=a\nSwitchName=d Nodes=x", "abcd"),
        ("SwitchName=r Switches=a\nSwitchName=a Switches=b\nSwitchName=b Switches=a", "ab"),
    ],
)  # fmt: skip
def test_a_circle_is_found_and_ends(text, circle):
    said = [why for why, fatal in found(text) if fatal]
    assert [why.split(": ")[1] for why in said] == list(circle)
    assert all("cut the circle" in why for why in said)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "SwitchName=r Switches=a,b\nSwitchName=a Nodes=w-[0-1]\nSwitchName=b Nodes=w-1",
            "t, line 3: b: w-1 is below a already; keep one",
        ),
        (
            "BlockName=a Nodes=w-[0-1]\nBlockName=b Nodes=w-1",
            "t, line 2: b: w-1 is below a already; keep one",
        ),
        (
            "SwitchName=a Nodes=w\nSwitchName=b Nodes=x",
            "t, line 2: b: is below no switch, as is a; no job can use the nodes of both",
        ),
        (
            "SwitchName=r Switches=a,b\nSwitchName=a Switches=c\nSwitchName=b Switches=c\n"
            "SwitchName=c Nodes=w",
            "t, line 4: c: is below a and b; keep one",
        ),
        (
            "SwitchName=a Switches=b Nodes=w\nSwitchName=b Nodes=x",
            "t, line 1: a: has both switches and nodes; move the nodes to a leaf",
        ),
    ],
)
def test_what_slurmctld_only_warns_of_is_not_fatal(text, why):
    assert found(text) == [(why, False)]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("SwitchName=root", "t, line 1: root: has neither switches nor nodes"),
        ("BlockName=b\nBlockSizes=1", "t, line 1: b: has 0 nodes of 1"),
        ("BlockName=b", "t, line 1: b: has 0 nodes of 1"),
        ("BlockName=b Nodes=w-[0-1]\nBlockSizes=4", "t, line 1: b: has 2 nodes of 4"),
    ],
)
def test_before_25_05_a_leaf_or_block_cannot_be_short_of_nodes(text, why):
    ((said, fatal),) = found(text, V24_11)
    assert said == f"{why}; Slurm before 25.05 refuses that"
    assert fatal
    for version in (None, V25_05, V26_05):
        assert found(text, version) == []


def test_a_node_that_slurm_does_not_know_is_fatal_where_its_nodes_are_known():
    assert found(GOOD, None, ["w-0", "w-1", "w-2"]) == [
        ("t, line 3: s1: Slurm has no node w-3; remove it", True)
    ]
    assert found(GOOD, None, None) == []


def test_of_a_kind_that_is_passed_on_nothing_is_said():
    assert flaws(Other("ring", {})) == ()


NAMES = st.sampled_from(["a", "b", "c", "d", "e"])
LISTS = st.lists(NAMES, max_size=2, unique=True).map(tuple)
SWITCHES = st.lists(st.builds(Switch, NAMES, LISTS), unique_by=lambda switch: switch.name)
TREES = st.builds(Tree, SWITCHES.map(tuple))


@settings(deadline=None)
@given(TREES)
def test_a_tree_without_fatal_flaws_leads_down_to_an_end_from_every_switch(tree):
    if any(flaw.fatal for flaw in flaws(tree)):
        return
    by_name = {switch.name: switch for switch in tree.switches}
    below = set(by_name)
    for _ in by_name:
        below = {child for name in below for child in by_name[name].switches}
    assert below == set()


TOPOLOGIES = (
    Named("tree", parse(GOOD)),
    Named("block", Blocks(parse("BlockName=b1 Nodes=w").blocks)),
    Named("ring", Other("ring", {})),
)


@pytest.mark.parametrize(
    "spec", ["", "tree:s0", "block:b1", "tree:s1,block:b1", "tree:root:s9:s10", "ring:x"]
)
def test_a_node_may_be_where_slurm_can_put_it(spec):
    assert misplaced(attachments(spec), TOPOLOGIES) == ()


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("none:s0", "none:s0: there is no topology none"),
        ("tree:s9", "tree:s9: there is no switch s9"),
        ("tree:root", "tree:root: root is above switches; name a leaf"),
        ("block:b9", "block:b9: there is no block b9"),
        ("block:b0:b1", "block:b0:b1: a block is below nothing; name it alone"),
    ],
)
def test_a_node_in_a_place_that_is_not_there_is_told(spec, why):
    assert misplaced(attachments(spec), TOPOLOGIES) == (Flaw(why),)


def test_each_place_is_looked_at():
    places = [Attachment("tree", ("s9",)), Attachment("tree", ("s0",)), Attachment("no", ("x",))]
    assert len(misplaced(places, TOPOLOGIES)) == 2
