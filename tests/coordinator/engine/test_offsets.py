"""OffsetCommit, OffsetFetch, OffsetDelete and what makes offsets expire: rules of Kafka 4.3.1."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from coordinator.engine.classic.rebalance import JoinGroupAnswer
from coordinator.engine.groups import DeleteGroups, DeleteGroupsAnswer, ListGroups, ListGroupsAnswer
from coordinator.engine.offsets.commit import Offset, OffsetCommit, OffsetCommitAnswer
from coordinator.engine.offsets.fetch import (
    FetchedOffset,
    OffsetFetch,
    OffsetFetchAnswer,
    OffsetQuery,
    QueriedOffsets,
)
from coordinator.engine.offsets.removal import OffsetDelete, OffsetDeleteAnswer
from coordinator.engine.topics import TopicImage
from tests.coordinator.engine.classic import GROUP, Member, described, protocols, stable, state, together
from tests.coordinator.engine.driver import TOPICS, Driver, topic
from wire.errors import ErrorCode

T1, T2 = TOPICS.topics["t1"].id, TOPICS.topics["t2"].id
DAY_MS = 24 * 3_600_000


def committing(
    *offsets: Offset,
    generation: int = -1,
    member: str = "",
    instance: str | None = None,
    group: str = GROUP,
    version: int = 9,
    retention_ms: int | None = None,
) -> OffsetCommit:
    return OffsetCommit(
        group=group,
        generation_or_epoch=generation,
        member=member,
        instance=instance,
        offsets=offsets or (at(),),
        retention_ms=retention_ms,
        version=version,
    )


def at(offset: int = 1, partition: int = 0, name: str = "t1", metadata: str | None = "") -> Offset:
    return Offset(topic=name, topic_id=None, partition=partition, offset=offset, metadata=metadata)


def by_id(topic_id: UUID | None, partition: int = 0) -> Offset:
    return Offset(topic="", topic_id=topic_id, partition=partition, offset=1)


def commit(driver: Driver, request: OffsetCommit) -> ErrorCode:
    """The only partition's error."""
    ((_, _, _, error),) = driver.ask(request, OffsetCommitAnswer).partitions
    return error


def fetch(driver: Driver, *topics: str | UUID, group: str = GROUP, version: int = 9) -> QueriedOffsets:
    """Partition 0 of these topics; everything where none is named."""
    asked = tuple((each, (0,)) for each in topics) or None
    request = OffsetFetch(groups=(OffsetQuery(group=group, topics=asked),), version=version)
    return driver.ask(request, OffsetFetchAnswer).groups[0]


def offset(driver: Driver, name: str = "t1", group: str = GROUP) -> int:
    ((_, ((_, found),)),) = fetch(driver, name, group=group).topics
    return found.offset


def delete(driver: Driver, *partitions: tuple[str, int]) -> list[ErrorCode]:
    request = OffsetDelete(group=GROUP, partitions=partitions or (("t1", 0),))
    return [error for _, _, error in driver.ask(request, OffsetDeleteAnswer).partitions]


# Commit


@pytest.mark.parametrize("group", [GROUP, ""])
def test_commit_without_membership_creates_a_simple_group(driver: Driver, group: str) -> None:
    assert commit(driver, committing(group=group)) is ErrorCode.NONE
    (listed,) = driver.ask(ListGroups(), ListGroupsAnswer).groups
    assert (listed.id, listed.state.value, listed.protocol_type, listed.type.value) == (
        group,
        "Empty",
        "",
        "classic",
    )
    driver.restart()
    assert offset(driver, group=group) == 1
    assert state(driver, group) == "Empty"


@pytest.mark.parametrize(
    ("version", "error"),
    [
        (2, ErrorCode.ILLEGAL_GENERATION),
        (8, ErrorCode.ILLEGAL_GENERATION),
        (9, ErrorCode.GROUP_ID_NOT_FOUND),
        (10, ErrorCode.GROUP_ID_NOT_FOUND),
    ],
)
def test_commit_with_a_generation_into_an_unknown_group(
    driver: Driver, version: int, error: ErrorCode
) -> None:
    offsets = by_id(T1) if version >= 10 else at()
    assert commit(driver, committing(offsets, generation=0, version=version)) is error
    assert described(driver).error is ErrorCode.GROUP_ID_NOT_FOUND


@pytest.mark.parametrize(("member", "instance"), [("m", None), ("", "i"), ("m", "i")])
def test_commit_of_generation_minus_1_into_an_unknown_group_may_name_a_member(
    driver: Driver, member: str, instance: str | None
) -> None:
    assert commit(driver, committing(member=member, instance=instance)) is ErrorCode.NONE


