"""Conversations side by side."""

import socket

import pytest

from wire.client.address import Address
from wire.client.errors import WireError
from wire.client.steps import READ, Deadline, Expired, SocketWait, Steps, begun, run_all
from wire.client.transport import Transport
from wire.messages.framing import frame


def pause(ms: int, result: str) -> Steps[str]:
    try:
        yield SocketWait(None, 0, Deadline(ms))
    except Expired:
        return result
    raise AssertionError("a pause only ends by its deadline")


def read(sock: socket.socket, timeout_ms: int) -> Steps[str]:
    try:
        yield SocketWait(sock, READ, Deadline(timeout_ms))
    except Expired:
        raise WireError("nothing came") from None
    return sock.recv(100).decode()


def test_a_silent_one_delays_no_other() -> None:
    (quiet, here), (loud, there) = socket.socketpair(), socket.socketpair()
    with quiet, loud, here, there:
        loud.sendall(b"hello")
        outcomes = run_all(
            {"quiet": read(here, 100), "loud": read(there, 60_000), "pause": pause(1, "rested")}
        )
    assert (outcomes["loud"], outcomes["pause"]) == ("hello", "rested")
    assert isinstance(outcomes["quiet"], WireError)
    assert list(outcomes) == ["quiet", "loud", "pause"]


def test_each_answer_has_its_own_limit() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        steps = Transport(Address("a", 1), ours).converse(b"", 3, Deadline(60_000), 10_000, "waiting")
        first = next(steps).deadline
        theirs.sendall(frame(b"1") + frame(b"2")[:3])
        second = next(steps).deadline
        assert first.remaining_ms() < second.remaining_ms() <= 10_000
        theirs.sendall(frame(b"2")[3:-1])
        assert next(steps).deadline is second  # that was half an answer
        theirs.sendall(frame(b"2")[-1:] + frame(b"3"))
        with pytest.raises(StopIteration) as ended:
            next(steps)
        assert ended.value.value == [b"1", b"2", b"3"]


def test_enough_closes_the_others() -> None:
    closed = []

    def endless() -> Steps[str]:
        try:
            while True:
                yield SocketWait(None, 0, Deadline(10_000))
        finally:
            closed.append("endless")

    outcomes = run_all({"a": endless(), "b": pause(1, "b")}, enough=lambda outcome: outcome == "b")
    assert (outcomes, closed) == ({"b": "b"}, ["endless"])


def test_what_is_begun_continues_where_it_waits() -> None:
    sent = []

    def ask(result: str) -> Steps[str]:
        sent.append(result)
        return (yield from pause(1, result))

    def at_once() -> Steps[str]:
        yield from ()
        return "at once"

    first, second, third = begun(ask("first")), begun(at_once()), ask("third")
    assert sent == ["first"]
    assert run_all({1: first, 2: second, 3: third}) == {1: "first", 2: "at once", 3: "third"}
