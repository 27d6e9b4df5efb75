"""Quantities as the API server understands them."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kube.quantities import parse


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", "0"),
        ("100m", "0.1"),
        ("1500u", "0.0015"),
        ("3n", "0.000000003"),
        ("1k", "1000"),
        ("1Ki", "1024"),
        ("1.5Gi", str(3 * 2**29)),
        ("1M", "1000000"),
        ("2E", "2000000000000000000"),
        ("1Ei", str(2**60)),
        ("2e3", "2000"),
        ("2E3", "2000"),
        ("25e-1", "2.5"),
        (".5", "0.5"),
        ("5.", "5"),
        ("+1", "1"),
        ("-1Mi", str(-(2**20))),
        (4, "4"),
        (0.5, "0.5"),
    ],
)
def test_a_quantity_means_a_number(text, number):
    assert parse(text) == Decimal(number)


@pytest.mark.parametrize(
    "text",
    ["", " 1", "1 ", "1 Gi", "Gi", "1K", "1ki", "1gi", "1e", "1kk", "0x10", "1,5", "nan", "inf",
     "1_000", "٣", "--1", "1e1Gi", True],
)  # fmt: skip
def test_anything_else_is_refused_by_name(text):
    with pytest.raises(ValueError, match="is no quantity") as caught:
        parse(text)
    assert repr(text) in str(caught.value)


@given(st.integers(-(10**12), 10**12), st.sampled_from(["m", "", "k", "Ki", "M", "Mi", "G", "Gi"]))
def test_the_suffix_is_a_factor(number, suffix):
    assert parse(f"{number}{suffix}") == number * parse(f"1{suffix}")
