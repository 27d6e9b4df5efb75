"""What workers are called."""

from dataclasses import replace

import pytest

from ..decide.worlds import make_nodeset


@pytest.mark.parametrize(
    ("padding", "number", "index"), [(0, 0, "0"), (0, 12, "12"), (3, 7, "007"), (2, 123, "123")]
)
def test_a_number_is_padded_and_never_cut(padding, number, index):
    nodeset = replace(make_nodeset(1), padding=padding)
    assert nodeset.index(number) == index
    assert nodeset.pod_name(number) == nodeset.hostname(number) == f"w-{index}"


def test_a_hostname_may_begin_otherwise_than_the_pods_name():
    nodeset = replace(make_nodeset(1), hostname_prefix="gpu")
    assert (nodeset.hostname(1), nodeset.pod_name(1)) == ("gpu1", "w-1")
