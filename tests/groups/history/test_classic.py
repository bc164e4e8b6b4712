"""Generations of a classic group, where the truth is known for each."""

from collections import defaultdict
from dataclasses import dataclass, field, replace

from coordinator.engine.groups import DeleteGroups
from coordinator.engine.records import OffsetRecord
from coordinator.store.history_events import GroupRecord, event_in
from coordinator.store.records import encode_record
from groups.history.causes import RebalanceCause
from groups.history.commits import PlaceCommit
from groups.history.course import GroupHistory
from groups.history.events import Place
from tests.coordinator.engine.classic import Member, protocols, stable, together
from tests.coordinator.engine.consumer import Named
from tests.coordinator.engine.migrating import assignment
from tests.groups.history.written import Clock, Written, clock, commit, course_of

FOO = ("foo", 4)


@dataclass
class Band:
    driver: Clock
    members: dict[str, Member] = field(default_factory=dict)

    def member(self, name: str, **changes: object) -> Member:
        made = Member(self.driver, protocols=protocols("range", topics=("foo",)))
        self.members[name] = made = made.but(**changes)
        return made

    def rebalance(self, assignments: dict[str, Named]) -> None:
        """All named members join, newcomers first, and the leader hands out."""
        members = sorted((self.members[name] for name in assignments), key=lambda peer: peer.generation != -1)
        ordered = together(self.driver, *members)
        answers = {self.members[name].id: assignment(named) for name, named in assignments.items()}
        for member in ordered[1:]:
            member.sync()
        ordered[0].sync(answers)


def band(**settings: str) -> Band:
    return Band(clock(FOO, **settings))


def two(**changes: object) -> Band:
    """A group of one, at 0 s, and of two, at 10 s."""
    made = band()
    made.member("a", **changes)
    made.member("b", **changes)
    made.rebalance({"a": {"foo": [0, 1, 2, 3]}})
    made.driver.advance(5_000)
    made.members["a"].heartbeat()
    made.driver.advance(5_000)
    made.rebalance({"a": {"foo": [0, 1]}, "b": {"foo": [2, 3]}})
    return made


