"""Time limits as Slurm's tools read and write them."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.slurm.durations import Open, minutes, parse, write

LENGTHS = st.integers(0, 10**9).map(lambda s: timedelta(seconds=s))
LIMITS = LENGTHS | st.sampled_from(Open)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("0", timedelta(0)),
        ("90", timedelta(minutes=90)),
        ("30:15", timedelta(minutes=30, seconds=15)),
        ("90:00", timedelta(minutes=90)),
        ("1:02:03", timedelta(hours=1, minutes=2, seconds=3)),
        ("100:00:00", timedelta(hours=100)),
        ("1-12", timedelta(days=1, hours=12)),
        ("1-12:30", timedelta(days=1, hours=12, minutes=30)),
        ("2-03:04:05", timedelta(days=2, hours=3, minutes=4, seconds=5)),
        ("UNLIMITED", Open.UNLIMITED),
        ("infinite", Open.UNLIMITED),
        ("-1", Open.UNLIMITED),
        ("NOT_SET", Open.NOT_SET),
        ("Partition_Limit", Open.NOT_SET),
    ],
)
def test_a_time_limit_means_what_sbatch_takes_it_for(text, limit):
    assert parse(text) == limit


@pytest.mark.parametrize(
    "text",
    ["", " 5", "5 ", "-2", "1:2:3:4", "1-", "-1:00", "1-2-3", "1.5", "1h", "٣", "1-2:3:4:5",
     "9999999999", "soon"],
)  # fmt: skip
def test_anything_else_is_refused_by_name(text):
    with pytest.raises(ValueError, match="is no time limit") as caught:
        parse(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("text", ["999999999-24", "999999999-999999999:0:0"])
def test_a_limit_too_long_to_hold_is_refused_and_not_cut(text):
    with pytest.raises(ValueError, match="is no time limit"):
        parse(text)


@given(LIMITS)
def test_what_is_written_is_read_as_the_same(limit):
    assert parse(write(limit)) == limit


@given(LENGTHS)
def test_the_form_is_the_one_of_scontrol(limit):
    days, clock = limit.days, str(limit - timedelta(days=limit.days)).zfill(8)
    assert write(limit) == (f"{days}-{clock}" if days else clock)


def test_a_negative_limit_is_refused():
    with pytest.raises(ValueError, match="must not be negative"):
        write(timedelta(seconds=-1))


@given(LENGTHS)
def test_a_limit_in_minutes_is_never_shorter(limit):
    assert timedelta(0) <= timedelta(minutes=minutes(limit)) - limit < timedelta(minutes=1)
