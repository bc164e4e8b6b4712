"""The bytes of a frame as a request that this server knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from coordinator.server.exchange import PeerFault
from coordinator.server.served import API_VERSIONS_KEY, SERVED, ServedApi
from wire.messages.decode import Frame, decode

HEAD_BYTES = 8
"""API key, version and correlation id: the same in every header."""
MOST_ELEMENTS = 500_000
"""Of all arrays of one request: a commit of so many partitions keeps the coordinator from others for three seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """One request. `message` is kio's dataclass of its `version`.

    None stands for an ApiVersions of a version that is not known: the client is told in version 0 which ones
    are (KIP-511). `size` is that of its frame, in bytes.
    """

    api: ServedApi
    version: int
    correlation_id: int
    client_id: str
    message: Any
    size: int


def understand(content: bytes) -> Incoming:
    """Read a frame. :raises PeerFault, DecodeError: when it is no request that is answered"""
    if len(content) < HEAD_BYTES:
        raise PeerFault(f"a request has only {len(content)} bytes")
    key, version, correlation_id = (
        int.from_bytes(content[start:end], "big", signed=True) for start, end in ((0, 2), (2, 4), (4, 8))
    )
    api = SERVED.get(key)
    if api is None:
        raise PeerFault(f"API {key} is not served")
    known = api.serves(version)
    if not known and key != API_VERSIONS_KEY:
        raise PeerFault(f"{api.name} {version} is not served")
    request_type = api.request_type(min(max(version, api.oldest), api.maximum))
    # An element is a byte at least.
    buffer = Frame.of(content, MOST_ELEMENTS) if len(content) > MOST_ELEMENTS else content
    header, position = decode(request_type.__header_schema__, buffer)
    return Incoming(
        api=api,
        version=version if known else 0,
        correlation_id=correlation_id,
        client_id=header.client_id or "",
        message=decode(request_type, buffer, position)[0] if known else None,
        size=len(content),
    )
