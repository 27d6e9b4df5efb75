"""Generic resources as nodes and jobs show them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.slurm.gres import Gres, parse, total, write

WORDS = st.from_regex(r"[a-z][a-z0-9_.-]{0,8}", fullmatch=True)
ENTRIES = st.builds(
    Gres,
    WORDS,
    st.integers(0, 2**50),
    st.just("") | WORDS.filter(lambda word: word != "no_consume") | st.just("3090"),
    st.booleans(),
    st.sampled_from(["", "S:0-1", "IDX:0,3-5", "IDX:N/A", "2/8,0/8"]),
)


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("gpu:h200:8(S:0-1)", (Gres("gpu", 8, "h200", detail="S:0-1"),)),
        ("gpu:8(IDX:0-7)", (Gres("gpu", 8, detail="IDX:0-7"),)),
        ("gpu", (Gres("gpu", 1),)),
        ("gpu:h200", (Gres("gpu", 1, "h200"),)),
        ("gpu:3090:3", (Gres("gpu", 3, "3090"),)),
        ("gpu:1g.10gb:7", (Gres("gpu", 7, "1g.10gb"),)),
        ("gpu:(null):3(IDX:0-7)", (Gres("gpu", 3, detail="IDX:0-7"),)),
        ("gpu:0", (Gres("gpu", 0),)),
        ("mps:2K", (Gres("mps", 2048),)),
        (
            "bandwidth:lustre:no_consume:4G",
            (Gres("bandwidth", 4 * 1024**3, "lustre", no_consume=True),),
        ),
        ("vram:no_consume:97G", (Gres("vram", 97 * 1024**3, no_consume=True),)),
        (
            "gpu:a:4(IDX:0,2-3),shard:a:2(1/4,1/4),mps:100",
            (
                Gres("gpu", 4, "a", detail="IDX:0,2-3"),
                Gres("shard", 2, "a", detail="1/4,1/4"),
                Gres("mps", 100),
            ),
        ),
        ("", ()),
        ("(null)", ()),
        ("N/A", ()),
    ],
)
def test_resources_are_told_apart_by_name_type_and_count(text, entries):
    assert parse(text) == entries


@pytest.mark.parametrize(
    "text",
    [":8", "gpu:", "gpu:h200:a100:2", "gpu::8", "gpu:8(S:0-1", "gpu:8)", "gpu,,mps:1", ",", "(S:0)",
     "gpu:8(a)(b)"],
)  # fmt: skip
def test_anything_else_is_refused_by_name(text):
    with pytest.raises(ValueError, match="is no GRES: use name") as caught:
        parse(text)
    assert repr(text) in str(caught.value)


@given(st.lists(ENTRIES))
def test_what_is_written_is_read_as_the_same(entries):
    assert parse(write(entries)) == tuple(entries)


@pytest.mark.parametrize(
    "fields",
    [
        {"name": ""},
        {"name": "g pu"},
        {"name": "gpu,mps"},
        {"name": "gpu", "type": "a:b"},
        {"name": "gpu", "type": "no_consume"},
        {"name": "gpu", "detail": "S:0)"},
        {"name": "gpu", "count": -1},
    ],
)
def test_a_resource_that_would_read_as_another_one_cannot_be_made(fields):
    with pytest.raises(ValueError, match="GRES"):
        Gres(**fields)


def test_sockets_and_devices_are_numbers():
    near, used = parse("gpu:8(S:0-1),gpu:3(IDX:0,3-4)")
    assert (near.sockets, near.indices) == ((0, 1), ())
    assert (used.sockets, used.indices) == ((), (0, 3, 4))


def test_no_device_in_use_is_no_number():
    assert parse("gpu:0(IDX:N/A)")[0].indices == ()


def test_a_total_counts_every_type():
    assert total(parse("gpu:h200:6,gpu:a100:2(S:0),shard:32"), "gpu") == 8
