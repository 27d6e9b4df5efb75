import pytest

from shoal.model.maintenance import Mode


@pytest.mark.parametrize(
    ("told", "down", "populates", "overwrites"),
    [
        ("none", False, True, False),
        ("downscale", True, True, False),
        ("downscaleAndDeletePopulateJail", True, False, False),
        ("downscaleAndOverwritePopulateJail", True, True, True),
        ("skipPopulateJail", False, False, False),
    ],
)
def test_each_mode_means_what_users_know(told, down, populates, overwrites):
    mode = Mode(told)
    assert (mode.down, mode.populates, mode.overwrites) == (down, populates, overwrites)


@pytest.mark.parametrize("mode", Mode)
def test_a_part_has_no_pods_exactly_while_its_cluster_is_down(mode):
    assert (mode.replicas(3) == 0) is mode.down
