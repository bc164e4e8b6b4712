"""One client's connection: frames in, answers out in the order of the requests.

The next request is read when the last one is answered, as Kafka does (`SocketServer` mutes the channel): a request
that waits holds every later one on its connection.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from coordinator.wire.decode import DecodeError, decode
from coordinator.wire.encode import encode
from coordinator.wire.framing import MAX_FRAME_BYTES, frame
from coordinator.wire.server.exchange import Exchange
from coordinator.wire.server.fill import fill
from coordinator.wire.server.node import Caller, Node
from coordinator.wire.server.served import API_VERSIONS_KEY, SERVED, ServedApi

LENGTH_BYTES = 4
HEAD_BYTES = 8
"""API key, version and correlation id: the same in every header."""
UNSUPPORTED_VERSION = 35

_log = logging.getLogger(__name__)


class PeerFault(Exception):
    """What the client sent is no request that this server knows; its connection is closed."""


async def converse(node: Node, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one client until it goes, or sends what cannot be read."""
    host = f"/{writer.get_extra_info('peername')[0]}"
    try:
        while (request := await _read(reader)) is not None:
            response = await _answer(node, request, host)
            if response is not None:
                writer.write(frame(response))
                await writer.drain()
    except (DecodeError, PeerFault) as error:
        _log.warning("A connection from %s is closed: %s", host, error)
    except OSError:
        pass  # the client is gone
    finally:
        writer.close()


async def _read(reader: asyncio.StreamReader) -> bytes | None:
    """The next frame; None at the end of the connection."""
    try:
        length = int.from_bytes(await reader.readexactly(LENGTH_BYTES), "big", signed=True)
        if not 0 <= length <= MAX_FRAME_BYTES:
            raise PeerFault(f"a frame of {length} bytes is announced")
        return await reader.readexactly(length)
    except asyncio.IncompleteReadError:
        return None


async def _answer(node: Node, request: bytes, host: str) -> bytes | None:
    """The whole response, or None where the client wants none."""
    if len(request) < HEAD_BYTES:
        raise PeerFault(f"a request has only {len(request)} bytes")
    key, version, correlation_id = (
        int.from_bytes(request[start:end], "big", signed=True) for start, end in ((0, 2), (2, 4), (4, 8))
    )
    api = SERVED.get(key)
    if api is None:
        raise PeerFault(f"API {key} is not served")
    if not api.serves(version):
        if key != API_VERSIONS_KEY:
            raise PeerFault(f"{api.name} {version} is not served")
        return _newer_client(api, correlation_id)
    request_type = api.request_type(version)
    header, position = decode(request_type.__header_schema__, request)
    message, _ = decode(request_type, request, position)
    caller = Caller(client_id=header.client_id or "", host=host)
    fields = await api.handler()(Exchange(node=node, request=message, version=version, caller=caller))
    if fields is None:
        return None
    return _encoded(api.response_type(version), correlation_id, fields)


def _newer_client(api: ServedApi, correlation_id: int) -> bytes:
    """A client that asks in a version of the future is told in version 0 which ones are known (KIP-511)."""
    known = {"api_key": api.key, "min_version": api.minimum, "max_version": api.maximum}
    return _encoded(
        api.response_type(0), correlation_id, {"error_code": UNSUPPORTED_VERSION, "api_keys": [known]}
    )


def _encoded(response_type: Any, correlation_id: int, fields: Any) -> bytes:
    header = response_type.__header_schema__(correlation_id=correlation_id)
    return encode(header) + encode(fill(response_type, fields))
