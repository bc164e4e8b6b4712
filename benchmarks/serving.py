"""`kohort serve` compared with a real broker of Kafka 4.3.1: `python -m benchmarks.serving [held SECONDS]`.

One client, in this process, sends the same bytes to both servers in turn: prepared frames, one outstanding on each
connection; of a response only the error code is checked. The client has one core and the server the other.

- heartbeats of the consumer protocol by the members of stable groups of ten, over 100 and over 500 connections;
- the time from the start of the process until "Listening on", in an environment without the dev extra;
- the memory of the server while members on 2,000 connections send a heartbeat every five seconds. `held 600` measures
  only that, for ten minutes.
"""

import os
import re
import select
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from benchmarks.timing import plain_environment
from tests.conformance.servers import kohort_process
from tests.kafka.broker import Broker
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.jars import fetch
from tests.kafka.ports import HOST
from tests.kafka.process import end
from wire.messages.definition import Api
from wire.messages.framing import frame
from wire.messages.schemas.admin import CREATE_TOPICS
from wire.messages.schemas.consumer_groups import CONSUMER_GROUP_HEARTBEAT

ROUNDS = 3
SECONDS = 5.0
CONNECTIONS = (100, 500)
GROUP = 10
TOPIC, PARTITIONS = "orders", 20
SETTINGS = {
    "group.consumer.session.timeout.ms": "60000",
    "group.consumer.max.session.timeout.ms": "60000",
    "group.consumer.max.heartbeat.interval.ms": "15000",
    "group.consumer.heartbeat.interval.ms": "5000",
}
HELD, HELD_S, EVERY_S = 2_000, 30.0, 5.0
STARTS = 5
ERROR = slice(13, 15)
"""The position of a heartbeat response's error code: after length, correlation id, tags and throttle time."""
BOUNDS = {"ratio": 0.5, "start_s": 0.5}


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A member that owns its whole target assignment: its connection, and its heartbeat, which reports that."""

    connection: socket.socket
    heartbeat: bytes


def connect(port: int) -> socket.socket:
    connection = socket.create_connection((HOST, port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def ask(connection: socket.socket, api: Api, version: int, **fields: Any) -> Any:
    """Send a request and wait for its answer."""
    connection.sendall(frame(api.encode_request(version, 1, "bench", fields)))
    head = connection.recv(8, socket.MSG_WAITALL)
    content = connection.recv(int.from_bytes(head[:4], "big") - 4, socket.MSG_WAITALL)
    return api.decode_response(version, content)


def create_topic(port: int) -> None:
    with connect(port) as connection:
        topic = {"name": TOPIC, "num_partitions": PARTITIONS, "replication_factor": 1}
        answer = ask(
            connection,
            CREATE_TOPICS,
            7,
            topics=[{**topic, "assignments": [], "configs": []}],
            timeout_ms=60_000,
        )
    if answer.topics[0].error_code not in (0, 36):
        raise SystemExit(f"the topic was not created: {answer}")


def join(port: int, run: str, members: int) -> list[Member]:
    """Members of settled groups of ten, each with a separate connection."""
    return [
        member for group in range(0, members, GROUP) for member in _join_group(port, f"bench-{run}-{group}")
    ]


def _join_group(port: int, group: str) -> list[Member]:
    connections = [connect(port) for _ in range(GROUP)]
    epochs = [0] * GROUP
    owned: list[Sequence[dict[str, Any]]] = [()] * GROUP
    quiet = 0
    while quiet < 2 * GROUP:
        for number, connection in enumerate(connections):
            answer = ask(
                connection,
                CONSUMER_GROUP_HEARTBEAT,
                1,
                group_id=group,
                member_id=f"member-{number}",
                member_epoch=epochs[number],
                rebalance_timeout_ms=60_000,
                subscribed_topic_names=[TOPIC],
                topic_partitions=owned[number],
            )
            if answer.error_code:
                raise SystemExit(f"a member of {group} was answered {answer}")
            has = () if answer.assignment is None else _fields(answer.assignment.topic_partitions)
            # The other members must first revoke partitions, so a member without any has not settled.
            is_quiet = has == owned[number] and answer.member_epoch == epochs[number] and has
            quiet = quiet + 1 if is_quiet else 0
            epochs[number], owned[number] = answer.member_epoch, has
    return [
        Member(connection=connection, heartbeat=_heartbeat(group, f"member-{number}", epochs[number]))
        for number, connection in enumerate(connections)
    ]


def _fields(assigned: Sequence[Any]) -> list[dict[str, UUID | Sequence[int]]]:
    return [{"topic_id": one.topic_id, "partitions": list(one.partitions)} for one in assigned]


def _heartbeat(group: str, member: str, epoch: int) -> bytes:
    content = CONSUMER_GROUP_HEARTBEAT.encode_request(
        1,
        1,
        "bench",
        {"group_id": group, "member_id": member, "member_epoch": epoch, "topic_partitions": None},
    )
    return frame(content)


def beat(members: Sequence[Member], seconds: float) -> float:
    """Send heartbeats, each member's next one after the response to the last; returns the rate per second."""
    by_file = {each.connection.fileno(): (each.connection, each.heartbeat) for each in members}
    poll = select.epoll()
    for file, (connection, heartbeat) in by_file.items():
        poll.register(file, select.EPOLLIN)
        connection.send(heartbeat)
    answered, outstanding = 0, len(by_file)
    began = time.perf_counter()
    until = began + seconds
    while outstanding:
        continues = time.perf_counter() < until
        for file, _ in poll.poll():
            connection, heartbeat = by_file[file]
            _check(connection.recv(4096))
            answered += 1
            if continues:
                connection.send(heartbeat)
            else:
                outstanding -= 1
    poll.close()
    return answered / (time.perf_counter() - began)


