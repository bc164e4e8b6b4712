"""Floods on `kohort serve`: what a client sends must cost other clients neither time nor the server memory. Each flood
runs next to two members that send heartbeats every 50 ms; `make test` runs small ones with generous bounds."""

import asyncio
import struct
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from coordinator.server import group_coordinator
from coordinator.server.limits import IN_LOOP_BYTES, QUICK_BYTES
from groups.regex import broker as broker_regexes
from groups.regex.broker import BrokerRegex
from tests.conformance.messages import encoded, request
from tests.coordinator.server.neighbor import SESSION_MS, Neighbor
from tests.coordinator.server.running import connected, running
from tests.coordinator.server.test_hostile_clients import Served, kohort_server
from tests.support.long import IS_LONG, LONG
from wire.log import log_records
from wire.log.batch_writer import encode_batch
from wire.log.checksum import crc32c
from wire.log.compression import MOST_BYTES, Codec, compress, decompress

SIZE = 1.0 if IS_LONG else 0.1  # the size of the floods, compared with the ones that were observed
LONGEST_WAIT_S = 0.5 if IS_LONG else 3.0
"""A wait of more means that the event loop was blocked; the larger bound is for a busy machine."""
ANSWER_S = 120.0
Attack = Callable[[int], Awaitable[None]]
_ATTRIBUTES_AT, _CRC_AT, _LENGTH_AT, _HEADER_BYTES = 21, 17, 8, 61


def frame(api: str, version: int, **fields: Any) -> bytes:
    content = encoded(request(api, version, **fields), 7, version, "flood")
    return len(content).to_bytes(4, "big") + content


async def ask(port: int, content: bytes) -> bytes:
    async with connected(port) as (reader, writer), asyncio.timeout(ANSWER_S):
        writer.write(content)
        return await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))


def some(count: float) -> int:
    return max(2, round(count * SIZE))


def create(names: list[str], partitions: int = 1) -> bytes:
    topics = [{"name": name, "num_partitions": partitions, "replication_factor": 1} for name in names]
    return frame("CreateTopics", 7, topics=topics, timeout=60_000)


REGEXES = {
    "classes": lambda number: rf"[\pL\pN]{{1000}}{'x' * number}y{{100}}",
    "ranges": lambda number: f"[acegikmoqsuwyACEGIKMOQSUWY02468]{{1000}}{'[aceg]{1000}' * 40}{number}",
    "nested": lambda number: f"(?:(?:a{{100}}){{100}}){{{9 - number % 3}}}{number}",
    "literal": lambda number: "a" * 30_000 + str(number),
    "options": lambda number: "|".join(f"topic-{number}-{index}" for index in range(2_000)),
    "tables": lambda number: r"\pL" * 10_000 + str(number),
    "slow": lambda number: f"(?:[ab]{{0,200}}c?.{{0,50}}){{10}}.*a.{{200}}{number}",
}


def regexes(shape: str) -> Attack:
    subscriptions = [
        frame(
            "ConsumerGroupHeartbeat",
            1,
            group_id=f"flood-{shape}-{number}",
            member_id="flood",
            rebalance_timeout=60_000,
            subscribed_topic_regex=REGEXES[shape](number),
            topic_partitions=[],
        )
        for number in range(some(14))
    ]

    async def attack(port: int) -> None:
        await asyncio.gather(*(ask(port, content) for content in subscriptions))

    return attack


