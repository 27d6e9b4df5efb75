from shoal.render.sections import heading, section, with_extra
from shoal.slurm import conf
from shoal.slurm.conf import setting


def test_a_heading_is_a_comment_to_slurm():
    text = conf.write(section("GENERAL", [setting("SlurmUser", "slurm")]))
    assert text == heading("GENERAL") + "SlurmUser=slurm\n"
    assert [line.key for line in conf.parse(text)] == ["SlurmUser"]


def test_where_there_is_nothing_there_is_no_heading():
    assert section("GENERAL", []) == ()
    assert with_extra([], [], " \n") == ""


def test_the_users_last_line_ends():
    assert with_extra([], conf.parse("A=b"), "A=b").endswith("A=b\n")
