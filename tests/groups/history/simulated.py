"""Simulated groups whose members close, crash, freeze and fall behind, their log, and why each member departed."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias

from coordinator.engine import records as logged
from coordinator.engine.classic.heartbeat import Heartbeat
from coordinator.engine.classic.leave_group import LeaveGroup
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat
from coordinator.engine.offsets.commit import OffsetCommit
from coordinator.faults import CoordinatorFault, FailCoordinator
from coordinator.simulation import scenario as model
from coordinator.simulation.node import Answering, LogAppend
from coordinator.simulation.run import LIMIT
from coordinator.simulation.watcher import Watcher
from coordinator.simulation.world import World
from coordinator.store.history_events import GroupRecord, event_in
from coordinator.store.records import encode_record
from groups.history.causes import RebalanceCause
from groups.history.commits import Commits
from groups.history.course import Course, course_of
from groups.history.departures import Knowledge
from groups.history.events import CLASSIC_GROUP, Departure, GroupEvent, Place, Protocol
from wire.errors import ErrorCode

Committed: TypeAlias = tuple[Place, int, int, int]  # as in `Commits.of`
GROUP = "payments"  # as the simulation calls it
LEAVE, EXPIRY = RebalanceCause.LEAVE, RebalanceCause.EXPIRY
_ACCEPTED = {ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS}
_LAST = 150.0


@dataclass(slots=True)
class SimulatedGroup(Watcher):
    """A group of a seed, played to its end."""

    seed: int
    knowledge: Knowledge = field(init=False)
    scenario: model.Scenario = field(init=False)
    log: list[GroupEvent | Committed] = field(default_factory=list)
    _world: World = field(init=False)
    _is_classic: bool = True
    _left: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    _heard: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        random = Random(f"{self.seed} departures")
        session_ms, heartbeat_ms = random.choice(
            ((6_000, 1_000), (6_000, 5_000), (10_000, 3_000), (45_000, 5_000))
        )
        self.knowledge = Knowledge(session_timeout_ms=session_ms, heartbeat_interval_ms=heartbeat_ms)
        self.scenario = _scenario(random, session_ms, heartbeat_ms)
        self._world = World(self.scenario, self.seed, with_story=False)
        self._world.watchers.append(self)
        self._world.schedule.play(round(self.scenario.until_s * 1000), LIMIT)

    def course(self, knowledge: Knowledge) -> Course:
        events = [item for item in self.log if isinstance(item, GroupEvent)]
        commits = [item for item in self.log if not isinstance(item, GroupEvent)]
        return course_of(GROUP, events, Commits.of(commits), knowledge)

    def truth(self, departure: Departure) -> RebalanceCause | None:
        """Why a member departed; None: it was dropped from a rebalance although it sent heartbeats."""
        heard = max((at for at in self._heard[departure.member] if at < departure.at), default=0)
        if any(heard <= at <= departure.at for at in self._left[departure.member]):
            return LEAVE
        session_ms = departure.record.session_timeout_ms
        is_dropped = (
            departure.protocol is Protocol.CLASSIC
            and departure.at - heard < 1000 * (session_ms or 0) - 1_000_000
        )
        return None if is_dropped else EXPIRY

    # What a watcher sees.

    def appended(self, batch: LogAppend) -> None:
        time = self._world.schedule.now_ms * 1000
        names = {topic.id: topic.name for topic in self._world.topics.image.topics.values()}
        for record in batch.records:
            offset = len(self.log)
            if isinstance(record, logged.OffsetRecord):
                if record.value is not None:
                    place = record.topic, record.partition
                    self.log.append((place, time, record.value.offset, offset))
            else:
                event = event_in(GroupRecord(offset, time, *encode_record(record)), 0, names)
                if event is not None:
                    self._is_classic = event.key_version == CLASSIC_GROUP
                    self.log.append(event)

    def answering(self, answering: Answering) -> None:
        request, now = answering.request, self._world.schedule.now_ms * 1000
        match request:
            case LeaveGroup():
                for member, _ in request.members:
                    self._left[member].append(now)
            case ConsumerGroupHeartbeat(epoch=-1):
                self._left[request.member].append(now)
            case ConsumerGroupHeartbeat(epoch=-2):
                pass
            case ConsumerGroupHeartbeat() | Heartbeat() | OffsetCommit():
                errors = {getattr(answering.answer, "error", ErrorCode.NONE)}
                if isinstance(request, OffsetCommit):
                    errors = {error for *_, error in getattr(answering.answer, "partitions", ())}
                if errors <= _ACCEPTED and (self._is_classic or not isinstance(request, OffsetCommit)):
                    self._heard[request.member].append(now)


def _scenario(random: Random, session_ms: int, heartbeat_ms: int) -> model.Scenario:
    protocol = random.choice(("classic", "consumer"))
    library = random.choice(("java", "librdkafka"))
    by_hand = random.random() < 0.25
    assignors = random.choice((("range",), ("cooperative-sticky",)))
    scripts = {}
    for name in "abcd"[: random.randint(1, 4)]:
        config = {
            "metadata.max.age.ms": "5000",
            "max.poll.interval.ms": random.choice(("8000", "20000", "60000", "300000")),
            "auto.commit.interval.ms": random.choice(("500", "1000", "5000", "5000", "5000")),
            "enable.auto.commit": str(not by_hand).lower(),
        }
        if protocol == "classic":
            config |= {
                "session.timeout.ms": str(session_ms),
                "heartbeat.interval.ms": str(min(heartbeat_ms, 3000)),
            }
        scripts[name] = model.MemberScript(
            library=library if random.random() < 0.9 else "java",
            protocol=protocol,
            assignors=assignors if protocol == "classic" else (),
            topics=("orders",),
            instance=name if random.random() < 0.25 else None,
            after_error="restart" if random.random() < 0.5 else None,
            config=config,
        )
    return model.Scenario(
        topics={"orders": random.randint(1, 6)},
        settings={
            "group.consumer.min.session.timeout.ms": "1000",
            "group.consumer.session.timeout.ms": str(session_ms),
            "group.consumer.min.heartbeat.interval.ms": "500",
            "group.consumer.heartbeat.interval.ms": str(heartbeat_ms),
        },
        members=scripts,
        events=tuple(sorted(_events(random, scripts, by_hand), key=lambda event: event.at)),
        records_per_s=random.choice((0.0, 0.05, 1.0, 20.0, 20.0)),
        until_s=_LAST + 70,
    )


def _events(random: Random, scripts: dict[str, model.MemberScript], by_hand: bool) -> Iterator[model.Event]:
    for name, script in scripts.items():
        at = round(random.uniform(0, 20), 3)
        yield model.Start(at=at, member=name)
        every = random.choice((0.5, 2.0, 7.0, 20.0))
        ends = round(random.uniform(25, _LAST), 3)
        while by_hand and at < ends:
            at = round(at + every * random.uniform(0.5, 1.5), 3)
            yield model.Commit(at=at, member=name)
        match random.choice(("close", "close", "kill", "kill", "restart", "killed", "freeze", "pause")):
            case "close":
                yield model.Close(at=ends, member=name)
            case "kill":
                yield model.Kill(at=ends, member=name)
            case "restart" | "killed" as how:
                after_s = random.choice((0.5, 3.0, 12.0, 60.0))
                yield model.Restart(
                    at=ends, member=name, script=script, after_s=after_s, kill=how == "killed"
                )
            case "freeze":
                yield model.Freeze(at=ends, member=name, for_s=random.choice((4.0, 15.0, 60.0)))
            case "pause":
                yield model.Pause(at=ends, member=name, for_s=random.choice((4.0, 15.0, 60.0)))
                if random.random() < 0.3:
                    yield model.Close(at=round(ends + random.uniform(1, 50), 3), member=name)
    if random.random() < 0.1:
        fault = random.choice(list(CoordinatorFault))
        yield FailCoordinator(
            at=round(random.uniform(25, _LAST), 3), fault=fault, for_s=random.choice((0.5, 4.0))
        )
