"""Variable-length integers: one by one and many at once, and what the broker's classes write for them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.log.varints import BadVarint, encode, read_int, read_ints, read_long, read_longs


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0, "00"),
        (-1, "01"),
        (63, "7e"),
        (64, "8001"),
        (-64, "7f"),
        (8191, "fe7f"),
        ((1 << 31) - 1, "feffffff0f"),
        (-(1 << 31), "ffffffff0f"),
        ((1 << 63) - 1, "feffffffffffffffff01"),
        (-(1 << 63), "ffffffffffffffffff01"),
    ],
)
def test_bytes_of_a_value(value: int, encoded: str) -> None:
    assert encode(value).hex() == encoded


@given(st.binary(min_size=1, max_size=12))
def test_many_are_read_like_one(data: bytes) -> None:
    octets, start = np.frombuffer(data, np.uint8), np.array([0])
    for one, many in ((read_int, read_ints), (read_long, read_longs)):
        try:
            expected = one(data, 0)
        except BadVarint:
            with pytest.raises(BadVarint):
                many(octets, start)
        else:
            numbers, end = many(octets, start)
            assert (int(numbers[0]), int(end[0])) == expected


def test_bits_beyond_the_type_are_dropped() -> None:
    assert read_int(bytes.fromhex("feffffff7f"), 0) == ((1 << 31) - 1, 5)
    assert read_long(bytes.fromhex("feffffffffffffffff7f"), 0) == ((1 << 63) - 1, 10)


@pytest.mark.parametrize("bad", ["", "80", "8080808080", "808080808080"])
def test_an_int_that_does_not_end(bad: str) -> None:
    data = b"\x02" + bytes.fromhex(bad)
    with pytest.raises(BadVarint):
        read_int(data, 1)
    with pytest.raises(BadVarint) as error:
        read_ints(np.frombuffer(data, np.uint8), np.array([0, 0, 1]))
    assert error.value.lane == 2
