"""topology.yaml as data, in the shapes of its man page."""

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.slurm.conf import ConfError
from shoal.slurm.hostlists import expand, fold
from shoal.slurm.topology import Block, Blocks, Named, Other, Switch, Tree
from shoal.slurm.topology_flaws import flaws
from shoal.slurm.topology_yaml import from_data, to_data

TEXT = """
- topology: one
  cluster_default: true
  tree:
    switches:
      - switch: root
        children: s[1-2]
      - switch: s1
        nodes: w-[0-1]
      - switch: s2
        nodes: [w-2, "w-[3-4]"]
- topology: two
  block:
    block_sizes: [2, 4]
    blocks:
      - block: b1
        nodes: w-[0-1]
      - block: b2
- topology: three
  cluster_default: false
  flat: true
"""
TOPOLOGIES = (
    Named(
        "one",
        Tree(
            (
                Switch("root", switches=("s1", "s2")),
                Switch("s1", nodes=("w-0", "w-1")),
                Switch("s2", nodes=("w-2", "w-3", "w-4")),
            )
        ),
        cluster_default=True,
    ),
    Named("two", Blocks((Block("b1", ("w-0", "w-1")), Block("b2")), (2, 4))),
    Named("three", Other("flat")),
)


def test_every_kind_is_read():
    assert from_data(yaml.safe_load(TEXT)) == TOPOLOGIES


def test_a_name_comes_first_and_nodes_are_folded():
    data = to_data(TOPOLOGIES)
    assert [next(iter(item)) for item in data] == ["topology"] * 3
    assert data[0]["tree"]["switches"][2] == {"switch": "s2", "nodes": "w-[2-4]"}
    assert data[1]["block"]["blocks"][1] == {"block": "b2"}
    assert yaml.safe_load(yaml.safe_dump(data, sort_keys=False)) == data


def test_a_flaw_names_its_place_in_the_data():
    (one,) = from_data(
        [{"topology": "a", "tree": {"switches": [{"switch": "r", "children": "s"}]}}], "spec.x"
    )
    (flaw,) = flaws(one.topology)
    assert flaw.why == "spec.x[0].tree.switches[0]: r: the switch s below it is not defined"


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (None, "y: Expected `array`, got `null`"),
        ({}, "y: Expected `array`, got `object`"),
        (["x"], "y[0]: Expected `object`, got `str`"),
        ([{"topology": "a"}], "y[0]: must have the name of a topology and one kind"),
        ([{"topology": "a", "tree": {}, "flat": True}], "y[0]: must have the name"),
        ([{"flat": True}], "y[0].topology: Expected `str`, got `null`"),
        ([{"topology": 7, "flat": True}], "y[0].topology: Expected `str`, got `int`"),
        (
            [{"topology": "a", "cluster_default": "yes", "flat": True}],
            "y[0].cluster_default: Expected `bool`",
        ),
        ([{"topology": "a", "tree": {}}], "y[0].tree: Object missing required field `switches`"),
        (
            [{"topology": "a", "tree": {"switches": [{"nodes": "n"}]}}],
            "y[0].tree.switches[0]: Object missing required field `switch`",
        ),
        (
            [{"topology": "a", "tree": {"switches": [{"switch": "s", "node": "n"}]}}],
            "y[0].tree.switches[0]: Object contains unknown field `node`",
        ),
        (
            [{"topology": "a", "tree": {"switches": [{"switch": "s", "nodes": "n[1"}]}}],
            "y[0].tree.switches[0]: nodes: hostlist 'n[1', character 2",
        ),
        (
            [{"topology": "a", "block": {"block_sizes": ["x"]}}],
            "y[0].block.block_sizes[0]: Expected `int`, got `str`",
        ),
    ],
)
def test_data_of_another_shape_is_an_error_with_its_path(data, error):
    with pytest.raises(ConfError) as caught:
        from_data(data, "y")
    assert error in str(caught.value)


NAMES = st.sampled_from(
    ["a", "b-x", *(f"{p}{n}" for p in ("w-", "r1s") for n in (0, "01", 2, 10, 11))]
)
LISTS = st.lists(NAMES, max_size=5, unique=True).map(lambda names: expand(fold(names)))
TREES = st.builds(Tree, st.lists(st.builds(Switch, NAMES, LISTS, LISTS), max_size=4).map(tuple))
ROWS = st.builds(
    Blocks,
    st.lists(st.builds(Block, NAMES, LISTS), max_size=4).map(tuple),
    st.lists(st.integers(0, 99), max_size=3).map(tuple),
)
KINDS = TREES | ROWS | st.builds(Other, st.sampled_from(["flat", "ring", "torus3d"]), st.booleans())


@settings(deadline=None, max_examples=50)
@given(st.lists(st.builds(Named, NAMES, KINDS, st.booleans()), max_size=4))
def test_what_is_given_as_data_is_read_back(topologies):
    assert from_data(to_data(topologies)) == tuple(topologies)
