from shoal.render.jailed import limits


def test_limits_are_the_users_where_there_are_any():
    assert limits.limits_conf("* soft core 0") == "* soft core 0\n"
    assert limits.limits_conf("* soft core 0\n", limits.unlimited()) == "* soft core 0\n"


def test_limits_that_nobody_asks_for_are_ours():
    assert limits.limits_conf(" \n") == "#Empty security limits file\n"
    assert limits.limits_conf("", limits.unlimited()) == limits.unlimited()


def test_jobs_may_lock_all_memory_and_open_many_files():
    lines = limits.unlimited().splitlines()
    for kind in ("soft", "hard"):
        assert f"* {kind} memlock unlimited" in lines
        assert f"* {kind} nofile 1048576" in lines


def test_programs_may_map_many_files():
    assert limits.sysctl_conf() == "vm.max_map_count=655300\n"
