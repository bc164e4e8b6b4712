"""The bytes of a frame as a request that this server knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from coordinator.server.exchange import PeerFault
from coordinator.server.served import SERVED, ServedApi
from wire.messages.definition import API_VERSIONS_KEY, HEAD
from wire.messages.reader import Frame

MOST_ELEMENTS = 500_000
"""Of all arrays of one request: a commit of so many partitions keeps the coordinator from others for three seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """One request. `message` has the fields of its `version`.

    None stands for an ApiVersions of a version that is not known: the client is told in version 0 which ones
    are (KIP-511). `size` is that of its frame, in bytes.
    """

    served: ServedApi
    version: int
    correlation_id: int
    client_id: str
    message: Any
    size: int


def understand(content: bytes) -> Incoming:
    """Read a frame. :raises PeerFault, DecodeError: when it is no request that is answered"""
    if len(content) < HEAD.size:
        raise PeerFault(f"a request has only {len(content)} bytes")
    key, version, correlation_id = HEAD.unpack_from(content)
    served = SERVED.get(key)
    if served is None:
        raise PeerFault(f"API {key} is not served")
    message = None
    if served.serves(version):
        # An element is a byte at least.
        frame = Frame.of(content, MOST_ELEMENTS) if len(content) > MOST_ELEMENTS else content
        client_id, message = served.api.decode_request(version, frame)
    elif key == API_VERSIONS_KEY:
        client_id, _ = served.api.decode_client_id(min(max(version, 0), served.newest), content)
        version = 0
    else:
        raise PeerFault(f"{served.api.name} {version} is not served")
    return Incoming(
        served=served,
        version=version,
        correlation_id=correlation_id,
        client_id=client_id,
        message=message,
        size=len(content),
    )
