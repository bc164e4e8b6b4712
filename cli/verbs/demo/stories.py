"""The history of the sample: a story of several days per group (deployments, crashes, a migration, offsets that an
operator set back), which ends one rebalance before the sample's state. The simulation plays it. Members are named by
their index in the sample: `0` is a process of earlier days, `now 0` the process in the sample, with its id."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

from assignors.assignor import Side
from assignors.registry import find
from coordinator.consumer.classic_member import ClassicConsumer
from coordinator.consumer.member import ClientMember
from coordinator.consumer.outputs import Send, TopicPartition
from coordinator.engine import records as stored
from coordinator.engine.offsets.commit import Offset, OffsetCommit
from coordinator.engine.topics import TopicImage
from coordinator.simulation.consumers import GROUP, NewMember, identity_of, make_member, subscription_of
from coordinator.simulation.node import LogAppend
from coordinator.simulation.run import LIMIT
from coordinator.simulation.scenario import Close, Commit, Kill, MemberScript, Scenario, Start
from coordinator.simulation.settling_rules import QUIET_MS
from coordinator.simulation.topics import InitialState, SimulatedClient
from coordinator.simulation.world import World
from coordinator.store.group_records import SESSION_TIMEOUT_MS
from groups.model import Group, MemberProtocol, usual_protocol

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
DAYS = 6
"""Length of the stories."""
LAST_MS = 20 * MINUTE_MS
"""Time since the group reached its state in the sample."""
_WATCHED_S = 90
"""Seconds between a restart and the next one."""
_RECORDS_PER_HOUR = 25
"""Records written to a partition in an hour."""
_PLACES = 4
"""Maximum number of members of a story at once."""
_OPERATOR = SimulatedClient(id="kohort-offsets", host="/10.0.0.7")
_AWAY_S = 30
"""Seconds that a restarted process is stopped."""
_ANSWER_S = 1
"""Time until all requests are answered."""


class _World(World):
    """A world that records when its log was written."""

    def __init__(self, scenario: Scenario, seed: int, **options: Any) -> None:
        self.written: list[tuple[int, Sequence[stored.Record]]] = []
        super().__init__(scenario, seed, **options)

    def appended(self, batch: LogAppend) -> None:
        self.written.append((self.schedule.now_ms, batch.records))
        super().appended(batch)


class SimulatedGroup:
    """Time passes in small steps during rebalances (`run`, `wait_until_stable`), and in large steps in `live`. The
    consumers commit every hour of `live` and before they close; they do not auto-commit. The same scenario and start
    give the same result."""

    def __init__(
        self,
        group: str,
        scenario: Scenario,
        beginning: InitialState,
        member_ids: Mapping[str, str],
        end_ms: int,
    ) -> None:
        """`member_ids`: ids of the members in the sample; `end_ms`: now, when the story ends."""
        self._group, self._end_ms = group, end_ms
        self._beginning = beginning
        ids = {name: (member,) for name, member in member_ids.items()}
        seed = crc32(group.encode())  # with the same seed, all groups would have the same ids
        self.world = _World(
            scenario, seed, member_ids=ids, make=_make_member, with_story=False, initial=beginning
        )

    @property
    def now_ms(self) -> int:
        return self.world.schedule.now_ms

    @property
    def written(self) -> Iterator[tuple[int, Sequence[stored.Record]]]:
        """The group's log so far, in order: times in ms, and the records appended then."""
        yield self._beginning.at_ms, self._named(self._beginning.log)
        for at_ms, records in self.world.written:
            yield at_ms, self._named(records)

    def _named(self, records: Sequence[stored.Record]) -> tuple[stored.Record, ...]:
        """The record with the group's own name, which the simulation does not know."""
        return tuple(stored.in_group(record, self._group) for record in records)

    # Events of members.

    def join(self, *members: str) -> None:
        """Start members, and wait until the group is stable."""
        for member in members:
            self.world.play(Start(at=0, member=member))
        self.wait_until_stable()

    def leave(self, member: str, away_s: int = 0) -> None:
        """Commit, close, and wait until the group is stable."""
        self.commit(member)
        self.world.play(Close(at=0, member=member))
        self.run(away_s)
        self.wait_until_stable()

    def restart(self, member: str, successor: str) -> None:
        """Close a member, and start another one in its place."""
        self.leave(member, _AWAY_S)
        self.join(successor)

    def crash(self, member: str) -> None:
        """Kill a member, and wait until the coordinator has removed it and the group is stable."""
        self.world.play(Kill(at=0, member=member))
        self.run(SESSION_TIMEOUT_MS // 1000 + 3)
        self.wait_until_stable()

    def commit(self, *members: str) -> None:
        for member in members:
            self.world.play(Commit(at=0, member=member))
        self.run(_ANSWER_S)

    def set_back(self, operator: SimulatedClient, records: int) -> None:
        """Set the offsets of the empty group to this many records before the end."""
        image, topics = self.world.topics.image, self.world.topics
        offsets = tuple(
            Offset(
                topic=topic.name,
                topic_id=topic.id,
                partition=partition.partition,
                offset=topics.end(partition) - records,
            )
            for topic in image.topics.values()
            for partition in (TopicPartition(topic.name, number) for number in range(topic.partitions))
        )
        request = OffsetCommit(group=GROUP, generation_or_epoch=-1, member="", instance=None, offsets=offsets)
        send = Send(number=1, node=self.world.coordinator.number, request=request, timeout_ms=30_000)
        self.world.network.send(_Operator(operator), send)
        self.run(_ANSWER_S)

    # Time.

    def run(self, seconds: int) -> None:
        self._play(self.world.schedule.play(self.now_ms + seconds * 1000, LIMIT))

    def wait_until_stable(self) -> None:
        world = self.world

        def is_rebalancing() -> bool:
            is_new = self.now_ms - world.measures.changed_ms < QUIET_MS
            return is_new or bool(world.settling.unsettled())

        self._play(world.schedule.play(self.now_ms + world.settling.quiet_period_ms(), LIMIT, is_rebalancing))

    def live_until(self, days_ago: float, every_ms: int = HOUR_MS, silent: str = "") -> None:
        """Consume and commit until this time before now, except for a `silent` member. The group must be stable."""
        self.live(self._end_ms - round(days_ago * DAY_MS), every_ms, silent)

    def live_to_sample(self, margin_ms: int = MINUTE_MS) -> None:
        """Consume and commit until shortly before the group reached its state in the sample."""
        self.live(self._end_ms - LAST_MS - margin_ms, HOUR_MS)

    def live(self, until_ms: int, every_ms: int, silent: str = "") -> None:
        while self.now_ms < until_ms:
            self._play(self.world.skip(min(self.now_ms + every_ms, until_ms), LIMIT))
            running = (name for name, process in self.world.processes.items() if process.is_running)
            self.commit(*(name for name in running if name != silent))

    def _play(self, is_whole: bool) -> None:
        if not is_whole:
            raise AssertionError(f"{self._group}: {LIMIT} steps, and its story is not over")


class _Operator:
    """Sends a request, and ignores its answer."""

    name = "operator"

    def __init__(self, client: SimulatedClient) -> None:
        self.client_id, self.host = client.id, client.host

    def deliver(self, number: int, answer: object) -> None:
        pass

    def fail(self, number: int) -> None:
        pass


def _make_member(new: NewMember) -> ClientMember:
    """A member as in the simulation; with a substitute if only the application has its assignor."""
    names = new.script.assignors
    if not any("." in name for name in names):
        return make_member(new)
    custom = tuple(replace(find("range", Side.CLIENT), name=name) for name in names)
    identity, subscription = identity_of(new), subscription_of(new.script)
    return ClassicConsumer(identity, subscription, new.image, new.positions, assignors=names, custom=custom)


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """The history of a group. It ends with the generation or group epoch before the sample's."""

    first_epoch: int
    """Generation or group epoch, without members, at the start of the story."""
    assignor: str = ""
    """Assignors of its classic members; empty if all use the consumer protocol."""
    play: Callable[[SimulatedGroup], None]


def play(group: Group, story: Story, topics: TopicImage, now_ms: int) -> SimulatedGroup:
    """Play a story to its end. The same time gives the same result."""
    start_ms, offsets = now_ms - DAYS * DAY_MS, group.offsets or {}
    before = MemberScript(
        assignors=(story.assignor,), topics=tuple(sorted(offsets)), config={"enable.auto.commit": "false"}
    )
    converted = replace(before, protocol="consumer", assignors=())
    members = {str(index): before if story.assignor else converted for index in range(_PLACES)}
    now = {f"now {index}": member for index, member in enumerate(group.members)}
    for name, member in now.items():
        is_classic = (member.protocol or usual_protocol(group.type)) is MemberProtocol.CLASSIC
        members[name] = before if is_classic else converted
    scenario = Scenario(
        name=group.id,
        topics={topic: topics.topics[topic].partitions for topic in offsets},
        members=members,
        records_per_s=_RECORDS_PER_HOUR / 3600,
    )
    written = DAYS * 24 * _RECORDS_PER_HOUR
    beginning = InitialState(
        at_ms=start_ms,
        log=_before(story, start_ms),
        topic_ids={topic: topics.topics[topic].id for topic in offsets},
        # The consumers are up to date: they reach the offsets that the sample has for the group.
        offsets={
            TopicPartition(topic, number): (committed.offset or 0) - written
            for topic, partitions in offsets.items()
            for number, committed in partitions.items()
        },
        clients={name: _client(group, name) for name in members},
    )
    member_ids = {name: member.id for name, member in now.items()}
    simulated = SimulatedGroup(group.id, scenario, beginning, member_ids, now_ms)
    story.play(simulated)
    return simulated


def _client(group: Group, name: str) -> SimulatedClient:
    """The client of the sample's member with this index; further ones have the first client's id, and other hosts."""
    index, members = int(name.split()[-1]), group.members
    if index < len(members):
        return SimulatedClient(id=members[index].client.id or "", host=members[index].client.host or "")
    client_id = members[0].client.id if members else f"consumer-{group.id}-1"
    return SimulatedClient(id=client_id or "", host=f"/10.0.0.{200 + index}")


def _before(story: Story, start_ms: int) -> tuple[stored.Record, ...]:
    if not story.assignor:
        group = stored.ConsumerGroupValue(epoch=story.first_epoch, metadata_hash=0)
        target = stored.TargetEpochValue(epoch=story.first_epoch, assigned_ms=start_ms)
        return stored.ConsumerGroupRecord(group=GROUP, value=group), stored.TargetEpochRecord(
            group=GROUP, value=target
        )
    value = stored.ClassicGroupValue(
        protocol_type="consumer",
        generation=story.first_epoch,
        protocol=None,
        leader=None,
        state_since_ms=start_ms,
    )
    return (stored.ClassicGroupRecord(group=GROUP, value=value),)


def _deploy(simulated: SimulatedGroup, *places: int, is_last: bool = False) -> None:
    """Restart the members, one after another."""
    for index in places:
        simulated.restart(str(index), f"now {index}" if is_last else str(index))
        simulated.run(_WATCHED_S)


def _billing(simulated: SimulatedGroup) -> None:
    simulated.join("0", "1", "2")
    simulated.live_until(5.3)
    _deploy(simulated, 0, 1, 2)
    simulated.live_until(4.1)
    simulated.crash("1")
    simulated.join("1")
    simulated.live_until(2.6)
    simulated.join("3")
    simulated.live_until(1.6)
    simulated.leave("3")
    simulated.live_to_sample(10 * MINUTE_MS)
    _deploy(simulated, 0, 1, is_last=True)
    simulated.leave("2")


def _clickstream(simulated: SimulatedGroup) -> None:
    simulated.join("now 0", "now 1", "2")
    simulated.live_until(4.2)
    simulated.live_until(3.2, silent="2")
    simulated.crash("2")
    simulated.join("2")
    simulated.live_to_sample()
    simulated.leave("2")


def _checkout(simulated: SimulatedGroup) -> None:
    simulated.join("now 0", "1", "2")
    for days in (5.5, 4.5, 3.5):
        simulated.live_until(days)
        _deploy(simulated, 1, 2)
    simulated.live_until(0.9)
    simulated.restart("1", "now 1")
    simulated.live_to_sample()
    simulated.leave("2")


def _fraud(simulated: SimulatedGroup) -> None:
    simulated.join("0", "1")
    simulated.live_until(3.4)
    simulated.crash("0")
    simulated.join("now 0")
    simulated.live_until(1.4)
    simulated.restart("1", "now 1")
    simulated.live_to_sample()


def _legacy_etl(simulated: SimulatedGroup) -> None:
    simulated.join("0")
    simulated.live_until(3.1)
    for _ in range(23):
        simulated.restart("0", "0")
    simulated.leave("0")
    simulated.set_back(_OPERATOR, 400)
    simulated.join("0")
    simulated.live_to_sample()
    simulated.leave("0")


def _nightly_report(simulated: SimulatedGroup) -> None:
    simulated.set_back(_OPERATOR, 0)  # a group without members and offsets would be deleted
    for night in range(DAYS):
        simulated.live_until(DAYS - 1 - night + 0.04, DAY_MS)
        if night == 3:
            simulated.set_back(_OPERATOR, 1_500)
        simulated.join("0")
        simulated.live(simulated.now_ms + 20 * MINUTE_MS, 5 * MINUTE_MS)
        if night < DAYS - 1:
            simulated.leave("0")


STORIES: Mapping[str, Story] = {
    "billing": Story(first_epoch=5, assignor="range", play=_billing),
    "checkout": Story(first_epoch=14, assignor="range", play=_checkout),
    "clickstream": Story(first_epoch=3, assignor="cooperative-sticky", play=_clickstream),
    "fraud": Story(first_epoch=1, play=_fraud),
    "legacy-etl": Story(first_epoch=89, assignor="com.example.WeightedAssignor", play=_legacy_etl),
    "nightly-report": Story(first_epoch=49, assignor="range", play=_nightly_report),
}
"""Stories by group."""
