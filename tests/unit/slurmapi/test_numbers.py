"""Wrapped numbers: set, not set, infinite; and times, where 0 is not set."""

import math

import msgspec
import pytest

from shoal.slurmapi.numbers import Number, wrapped


def read(text: str) -> Number:
    return msgspec.json.decode(text, type=Number)


@pytest.mark.parametrize(
    ("text", "value", "whole", "time"),
    [
        ('{"set": true, "infinite": false, "number": 5}', 5, 5, 5),
        ('{"set": true, "infinite": false, "number": 0}', 0, 0, None),
        ('{"set": false, "infinite": false, "number": 0}', None, None, None),
        ('{"set": false, "infinite": true, "number": 0}', math.inf, None, None),
        ('{"set": true, "infinite": true, "number": 4294967295}', math.inf, None, None),
        ('{"set": true, "infinite": false, "number": 1.5}', 1.5, 1, 1),
        ('{"set": true, "number": 7}', 7, 7, 7),
        ("{}", None, None, None),
    ],
)
def test_a_number_is_read_as_slurm_means_it(text, value, whole, time):
    number = read(text)
    assert (number.value, number.whole, number.time) == (value, whole, time)


@pytest.mark.parametrize("value", [None, 0, 1, 10**12, math.inf])
def test_a_number_that_is_written_is_read_back(value):
    assert msgspec.convert(wrapped(value), Number).value == value
