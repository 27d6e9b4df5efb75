from itertools import combinations

import pytest

from shoal.local.addresses import INDEXES, MOST_NODES, Addresses, free


@pytest.mark.parametrize("index", INDEXES)
def test_every_address_of_a_cluster_lies_in_the_one_range_that_the_host_routes_to_it(index):
    known = Addresses(index)
    for part in (known.nodes, known.link, known.pods, known.services):
        assert part.subnet_of(known.everything)


def test_no_two_clusters_share_an_address():
    ranges = [Addresses(index).everything for index in INDEXES]
    assert not any(one.overlaps(other) for one, other in combinations(ranges, 2))


def test_the_ranges_of_one_cluster_do_not_overlap():
    known = Addresses(7)
    parts = (known.nodes, known.link, known.pods, known.services)
    assert not any(one.overlaps(other) for one, other in combinations(parts, 2))


def test_every_node_has_an_address_and_a_pod_range_of_its_own():
    known = Addresses(0)
    addresses = {known.node(i) for i in range(MOST_NODES)}
    ranges = {known.pods_of(i) for i in range(MOST_NODES)}
    assert len(addresses) == len(ranges) == MOST_NODES
    assert all(address in known.nodes for address in addresses)
    assert all(pods.subnet_of(known.pods) for pods in ranges)
    assert known.control_plane not in addresses


def test_a_new_cluster_takes_no_range_that_is_in_use_or_that_the_host_routes_elsewhere():
    office = Addresses(2).pods
    assert next(free({0, 1}, [office])) == 3


def test_when_every_range_is_taken_there_is_none():
    assert list(free(set(INDEXES), [])) == []
