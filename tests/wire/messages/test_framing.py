"""Frames out of a stream, however its bytes arrive."""

import pytest

from wire.messages.framing import MAX_FRAME_BYTES, BadFrame, FrameReader, frame

STREAM = frame(b"one") + frame(b"") + frame(b"three")


def test_every_split_gives_the_same_frames() -> None:
    for first in range(len(STREAM) + 1):
        for second in range(first, len(STREAM) + 1):
            reader = FrameReader()
            frames = [
                *reader.feed(STREAM[:first]),
                *reader.feed(STREAM[first:second]),
                *reader.feed(STREAM[second:]),
            ]
            assert frames == [b"one", b"", b"three"]
            assert reader.partial == 0


def test_an_unfinished_frame_is_held() -> None:
    reader = FrameReader()
    assert reader.feed(STREAM[:-1]) == [b"one", b""]
    assert reader.partial == 4 + len("thre")


@pytest.mark.parametrize("length", [-1, -(2**31), MAX_FRAME_BYTES + 1, 2**31 - 1])
def test_an_invalid_length_is_refused_before_its_bytes_arrive(length: int) -> None:
    with pytest.raises(BadFrame, match=f"a frame of {length} bytes is announced"):
        FrameReader().feed(length.to_bytes(4, "big", signed=True))


def test_the_longest_frame_is_the_brokers_default() -> None:
    assert MAX_FRAME_BYTES == 104_857_600
    assert FrameReader().feed(MAX_FRAME_BYTES.to_bytes(4, "big")) == []
