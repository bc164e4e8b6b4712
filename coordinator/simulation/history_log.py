"""The history that the log of a run shows, as it would be read from the log of a broker. Times are in µs from the start
of the simulated time."""

from functools import lru_cache
from typing import Any

from coordinator.engine import records as logged
from coordinator.simulation.node import LogAppend
from coordinator.simulation.watcher import Watcher
from coordinator.simulation.world import World
from groups.history import events
from wire.messages.embedded_protocol import read_assignment, read_subscription

US_PER_MS = 1_000
_MOST_CACHED = 4096
_KEY_VERSIONS: dict[type, int] = {
    logged.ClassicGroupRecord: events.CLASSIC_GROUP,
    logged.ConsumerGroupRecord: events.GROUP_EPOCH,
    logged.ConsumerMemberRecord: events.MEMBER,
    logged.TargetEpochRecord: events.TARGET_EPOCH,
    logged.TargetMemberRecord: events.TARGET,
    logged.CurrentAssignmentRecord: events.CURRENT,
}


class HistoryLog(Watcher):
    """See the module. Observes a world from now on."""

    def __init__(self, world: World) -> None:
        self.events: list[events.GroupEvent] = []
        self.commits: list[tuple[events.Place, int, int, int]] = []  # As in `Commits.of`
        self._world = world
        world.watchers.append(self)

    def appended(self, batch: LogAppend) -> None:
        time = self._world.schedule.now_ms * US_PER_MS
        for record in batch.records:
            offset = len(self.events) + len(self.commits)
            if isinstance(record, logged.OffsetRecord):
                if record.value is not None:
                    place = record.topic, record.partition
                    self.commits.append((place, time, record.value.offset, offset))
            elif (key_version := _KEY_VERSIONS.get(type(record))) is not None:
                event = events.GroupEvent(
                    group=record.group,
                    partition=0,
                    offset=offset,
                    time=time,
                    key_version=key_version,
                    tombstone=record.value is None,
                    **self._fields(record),
                )
                self.events.append(event)

    def _fields(self, record: logged.Record) -> dict[str, Any]:
        match record:
            case logged.ClassicGroupRecord(value=logged.ClassicGroupValue() as group):
                return {
                    "epoch": group.generation,
                    "state_since": group.state_since_ms * US_PER_MS,
                    "assignor": group.protocol,
                    "members": tuple(
                        (_classic_member(member), _assigned(member.assignment)) for member in group.members
                    ),
                }
            case logged.ConsumerGroupRecord(value=logged.ConsumerGroupValue(epoch=epoch)):
                return {"epoch": epoch}
            case logged.TargetEpochRecord(value=logged.TargetEpochValue(epoch=epoch)):
                return {"epoch": epoch}
            case logged.ConsumerMemberRecord(member=name, value=logged.ConsumerMemberValue() as member):
                return {"record": _member(name, member)}
            case logged.TargetMemberRecord(member=name, value=target):
                return {"record": events.MemberRecord(member=name), "places": self._places(target or {})}
            case logged.CurrentAssignmentRecord(
                member=name, value=logged.CurrentAssignmentValue() as current
            ):
                return {
                    "record": events.MemberRecord(member=name),
                    "epoch": current.epoch,
                    "state": current.state.name.lower(),
                    "places": (*self._places(current.assigned), *self._places(current.revoking)),
                }
            case logged.ConsumerMemberRecord(member=name) | logged.CurrentAssignmentRecord(member=name):
                return {"record": events.MemberRecord(member=name)}
            case _:
                return {}

    def _places(self, partitions: logged.TopicPartitions) -> tuple[events.Place, ...]:
        name = self._world.topics.name
        return tuple((name(topic), number) for topic, numbers in partitions.items() for number in numbers)


def _member(name: str, value: logged.ConsumerMemberValue) -> events.MemberRecord:
    return events.MemberRecord(
        member=name,
        instance=value.instance,
        client_id=value.client_id,
        host=value.host,
        topics=frozenset(value.topics),
        regex=value.regex or None,
        assignor=value.assignor,
        session_timeout_ms=None if value.classic is None else value.classic.session_timeout_ms,
        rebalance_timeout_ms=value.rebalance_timeout_ms,
    )


def _classic_member(value: logged.ClassicMemberValue) -> events.MemberRecord:
    return events.MemberRecord(
        member=value.member,
        instance=value.instance,
        client_id=value.client_id,
        host=value.host,
        topics=_subscribed(value.subscription),
        session_timeout_ms=value.session_timeout_ms,
        rebalance_timeout_ms=value.rebalance_timeout_ms,
    )


@lru_cache(_MOST_CACHED)
def _subscribed(subscription: bytes) -> frozenset[str]:
    return frozenset(read_subscription(subscription).topics)


@lru_cache(_MOST_CACHED)
def _assigned(assignment: bytes) -> tuple[events.Place, ...]:
    partitions = read_assignment(assignment).partitions if assignment else {}
    return tuple((topic, number) for topic, numbers in partitions.items() for number in numbers)