def bomb(codec: Codec, size: int, records: int = 1) -> bytes:
    """A batch that expands to `size` bytes."""
    value = bytes(size // records)
    plain = bytearray(encode_batch([(b"k", value)] * records, base_offset=0, timestamp=0))
    packed = compress(codec, bytes(plain[_HEADER_BYTES:]))
    batch = plain[:_HEADER_BYTES] + packed
    struct.pack_into(">i", batch, _LENGTH_AT, len(batch) - 12)
    struct.pack_into(">h", batch, _ATTRIBUTES_AT, codec)
    struct.pack_into(">I", batch, _CRC_AT, crc32c(bytes(batch[_ATTRIBUTES_AT:])))
    return bytes(batch)


def bombs(codec: Codec) -> Attack:
    """Produce requests of many partitions, each a batch that expands to 95 MiB, or as far as a megabyte does."""
    topic, partitions = f"bombs-{codec.name.lower()}", some(60)
    # Snappy packs 20 to 1.
    batch = bomb(codec, (18 if codec is Codec.SNAPPY else 95) << 20)
    produce = produced(topic, range(partitions), batch)

    async def attack(port: int) -> None:
        await ask(port, create([topic], partitions))
        await asyncio.gather(ask(port, produce), ask(port, produce))
        await ask(port, searched(topic, range(2)))

    return attack


def many_records() -> Attack:
    produce = produced("many-records", [0], bomb(Codec.ZSTD, 0, 1_000_000 if IS_LONG else 100_000))

    async def attack(port: int) -> None:
        await ask(port, create(["many-records"]))
        await asyncio.gather(*(ask(port, produce) for _ in range(4)))

    return attack


def produced(topic: str, partitions: Iterable[int], records: bytes) -> bytes:
    data = [{"index": number, "records": records} for number in partitions]
    topics = [{"name": topic, "partition_data": data}]
    return frame("Produce", 9, acks=-1, timeout=60_000, topic_data=topics)


def searched(topic: str, partitions: Iterable[int]) -> bytes:
    asked = [{"partition_index": number, "current_leader_epoch": -1} for number in partitions]
    return frame("ListOffsets", 7, replica_id=-1, topics=[{"name": topic, "partitions": asked}])


async def stalled_writers(port: int) -> None:
    """Clients announce 70 kB, or 100 MB, and stop halfway; a request of 70 kB is answered nevertheless."""
    async with AsyncExitStack() as stack:
        for number in range(some(40)):
            _, writer = await stack.enter_async_context(connected(port))
            length = 70_000 if number % 2 else 100 << 20
            writer.write(length.to_bytes(4, "big") + bytes(69_000))
        started = time.monotonic()
        keys = {"key_type": 0, "coordinator_keys": ["k" * 1000] * 70}
        await ask(port, frame("FindCoordinator", 4, **keys))
        waited_s = time.monotonic() - started
        assert waited_s < LONGEST_WAIT_S, waited_s


async def half_requests_of_megabytes(port: int) -> None:
    async with AsyncExitStack() as stack:
        for _ in range(some(40)):
            _, writer = await stack.enter_async_context(connected(port))
            writer.write((12 << 20).to_bytes(4, "big") + bytes((12 << 20) - 1))
            try:
                await asyncio.wait_for(writer.drain(), 10)
            except (TimeoutError, ConnectionError):
                continue  # the server keeps no more


async def stalled_readers(port: int) -> None:
    await ask(port, create(["unread-flood"], 60))
    batch = encode_batch([(None, bytes(1_000_000))], base_offset=0, timestamp=0)
    for number in range(60):
        await ask(port, produced("unread-flood", [number], batch))
    partitions = [{"partition": number, "partition_max_bytes": 1 << 20} for number in range(60)]
    topics = [{"topic": "unread-flood", "partitions": partitions}]
    fetch = frame("Fetch", 12, topics=topics, min_bytes=1, max_bytes=50 << 20)
    async with AsyncExitStack() as stack:
        for _ in range(max(16, some(40))):
            _, writer = await stack.enter_async_context(connected(port, limit=1))
            writer.transport.pause_reading()  # type: ignore[attr-defined]
            writer.write(fetch * 3)
        await asyncio.sleep(3 * SIZE)
        assert len(await ask(port, fetch)) > 1_000_000


async def topics_with_dots(port: int) -> None:
    for number in range(some(5)):
        await ask(port, create([f"flood.of.dots.{number}.{index}" for index in range(1_000)]))


def at_once(content: Callable[[], bytes]) -> Attack:
    """One request by several clients, which leave without reading the answer."""
    request = content()

    async def send(port: int) -> None:
        async with connected(port) as (_, writer):
            writer.write(request)
            await asyncio.sleep(1)

    async def attack(port: int) -> None:
        await asyncio.gather(*(send(port) for _ in range(10)))

    return attack


def joining() -> bytes:
    protocols = [{"name": f"protocol-{number}", "metadata": b""} for number in range(50_000)]
    session = {"session_timeout": 30_000, "rebalance_timeout": 60_000, "protocol_type": "consumer"}
    return frame("JoinGroup", 3, group_id="flood-join", protocols=protocols, **session)


def committing() -> bytes:
    offset = {"committed_offset": 1, "committed_leader_epoch": -1, "committed_metadata": "m" * 30_000}
    topics = [{"name": "neighbor-orders", "partitions": [offset] * 500}]
    return frame("OffsetCommit", 8, group_id="flood-commit", topics=topics)


def resources() -> bytes:
    return frame("DescribeConfigs", 4, resources=[{"resource_type": 32, "resource_name": "g"}] * 10_000)


FLOODS: dict[str, tuple[Callable[[], Attack], int]] = {
    **{f"regexes: {shape}": (partial(regexes, shape), 220) for shape in REGEXES},
    **{f"bombs: {codec.name.lower()}": (partial(bombs, codec), 450) for codec in Codec if codec},
    "a million records": (many_records, 450),
    "stalled writers": (lambda: stalled_writers, 30),
    "half requests of megabytes": (lambda: half_requests_of_megabytes, 350),
    "stalled readers": (lambda: stalled_readers, 400),
    "joins with many protocols": (partial(at_once, joining), 250),
    "commits with much metadata": (partial(at_once, committing), 350),
    "topics with dots": (lambda: topics_with_dots, 100),
    "many resources": (partial(at_once, resources), 150),
}
"""What prepares each flood, and by how many megabytes the server may grow, at full size."""
ALWAYS = ("regexes: classes", "regexes: slow", "bombs: gzip", "stalled writers", "stalled readers")
"""The floods of `make test`."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    session = {"group.consumer.session.timeout.ms": str(SESSION_MS), "message.max.bytes": str(2 << 20)}
    with kohort_server(tmp_path_factory.mktemp("floods") / "serve.log", None, session) as server:
        yield server


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in ALWAYS else LONG) for name in FLOODS]
)
def test_a_flood_costs_other_clients_nothing(served: Served, name: str) -> None:
    prepare, most_mb = FLOODS[name]
    attack = prepare()
    before_kb = served.memory_kb("VmRSS")
    peak = Path(f"/proc/{served.pid}/clear_refs")
    if peak.exists():
        peak.write_text("5")  # the largest memory is counted from now on

    async def scene() -> float:
        async with await Neighbor.at(served.port) as neighbor:
            await asyncio.wait_for(attack(served.port), 600)
            await asyncio.sleep(0.3)
            return neighbor.longest_s

    assert asyncio.run(scene()) < LONGEST_WAIT_S
    assert served.memory_kb() - before_kb < most_mb * 1024


@pytest.mark.parametrize("codec", [codec for codec in Codec if codec], ids=str)
def test_batches_expand_in_the_event_loop_up_to_a_limit(
    monkeypatch: pytest.MonkeyPatch, codec: Codec
) -> None:
    limits: list[tuple[str, int]] = []

    def recorded(codec: Codec, data: bytes | memoryview, most: int) -> bytes:
        limits.append((threading.current_thread().name.partition("_")[0], most))
        return decompress(codec, data, most)

    monkeypatch.setattr(log_records, "decompress", recorded)

    async def scene() -> None:
        async with running({"message.max.bytes": str(2 << 20)}) as broker:
            await ask(broker.port, create(["bombs"]))
            await ask(broker.port, produced("bombs", [0], bomb(codec, 12 << 20)))
            await ask(broker.port, searched("bombs", [0]))

    asyncio.run(scene())
    assert limits == [("MainThread", IN_LOOP_BYTES), ("quick", QUICK_BYTES), ("slow", MOST_BYTES)] * 2


def test_regexes_are_compiled_and_matched_in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: dict[str, list[str]] = {"compile": [], "match": []}
    program, matches = broker_regexes._program, BrokerRegex.matches

    def compiled(text: str, limits: Iterable[int]) -> tuple[Any, int]:
        threads["compile"].append(threading.current_thread().name.partition("_")[0])
        return program(text, limits)

    def matched(regex: BrokerRegex, topics: Iterable[str]) -> list[str]:
        threads["match"].append(threading.current_thread().name.partition("_")[0])
        return matches(regex, topics)

    monkeypatch.setattr(broker_regexes, "_program", compiled)
    monkeypatch.setattr(BrokerRegex, "matches", matched)
    monkeypatch.setattr(group_coordinator, "MATCHING_S", -1.0)

    async def scene() -> None:
        async with running() as broker:
            await ask(broker.port, create(["orders"]))
            await regexes("classes")(broker.port)
            async with asyncio.timeout(ANSWER_S):
                while len(threads["match"]) < some(14):
                    await asyncio.sleep(0.01)

    asyncio.run(scene())
    assert set(threads["compile"]) == {"quick"}
    assert set(threads["match"]) == {"slow"}
