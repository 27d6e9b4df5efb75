"""Secrets that are made where nobody brings them."""

import base64

import pytest

from shoal.controllers import secrets_once
from shoal.controllers.secrets_once import Once, jwt_key, lost, munge_key, password, ssh_host_keys
from shoal.model.part import Part

PART = Part("one", "ns", {}, {})


def once(name="s", **told):
    return Once(name, PART, password("p"), **{"there": False, **told})


@pytest.mark.parametrize(
    ("make", "entry", "size"), [(munge_key("k"), "k", 1024), (jwt_key("j"), "j", 32)]
)
def test_a_key_is_as_long_as_its_daemon_wants_it_and_another_one_each_time(make, entry, size):
    first, second = make(), make()
    assert [*first] == [entry]
    assert len(first[entry]) == size
    assert first != second


def test_a_password_is_of_characters_that_no_file_minds():
    made = password("p")()["p"].decode()
    assert len(made) >= 32
    assert made.replace("-", "").replace("_", "").isalnum()


def test_host_keys_are_of_three_types_each_with_its_public_half():
    made = ssh_host_keys()
    assert len(made) == 6
    assert base64.b64decode(made["ssh_host_ed25519_key.pub"].split()[1])


def test_what_is_gone_and_still_in_use_is_told_and_nothing_else():
    assert lost([once(), once(there=True, lost="in use")]) is None
    failed = lost([once("a"), once("b", lost="daemons have it; restore it")])
    assert failed is not None
    assert (failed.reason, failed.message) == (
        "KeyLost",
        "Secret b is gone, and daemons have it; restore it",
    )


class Hands:
    """Nobody may be asked anything."""


async def test_what_is_there_or_must_not_be_replaced_is_not_made():
    wanted = [once(there=True), once(lost="in use")]
    assert not await secrets_once.make(Hands(), None, None, wanted)
