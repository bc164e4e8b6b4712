"""The beginning of a batch, in the first bytes of an answer."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.long import cases
from wire.log.batch_writer import encode_batch
from wire.log.compression import Codec
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


@settings(max_examples=CASES)
@given(st.binary(max_size=300), st.integers(0, 400), st.integers(-1, 50), st.binary(max_size=30))
def test_no_bytes_are_misread(junk: bytes, size: int, offset: int, front: bytes) -> None:
    cut_batch(junk, size, offset)
    made = encode_batch([(None, b"v" * 50)], base_offset=40, timestamp=7, codec=Codec.GZIP)
    compressed = cut_batch(front + made[:70] + junk, len(front) + len(made), 40)
    assert compressed is not None
    assert compressed.first is None
    assert cut_batch(front + made, len(front) + len(made), 41) is None
