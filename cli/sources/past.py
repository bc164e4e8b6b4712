"""Groups as they were at a moment, from their histories: a source like any other, of what records of the past show."""

from collections.abc import Callable, Collection, Sequence

from cli.sources.history.read import GroupHistoryRead
from cli.sources.source import ReadResult, Source
from groups.history.account import account_of
from groups.history.course import Course
from groups.history.events import Holding, PastRebalance, Protocol
from groups.history.moment import moment_of
from groups.history.storms import begin_of
from groups.listing import Cause, GroupListing, GroupState, GroupType, Problem
from groups.model import (
    Client,
    Cluster,
    CommittedOffset,
    Group,
    Member,
    MemberProtocol,
    Subscription,
    Topic,
    by_topic,
    listing_of,
)
from wire.log.timestamps import US_PER_MS

_TYPES = {Protocol.CLASSIC: GroupType.CLASSIC, Protocol.CONSUMER: GroupType.CONSUMER}


class PastSource(Source):
    """What is not in a history is unknown: ends of logs, members that own nothing, targets."""

    why_no_records = "the past of a group contains no records of topics"

    def __init__(self, read: GroupHistoryRead, at_ms: int) -> None:
        super().__init__()
        self.name, self._read, self.at_ms = read.source, read, at_ms
        self._groups: dict[str, Group | None] = {}

    def cluster(self) -> Cluster:
        return Cluster()

    def list_groups(self) -> ReadResult[GroupListing]:
        groups = (self._group(name) for name in sorted(self._read.courses))
        return ReadResult(tuple(listing_of(group) for group in groups if group is not None))

    def describe(self, groups: Sequence[str], *, offsets: bool) -> ReadResult[Group]:  # noqa: ARG002  (always known)
        known = {name: group for name in groups if (group := self._group(name)) is not None}
        missing = tuple(
            Problem(subject=name, message="it did not exist then", cause=Cause.ABSENT, group=name)
            for name in groups
            if name not in known
        )
        return ReadResult(tuple(known.values()), missing)

    def _topics(
        self,
        names: Collection[str] | None,
        requested: Sequence[str],  # noqa: ARG002  (no history has offsets of logs)
    ) -> ReadResult[Topic]:
        """Topics with as many partitions as were owned or committed."""
        counts: dict[str, int] = {}
        for course in self._read.courses.values():
            for topic, number in (*(span.place for span in course.holdings), *course.commits.places):
                counts[topic] = max(counts.get(topic, 0), number + 1)
        chosen = sorted(counts if names is None else counts.keys() & set(names))
        return ReadResult(tuple(Topic(name=name, partitions=counts[name]) for name in chosen))

    def _group(self, name: str) -> Group | None:
        if name not in self._groups:
            course = self._read.courses.get(name)
            self._groups[name] = None if course is None else group_at(course, self.at_ms * US_PER_MS)
        return self._groups[name]


def group_at(course: Course, at: int) -> Group | None:
    """The group at a time in µs, as its records show it; None if none is from before."""
    begun = [rebalance for rebalance in course.rebalances if begin_of(rebalance) <= at]
    offsets: dict[str, dict[int, CommittedOffset]] = {}
    for topic, number in course.commits.places:
        commit = course.commits.last_before((topic, number), at)
        if commit is not None:
            committed = CommittedOffset(offset=commit.offset, timestamp=commit.time // US_PER_MS)
            offsets.setdefault(topic, {})[number] = committed
    if not begun and not offsets:
        return None
    last = begun[-1] if begun else None
    moment = moment_of(account_of(course, at, at), at)
    kind = GroupType.CLASSIC if last is None else _TYPES[last.protocol]
    is_consumer = kind is GroupType.CONSUMER
    return Group(
        id=course.group,
        type=kind,
        state=_state(last, is_rebalancing=bool(moment.in_progress)),
        protocol_type="consumer",
        protocol=None if last is None else last.assignor,
        generation=last.epoch if last is not None and not is_consumer else None,
        group_epoch=last.epoch if last is not None and is_consumer else None,
        members=_members(
            course, moment.owners, MemberProtocol.CONSUMER if is_consumer else MemberProtocol.CLASSIC
        ),
        offsets=offsets,
    )


def _state(last: PastRebalance | None, *, is_rebalancing: bool) -> GroupState:
    if last is None or not last.members:
        return GroupState.EMPTY
    if not is_rebalancing:
        return GroupState.STABLE
    return GroupState.RECONCILING if last.protocol is Protocol.CONSUMER else GroupState.PREPARING_REBALANCE


def _members(course: Course, owners: Sequence[Holding], protocol: MemberProtocol) -> tuple[Member, ...]:
    by_member: dict[str, list[tuple[str, int]]] = {}
    for span in owners:
        if span.member is not None:
            by_member.setdefault(span.member, []).append(span.place)
    members = []
    for name, places in by_member.items():
        record = course.members.get(name)
        topics = None if record is None else record.topics
        members.append(
            Member(
                id=name,
                instance=record.instance if record else None,
                client=Client(id=record.client_id, host=record.host) if record else Client(),
                protocol=protocol,
                subscription=None if topics is None else Subscription(topics=tuple(sorted(topics))),
                owned=by_topic(places),
            )
        )
    return tuple(members)


def moments_of(read: GroupHistoryRead, includes: Callable[[str], bool]) -> list[int]:
    """When rebalances of some groups began and ended, in order, in ms, so that each is included in its moment."""
    times = {
        -(-time // US_PER_MS)
        for name, course in read.courses.items()
        if includes(name)
        for rebalance in course.rebalances
        for time in (rebalance.start, rebalance.end)
        if time is not None
    }
    return sorted(times)
