"""Ask a broker over one plain connection, kio doing the bytes: for what the client libraries do not show."""

import socket
import threading
from collections.abc import Iterator, Sequence
from struct import Struct
from typing import Any, BinaryIO

from tests.conformance.messages import build, decoded, encoded, request_type, response_type
from tests.kafka.ports import HOST

TIMEOUT_S = 30.0
LENGTH = Struct(">i")


def ask(port: int, api: str, version: int, **fields: Any) -> Any:
    """Send a request, made of fields by kio's names, on a separate connection; the response as kio reads it."""
    (answer,) = converse(port, [framed(api, version, **fields)], response_type(api, version), TIMEOUT_S)
    return answer


def converse(
    port: int, frames: Sequence[bytes], answer: Any, timeout_s: float | None = None
) -> Iterator[Any]:
    """Send requests of one API one after the other on one connection; their answers in that order."""
    with socket.create_connection((HOST, port), timeout_s) as connection:
        # One thread writes while the other reads: neither side's buffers fill up.
        sender = threading.Thread(target=_send, args=(connection, frames))
        sender.start()
        with connection.makefile("rb") as stream:
            for _ in frames:
                (length,) = LENGTH.unpack(_exactly(stream, LENGTH.size))
                yield decoded(answer, _exactly(stream, length))
        sender.join()


def framed(api: str, version: int, **fields: Any) -> bytes:
    """The bytes of a request with its header, after their length."""
    message = encoded(build(request_type(api, version), fields), 1, None, "rig")
    return LENGTH.pack(len(message)) + message


def _send(connection: socket.socket, frames: Sequence[bytes]) -> None:
    for frame in frames:
        connection.sendall(frame)


def _exactly(stream: BinaryIO, length: int) -> bytes:
    read = stream.read(length)
    if len(read) != length:
        raise ConnectionError("the broker hung up in the middle of an answer")
    return read
