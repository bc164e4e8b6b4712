"""The beginning of a batch, in the first bytes of an answer."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.long import cases
from wire.log.batch_writer import encode_batch
from wire.log.compression import Codec, beginning_of
from wire.log.cut_batches import cut_batch

CASES = cases("KOHORT_FUZZ_CASES", 60, many=20_000)
VALUE = st.none() | st.binary(max_size=300)


@settings(max_examples=CASES)
@given(
    st.none() | st.binary(max_size=20),
    VALUE,
    st.binary(max_size=80),
    st.binary(max_size=9),
    st.integers(61, 500),
)
def test_what_was_received_of_the_first_record(
    key: bytes | None, value: bytes | None, before: bytes, after: bytes, received: int
) -> None:
    made = encode_batch([(key, value), (b"next", None)], base_offset=40, timestamp=7)
    answer = before + made + after
    cut = cut_batch(answer[: len(before) + received], len(answer), 41)
    if cut is not None and cut.first is not None:
        assert (cut.first.offset, cut.first.timestamp, cut.first.key) == (40, 7, key)
        assert cut.value_size == len(value or b"")
        assert (value or b"").startswith(cut.first.value or b"")
    if received >= 61 + 40 + len(key or b""):
        assert cut is not None
        assert cut.first is not None
        assert len(cut.first.value or b"") >= min(len(value or b""), received - 110)


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_the_first_record_of_a_compressed_batch(codec: Codec) -> None:
    value = Random(1).randbytes(300_000) + bytes(9_000_000)
    made = encode_batch([(b"key", value)], base_offset=40, timestamp=7, codec=codec)
    sizes = []
    for received in (62, 65, 100, 40_000, 70_000, len(made)):
        cut = cut_batch(made[:received], len(made), 40)
        assert cut is not None
        if cut.first is not None:
            assert (cut.first.key, cut.value_size) == (b"key", len(value))
            assert value.startswith(cut.first.value or b"")
            sizes.append(len(cut.first.value or b""))
    assert sizes == sorted(sizes)
    assert 60_000 < sizes[-1] < 65_536


@settings(max_examples=CASES)
@given(st.binary(max_size=300), st.integers(0, 400), st.integers(-1, 50), st.binary(max_size=30))
def test_no_bytes_are_misread(junk: bytes, size: int, offset: int, front: bytes) -> None:
    cut_batch(junk, size, offset)
    for codec in Codec:
        beginning_of(codec, front + junk)
    made = encode_batch([(None, b"v" * 50)], base_offset=40, timestamp=7, codec=Codec.GZIP)
    assert cut_batch(front + made[:70] + junk, len(front) + len(made), 40) is not None
    assert cut_batch(front + made, len(front) + len(made), 41) is None
