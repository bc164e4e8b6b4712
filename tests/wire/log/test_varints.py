"""Variable-length integers: one by one and many at once, and what the broker's classes write for them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.log.varints import BadVarint, encode, read_int, read_ints, read_long, read_longs

INTS = st.integers(-(1 << 31), (1 << 31) - 1)
LONGS = st.integers(-(1 << 63), (1 << 63) - 1)


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
    """As `ByteUtilsTest` of Kafka has them."""
    assert encode(value).hex() == encoded


@given(st.lists(INTS, min_size=1), st.binary(max_size=3))
def test_ints_are_read_back(values: list[int], behind: bytes) -> None:
    data, positions = _joined(values, behind)
    octets, starts = np.frombuffer(data, np.uint8), np.array(positions[:-1])
    assert [read_int(data, position) for position in positions[:-1]] == list(
        zip(values, positions[1:], strict=True)
    )
    numbers, ends = read_ints(octets, starts)
    assert (numbers.tolist(), ends.tolist()) == (values, positions[1:])


@given(st.lists(LONGS, min_size=1), st.binary(max_size=3))
def test_longs_are_read_back(values: list[int], behind: bytes) -> None:
    data, positions = _joined(values, behind)
    octets, starts = np.frombuffer(data, np.uint8), np.array(positions[:-1])
    assert [read_long(data, position) for position in positions[:-1]] == list(
        zip(values, positions[1:], strict=True)
    )
    numbers, ends = read_longs(octets, starts)
    assert (numbers.tolist(), ends.tolist()) == (values, positions[1:])


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
    """Java shifts them out of an int and a long."""
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


def _joined(values: list[int], behind: bytes) -> tuple[bytes, list[int]]:
    encoded = [encode(value) for value in values]
    positions = [0]
    for varint in encoded:
        positions.append(positions[-1] + len(varint))
    return b"".join(encoded) + behind, positions