def gone_classic() -> list[Written]:
    """The log of a group in which the session of b ended, of 10 s, while a went on committing."""
    made = two(session_timeout_ms=10_000)
    for _ in range(3):
        made.driver.advance(5_000)
        made.members["a"].heartbeat()
    made.rebalance({"a": {"foo": [0, 1, 2, 3]}})
    (gone,) = course_of(made.driver).rebalances[-1].departures
    silences = {3: range(12, 16), 0: range(16)}
    commits = [
        commit(gone.at // 1000 - silence_s * 1000, 5, number)
        for number, all_s in silences.items()
        for silence_s in all_s
    ]
    log = [*made.driver.written(), *commits]
    return [
        replace(entry, offset=offset) for offset, entry in enumerate(sorted(log, key=lambda e: e.time_ms))
    ]


def test_commits_of_others_count_for_a_group_that_is_followed() -> None:
    recent: defaultdict[Place, list[PlaceCommit]] = defaultdict(list)
    followed = GroupHistory("g", recent.__getitem__)
    for entry in gone_classic():
        if isinstance(entry.record, OffsetRecord):
            place = entry.record.topic, entry.record.partition
            recent[place].append(PlaceCommit(entry.time_ms * 1000, 5))
            followed.commit(place, *recent[place][-1])
        else:
            record = GroupRecord(entry.offset, entry.time_ms * 1000, *encode_record(entry.record))
            event = event_in(record, 0, {})
            assert event is not None
            followed.add(event)
    assert followed.finish().rebalances[-1].causes == (RebalanceCause.EXPIRY,)


def test_members_join_and_leave() -> None:
    made = two()
    made.driver.advance(5_000)
    made.members["b"].leave()
    made.rebalance({"a": {"foo": [0, 1, 2, 3]}})
    made.driver.advance(1_000)
    made.members["a"].leave()
    result = course_of(made.driver)
    assert result.causes() == [
        ("classic", 1, "join"),
        ("classic", 2, "join"),
        ("classic", 3, "leave"),
        ("classic", 4, "leave"),
    ]
    assert result.counts() == [(1, 0, 1, 4, 0, 0), (2, 1, 2, 4, 2, 4), (3, 2, 1, 4, 2, 2), (4, 1, 0, 0, 0, 0)]
    assert [row.skipped for row in result.rebalances] == [0, 0, 0, 0]
    a, b = made.members["a"].id, made.members["b"].id
    assert [(row.joined, row.left) for row in result.rebalances] == [
        ((a,), ()),
        ((b,), ()),
        ((), (b,)),
        ((), (a,)),
    ]
    assert result.spans(0) == [(a, 1, 0, 16)]
    assert result.spans(3) == [(a, 1, 0, 10), (b, 2, 10, 15), (a, 3, 15, 16)]


def test_departures_have_the_partitions_of_the_member() -> None:
    made = two(session_timeout_ms=9_000)
    made.driver.advance(3_000)
    made.members["a"].heartbeat()
    made.driver.advance(6_000)
    made.rebalance({"a": {"foo": [0, 1, 2, 3]}})
    (gone,) = course_of(made.driver).rebalances[-1].departures
    start = made.driver.times[0]
    assert (gone.member, gone.record.session_timeout_ms) == (made.members["b"].id, 9_000)
    joined, at = (start + 10_000) * 1000, (start + 19_000) * 1000
    assert (gone.seen, gone.earliest, gone.at, gone.waited_for) == (joined, joined, at, True)
    assert gone.places == {("foo", 2): joined, ("foo", 3): joined}


def test_another_assignor_and_another_subscription() -> None:
    made = two()
    a, b = made.members["a"], made.members["b"]
    for member in (a, b):
        member.protocols = protocols("roundrobin", "range", topics=("foo",))
    made.rebalance({"a": {"foo": [0, 2]}, "b": {"foo": [1, 3]}})
    b.protocols = protocols("roundrobin", "range", topics=("foo", "bar"))
    made.rebalance({"a": {"foo": [0, 2]}, "b": {"foo": [1, 3]}})
    result = course_of(made.driver)
    assert result.causes()[2:] == [("classic", 3, "assignor"), ("classic", 4, "subscription")]
    assert [row.assignor for row in result.rebalances] == ["range", "range", "roundrobin", "roundrobin"]


def test_more_partitions_are_metadata_and_no_change_is_unknown() -> None:
    made = two()
    made.rebalance({"a": {"foo": [0, 1]}, "b": {"foo": [2, 3, 4]}})
    made.rebalance({"a": {"foo": [0, 1]}, "b": {"foo": [2, 3, 4]}})
    assert course_of(made.driver).causes()[2:] == [("classic", 3, "metadata"), ("classic", 4, "unknown")]


def test_a_cooperative_group_rebalances_twice_for_one_cause() -> None:
    cooperative = {"protocols": protocols("cooperative-sticky", topics=("foo",))}
    made = band()
    a, b = made.member("a", **cooperative), made.member("b", **cooperative)
    made.rebalance({"a": {"foo": [0, 1, 2, 3]}})
    made.driver.advance(1_000)
    made.rebalance({"a": {"foo": [0, 1]}, "b": {}})
    made.driver.advance(1_000)
    made.rebalance({"a": {"foo": [0, 1]}, "b": {"foo": [2, 3]}})
    result = course_of(made.driver)
    assert result.causes() == [("classic", 1, "join"), ("classic", 2, "join"), ("classic", 3, "join")]
    assert result.counts() == [(1, 0, 1, 4, 0, 0), (2, 1, 2, 2, 0, 2), (3, 2, 2, 4, 2, 0)]
    assert result.rebalances[-1].joined == ()
    assert result.spans(0) == [(a.id, 1, 0, None)]
    assert result.spans(3) == [(a.id, 1, 0, 1), (None, 2, 1, 2), (b.id, 3, 2, None)]


def test_a_static_member_returns_without_a_rebalance() -> None:
    made = band()
    made.member("a", instance="seat")
    made.rebalance({"a": {"foo": [0, 1, 2, 3]}})
    old = made.members["a"].id
    made.driver.advance(4_000)
    new = made.member("a", instance="seat").join()
    new.joined()
    result = course_of(made.driver)
    assert result.causes() == [("classic", 1, "join")]
    assert result.spans(2) == [(old, 1, 0, 4), (new.id, 1, 4, None)]


def test_a_group_that_is_deleted_and_created_again_starts_at_1() -> None:
    made = two()
    for name in ("a", "b"):
        made.members[name].leave()
    made.driver.send(DeleteGroups(groups=("g",)))
    made.driver.advance(60_000)
    made.member("c")
    made.rebalance({"c": {"foo": [0, 1, 2, 3]}})
    result = course_of(made.driver)
    assert result.causes()[-1] == ("classic", 1, "join")
    assert result.counts()[-1] == (1, 0, 1, 4, 0, 0)
    # No member should have had the partitions while there was no group.
    owners = [member for member, *_ in result.spans(0)]
    assert owners[-1] == made.members["c"].id
    assert None not in owners


def test_generations_without_an_assignment_are_counted() -> None:
    made = two()
    a, b = made.members["a"], made.members["b"]
    plain = a.protocols
    a.protocols = protocols("range", topics=("foo", "bar"))
    together(made.driver, a, b)
    a.protocols = plain
    made.rebalance({"a": {"foo": [0, 1]}, "b": {"foo": [2, 3]}})
    result = course_of(made.driver)
    assert [(row.epoch, row.skipped) for row in result.rebalances] == [(1, 0), (2, 0), (4, 1)]


def test_a_group_that_is_no_consumers_has_members_and_no_partitions() -> None:
    made = band()
    stable(made.driver, made.member("a", protocol_type="connect"))
    result = course_of(made.driver)
    assert result.counts() == [(1, 0, 1, 0, 0, 0)]
    assert not result.holdings
