"""ControllerRevisions as they are read."""

import msgspec

from shoal.kube.revisions import ControllerRevision


def test_a_revision_of_anybody_is_read():
    told = b'{"metadata": {"name": "a"}, "data": null, "revision": 3}'
    read = msgspec.json.decode(told, type=ControllerRevision)
    assert (read.hash, read.revision, read.data) == ("", 3, None)
