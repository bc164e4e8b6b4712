"""Hostile clients of `kohort serve`: each is answered by the protocol or disconnected, and other clients continue.
While each of these clients runs, two members send heartbeats, none of which may fail. No answer is
UNKNOWN_SERVER_ERROR, and the server only logs which connections it closed."""

import asyncio
import random
import re
import socket
import struct
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from coordinator.server.dispatch import MOST_ELEMENTS
from coordinator.server.served import SERVED
from tests.conformance.messages import encoded, request, request_type
from tests.conformance.servers import kohort_process
from tests.coordinator.server.extremes import extreme
from tests.coordinator.server.mutations import mutated
from tests.coordinator.server.neighbor import SESSION_MS, Neighbor
from tests.coordinator.server.running import HOST, connected
from tests.support.long import IS_LONG, cases
from wire.log.batch_writer import encode_batch
from wire.messages.definition import Api
from wire.messages.framing import MAX_FRAME_BYTES
from wire.messages.reader import Fields
from wire.messages.writer import write_varint

SEEDS = range(cases("KOHORT_HOSTILE_SEEDS", 1, many=50))
ANSWER_S = 120.0
PARKING = frozenset({"JoinGroup", "SyncGroup", "Produce"})
"""APIs whose requests wait for other members, or come from a producer that requests no answer."""
PARKED_S = 0.3
AT_ONCE = 16
MUTATED = cases("KOHORT_HOSTILE_FRAMES", 1_500, many=500_000)
MUTATED_PATIENCE_S = 0.1
UNREAD_CLIENTS = 20
MOST_MEMORY_KB = 1 << 20
SAID = re.compile(
    r"kohort: .*|Listening on .*|A connection from /127\.0\.0\.1 is (closed|refused): .*|\w+ is refused: .*|"
    r"Group .* timer has no effect: .*|A connection is closed: too many bytes .*|"
)
ANSWERED, CLOSED, PARKED = "answered", "closed", "parked"
RESET = struct.pack("ii", 1, 0)
CLOSING = frozenset({"Produce", "DescribeAcls", "CreateAcls", "DeleteAcls"})
"""A producer without acks is disconnected; so is, as by Kafka, a client whose ACL has unknown numbers."""
VERSIONS = [
    (served.api, version)
    for served in SERVED.values()
    for version in range(served.api.versions[0], served.newest + 1)
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    port: int
    pid: int

    def memory_kb(self, what: str = "VmHWM") -> int:
        """The largest memory use of the process, or its current one (`VmRSS`), if the system reports it."""
        status = Path(f"/proc/{self.pid}/status")
        if not status.exists():
            return 0
        return int(re.search(rf"{what}:\s+(\d+)", status.read_text())[1])  # type: ignore[index]


@pytest.fixture(scope="module", params=[False, True], ids=["memory", "data"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    directory = tmp_path_factory.mktemp("hostile")
    data = directory / "data" if request.param else None
    with kohort_server(directory / "serve.log", data) as server:
        yield server
        assert server.memory_kb() < MOST_MEMORY_KB
    if data is not None:  # all written records can be read again
        with kohort_server(directory / "again.log", data) as again:
            assert isinstance(asyncio.run(outcome(again.port, ANY_COORDINATOR)), bytes)


@contextmanager
def kohort_server(
    log: Path, data: Path | None, settings: Mapping[str, str] | None = None
) -> Iterator[Served]:
    """A server that must not log anything unexpected. :raises AssertionError: it did"""
    session = {"group.consumer.session.timeout.ms": str(SESSION_MS)}
    kept = () if data is None else ("--data", str(data))
    with kohort_process(log, {**session, **(settings or {})}, *kept) as (port, pid):
        yield Served(port=port, pid=pid)
    strange = [line for line in log.read_text().splitlines() if not SAID.fullmatch(line)]
    assert strange == []


def with_neighbors(served: Served, attack: Callable[[], Awaitable[Any]]) -> Any:
    """Attack while the neighbors continue. Returns the attack's result."""

    async def scene() -> Any:
        async with await Neighbor.at(served.port):
            return await asyncio.wait_for(attack(), 600 + MUTATED / 100)

    return asyncio.run(scene())


async def outcome(port: int, content: bytes, api: str = "") -> bytes | str:
    """Send one frame on a new connection: its answer, CLOSED or PARKED."""
    async with connected(port) as (reader, writer):
        writer.write(len(content).to_bytes(4, "big") + content)
        try:
            async with asyncio.timeout(PARKED_S if api in PARKING else ANSWER_S):
                length = int.from_bytes(await reader.readexactly(4), "big")
                return await reader.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError):
            return CLOSED
        except TimeoutError:
            if api not in PARKING:
                raise AssertionError(f"no answer to {api}: {content[:200]!r}") from None
            return PARKED


async def quick_outcome(port: int, content: bytes) -> str:
    """As `outcome`, without the answer, at a tenth of the cost."""
    loop = asyncio.get_running_loop()
    with socket.socket() as client:
        client.setblocking(False)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)  # a closed port is free again
        await loop.sock_connect(client, (HOST, port))
        try:
            async with asyncio.timeout(MUTATED_PATIENCE_S):
                await loop.sock_sendall(client, len(content).to_bytes(4, "big") + content)
                return ANSWERED if await loop.sock_recv(client, 1) else CLOSED
        except TimeoutError:
            return PARKED
        except ConnectionError:
            return CLOSED


async def all_outcomes(port: int, frames: list[tuple[str, bytes]]) -> list[bytes | str]:
    """The outcomes, in the given order; a few frames are sent at a time."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(api: str, content: bytes) -> bytes | str:
        async with turns:
            return await outcome(port, content, api)

    return await asyncio.gather(*(one(api, content) for api, content in frames))


def extreme_frame(api: Api, version: int, chance: random.Random) -> bytes:
    return encoded(extreme(request_type(api.name, version), chance), 7, version, "hostile")


def errors_in(api: Api, version: int, answer: bytes) -> set[int]:
    """Every error code of an answer, by our own codec: kio reads no time before 1970."""
    return set(_errors_of(api.decode_response(version, answer[4:])))


def _errors_of(value: Any) -> Iterator[int]:
    if isinstance(value, Fields):
        for name, field in zip(value.names, value, strict=True):
            if name == "error_code" and isinstance(field, int):
                yield field
            yield from _errors_of(field)
    elif isinstance(value, tuple):
        for element in value:
            yield from _errors_of(element)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_ends_of_every_field(served: Served, seed: int) -> None:
    chance = random.Random(seed)
    asked = [(api, version) for api, version in VERSIONS for _ in range(4)]
    frames = [(api.name, extreme_frame(api, version, chance)) for api, version in asked]
    answers = with_neighbors(served, lambda: all_outcomes(served.port, frames))
    answered = 0
    for (api, version), answer in zip(asked, answers, strict=True):
        if isinstance(answer, bytes):
            answered += 1
            assert -1 not in errors_in(api, version, answer), f"{api.name} {version}"
        elif answer == CLOSED:
            assert api.name in CLOSING, f"{api.name} {version}"
    assert answered > len(asked) * 3 / 4


@pytest.mark.parametrize("seed", SEEDS)
def test_damaged_requests_and_random_bytes(served: Served, seed: int) -> None:
    chance = random.Random(seed)
    frames = [("", chance.randbytes(chance.randrange(64))) for _ in range(100)]
    for api, version in VERSIONS:
        parks = "JoinGroup" if api.name == "Fetch" else api.name  # the time that a Fetch waits may be damaged
        for _ in range(6):
            content = bytearray(extreme_frame(api, version, chance))
            for _ in range(chance.choice((1, 1, 2, 8))):
                content[chance.randrange(8, min(len(content), 200))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF))
            if chance.random() < 0.3:
                del content[chance.randrange(8, len(content)) :]
            frames.append((parks, bytes(content)))
        head = struct.pack(">hhi", api.key, version, 7) + b"\xff\xff"
        frames += ((parks, head + chance.randbytes(chance.randrange(300))) for _ in range(3))
    with_neighbors(served, lambda: all_outcomes(served.port, frames))


@pytest.mark.parametrize("seed", SEEDS[:1])
def test_mutated_requests(served: Served, seed: int) -> None:
    chance = random.Random(seed)
    corpus = [
        [extreme_frame(api, version, chance) for _ in range(6)]
        for api, version in sorted(VERSIONS, key=lambda one: (one[0].key, one[1]))
    ]

    async def attack() -> Counter[str]:
        counts: Counter[str] = Counter()
        left = iter(range(MUTATED))

        async def client() -> None:
            for _ in left:
                content = mutated(chance.choice(corpus), chance)
                counts[await quick_outcome(served.port, content)] += 1

        await asyncio.gather(*(client() for _ in range(AT_ONCE)))
        return counts

    outcomes = with_neighbors(served, attack)
    assert outcomes.total() == MUTATED
    assert min(outcomes[ANSWERED], outcomes[CLOSED]) > MUTATED / 10


def flexible(api: str, version: int, *parts: bytes) -> bytes:
    (served_api,) = (one for one in SERVED.values() if one.api.name == api)
    return struct.pack(">hhi", served_api.key, version, 7) + b"\xff\xff\0" + b"".join(parts)


def many(element: bytes, count: int) -> bytes:
    """A compact array of `count` times one element."""
    length = bytearray()
    write_varint(length, count + 1)
    return bytes(length) + element * count


MANY = 100_000 if IS_LONG else 20_000
ANY_COORDINATOR = flexible("FindCoordinator", 4, b"\0", many(b"\x02g", 1), b"\0")
LARGE = {
    "names of groups": flexible("DescribeGroups", 6, many(b"\x02g", MANY), b"\0\0"),
    "names of consumer groups": flexible("ConsumerGroupDescribe", 1, many(b"\x02g", MANY), b"\0\0"),
    "one group's offsets": flexible("OffsetFetch", 9, many(b"\x02g" + bytes(7), MANY), b"\0\0"),
    "partitions": flexible(
        "OffsetCommit",
        9,
        b"\x02g\xff\xff\xff\xff\x01\0",
        many(b"\x02t" + many(bytes(18), MANY) + b"\0", 1),
        b"\0",
    ),
    "members that leave": flexible("LeaveGroup", 5, b"\x02g", many(b"\x02m\0\0\0", MANY), b"\0"),
    "owned partitions of one topic": flexible(
        "ConsumerGroupHeartbeat",
        1,
        b"\x02h\x02m" + bytes(13),
        many(b"\1" * 16 + b"\x02\0\0\0\0\0", MANY),
        b"\0",
    ),
    "resources": flexible("DescribeConfigs", 4, many(b"\x20\x02g\0\0", MANY // 10), b"\0\0\0"),
    "tagged fields": flexible(
        "Fetch",
        17,
        bytes(13) + struct.pack(">ii", 0, -1),
        many(bytes(16) + many(bytes(32) + b"\1\0\x10" + bytes(16), MANY // 2) + b"\0", 1),
        b"\1\1\0",
    ),
}


@pytest.mark.parametrize("what", LARGE)
def test_large_arrays_are_answered(served: Served, what: str) -> None:
    assert isinstance(with_neighbors(served, lambda: outcome(served.port, LARGE[what])), bytes)


def test_arrays_too_large_end_the_connection(served: Served) -> None:
    content = flexible("DescribeGroups", 6, many(b"\x01", MOST_ELEMENTS + 1), b"\0\0")
    assert with_neighbors(served, lambda: outcome(served.port, content)) == CLOSED


@pytest.mark.parametrize("count", [10_001, 2**31 - 1])
def test_partitions_without_number(served: Served, count: int) -> None:
    async def attack() -> list[set[int]]:
        errors = []
        for key, version, topic in (
            (19, 7, {"name": "vast", "num_partitions": count, "replication_factor": 1}),
            (37, 3, {"name": "neighbor-orders", "count": min(count + 100, 2**31 - 1)}),
        ):
            api = SERVED[key].api
            message = request(api.name, version, topics=[topic], timeout=1000)
            answer = await outcome(served.port, encoded(message, 7, version, "hostile"))
            assert isinstance(answer, bytes)
            errors.append(errors_in(api, version, answer))
        return errors

    assert with_neighbors(served, attack) == [{44}, {44}]


@pytest.mark.parametrize("length", [-1, -(2**31), MAX_FRAME_BYTES + 1, 2**31 - 1])
def test_frames_beyond_the_limit(served: Served, length: int) -> None:
    async def attack() -> bytes:
        async with connected(served.port) as (reader, writer):
            writer.write(length.to_bytes(4, "big", signed=True))
            return await asyncio.wait_for(reader.read(), ANSWER_S)

    assert with_neighbors(served, attack) == b""


def test_a_frame_at_the_limit(served: Served) -> None:
    content = ANY_COORDINATOR.ljust(MAX_FRAME_BYTES, b"\xff")
    answer = with_neighbors(served, lambda: outcome(served.port, content))
    assert isinstance(answer, bytes)
    assert errors_in(SERVED[10].api, 4, answer) == {0}


def test_hundreds_of_clients_that_say_nothing_or_half(served: Served) -> None:
    async def attack() -> bytes | str:
        async with AsyncExitStack() as stack:
            for number in range(400):
                _, writer = await stack.enter_async_context(connected(served.port))
                writer.write((MAX_FRAME_BYTES.to_bytes(4, "big") + bytes(1000))[: number % 3 * 500])
            return await outcome(served.port, ANY_COORDINATOR)

    assert isinstance(with_neighbors(served, attack), bytes)


def test_many_requests_whose_answers_are_not_read(served: Served) -> None:
    async def attack() -> bytes | str:
        content = encoded(request("ApiVersions", 0), 7, 0, "hostile")
        async with connected(served.port, limit=1) as (_, writer):
            for _ in range(200):
                writer.write((len(content).to_bytes(4, "big") + content) * 1000)
                try:
                    await asyncio.wait_for(writer.drain(), 0.1)
                except TimeoutError:
                    break
            return await outcome(served.port, ANY_COORDINATOR)

    assert isinstance(with_neighbors(served, attack), bytes)


def test_long_answers_that_are_not_read_take_no_memory(served: Served) -> None:
    records = encode_batch([(None, bytes(1_000_000))], base_offset=0, timestamp=0)
    topic = {"name": "unread", "num_partitions": 1, "replication_factor": 1}
    produced = {"name": "unread", "partition_data": [{"index": 0, "records": records}]}
    topics = [{"topic": "unread", "partitions": [{"partition": 0, "partition_max_bytes": 2 << 20}]}]

    async def attack() -> bytes | str:
        for message in (
            request("CreateTopics", 7, topics=[topic], timeout=1000),
            request("Produce", 9, topic_data=[produced], acks=-1, timeout=1000),
        ):
            assert isinstance(await outcome(served.port, encoded(message, 7, None, "hostile")), bytes)
        content = encoded(request("Fetch", 12, topics=topics, min_bytes=1), 7, None, "hostile")
        answer = await outcome(served.port, content)
        assert len(answer) > 1_000_000
        before = served.memory_kb("VmRSS")
        async with AsyncExitStack() as stack:
            for _ in range(UNREAD_CLIENTS):
                _, writer = await stack.enter_async_context(connected(served.port, limit=1))
                writer.write((len(content).to_bytes(4, "big") + content) * 200)
            # Once others are answered, the server has received requests of all these clients.
            for _ in range(20):
                assert await outcome(served.port, ANY_COORDINATOR)
            grown = served.memory_kb("VmRSS") - before
            assert grown < UNREAD_CLIENTS * 4 * 1024, f"it has grown by {grown} kB"
            return await outcome(served.port, ANY_COORDINATOR)

    assert isinstance(with_neighbors(served, attack), bytes)
