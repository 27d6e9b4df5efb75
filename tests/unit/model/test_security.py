import pytest

from shoal.model.security import app_armor


@pytest.mark.parametrize(
    ("told", "profile"),
    [
        ("unconfined", {"type": "Unconfined"}),
        ("runtime/default", {"type": "RuntimeDefault"}),
        ("localhost/mine", {"type": "Localhost", "localhostProfile": "mine"}),
    ],
)
def test_a_profile_is_named_as_users_know_it(told, profile):
    assert app_armor(told) == {"appArmorProfile": profile}


def test_a_name_that_is_none_is_refused_with_those_that_are():
    with pytest.raises(ValueError, match="'mine' is no profile; write unconfined"):
        app_armor("mine")
