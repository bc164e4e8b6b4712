"""The codecs, as clients of every kind frame them, and data that is broken or expands without end."""

import gzip
import subprocess
import sys
from contextlib import suppress
from random import Random

import cramjam
import pytest

from wire.log.compression import BadCompression, Codec, compress, decompress

COMPRESSING = [codec for codec in Codec if codec is not Codec.NONE]
SAMPLES = {
    "nothing": b"",
    "a byte": b"a",
    "text": b"one two three, " * 10_000,
    "noise": Random(1).randbytes(200_000),
    "zeros": bytes(1 << 20),
    "just over a block": bytes((64 << 10) + 1),
}
SNAPPY_JAVA = b"\x82SNAPPY\0\0\0\0\1\0\0\0\1"


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("sample", SAMPLES)
def test_compression_can_be_reversed(codec: Codec, sample: str) -> None:
    data = SAMPLES[sample]
    compressed = compress(codec, data)
    assert decompress(codec, compressed) == data
    assert decompress(codec, memoryview(compressed)) == data


def test_gzip_of_several_members() -> None:
    assert decompress(Codec.GZIP, gzip.compress(b"one ") + gzip.compress(b"two")) == b"one two"


def test_snappy_without_a_header_is_one_block() -> None:
    data = SAMPLES["text"]
    assert decompress(Codec.SNAPPY, bytes(cramjam.snappy.compress_raw(data))) == data


def test_snappy_after_a_header_is_blocks() -> None:
    blocks = [bytes(cramjam.snappy.compress_raw(part)) for part in (b"one ", b"two ", b"three")]
    framed = [len(block).to_bytes(4, "big") + block for block in blocks]
    assert decompress(Codec.SNAPPY, SNAPPY_JAVA + framed[0] + framed[1]) == b"one two "
    joined = SNAPPY_JAVA + framed[0] + SNAPPY_JAVA + framed[1] + framed[2]
    assert decompress(Codec.SNAPPY, joined) == b"one two three"


def test_lz4_of_other_writers() -> None:
    data = SAMPLES["text"]
    assert decompress(Codec.LZ4, bytes(cramjam.lz4.compress(data))) == data


@pytest.mark.parametrize("codec", COMPRESSING)
def test_a_limit_is_kept_to_the_byte(codec: Codec) -> None:
    compressed = compress(codec, bytes(100_000))
    assert decompress(codec, compressed, most=100_000) == bytes(100_000)
    with pytest.raises(BadCompression):
        decompress(codec, compressed, most=99_999)


def test_a_limit_is_for_all_blocks_together() -> None:
    block = bytes(cramjam.snappy.compress_raw(bytes(1000)))
    framed = SNAPPY_JAVA + 5 * (len(block).to_bytes(4, "big") + block)
    assert len(decompress(Codec.SNAPPY, framed, most=5000)) == 5000
    with pytest.raises(BadCompression):
        decompress(Codec.SNAPPY, framed, most=4999)


def test_a_snappy_block_that_announces_gigabytes() -> None:
    with pytest.raises(BadCompression, match="announces 4294967295 bytes"):
        decompress(Codec.SNAPPY, b"\xff\xff\xff\xff\x0fabc")


@pytest.mark.parametrize("codec", COMPRESSING)
def test_every_cut_is_noticed(codec: Codec) -> None:
    data = Random(2).randbytes(300) + bytes(300)
    compressed = compress(codec, data)
    for end in range(len(compressed)):
        try:
            rest = decompress(codec, compressed[:end])
        except BadCompression:
            continue
        assert data.startswith(rest)
        assert len(rest) < len(data)


@pytest.mark.parametrize("codec", COMPRESSING)
def test_changed_bytes_give_an_error_or_other_bytes(codec: Codec) -> None:
    rng = Random(3)
    compressed = compress(codec, rng.randbytes(300) + bytes(3000))
    for _ in range(500):
        changed = bytearray(compressed)
        for _ in range(rng.randrange(1, 4)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        with suppress(BadCompression):
            assert len(decompress(codec, bytes(changed), most=1 << 20)) <= 1 << 20


BOMB = """
import resource, sys
from wire.log.compression import BadCompression, Codec, decompress
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    decompress(Codec[sys.argv[1]], sys.stdin.buffer.read())
except BadCompression as error:
    print(error)
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)
"""


@pytest.mark.parametrize("codec", COMPRESSING)
def test_a_bomb_takes_no_more_memory_than_a_batch_may(codec: Codec) -> None:
    bomb = compress(codec, bytes(400 << 20))
    done = subprocess.run(
        [sys.executable, "-c", BOMB, codec.name], input=bomb, capture_output=True, check=True, timeout=60
    )
    said, megabytes = done.stdout.decode().splitlines()
    assert "expand" in said or "announces" in said
    assert int(megabytes) < 150 + (len(bomb) >> 20)
