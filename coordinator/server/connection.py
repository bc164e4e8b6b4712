"""The connections of clients, held while an answer is not ready or not read, and after their share of requests."""

from __future__ import annotations

import asyncio
import logging
import resource
import socket
import time
from collections.abc import Coroutine, Generator
from ipaddress import IPv6Address, ip_address
from types import coroutine
from typing import Any, TypeVar, cast

from coordinator.server.broker import Session
from coordinator.server.dispatch import LONG_BYTES, Dispatcher, Incoming
from coordinator.server.exchange import PeerFault
from coordinator.server.limits import Limits
from coordinator.server.security.sasl import Reply
from wire.messages.framing import LENGTH_BYTES, MAX_FRAME_BYTES, frame
from wire.messages.reader import DecodeError

_log = logging.getLogger(__name__)
T = TypeVar("T")

VERY_LONG_BYTES = 1 << 20  # longer requests are parsed one after the other: no ordinary client sends them
SHARE = 64  # how many requests of one connection are answered before other connections get their turn
TOGETHER = 64  # how many connections' answers are written together, at the latest
SHORT_BYTES = 4096  # a longer answer is written at once
ENOUGH = 65_536  # the upper limit of connections, even if the system allows more
KEPT_FREE = 256  # files reserved for other uses: the log, the standard streams, libraries
IDLE_S = 600.0  # Kafka's `connections.max.idle.ms`: a client that is idle for this long is disconnected
SWEEP_S = 30.0  # how often idle clients are looked for


def most_open_files() -> int:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = ENOUGH if hard == resource.RLIM_INFINITY else min(ENOUGH, hard)
    if soft == resource.RLIM_INFINITY:
        soft = ENOUGH
    elif soft < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
        soft = limit
    return soft


def most_connections() -> int:
    return max(1, most_open_files() - KEPT_FREE)