def _check(answer: bytes) -> None:
    if answer[ERROR] != b"\0\0" or int.from_bytes(answer[:4], "big") + 4 != len(answer):
        raise SystemExit(f"a heartbeat was answered {answer!r}")


def leave(members: Sequence[Member]) -> None:
    for member in members:
        member.connection.close()


@contextmanager
def kohort(directory: Path) -> Iterator[tuple[int, int]]:
    """Port and process id of `kohort serve`."""
    with kohort_process(directory / "serve.log", SETTINGS) as (port, pid):
        create_topic(port)
        yield port, pid


@contextmanager
def kafka(directory: Path) -> Iterator[tuple[int, int]]:
    """Port and process id of a real broker."""
    broker = Broker(fetch(), directory, SETTINGS)
    try:
        broker.start()
        wait_for_coordinator(broker)
        create_topic(broker.port)
        yield broker.port, broker.pid
    finally:
        broker.stop()


def heartbeats(directory: Path) -> None:
    """Print both servers' heartbeats per second, and the cost of one."""
    with kafka(directory) as theirs, kohort(directory) as ours:
        for connections in CONNECTIONS:
            runs: dict[tuple[int, int], list[tuple[float, float]]] = {theirs: [], ours: []}
            for turn in range(ROUNDS):
                for (port, pid), found in runs.items():
                    members = join(port, f"{connections}-{turn}", connections)
                    beat(members, 1.0)
                    before = _processor_s(pid)
                    rate = beat(members, SECONDS)
                    found.append((rate, (_processor_s(pid) - before) / (rate * SECONDS)))
                    leave(members)
            medians = {
                server: [statistics.median(values) for values in zip(*found, strict=True)]
                for server, found in runs.items()
            }
            (kafka_rate, kafka_s), (kohort_rate, kohort_s) = medians[theirs], medians[ours]
            ratio = kohort_rate / kafka_rate
            print(
                f"heartbeats over {connections} connections: Kafka {kafka_rate:,.0f}/s ({1e6 * kafka_s:.0f} µs of the "
                f"processors each), Kohort {kohort_rate:,.0f}/s ({1e6 * kohort_s:.0f} µs), ratio {ratio:.2f}, "
                f"{_judged(ratio >= BOUNDS['ratio'])}",
                flush=True,
            )


def start_up(directory: Path) -> None:
    """Print the time until `kohort serve` listens, and its processor time."""
    executable = plain_environment(directory / "plain") / "kohort"
    _start(executable)  # reads everything from the disk
    wall_s, processor_s = (
        statistics.median(times) for times in zip(*(_start(executable) for _ in range(STARTS)), strict=True)
    )
    print(
        f"start until it listens: {wall_s:.2f} s, {processor_s:.2f} s of the processors, "
        f"{_judged(wall_s < BOUNDS['start_s'])}"
    )


def _start(executable: Path) -> tuple[float, float]:
    began = time.perf_counter()
    process = subprocess.Popen(
        [executable, "serve", "--listen", f"{HOST}:0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    if process.stdout is None:
        raise RuntimeError("there is no pipe")
    process.stdout.readline()
    took = time.perf_counter() - began, _processor_s(process.pid)
    end(process)
    return took


def held(directory: Path, seconds: float) -> None:
    """Print the server's memory while many members send occasional heartbeats."""
    with kohort(directory) as (port, pid):
        members = join(port, "held", HELD)
        _slow_beats(members, 3 * EVERY_S)
        first = _memory_mib(pid)
        _slow_beats(members, seconds)
        last = _memory_mib(pid)
        leave(members)
    print(f"{HELD:,} connections held for {seconds:,.0f} s: {first:.1f} MiB before, {last:.1f} MiB after")


def _slow_beats(members: Sequence[Member], seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.monotonic()
        for number, member in enumerate(members):
            time.sleep(max(0.0, began + EVERY_S * number / len(members) - time.monotonic()))
            member.connection.send(member.heartbeat)
            _check(member.connection.recv(4096))


def _memory_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+)", status)
    return int(found[1]) / 1024 if found else 0.0


def _processor_s(pid: int) -> float:
    """The processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _judged(is_met: bool) -> str:
    return "met" if is_met else "MISSED"


def main(words: Sequence[str]) -> None:
    """Print what was measured."""
    directory = Path(tempfile.mkdtemp(prefix="kohort-serving-"))
    try:
        if words[:1] == ["held"]:
            held(directory, float(words[1]))
            return
        parts: Sequence[Callable[[Path], None]] = (heartbeats, start_up, lambda place: held(place, HELD_S))
        for part in parts:
            part(directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1:])
