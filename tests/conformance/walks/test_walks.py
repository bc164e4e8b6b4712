"""Random walks through both protocols: at every step Kohort answers, waits and shows what a real broker does. In the
end both have written the same into their logs. A failure names its seed. KOHORT_WALK_SEED=… repeats it,
KOHORT_WALK_STEPS=… walks further (`make walks`)."""

import asyncio
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.conformance.play import Server
from tests.conformance.walks.classic import ClassicWalk
from tests.conformance.walks.consumer import ConsumerWalk
from tests.conformance.walks.following import Following, following
from tests.conformance.walks.migration import MigrationWalk
from tests.conformance.walks.pair import Differs, Pair
from tests.conformance.walks.walk import Walk
from tests.conformance.walks.written import by_broker, by_kohort, difference
from tests.kafka.broker import Broker
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.ports import HOST
from tests.support.long import IS_LONG, cases

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(0)]

KINDS: tuple[type[Walk], ...] = (ClassicWalk, ConsumerWalk, MigrationWalk)
STEPS = cases("KOHORT_WALK_STEPS", 160, many=5_000)  # of all walks of a kind together
SEED = int(os.environ.get("KOHORT_WALK_SEED", "0"))  # of the first walk; those of the others follow
LENGTH = 40
AT_ONCE = 4
LONG_MS = "1800000"
SETTINGS = {
    "broker.rack": "a",
    "group.consumer.heartbeat.interval.ms": "5000",
    "group.consumer.max.session.timeout.ms": LONG_MS,
    "group.consumer.session.timeout.ms": LONG_MS,
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.assignment.interval.ms": "0",
}


@dataclass(slots=True, kw_only=True)
class Walked:
    """How often groups were in each state, and where the servers behaved or wrote differently."""

    seen: Counter[str] = field(default_factory=Counter)
    records: int = 0  # That the broker wrote about the groups
    differences: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def walked(
    kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mapping[type[Walk], Walked]]:
    brokers = {
        kind.most_members: Broker(kafka_jars, tmp_path_factory.mktemp(kind.__name__), settings(kind))
        for kind in KINDS
    }
    with ExitStack() as stack:
        for broker in brokers.values():
            stack.callback(broker.stop)
        with ThreadPoolExecutor() as pool:
            list(pool.map(_start, brokers.values()))
        yield asyncio.run(_walk_all({kind: brokers[kind.most_members] for kind in KINDS}))


def settings(kind: type[Walk]) -> dict[str, str]:
    most = str(kind.most_members)
    return {**SETTINGS, "group.max.size": most, "group.consumer.max.size": most}


def _start(broker: Broker) -> None:
    broker.start()
    wait_for_coordinator(broker)


async def _walk_all(brokers: Mapping[type[Walk], Broker]) -> Mapping[type[Walk], Walked]:
    walked = {kind: Walked() for kind in brokers}
    await asyncio.gather(*(_walk_kind(kind, brokers[kind], walked[kind]) for kind in brokers))
    return walked


async def _walk_kind(kind: type[Walk], broker: Broker, walked: Walked) -> None:
    kafka = Server(name="Kafka", host=HOST, port=broker.port)
    seeds = iter(range(SEED, SEED + max(1, STEPS // LENGTH)))

    async def work() -> None:
        for seed in seeds:
            await _walk(kind, seed, kafka, broker.data, kohort, walked)

    # A classic walk names groups of its neighbors, which may have another coordinator if there are several brokers.
    brokers = 3 if kind is MigrationWalk or (IS_LONG and kind is not ClassicWalk) else 1
    async with following(settings(kind), brokers) as kohort:
        await asyncio.gather(*(work() for _ in range(AT_ONCE)))


async def _walk(
    kind: type[Walk], seed: int, kafka: Server, data: Path, kohort: Following, walked: Walked
) -> None:
    pair = await Pair.open(f"{kind.__name__} {seed}", kind.topics, kafka, kohort)
    walk = kind(pair, seed)
    problem = None
    try:
        await walk.go(LENGTH)
        theirs = by_broker(data, pair.group_id)
        problem = difference(theirs, by_kohort(kohort.engine.written.pop(pair.group_id, [])))
        walked.records += len(theirs)
    except Differs as error:
        problem = str(error)
    finally:
        await pair.close()
    if problem is not None:
        walked.differences.append(f"KOHORT_WALK_SEED={seed} KOHORT_WALK_STEPS={LENGTH}\n{problem}")
    walked.seen.update(walk.seen)


@pytest.mark.parametrize("kind", KINDS)
def test_kohort_does_and_writes_what_the_broker_does(
    kind: type[Walk], walked: Mapping[type[Walk], Walked]
) -> None:
    print(
        f"{kind.__name__} from seed {SEED}: seen in {dict(walked[kind].seen)}, {walked[kind].records} records"
    )
    assert not walked[kind].differences, "\n\n".join(walked[kind].differences)
    assert kind.visits <= walked[kind].seen.keys()
