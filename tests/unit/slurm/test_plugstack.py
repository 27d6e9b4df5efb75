"""plugstack.conf, which knows neither quotes nor escapes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.slurm.conf import ConfError, Include, Place
from shoal.slurm.plugstack import Plugin, parse, write

words = st.text(st.characters(categories=["L", "N", "P", "S"], exclude_characters="#"), min_size=1)
lines = st.lists(
    st.builds(Plugin, words, st.lists(words, max_size=3).map(tuple), st.booleans())
    | st.builds(Include, words)
)


def test_plugins_are_read_with_their_arguments():
    found = parse(
        "# ours\n\n"
        "required chroot.so /mnt/jail # the jail\n"
        "\toptional  spank_pyxis.so runtime_path=/run/pyxis sbatch_support=1\n"
        "include /etc/slurm/plugstack.conf.d/*\n"
    )
    assert found == (
        Plugin("chroot.so", ("/mnt/jail",)),
        Plugin("spank_pyxis.so", ("runtime_path=/run/pyxis", "sbatch_support=1"), required=False),
        Include("/etc/slurm/plugstack.conf.d/*"),
    )
    assert [line.place.line for line in found] == [3, 4, 5]


@pytest.mark.parametrize(
    "line", ["chroot.so", "required", "include a b", "Required a.so", "required a.so\r"]
)
def test_a_line_that_slurm_would_ignore_is_an_error_with_its_place(line):
    with pytest.raises(ConfError, match=r"spec\.plugins, line 2: ") as caught:
        parse(f"required a.so\n{line}\n", source="spec.plugins")
    assert caught.value.place == Place("spec.plugins", 2)


@pytest.mark.parametrize("word", ["", "a b", "a\nrequired evil.so", "a#b", "a\tb", "a\0", "\x85"])
def test_no_argument_can_become_another_line(word):
    for line in (Plugin("a.so", (word,)), Plugin(word), Include(word)):
        with pytest.raises(ConfError, match="must be one word"):
            write([line])


def test_a_refused_argument_names_its_field():
    with pytest.raises(ConfError, match=r"^spec\.plugins\[0\]: 'a b': "):
        write([Plugin("a b", place=Place("spec.plugins[0]"))])


def test_a_line_that_slurm_would_cut_in_two_is_refused():
    assert write([Plugin("a", ("x" * 4082,))]).endswith("x\n")
    with pytest.raises(ConfError, match="a: takes more than 4095 bytes"):
        write([Plugin("a", ("x" * 4084,))])


@settings(deadline=None)
@given(lines)
def test_what_is_written_is_read_back(lines):
    assert parse(write(lines)) == tuple(lines)
