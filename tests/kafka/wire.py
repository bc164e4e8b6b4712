"""Ask a broker over one plain connection, kio doing the bytes: for what the client libraries do not show."""

import socket
from io import BytesIO
from struct import Struct
from typing import TypeVar

from kio.serial import entity_reader, entity_writer
from kio.static.primitive import i32
from kio.static.protocol import RequestPayload, ResponsePayload

from tests.kafka.ports import HOST

TIMEOUT_S = 30.0
LENGTH = Struct(">i")


Answer = TypeVar("Answer", bound=ResponsePayload)


def ask(port: int, request: RequestPayload, answer: type[Answer]) -> Answer:
    """Send `request` on a connection of its own and return what comes back, read as `answer`.

    Raises:
        OSError: the broker does not answer within 30 s or hangs up.
    """
    with socket.create_connection((HOST, port), TIMEOUT_S) as connection:
        connection.sendall(framed(request))
        with connection.makefile("rb") as stream:
            (length,) = LENGTH.unpack(_exactly(stream.read(LENGTH.size), LENGTH.size))
            message = _exactly(stream.read(length), length)
    _, size = entity_reader(answer.__header_schema__)(message, 0)
    decoded, _ = entity_reader(answer)(message, size)
    return decoded


def framed(request: RequestPayload) -> bytes:
    """The bytes of a request with its header, and their length in front."""
    schema = request.__header_schema__
    header = schema(
        request_api_key=request.__api_key__,
        request_api_version=request.__version__,
        correlation_id=i32(1),
        client_id="rig",
    )
    buffer = BytesIO()
    entity_writer(schema)(buffer, header)
    entity_writer(type(request))(buffer, request)
    message = buffer.getvalue()
    return LENGTH.pack(len(message)) + message


def _exactly(read: bytes, length: int) -> bytes:
    if len(read) != length:
        raise ConnectionError("the broker hung up in the middle of an answer")
    return read
