"""Offsets of transactions: pending until the marker, as OffsetMetadataManager of Kafka 4.3.1 has them."""

from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.engine.engine import Engine
from coordinator.engine.groups import DeleteGroups, DeleteGroupsAnswer, ListGroups, ListGroupsAnswer
from coordinator.engine.offsets.fetch import FetchedOffset, OffsetFetch, OffsetFetchAnswer, OffsetQuery
from coordinator.engine.records import OffsetRecord, StoredOffset
from coordinator.engine.topics import TopicImage
from tests.coordinator.engine.driver import START_MS, TOPICS, Driver, topic
from wire.errors import ErrorCode

GROUP = "g"
P, Q = 1000, 2000
"""Producer ids."""
NOTHING = FetchedOffset()


def at(offset: int, name: str = "t1", partition: int = 0, topic_id: UUID | None = None) -> OffsetRecord:
    value = StoredOffset(offset=offset, leader_epoch=-1, metadata="", commit_ms=START_MS, topic_id=topic_id)
    return OffsetRecord(group=GROUP, topic=name, partition=partition, value=value)


def tombstone(name: str = "t1", partition: int = 0) -> OffsetRecord:
    return OffsetRecord(group=GROUP, topic=name, partition=partition, value=None)


def fetch(driver: Driver, name: str = "t1", *, stable: bool = False) -> FetchedOffset:
    asked = OffsetQuery(group=GROUP, topics=((name, (0,)),))
    request = OffsetFetch(groups=(asked,), require_stable=stable)
    (group,) = driver.ask(request, OffsetFetchAnswer).groups
    ((_, ((_, fetched),)),) = group.topics
    return fetched


def fetch_all(driver: Driver, *, stable: bool) -> dict[str | UUID, FetchedOffset]:
    request = OffsetFetch(groups=(OffsetQuery(group=GROUP),), require_stable=stable)
    (group,) = driver.ask(request, OffsetFetchAnswer).groups
    return {name: offset for name, ((_, offset),) in group.topics}


def listed(driver: Driver) -> list[str]:
    return [group.id for group in driver.ask(ListGroups(), ListGroupsAnswer).groups]


@pytest.mark.parametrize("committed", [True, False])
def test_the_first_pending_offset_makes_a_simple_group_which_stays(driver: Driver, committed: bool) -> None:
    driver.engine.replay(at(2), P)
    assert listed(driver) == [GROUP]
    assert (fetch(driver), fetch_all(driver, stable=True)) == (NOTHING, {})
    driver.engine.end_transaction(P, committed=committed)
    assert listed(driver) == [GROUP]


def test_deleting_the_group_deletes_committed_offsets_then_pending_ones(driver: Driver) -> None:
    driver.engine.replay(at(1))
    driver.engine.replay(at(2, "t2"), P)
    driver.engine.replay(at(3), P)
    answer = driver.ask(DeleteGroups(groups=(GROUP,)), DeleteGroupsAnswer)
    assert answer.groups == ((GROUP, ErrorCode.NONE),)
    assert driver.records[:2] == [tombstone(), tombstone("t2")]
    assert len(driver.records) == 3
    driver.engine.end_transaction(P, committed=True)
    assert (listed(driver), driver.engine.state.offsets) == ([], {})


@pytest.mark.parametrize("topic_id", [None, TOPICS.topics["t1"].id])
def test_deleting_a_topic_deletes_its_pending_offsets(driver: Driver, topic_id: UUID | None) -> None:
    driver.engine.replay(at(1))
    driver.engine.replay(at(2, topic_id=topic_id), P)
    driver.take(driver.engine.update_topics(TopicImage.of([topic("t2")], 2), driver.now_ms))
    assert driver.records == [tombstone()]
    driver.engine.end_transaction(P, committed=True)
    assert fetch(driver) == NOTHING


def test_deleting_a_topic_leaves_what_is_pending_for_its_successor(driver: Driver) -> None:
    recreated = replace(topic("t1"), id=UUID(int=77))
    driver.engine.replay(at(2, topic_id=recreated.id), P)
    driver.take(driver.engine.update_topics(TopicImage.of([recreated, topic("t2")], 2), driver.now_ms))
    driver.engine.end_transaction(P, committed=True)
    assert fetch(driver).offset == 2


def test_an_open_transaction_keeps_an_expired_offset() -> None:
    driver = Driver(offsets_retention_minutes="1", offsets_retention_check_interval_ms="1000")
    driver.engine.replay(at(1))
    driver.engine.replay(at(1, "t2"))
    driver.engine.replay(at(2), P)
    driver.advance(120_000)
    assert (fetch(driver).offset, fetch(driver, "t2")) == (1, NOTHING)
    driver.engine.end_transaction(P, committed=False)
    driver.advance(1_000)
    assert listed(driver) == []


def test_offsets_of_a_group_of_another_type_make_no_simple_group() -> None:
    engine = Engine()
    engine.state.other_types.add(GROUP)
    engine.replay(at(1))
    engine.replay(at(2, "t2"), P)
    engine.end_transaction(P, committed=True)
    assert not engine.state.groups
    assert {key: value.offset for key, value in engine.state.offsets[GROUP].items()} == {
        ("t1", 0): 1,
        ("t2", 0): 2,
    }


class Broker:
    """What a broker keeps, by log offset: the slow and obvious version."""

    def __init__(self) -> None:
        self.visible: dict[int, int] = {}
        self.pending: dict[int, dict[int, int]] = {}

    def commit(self, log_offset: int, partition: int, producer: int | None) -> None:
        if producer is None:
            self.visible[partition] = log_offset
        else:
            self.pending.setdefault(producer, {})[partition] = log_offset

    def delete(self, partition: int) -> None:
        self.visible.pop(partition, None)
        for offsets in self.pending.values():
            offsets.pop(partition, None)

    def end(self, producer: int, *, committed: bool) -> None:
        for partition, log_offset in self.pending.pop(producer, {}).items():
            if committed and log_offset > self.visible.get(partition, -1):
                self.visible[partition] = log_offset

    def unstable(self) -> set[int]:
        return {partition for offsets in self.pending.values() for partition in offsets}


COMMIT, DELETE, END, ABORT = range(4)
STEPS = st.lists(
    st.tuples(
        st.sampled_from([COMMIT, COMMIT, COMMIT, DELETE, END, ABORT]),
        st.integers(0, 2),
        st.sampled_from([None, 0, 1, 2]),
    ),
    max_size=40,
)


@given(STEPS)
def test_the_same_offsets_as_a_broker_that_compares_log_offsets(
    steps: list[tuple[int, int, int | None]],
) -> None:
    broker, driver = Broker(), Driver()
    engine = driver.engine
    for log_offset, (step, partition, producer) in enumerate(steps):
        if step == COMMIT:
            broker.commit(log_offset, partition, producer)
            engine.replay(at(log_offset, partition=partition), producer)
        elif step == DELETE:
            broker.delete(partition)
            engine.replay(tombstone(partition=partition), producer)
        else:
            broker.end(producer or 0, committed=step == END)
            engine.end_transaction(producer or 0, committed=step == END)
        offsets = engine.state.offsets.get(GROUP, {})
        assert {key[1]: value.offset for key, value in offsets.items()} == broker.visible
        assert {key[1] for key in engine.state.pending.partitions(GROUP)} == broker.unstable()