@pytest.mark.parametrize("was", ["simple", "classic"])
@pytest.mark.parametrize(
    ("generation", "member", "error"),
    [
        (-1, "", ErrorCode.NONE),
        (-1, "m", ErrorCode.NONE),
        (0, "", ErrorCode.UNKNOWN_MEMBER_ID),
        (1, "m", ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_commit_into_an_empty_group(
    driver: Driver, was: str, generation: int, member: str, error: ErrorCode
) -> None:
    if was == "simple":
        commit(driver, committing())
    else:
        stable(driver, Member(driver))[0].leave()
    assert commit(driver, committing(generation=generation, member=member)) is error


def test_pending_member_may_not_commit(driver: Driver) -> None:
    pending = driver.ask(Member(driver).request(), JoinGroupAnswer).member
    assert commit(driver, committing(generation=0, member=pending)) is ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(
    ("stage", "error"),
    [
        ("completing", ErrorCode.REBALANCE_IN_PROGRESS),
        ("stable", ErrorCode.NONE),
        ("preparing", ErrorCode.NONE),
    ],
)
def test_member_commits_except_while_completing(driver: Driver, stage: str, error: ErrorCode) -> None:
    leader, follower = (together if stage == "completing" else stable)(driver, Member(driver), Member(driver))
    if stage == "preparing":
        leader.join()
    assert commit(driver, committing(generation=follower.generation, member=follower.id)) is error


@pytest.mark.parametrize(
    ("generation", "known", "instance", "error"),
    [
        (9, True, None, ErrorCode.ILLEGAL_GENERATION),
        (-1, True, None, ErrorCode.ILLEGAL_GENERATION),
        (-1, False, None, ErrorCode.UNKNOWN_MEMBER_ID),
        (2, False, None, ErrorCode.UNKNOWN_MEMBER_ID),
        (2, True, "i", ErrorCode.UNKNOWN_MEMBER_ID),
        (2, False, "a", ErrorCode.FENCED_INSTANCE_ID),
    ],
)
def test_commit_of_an_outsider_or_an_old_generation_is_refused(
    driver: Driver, generation: int, instance: str | None, error: ErrorCode, *, known: bool
) -> None:
    members = stable(driver, Member(driver), Member(driver, instance="a"))
    dynamic = next(member for member in members if member.instance is None)
    request = committing(generation=generation, member=dynamic.id if known else "", instance=instance)
    assert commit(driver, request) is error


def test_commit_keeps_a_member_alive(driver: Driver) -> None:
    (member,) = stable(driver, Member(driver))
    for _ in range(3):
        driver.advance(9_999)
        assert commit(driver, committing(generation=1, member=member.id)) is ErrorCode.NONE


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ("ü" * 4096, ErrorCode.NONE),
        ("a" * 4097, ErrorCode.OFFSET_METADATA_TOO_LARGE),
        ("😀" * 2048, ErrorCode.NONE),
        ("😀" * 2049, ErrorCode.OFFSET_METADATA_TOO_LARGE),
    ],
)
def test_metadata_are_measured_in_utf_16_units_and_spoil_their_partition_only(
    driver: Driver, metadata: str, error: ErrorCode
) -> None:
    request = committing(at(partition=1, metadata=metadata), at(5))
    answer = driver.ask(request, OffsetCommitAnswer)
    assert [code for _, _, _, code in answer.partitions] == [error, ErrorCode.NONE]
    assert offset(driver) == 5


@pytest.mark.parametrize("value", [-1, -5])
def test_negative_offsets_are_stored_and_returned(driver: Driver, value: int) -> None:
    assert commit(driver, committing(at(value))) is ErrorCode.NONE
    assert offset(driver) == value


def test_null_metadata_come_back_empty(driver: Driver) -> None:
    commit(driver, committing(at(metadata=None)))
    assert fetch(driver, "t1").topics == (("t1", ((0, FetchedOffset(offset=1)),)),)


def test_leader_epoch_and_metadata_come_back(driver: Driver) -> None:
    request = Offset(topic="t1", topic_id=None, partition=0, offset=7, leader_epoch=3, metadata="m")
    commit(driver, committing(request))
    expected = FetchedOffset(offset=7, leader_epoch=3, metadata="m")
    assert fetch(driver, "t1").topics == (("t1", ((0, expected),)),)


def test_commit_by_id_refuses_unknown_ids_and_partitions_and_commits_the_rest(driver: Driver) -> None:
    request = committing(
        by_id(UUID(int=9)), by_id(UUID(int=0)), by_id(None), by_id(T1, 4), by_id(T2), version=10
    )
    answer = driver.ask(request, OffsetCommitAnswer)
    assert [code for _, _, _, code in answer.partitions] == [
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NONE,
    ]
    assert offset(driver, "t2") == 1


def test_refusal_of_the_group_spoils_only_partitions_that_exist(driver: Driver) -> None:
    request = committing(at(name="t9"), at(), at(partition=-1), generation=3)
    answer = driver.ask(request, OffsetCommitAnswer)
    assert [code for _, _, _, code in answer.partitions] == [
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.GROUP_ID_NOT_FOUND,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]


def test_commit_of_nothing_that_exists_creates_no_group(driver: Driver) -> None:
    assert commit(driver, committing(at(name="t9"))) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert described(driver).error is ErrorCode.GROUP_ID_NOT_FOUND


# Fetch


@pytest.mark.parametrize("group", [GROUP, ""])
def test_fetch_of_an_unknown_group_is_no_error(driver: Driver, group: str) -> None:
    expected = (("t1", ((0, FetchedOffset()),)),)
    assert fetch(driver, "t1", group=group) == QueriedOffsets(group=group, topics=expected)
    assert fetch(driver, group=group) == QueriedOffsets(group=group)


def test_fetch_of_everything_is_ordered_by_topic_and_partition(driver: Driver) -> None:
    commit(driver, committing(at(5, name="t2")))
    commit(driver, committing(at(4, 3)))
    commit(driver, committing(at(3, 1)))
    expected = (
        ("t1", ((1, FetchedOffset(offset=3)), (3, FetchedOffset(offset=4)))),
        ("t2", ((0, FetchedOffset(offset=5)),)),
    )
    assert fetch(driver).topics == expected
    assert [each for each, _ in fetch(driver, version=10).topics] == [T1, T2]


def test_fetch_by_id_of_an_unknown_id_is_an_error_of_its_partitions(driver: Driver) -> None:
    commit(driver, committing())
    strange = UUID(int=9)
    assert fetch(driver, strange, T1, version=10).topics == (
        (T1, ((0, FetchedOffset(offset=1)),)),
        (strange, ((0, FetchedOffset(error=ErrorCode.UNKNOWN_TOPIC_ID)),)),
    )


@pytest.mark.parametrize(("member", "epoch"), [("x", 99), (None, 5), ("", -1)])
def test_fetch_ignores_member_and_epoch_in_a_classic_group(
    driver: Driver, member: str | None, epoch: int
) -> None:
    stable(driver, Member(driver))
    asked = OffsetQuery(group=GROUP, member=member, epoch=epoch)
    answer = driver.ask(OffsetFetch(groups=(asked,), require_stable=True), OffsetFetchAnswer)
    assert answer.groups == (QueriedOffsets(group=GROUP),)


def test_fetch_asks_many_groups_at_once(driver: Driver) -> None:
    commit(driver, committing(group="a"))
    asked = (OffsetQuery(group="a"), OffsetQuery(group="b"))
    answer = driver.ask(OffsetFetch(groups=asked), OffsetFetchAnswer)
    assert [(each.group, len(each.topics)) for each in answer.groups] == [("a", 1), ("b", 0)]


# Delete


@pytest.mark.parametrize(
    ("group", "error"), [("", ErrorCode.INVALID_GROUP_ID), ("x", ErrorCode.GROUP_ID_NOT_FOUND)]
)
def test_delete_from_no_group(group: str, error: ErrorCode) -> None:
    request = OffsetDelete(group=group, partitions=(("t1", 0), ("t9", 0)))
    assert Driver().ask(request, OffsetDeleteAnswer) == OffsetDeleteAnswer(error=error)


def test_delete_from_a_group_of_another_type_needs_it_to_be_empty(driver: Driver) -> None:
    (worker,) = stable(driver, Member(driver, protocol_type="connect", protocols=protocols("sessioned")))
    request = OffsetDelete(group=GROUP, partitions=(("t1", 0),))
    assert driver.ask(request, OffsetDeleteAnswer) == OffsetDeleteAnswer(error=ErrorCode.NON_EMPTY_GROUP)
    worker.leave()
    assert delete(driver) == [ErrorCode.NONE]


@pytest.mark.parametrize("stage", ["preparing", "completing", "stable"])
def test_delete_of_a_subscribed_topic_is_refused_in_every_state(driver: Driver, stage: str) -> None:
    leader, _ = (together if stage == "completing" else stable)(driver, Member(driver), Member(driver))
    if stage == "preparing":
        leader.join()
    assert delete(driver, ("t1", 0), ("t2", 0), ("t2", 4), ("t9", 0)) == [
        ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]


def test_delete_removes_an_offset_and_is_fine_where_none_is(driver: Driver) -> None:
    commit(driver, committing())
    assert delete(driver, ("t1", 0), ("t1", 1)) == [ErrorCode.NONE, ErrorCode.NONE]
    assert offset(driver) == -1
    driver.restart()
    assert offset(driver) == -1


def test_deleting_the_group_deletes_its_offsets(driver: Driver) -> None:
    commit(driver, committing())
    answer = driver.ask(DeleteGroups(groups=(GROUP,)), DeleteGroupsAnswer)
    assert answer.groups == ((GROUP, ErrorCode.NONE),)
    assert offset(driver) == -1
    driver.restart()
    assert not driver.engine.state.groups
    assert not driver.engine.state.offsets


def test_deleting_a_topic_removes_its_offsets_for_ever(driver: Driver) -> None:
    driver.send(committing(at(1), at(2, name="t2")))
    driver.take(driver.engine.update_topics(TopicImage.of([topic("t2")], 2), driver.now_ms))
    anew = replace(topic("t1"), id=UUID(int=77))
    driver.take(driver.engine.update_topics(TopicImage.of([anew, topic("t2")], 3), driver.now_ms))
    assert (offset(driver), offset(driver, "t2")) == (-1, 2)


def test_topic_made_anew_in_one_step_loses_its_offsets_too(driver: Driver) -> None:
    driver.send(committing(at(1), at(2, name="t2")))
    anew = replace(topic("t1"), id=UUID(int=77))
    driver.take(driver.engine.update_topics(TopicImage.of([anew, topic("t2")], 2), driver.now_ms))
    assert (offset(driver), offset(driver, "t2")) == (-1, 2)


# Expiry


def test_retention_time_of_the_request_is_honoured() -> None:
    driver = Driver(offsets_retention_check_interval_ms="1000")
    commit(driver, committing(retention_ms=1_500, version=4))
    driver.advance(1_499)
    assert offset(driver) == 1
    driver.advance(501)
    assert offset(driver) == -1
    assert described(driver).error is ErrorCode.GROUP_ID_NOT_FOUND


def test_retention_time_minus_1_is_the_brokers(driver: Driver) -> None:
    commit(driver, committing(retention_ms=-1, version=4))
    driver.advance(6 * DAY_MS)
    assert offset(driver) == 1


def test_stable_group_loses_only_unsubscribed_topics() -> None:
    driver = Driver(offsets_retention_check_interval_ms="1000")
    (member,) = stable(driver, Member(driver, session_timeout_ms=60_000))
    request = committing(
        at(1), at(2, name="t2"), generation=1, member=member.id, retention_ms=1_500, version=4
    )
    driver.send(request)
    driver.advance(3_200)
    assert (offset(driver), offset(driver, "t2")) == (1, -1)


def test_empty_group_counts_from_when_it_became_empty(driver: Driver) -> None:
    (member,) = stable(driver, Member(driver))
    commit(driver, committing(generation=1, member=member.id))
    for _ in range(3):
        driver.advance(9_000)
        member.heartbeat()
    member.leave()
    driver.advance(7 * DAY_MS - 600_000)
    assert offset(driver) == 1
    driver.advance(1_200_000)
    assert offset(driver) == -1


def test_simple_group_counts_from_the_commit(driver: Driver) -> None:
    commit(driver, committing())
    driver.advance(6 * DAY_MS)
    commit(driver, committing(at(2, partition=1)))
    driver.advance(DAY_MS)
    assert [each for each, _ in fetch(driver).topics[0][1]] == [1]


def test_group_that_is_not_stable_keeps_everything() -> None:
    driver = Driver(offsets_retention_check_interval_ms="1000")
    (worker,) = stable(
        driver, Member(driver, protocol_type="connect", protocols=protocols("s"), session_timeout_ms=60_000)
    )
    driver.send(committing(generation=1, member=worker.id, retention_ms=1_500, version=4))
    driver.advance(5_000)
    assert offset(driver) == 1


def test_check_removes_empty_groups_without_offsets_and_keeps_simple_groups_with_some() -> None:
    driver = Driver(offsets_retention_check_interval_ms="1000")
    stable(driver, Member(driver, group="left"))[0].leave()
    driver.ask(Member(driver, group="pending").request(), JoinGroupAnswer)
    commit(driver, committing(group="simple"))
    driver.advance(1_000)
    assert list(driver.engine.state.groups) == ["simple"]
    driver.restart()
    assert list(driver.engine.state.groups) == ["simple"]
