"""Durations as Kubernetes writes them."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kube.durations import duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("0s", 0),
        ("15m", 900),
        ("1h30m", 5400),
        ("1.5h", 5400),
        ("1.h", 3600),
        (".5s", 0.5),
        ("100ms", 0.1),
        ("5us", 5e-6),
        ("5µs", 5e-6),
        ("5\u03bcs", 5e-6),
        ("1h1h", 7200),
        ("-1m", -60),
        ("+1m", 60),
    ],
)
def test_what_go_writes_is_read(text, seconds):
    assert duration(text, "f") == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text", ["", "-", "+", "1", "15", "m", "1d", "1 h", "1h ", "1,5h", "h1", "--1h", "1H"]
)
def test_what_is_no_duration_is_refused_with_the_field_and_a_cure(text):
    with pytest.raises(ValueError, match=r"^spec\.lifetime: .* is no duration; write it as 15m"):
        duration(text, "spec.lifetime")


def test_what_go_cannot_count_is_refused():
    with pytest.raises(ValueError, match=r"^f: .* longer than 292 years"):
        duration("9999999h", "f")
    with pytest.raises(ValueError, match="292 years"):
        duration("-9999999h", "f")
    with pytest.raises(ValueError, match="292 years"):
        duration("9" * 400 + "h", "f")


@given(st.integers(0, 999), st.integers(0, 999), st.integers(0, 999))
def test_pieces_add_up(hours, minutes, seconds):
    assert duration(f"{hours}h{minutes}m{seconds}s", "f") == timedelta(
        hours=hours, minutes=minutes, seconds=seconds
    )