class Connections:
    def __init__(self, limits: Limits, brokers: int = 1) -> None:
        """`brokers`: the number of brokers that share the system's limit."""
        self.limits = limits
        self._open: set[ClientConnection] = set()
        self._most = max(1, most_connections() // brokers)
        self._answered: list[ClientConnection] = []
        self._sweeper = asyncio.get_running_loop().call_later(SWEEP_S, self._sweep)

    def __len__(self) -> int:
        return len(self._open)

    def add(self, connection: ClientConnection) -> bool:
        if len(self._open) >= self._most:
            _log.warning("A connection is refused: %d are open, which is the limit of open files", self._most)
            return False
        self._open.add(connection)
        return True

    def remove(self, connection: ClientConnection) -> None:
        self._open.discard(connection)

    def write_soon(self, connection: ClientConnection) -> None:
        """Write its answers after the requests that have arrived: waking up a client for each answer is expensive."""
        self._answered.append(connection)
        if len(self._answered) == 1:
            asyncio.get_running_loop().call_soon(self._write_answers)
        elif len(self._answered) == TOGETHER:
            self._write_answers()

    def _write_answers(self) -> None:
        answered, self._answered = self._answered, []
        for connection in answered:
            connection.write_answers()

    async def close(self) -> None:
        self._sweeper.cancel()
        closing = (connection.close() for connection in tuple(self._open))
        await asyncio.gather(*closing, return_exceptions=True)

    def _sweep(self) -> None:
        self.limits.drop_stalled()
        for connection in tuple(self._open):
            if connection.quiet_s() > IDLE_S:
                connection.drop()
        self._sweeper = asyncio.get_running_loop().call_later(SWEEP_S, self._sweep)


class ClientConnection(asyncio.Protocol):
    _transport: asyncio.Transport
    _session: Session

    def __init__(self, dispatcher: Dispatcher, connections: Connections) -> None:
        self._dispatcher = dispatcher
        self._connections = connections
        self._received = b""
        self._position = 0  # the position in the received bytes where the next request starts
        self._unwritten: list[bytes] = []  # the frames of answers
        self._long: _LongRequest | None = None  # the long request that is being read
        self._task: asyncio.Task[None] | None = None
        self._only_waits = False  # the task can be canceled when the client is gone
        self._is_clogged = False
        self._had_its_share = False
        self._has_sent_all = False
        self._is_lost = False
        self._quiet_since: float | None = time.monotonic()

    @property
    def unsent(self) -> int:
        return self._transport.get_write_buffer_size()

    def quiet_s(self) -> float:
        """How long the client has neither sent a request nor read its answer; 0 while it waits for one."""
        return 0.0 if self._quiet_since is None else time.monotonic() - self._quiet_since

    def drop(self) -> None:
        self._transport.abort()

    async def close(self) -> None:
        self._hang_up()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def write_answers(self) -> None:
        if self._unwritten and not self._transport.is_closing():
            self._transport.write(b"".join(self._unwritten))
        self._unwritten.clear()

    def _hang_up(self) -> None:
        """Close the connection after its answers."""
        self.write_answers()
        self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        peer = transport.get_extra_info("peername")
        if peer is None or not self._connections.add(self):
            self._transport.abort()
            return
        host = as_java_shows(peer[0])
        try:
            self._session = self._dispatcher.session(host, self.drop, transport.get_extra_info("peercert"))
        except PeerFault as error:
            _log.warning("A connection from %s is closed: %s", host, error)
            self._transport.abort()
            return
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def data_received(self, data: bytes) -> None:
        if self._long is not None:
            self._feed(self._long, data)
            return
        left = self._received[self._position :]
        self._received = left + data if left else data
        self._position = 0
        if self._is_held():
            self._transport.pause_reading()
        else:
            self._proceed()

    def eof_received(self) -> bool:
        """Keep the connection for pending answers; TLS cannot close one direction only."""
        self._has_sent_all = True
        self.write_answers()
        if self._long is not None:
            self._long.has_ended.set()
        is_encrypted = self._transport.get_extra_info("sslcontext") is not None
        return self._is_held() and not is_encrypted and not self._gives_up()

    def connection_lost(self, _: Exception | None) -> None:
        self._is_lost = True
        self._connections.limits.read(self)
        if self._long is not None:
            self._long.has_ended.set()
        self._gives_up()
        if self._task is None:
            self._connections.remove(self)

    def _gives_up(self) -> bool:
        """Cancel the wait for an answer that no client will read, if the task does nothing else."""
        if self._task is None or not self._only_waits:
            return False
        self._task.cancel()
        return True

    def pause_writing(self) -> None:
        self._is_clogged = True

    def resume_writing(self) -> None:
        self._is_clogged = False
        self._connections.limits.read(self)
        self._proceed()

    def _is_held(self) -> bool:
        return self._task is not None or self._is_clogged or self._had_its_share

    def _proceed(self) -> None:
        requests = 0
        while not (self._is_held() or self._transport.is_closing()):
            try:
                content = self._next()
                if content is not None:
                    self._answer(content)
            except Exception as error:
                self._end(error)
                return
            requests += 1
            if content is None:  # all complete requests are answered, or a long one has its task
                if self._task is None and self._has_sent_all:
                    self._hang_up()
                elif self._task is None:
                    self._transport.resume_reading()
                return
            if requests == SHARE:
                self._rest()

    def _next(self) -> bytes | None:
        """The next request; None: incomplete, or long."""
        received, position = self._received, self._position
        start = position + LENGTH_BYTES
        if start > len(received):
            return None
        length = int.from_bytes(received[position:start], "big", signed=True)
        if not 0 <= length <= MAX_FRAME_BYTES:
            raise PeerFault(f"a frame of {length} bytes is announced")
        if length > LONG_BYTES:
            if not self._session.is_open:
                raise PeerFault(f"a frame of {length} bytes is announced before the login")
            self._position = start
            self._hold_for(self._answer_long(length))
            return None
        end = start + length
        if end > len(received):
            return None
        self._position = end
        return received[start:end]

    def _answer(self, content: bytes) -> None:
        if (
            self._session.login is not None
            and (reply := self._session.receive(content, _now_ms())) is not None
        ):
            if reply.failed is None:
                self._write(reply.answer)
            else:
                self._hold_for(self._refuse_login(reply))
            return
        answer = self._dispatcher.repeat(content, self._session)
        if answer is not None:
            self._write(answer)
            return
        incoming = self._dispatcher.parse(content)
        answering = self._dispatcher.respond(incoming, self._session)
        try:
            awaited = answering.send(None)
        except StopIteration as answered:
            self._write(answered.value)
        else:
            self._begin_to_wait(incoming)
            self._hold_for(_resume(answering, awaited))

    def _begin_to_wait(self, incoming: Incoming) -> None:
        self._quiet_since = None
        self._only_waits = incoming.served.waits

    async def _refuse_login(self, reply: Reply) -> None:
        """Delay the answer to a failed login, which slows password guessing."""
        await asyncio.sleep(self._dispatcher.failure_delay_s)
        self._write(reply.answer)
        raise PeerFault(f"the login failed: {reply.failed}")

    async def _answer_long(self, length: int) -> bytes | None:
        limits = self._connections.limits
        try:
            content = await self._read_long(length)
            limits.arrived(self)
            if (reply := self._session.receive(content, _now_ms())) is not None:
                raise PeerFault(str(reply.failed))
            parse = limits.run_slowly if length > VERY_LONG_BYTES else limits.run
            incoming = await parse(self._dispatcher.parse, content)
            del content
            await limits.turn()
            self._begin_to_wait(incoming)
            if incoming.served.waits:
                limits.release(self)
            return await self._dispatcher.respond(incoming, self._session)
        finally:
            limits.release(self)

    async def _read_long(self, length: int) -> bytes:
        """Raises ConnectionResetError: the client closes the connection first."""
        self._long = _LongRequest(length)
        received, self._received = self._received[self._position :], b""
        self._position = 0
        self._feed(self._long, received)
        self._transport.resume_reading()
        await self._long.has_ended.wait()
        content, self._received = self._long.parted()
        self._long = None
        return content

    def _feed(self, request: _LongRequest, data: bytes) -> None:
        request.feed(data)
        self._connections.limits.received(self, len(data))

    def _hold_for(self, answering: Coroutine[Any, Any, bytes | None]) -> None:
        self._task = asyncio.get_running_loop().create_task(self._write_later(answering))

    async def _write_later(self, answering: Coroutine[Any, Any, bytes | None]) -> None:
        try:
            self._write(await answering)
        except Exception as error:
            self._end(error)
        finally:
            self._task, self._only_waits = None, False
            if self._is_lost:
                self._connections.remove(self)
        self._proceed()

    def _write(self, answer: bytes | None) -> None:
        self._quiet_since = time.monotonic()
        if answer is None or self._transport.is_closing():
            return
        self._unwritten.append(frame(answer))
        if len(answer) > SHORT_BYTES:
            self.write_answers()
        elif len(self._unwritten) == 1:
            self._connections.write_soon(self)
        if len(answer) > LONG_BYTES:
            self._connections.limits.written(self)
            self._rest()

    def _rest(self) -> None:
        self._had_its_share = True
        asyncio.get_running_loop().call_soon(self._continue)

    def _continue(self) -> None:
        self._had_its_share = False
        self._proceed()

    def _end(self, error: Exception) -> None:
        if isinstance(error, (DecodeError, PeerFault)):
            _log.warning("A connection from %s is closed: %s", self._session.host, error)
        elif not isinstance(error, OSError):  # a bug must not affect other clients
            _log.error("A connection from %s is closed", self._session.host, exc_info=error)
        self._hang_up()


class _LongRequest:
    def __init__(self, length: int) -> None:
        self._length = length
        self._content = bytearray()
        self.has_ended = asyncio.Event()

    def feed(self, data: bytes) -> None:
        self._content += data
        if len(self._content) >= self._length:
            self.has_ended.set()

    def parted(self) -> tuple[bytes, bytes]:
        """The request, and the bytes after it. Raises ConnectionResetError: it is incomplete."""
        if len(self._content) < self._length:
            self._content = bytearray()  # the error may refer to it for a while
            raise ConnectionResetError
        with memoryview(self._content) as view:
            return bytes(view[: self._length]), bytes(view[self._length :])


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000


async def _resume(begun: Coroutine[Any, Any, T], awaited: Any) -> T:
    return await _rest_of(begun, awaited)


@coroutine
def _rest_of(begun: Coroutine[Any, Any, T], awaited: Any) -> Generator[Any, Any, T]:
    """The rest of a coroutine that was started outside of a task and now waits for something."""
    try:
        while True:
            try:
                sent = yield awaited
            except BaseException as error:
                awaited = begun.throw(error)
            else:
                awaited = begun.send(sent)
    except StopIteration as done:
        return cast(T, done.value)


def as_java_shows(host: str) -> str:
    """An address in the form of Java's `InetAddress`: `/127.0.0.1`, `/0:0:0:0:0:0:0:1`."""
    address = ip_address(host.partition("%")[0])
    if isinstance(address, IPv6Address):
        return "/" + ":".join(f"{int(group, 16):x}" for group in address.exploded.split(":"))
    return f"/{address}"
