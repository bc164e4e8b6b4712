"""TCP to one broker: connect, and exchange frames."""

import errno
import os
import socket
from contextlib import suppress
from typing import TypeAlias

from wire.client import errors
from wire.client.address import Address
from wire.client.steps import READ, WRITE, Deadline, Steps, Stream, ready
from wire.messages.framing import MAX_FRAME_BYTES, BadFrame, FrameReader

SocketAddress: TypeAlias = tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]

_RECEIVE_BYTES = 256 * 1024
BEGINNING_BYTES = 64 * 1024
"""How much is read of an answer that is too long."""
_BEGINNING_MS = 1000  # For how long: what is sent at all is there soon
_TLS_ALERT = b"\x15\x03"
_HTTP = b"HTTP"


class Transport:
    def __init__(self, address: Address, sock: Stream) -> None:
        self.address = address
        self._socket = sock
        self._frames = FrameReader()
        self._answered = False

    def converse(
        self, data: bytes, answers: int, deadline: Deadline, limit_ms: float, activity: str
    ) -> Steps[list[bytes]]:
        """Send `data` while reading, until `answers` frames have arrived, each within `limit_ms`. Raises WireError."""
        unsent, limit = memoryview(data), deadline.within(limit_ms)
        frames: list[bytes] = []
        while len(frames) < answers:
            unsent = unsent[self._send(unsent) :] if unsent else unsent
            received = self._receive()
            if received is None:
                events = READ | (WRITE if unsent else 0)
                yield from ready(self._socket, events, limit, self.address, activity)
            elif received:
                try:
                    arrived = self._frames.feed(received)
                except BadFrame as bad:
                    raise (yield from self._refusal(bad, limit)) from None
                if arrived:
                    frames += arrived
                    self._answered, limit = True, deadline.within(limit_ms)
            else:
                where = " in the middle of an answer," if self._frames.partial else ""
                raise errors.Unreachable(self.address, f"the connection was closed{where} {activity}")
        return frames

    def close(self) -> None:
        self._socket.close()

    def _send(self, data: memoryview) -> int:
        try:
            return self._socket.send(data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise self._broken(error) from None

    def _receive(self) -> bytes | None:
        """The received bytes; None if there are none yet, empty at the end of the stream."""
        try:
            return self._socket.recv(_RECEIVE_BYTES)
        except BlockingIOError:
            return None
        except OSError as error:
            raise self._broken(error) from None

    def _broken(self, error: OSError) -> errors.WireError:
        return errors.Unreachable(self.address, f"the connection broke ({error.strerror or error})")

    def _refusal(self, bad: BadFrame, deadline: Deadline) -> Steps[errors.WireError]:
        """The error of a frame that is not read; with the beginning of an answer that is too long."""
        if not self._answered or bad.length <= 0:
            return errors.ProtocolError(self.address, _explain(bad))
        beginning, limit = bad.head, deadline.within(_BEGINNING_MS)
        with suppress(errors.WireError):
            while len(beginning) < BEGINNING_BYTES:
                received = self._receive()
                if received is None:
                    yield from ready(self._socket, READ, limit, self.address, "reading a long answer")
                elif not received:
                    break
                else:
                    beginning += received
        return errors.AnswerTooLong(
            self.address,
            f"the answer has {bad.length / 2**20:,.0f} MiB, and no more than {MAX_FRAME_BYTES / 2**20:.0f} MiB "
            "are read. Ask for less at once: name some of the groups, or choose them with --match.",
            BadFrame(bad.length, beginning[:BEGINNING_BYTES]),
        )


def _explain(bad: BadFrame) -> str:
    if bad.head.startswith(_TLS_ALERT):
        return (
            "the listener speaks TLS. Set security.protocol to SSL or SASL_SSL in the --command-config file."
        )
    if bad.head.startswith(_HTTP):
        return "an HTTP server answers there, not a Kafka broker. Check the port."
    return f"this is not a Kafka broker: {bad}. Check the port."


def connect(address: Address, deadline: Deadline) -> Steps[socket.socket]:
    """Make a TCP connection, trying every address of the host. Raises NotConnected or RequestTimedOut."""
    candidates = _resolve(address)
    last: errors.NotConnected | errors.RequestTimedOut | None = None
    for index, (family, sockaddr) in enumerate(candidates):
        share = deadline.within(deadline.remaining_ms() / (len(candidates) - index))
        try:
            return (yield from _connect_one(address, family, sockaddr, share))
        except (errors.NotConnected, errors.RequestTimedOut) as error:
            last = error
    raise last or errors.NotConnected(address, "the host has no address")


def _resolve(address: Address) -> list[tuple[int, SocketAddress]]:
    # As bytes, because a text would have the tables of international names imported.
    host = address.host.encode() if address.host.isascii() else address.host
    try:
        addresses = socket.getaddrinfo(host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        message = f"the host name is not known ({reason}). Check its spelling and the name service."
        raise errors.NotConnected(address, message) from None
    return [(family, sockaddr) for family, _, _, _, sockaddr in addresses]


def _connect_one(
    address: Address, family: int, sockaddr: SocketAddress, deadline: Deadline
) -> Steps[socket.socket]:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        code = sock.connect_ex(sockaddr)
        if code in (errno.EINPROGRESS, errno.EWOULDBLOCK):
            yield from ready(sock, WRITE, deadline, address, "connecting")
            code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            raise errors.NotConnected(
                address,
                "connection refused. Nothing listens on that port: check host and port, and that the broker runs."
                if code == errno.ECONNREFUSED
                else f"no connection ({os.strerror(code).lower()}). Check the host, the port and the network.",
            )
    except BaseException:
        sock.close()
        raise
    return sock
