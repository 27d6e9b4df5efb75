from shoal.render.jailed import apparmor

from .worlds import make_jail


def test_a_profile_is_made_only_where_it_is_wanted():
    assert apparmor.objects(make_jail()) == []
    (made,) = apparmor.objects(make_jail(app_armor="mine"))
    assert made["metadata"]["name"] == "mine"


def test_nobody_overwrites_the_drivers_files():
    text = apparmor.policy("mine")
    assert "profile mine flags=" in text
    assert "  deny /usr/bin/nvidia-* w,\n" in text
    assert "  deny /usr/lib/x86_64-linux-gnu/libcuda* w,\n" in text


def test_steps_may_still_have_a_root_of_their_own():
    assert "  pivot_root,\n" in apparmor.policy("mine")
