"""The days before: a story per group, which ends one rebalance before the group as the sample has it.

billing          range: deployments member by member, a crash at night, a third more members for a day
clickstream      cooperative-sticky: a crash; one member commits nothing for a day
checkout         range, then the way to the consumer protocol, member by member, still under way
fraud            the consumer protocol from the beginning: deployments, a crash
legacy-etl       one member in a loop of restarts, and offsets that were set back
nightly-report   a member that comes every night and goes again, and offsets that an operator set back
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from cli.verbs.demo.history import Actor, ClassicConsumer, Consumer, Positions, SampleClient, Stage
from coordinator.engine.records import (
    ClassicGroupRecord,
    ClassicGroupValue,
    ConsumerGroupRecord,
    ConsumerGroupValue,
    Record,
    TargetEpochRecord,
    TargetEpochValue,
)
from coordinator.engine.topics import TopicImage
from groups.model import Group
from wire.uuids import format_uuid

T = TypeVar("T", bound=Actor)

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
DAYS = 6
"""How far back the stories go."""
LAST_MS = 20 * MINUTE_MS
"""How long ago the group became what the sample says."""
_RESTART_S = 30
"""How long a process is away that is started anew."""
_WATCHED_S = 90
"""How long somebody watches the new process before the next one's turn comes."""
_RECORDS_PER_HOUR = 25
"""That a partition gets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What happened to a group. It ends with the generation or group epoch before the sample's."""

    first_epoch: int
    """Generation or group epoch, without members, when the story begins."""
    is_consumer_group: bool = False
    play: Callable[[Stage, Cast], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """Who plays: the members of the sample, by place, and those that were there before them."""

    group: Group
    now_ms: int

    def ago(self, days: float) -> int:
        """A moment, by days before now."""
        return self.now_ms - round(days * DAY_MS)

    @property
    def last_ms(self) -> int:
        return self.now_ms - LAST_MS

    @property
    def topics(self) -> tuple[str, ...]:
        return tuple(sorted(self.group.offsets or {}))

    def client(self, place: int) -> SampleClient:
        """The client of the sample's member in a place; behind them there are more of the same kind."""
        members = self.group.members
        if place < len(members):
            return SampleClient(id=members[place].client.id or "", host=members[place].client.host or "")
        if not members:
            return SampleClient(id=f"consumer-{self.group.id}-1", host="/10.0.0.200")
        return SampleClient(id=members[0].client.id or "", host=f"/10.0.0.{200 + place}")

    def classic(self, stage: Stage, place: int, assignor: str, *, is_last: bool = False) -> ClassicConsumer:
        """A classic member; the `last` one in a place is that of the sample, id and all."""
        fresh_id = UUID(self.group.members[place].id[-36:]) if is_last else None
        return ClassicConsumer(stage, self.client(place), self.topics, assignor, fresh_id)

    def consumer(self, stage: Stage, place: int, *, is_last: bool = False) -> Consumer:
        """A member of the consumer protocol, as `classic`."""
        member = self.group.members[place].id if is_last else format_uuid(stage.fresh_id())
        return Consumer(stage, self.client(place), self.topics, member)


def _joined(stage: Stage, member: T) -> T:
    """A member that has joined, once the group is at rest."""
    stage.settle()
    return member


def _left(stage: Stage, member: Actor, away_s: int = 0) -> None:
    """Have a member leave, and wait until the group is at rest."""
    member.leave()
    stage.run(away_s)
    stage.settle()


def _crashed(stage: Stage, member: Actor) -> None:
    member.crash()
    stage.settle()


def play(
    group: Group, story: Story, topics: TopicImage, now_ms: int
) -> Sequence[tuple[int, tuple[Record, ...]]]:
    """The records of a story and when they were written, in ms. The same for the same moment."""
    cast = Cast(group=group, now_ms=now_ms)
    start_ms = cast.ago(DAYS)
    stage = Stage(group.id, topics, start_ms, _before(group, story, start_ms), _positions(group, now_ms))
    story.play(stage, cast)
    return stage.written


def _before(group: Group, story: Story, start_ms: int) -> tuple[Record, ...]:
    if story.is_consumer_group:
        return (
            ConsumerGroupRecord(
                group=group.id, value=ConsumerGroupValue(epoch=story.first_epoch, metadata_hash=0)
            ),
            TargetEpochRecord(
                group=group.id, value=TargetEpochValue(epoch=story.first_epoch, assigned_ms=start_ms)
            ),
        )
    value = ClassicGroupValue(
        protocol_type="consumer",
        generation=story.first_epoch,
        protocol=None,
        leader=None,
        state_since_ms=start_ms,
        members=(),
    )
    return (ClassicGroupRecord(group=group.id, value=value),)


def _positions(group: Group, now_ms: int) -> Positions:
    """Every partition gets its records at the same pace, and the group comes to where the sample has it."""
    now = group.offsets or {}

    def position(topic: str, partition: int, at_ms: int) -> int:
        committed = now[topic][partition].offset or 0
        return max(0, committed - (now_ms - at_ms) * _RECORDS_PER_HOUR // HOUR_MS)

    return position


def _set_back(positions: Positions, records: int) -> Positions:
    return lambda topic, partition, at_ms: max(0, positions(topic, partition, at_ms) - records)


def _restarted(
    stage: Stage, cast: Cast, members: list[ClassicConsumer], places: Sequence[int], *, is_last: bool = False
) -> None:
    """Members of the range assignor stop and start anew, one behind the other."""
    for place in places:
        _left(stage, members[place], _RESTART_S)
        members[place] = _joined(stage, cast.classic(stage, place, "range", is_last=is_last))
        stage.run(_WATCHED_S)


def _billing(stage: Stage, cast: Cast) -> None:
    members = [cast.classic(stage, place, "range") for place in range(3)]
    stage.settle()
    stage.live(cast.ago(5.3), HOUR_MS)
    _restarted(stage, cast, members, range(3))
    stage.live(cast.ago(4.1), HOUR_MS)
    _crashed(stage, members[1])
    members[1] = _joined(stage, cast.classic(stage, 1, "range"))
    stage.live(cast.ago(2.6), HOUR_MS)
    more = _joined(stage, cast.classic(stage, 3, "range"))
    stage.live(cast.ago(1.6), HOUR_MS)
    _left(stage, more)
    stage.live(cast.last_ms - 10 * MINUTE_MS, HOUR_MS)
    _restarted(stage, cast, members, range(2), is_last=True)
    _left(stage, members[2], _RESTART_S)


def _clickstream(stage: Stage, cast: Cast) -> None:
    assignor = "cooperative-sticky"
    members = [cast.classic(stage, place, assignor, is_last=place < 2) for place in range(3)]
    stage.settle()
    stage.live(cast.ago(4.2), HOUR_MS)
    stage.live(cast.ago(3.2), HOUR_MS, silent=members[2])
    _crashed(stage, members[2])
    members[2] = _joined(stage, cast.classic(stage, 2, assignor))
    stage.live(cast.last_ms - MINUTE_MS, HOUR_MS)
    _left(stage, members[2])


def _checkout(stage: Stage, cast: Cast) -> None:
    members = [cast.classic(stage, place, "range", is_last=place == 0) for place in range(3)]
    stage.settle()
    for days in (5.5, 4.5, 3.5):
        stage.live(cast.ago(days), HOUR_MS)
        _restarted(stage, cast, members, (1, 2))
    stage.live(cast.ago(0.9), HOUR_MS)
    _left(stage, members[1], _RESTART_S)
    _joined(stage, cast.consumer(stage, 1, is_last=True))
    stage.live(cast.last_ms - MINUTE_MS, HOUR_MS)
    _left(stage, members[2])


def _fraud(stage: Stage, cast: Cast) -> None:
    members = [cast.consumer(stage, place) for place in range(2)]
    stage.settle()
    stage.live(cast.ago(3.4), HOUR_MS)
    _crashed(stage, members[0])
    _joined(stage, cast.consumer(stage, 0, is_last=True))
    stage.live(cast.ago(1.4), HOUR_MS)
    _left(stage, members[1], _RESTART_S)
    _joined(stage, cast.consumer(stage, 1, is_last=True))
    stage.live(cast.last_ms - MINUTE_MS, HOUR_MS)


def _legacy_etl(stage: Stage, cast: Cast) -> None:
    assignor = cast.group.protocol or ""
    member = _joined(stage, cast.classic(stage, 0, assignor))
    stage.live(cast.ago(3.1), HOUR_MS)
    for _ in range(24):
        member.leave()
        stage.run(_RESTART_S)
        member = _joined(stage, cast.classic(stage, 0, assignor))
    stage.positions = _set_back(on_time := stage.positions, 400)
    stage.commit(member)
    stage.live(cast.ago(2.7), HOUR_MS)
    stage.positions = on_time
    stage.live(cast.last_ms - MINUTE_MS, HOUR_MS)
    member.leave()
    stage.run(_RESTART_S)


def _nightly_report(stage: Stage, cast: Cast) -> None:
    operator = SampleClient(id="kohort-offsets", host="/10.0.0.7")
    stage.reset("payments", operator)  # a group without members and offsets would be deleted
    for night in range(DAYS):
        stage.live(cast.ago(DAYS - 1 - night + 0.04), DAY_MS)
        if night == 3:
            stage.positions = _set_back(on_time := stage.positions, 1_500)
            stage.reset("payments", operator)
            stage.positions = on_time
        member = _joined(stage, cast.classic(stage, 0, "range"))
        stage.live(stage.now_ms + 20 * MINUTE_MS, 5 * MINUTE_MS)
        if night < DAYS - 1:
            _left(stage, member)


STORIES: Mapping[str, Story] = {
    "billing": Story(first_epoch=5, play=_billing),
    "checkout": Story(first_epoch=14, play=_checkout),
    "clickstream": Story(first_epoch=3, play=_clickstream),
    "fraud": Story(first_epoch=1, is_consumer_group=True, play=_fraud),
    "legacy-etl": Story(first_epoch=89, play=_legacy_etl),
    "nightly-report": Story(first_epoch=49, play=_nightly_report),
}
"""By group."""
