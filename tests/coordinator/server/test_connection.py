"""Arbitrary bytes: their connection may be closed, nothing else happens."""

import asyncio

import pytest

from tests.conformance.messages import build, encoded, request_type
from tests.conformance.messages import response_type as answer_type
from tests.conformance.peer import Peer
from tests.coordinator.server.running import HOST, running

DEADLINE_S = 60
VERSIONS_REQUEST = encoded(build(request_type("ApiVersions", 0), {}), 1, None, "tests")
FRAME = len(VERSIONS_REQUEST).to_bytes(4, "big") + VERSIONS_REQUEST


async def _exchange(*chunks: bytes) -> bytes:
    """Send the chunks to a separate server and read until it closes the connection; it must still serve others."""
    async with running() as broker:
        reader, writer = await asyncio.open_connection(HOST, broker.port)
        for chunk in chunks:
            writer.write(chunk)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
        try:
            answer = await asyncio.wait_for(reader.read(), DEADLINE_S)
        except ConnectionResetError:
            answer = b""
        writer.close()
        peer = await Peer.connect(HOST, broker.port)
        versions = await peer.send(build(request_type("ApiVersions", 0), {}), answer_type("ApiVersions", 0))
        await peer.close()
        assert not versions.error_code
        return answer


@pytest.mark.parametrize("cut", range(1, len(FRAME)))
def test_a_request_may_come_in_pieces(cut: int) -> None:
    assert asyncio.run(_exchange(FRAME[:cut], FRAME[cut:])) == asyncio.run(_exchange(FRAME))


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xff\xff\xff",  # a negative length
        b"\x7f\xff\xff\xff",  # two GiB are announced
        b"\0\0\0\0",
        b"\0\0\0\3abc",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01",  # TLS
    ],
)
def test_what_is_no_frame_closes_the_connection(content: bytes) -> None:
    assert asyncio.run(_exchange(content)) == b""
