"""The user's lines and files."""

from shoal.model.config import Config, Scripts
from shoal.model.part import Files

A, B, C = Files("a", ("cgroup.conf",), "1"), Files("b", ("b.sh",), "2"), Files("c", (), "3")


def test_a_configmap_that_is_named_twice_counts_once_and_all_are_in_order():
    config = Config("", (C, A), Scripts(prolog=(B,), epilog=(B,), prolog_slurmctld=(A,)))
    assert config.sources == (A, B, C)
    assert Config().sources == ()


def test_scripts_of_every_kind_count():
    every = Scripts((A,), (B,), (C,), (A,))
    assert every.all == (A, B, C, A)


def test_a_file_is_the_users_only_where_it_is_meant_as_a_file():
    assert Config(files=(A,)).has("cgroup.conf")
    assert not Config(files=(B,), scripts=Scripts(prolog=(A,))).has("cgroup.conf")


def test_of_two_files_with_one_name_that_of_the_later_configmap_counts():
    config = Config("", (B, A), Scripts(prolog=(C,)))
    held = {"a": {"x": b"a", "y": b"a"}, "b": {"x": b"b"}, "other": {"z": b"z"}}
    assert config.filled(held).contents == {"x": b"b", "y": b"a"}
    assert config.filled({}).contents == {}
