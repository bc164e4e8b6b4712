"""The engine of the embedded coordinator alone, without I/O: `python -m benchmarks.coordinator`.

Heartbeats per second of one process for groups of both protocols, the growth of a heartbeat's cost with the number of
groups and of members, and the memory of 1,000 groups of 100 members. Processor time, as there is no waiting.
"""

import pickle
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Any
from uuid import UUID

from coordinator.configs.settings import Config
from coordinator.engine.calls import Call, CoordinatorResult, Request
from coordinator.engine.classic.heartbeat import Heartbeat
from coordinator.engine.classic.join_group import JoinGroup
from coordinator.engine.classic.rebalance import JoinGroupAnswer
from coordinator.engine.classic.sync_group import SyncGroup
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat, ConsumerGroupHeartbeatAnswer
from coordinator.engine.engine import Engine
from coordinator.engine.records import JoinProtocol, Record
from coordinator.engine.topics import TopicImage, TopicInfo
from wire.messages.embedded_protocol import EmbeddedSubscription, write_subscription

BEATS = 100_000
TOPICS = TopicImage.of([TopicInfo(name="orders", id=UUID(int=7), partitions=400)])
SETTINGS = {"group.initial.rebalance.delay.ms": "0", "group.consumer.assignment.interval.ms": "0"}


class Bench:
    """An engine and a clock that does not advance."""

    def __init__(self) -> None:
        self.engine = Engine(Config.parse(SETTINGS), TOPICS)
        self.tickets = count(1)
        self.records: list[Record] = []
        self.engine.loaded(0)

    def send(self, request: Request[Any]) -> CoordinatorResult:
        ticket = next(self.tickets)
        result = self.engine.handle(
            Call(
                ticket=ticket,
                request=request,
                now_ms=0,
                client_id="c",
                host="/127.0.0.1",
                fresh_id=UUID(int=ticket),
            )
        )
        self.records += result.records
        return result

    def consumer_group(self, group: str, members: int) -> list[ConsumerGroupHeartbeat]:
        """Members join and settle; returns the heartbeat that each sends afterwards."""
        names = [f"{group}-m{number}" for number in range(members)]
        epochs: dict[str, int] = {}
        for name in names:
            epochs[name] = self._beat(
                ConsumerGroupHeartbeat(
                    group=group,
                    member=name,
                    epoch=0,
                    rebalance_timeout_ms=60_000,
                    topics=("orders",),
                    owned={},
                )
            )
        owned: dict[str, dict[UUID, tuple[int, ...]]] = {}
        for _ in range(4):
            for name in names:
                request = ConsumerGroupHeartbeat(
                    group=group,
                    member=name,
                    epoch=epochs[name],
                    rebalance_timeout_ms=60_000,
                    topics=("orders",),
                    owned=owned.get(name, {}),
                )
                answer = self._answer(request)
                epochs[name] = answer.epoch
                if answer.assignment is not None:
                    owned[name] = dict(answer.assignment)
        return [ConsumerGroupHeartbeat(group=group, member=name, epoch=epochs[name]) for name in names]

    def _beat(self, request: ConsumerGroupHeartbeat) -> int:
        return self._answer(request).epoch

    def _answer(self, request: ConsumerGroupHeartbeat) -> ConsumerGroupHeartbeatAnswer:
        ((_, answer),) = self.send(request).answers
        if not isinstance(answer, ConsumerGroupHeartbeatAnswer) or answer.error:
            raise SystemExit(f"{request} was answered {answer}")
        return answer

    def classic_group(self, group: str, members: int) -> list[Heartbeat]:
        """Members join together; returns the heartbeat that each sends afterwards."""
        metadata = write_subscription(EmbeddedSubscription(version=3, topics=("orders",)))
        joined: dict[int, JoinGroupAnswer] = {}
        ids = [""] * members
        for turn in range(2):
            for number in range(members):
                result = self.send(
                    JoinGroup(
                        group=group,
                        session_timeout_ms=45_000,
                        rebalance_timeout_ms=60_000,
                        member=ids[number],
                        instance=None,
                        protocol_type="consumer",
                        protocols=(JoinProtocol(name="range", metadata=metadata),),
                        version=9 if ids[number] or turn else 3,
                    )
                )
                joined |= {t: answer for t, answer in result.answers if isinstance(answer, JoinGroupAnswer)}
            known = [answer.member for answer in joined.values() if not answer.error]
            ids = list(dict.fromkeys(known))[:members] if len(set(known)) >= members else ids
        latest = max((answer.generation for answer in joined.values()), default=-1)
        stable = {answer.member: answer for answer in joined.values() if answer.generation == latest}
        for name, answer in stable.items():
            assignments = tuple((member, b"") for member in stable) if answer.leader == name else ()
            self.send(
                SyncGroup(
                    group=group,
                    generation=latest,
                    member=name,
                    instance=None,
                    protocol_type="consumer",
                    protocol="range",
                    assignments=assignments,
                )
            )
        return [Heartbeat(group=group, generation=latest, member=name, instance=None) for name in stable]


def main() -> None:
    """Print the tables."""
    print(f"{'heartbeats, one process, no I/O':<52} {'per second':>12} {'µs each':>8}")
    for label, groups, members in (
        ("one group of 10", 1, 10),
        ("one group of 100", 1, 100),
        ("one group of 400", 1, 400),
        ("100 groups of 10", 100, 10),
        ("1,000 groups of 10", 1000, 10),
    ):
        for protocol, build in (("consumer", Bench.consumer_group), ("classic", Bench.classic_group)):
            bench = Bench()
            requests = [r for g in range(groups) for r in build(bench, f"g{g}", members)]
            seconds = _time(bench, _cycle(requests, BEATS))
            print(
                f"{f'{label}, {protocol} protocol':<52} {BEATS / seconds:>12,.0f} {1e6 * seconds / BEATS:>8.1f}"
            )
    _memory()


def _cycle(requests: Sequence[Request[Any]], times: int) -> Iterator[Request[Any]]:
    return (requests[number % len(requests)] for number in range(times))


def _time(bench: Bench, requests: Iterator[Request[Any]]) -> float:
    send: Callable[[Request[Any]], CoordinatorResult] = bench.send
    started = time.process_time()
    for request in requests:
        send(request)
    return time.process_time() - started


def _memory() -> None:
    """Print the memory of 1,000 groups after a recovery: copies of one group's records, as separate objects."""
    one = Bench()
    one.consumer_group("g", 100)
    records = one.records
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    bench = Bench()
    started = time.process_time()
    for number in range(1000):
        for record in pickle.loads(pickle.dumps(records)):
            bench.engine.replay(replace(record, group=f"g{number}"))
    bench.engine.loaded(0)
    seconds = time.process_time() - started
    mib = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(
        f"{len(bench.engine.state.groups):,} groups of 100 members: {mib:,.0f} MiB, {seconds:.0f} s to bring back"
    )


if __name__ == "__main__":
    main()
