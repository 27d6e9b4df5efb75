"""Workers that have a node to themselves, until they may share it."""

import pytest

from . import modes
from .nodesets import Workers


@pytest.mark.long
def test_workers_have_nodes_to_themselves_until_they_may_share_them(make_site, record_property):
    site = make_site("alone")
    site.wait("controller/slurm", "restapi/slurm")
    modes.one_each(Workers(site, "alone"), record_property)
    site.wait("nodeset/alone")
    assert len(Workers(site, "alone").nodes()) == 4
