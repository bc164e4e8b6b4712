"""One client's connection: frames in, answers out in the order of the requests.

The next request is read when the last one is answered, as Kafka does (`SocketServer` mutes the channel): a request
that waits holds every later one on its connection.

What is long is read, and what may be long written, by a thread beside the event loop, so that others do not wait
for it; and only a few long requests are read at a time, which bounds the memory that all clients together can take.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Any

from coordinator.server.node import Caller, CoordinatorNode, Exchange, PeerFault
from coordinator.server.served import SERVED, ServedApi
from wire.messages.definition import API_VERSIONS_KEY, HEAD
from wire.messages.framing import LENGTH_BYTES, MAX_FRAME_BYTES, frame
from wire.messages.reader import DecodeError, Frame

LONG_BYTES = 64 * 1024
"""A longer request waits for its turn among the long ones. Every connection may hold this much unasked."""
LONG_AT_ONCE = 4
MOST_ELEMENTS = 500_000
"""Of all arrays of one request: a commit of so many partitions keeps the coordinator from others for three seconds."""

_log = logging.getLogger(__name__)


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


class ClientConnection:
    """A client, and the conversation with it."""

    def __init__(
        self,
        node: CoordinatorNode,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        turns: asyncio.Semaphore,
        aside: Executor,
    ) -> None:
        """`turns` are those of the `LONG_AT_ONCE` requests that may be read at a time, over all connections.

        `aside` runs what takes long.
        """
        self._node = node
        self._reader = reader
        self._writer = writer
        self._turns = turns
        self._aside = aside
        self._host = as_java_shows(writer.get_extra_info("peername")[0])
        self._quiet_since: float | None = time.monotonic()

    def quiet_s(self) -> float:
        """For how long the client has sent no request, or not read its answer; 0 while it waits for one."""
        return 0.0 if self._quiet_since is None else time.monotonic() - self._quiet_since

    def drop(self) -> None:
        """End it now; what the client has not read is thrown away."""
        self._writer.transport.abort()

    async def converse(self) -> None:
        """Answer the client until it goes, or sends what cannot be read."""
        try:
            while (incoming := await self._read()) is not None:
                self._quiet_since = None
                answer = await self._answer(incoming)
                self._quiet_since = time.monotonic()
                self._writer.write(frame(answer))
                await self._writer.drain()
        except (DecodeError, PeerFault) as error:
            _log.warning("A connection from %s is closed: %s", self._host, error)
        except OSError:
            pass  # the client is gone
        finally:
            self._writer.close()

    async def _read(self) -> Incoming | None:
        """The next request; None at the end of the connection."""
        try:
            length = int.from_bytes(await self._reader.readexactly(LENGTH_BYTES), "big", signed=True)
            if not 0 <= length <= MAX_FRAME_BYTES:
                raise PeerFault(f"a frame of {length} bytes is announced")
            if length <= LONG_BYTES:
                return understand(await self._reader.readexactly(length))
            async with self._turns:
                content = await self._reader.readexactly(length)
                return await asyncio.get_running_loop().run_in_executor(self._aside, understand, content)
        except asyncio.IncompleteReadError:
            return None

    async def _answer(self, incoming: Incoming) -> bytes:
        """The whole response."""
        exchange = Exchange(
            node=self._node,
            request=incoming.message,
            version=incoming.version,
            caller=Caller(client_id=incoming.client_id, host=self._host),
        )
        fields = await incoming.served.answer(exchange)
        if incoming.served.grows or incoming.size > LONG_BYTES:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._aside, _composed, incoming, fields)
        return _composed(incoming, fields)


def _composed(incoming: Incoming, fields: Mapping[str, Any]) -> bytes:
    """:raises PeerFault: when the answer is longer than a frame, or names made of the client's are too long"""
    api = incoming.served.api
    try:
        return api.encode_response(incoming.version, incoming.correlation_id, fields)
    except ValueError as error:
        raise PeerFault(f"the answer to {api.name} cannot be written: {error}") from None


def as_java_shows(host: str) -> str:
    """An address in the form of Java's `InetAddress`: `/127.0.0.1`, `/0:0:0:0:0:0:0:1`."""
    address = ip_address(host.partition("%")[0])
    if isinstance(address, IPv6Address):
        return "/" + ":".join(f"{int(group, 16):x}" for group in address.exploded.split(":"))
    return f"/{address}"
