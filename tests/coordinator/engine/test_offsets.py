"""Offsets: what the table of tests/conformance does not show of commits, fetches and expiry."""

from uuid import UUID

from coordinator.engine.offsets import fetch as fetching
from coordinator.engine.offsets.commit import Offset, OffsetCommit, OffsetCommitAnswer
from tests.coordinator.engine.classic import GROUP, Member, protocols, stable
from tests.coordinator.engine.driver import TOPICS, Driver
from wire.errors import ErrorCode

T1, T2 = TOPICS.topics["t1"].id, TOPICS.topics["t2"].id


def at(offset: int = 1, partition: int = 0, name: str = "t1") -> Offset:
    return Offset(topic=name, topic_id=None, partition=partition, offset=offset)


def commit(
    driver: Driver, *offsets: Offset, epoch: int = -1, member: str = "", retention_ms: int | None = None
) -> set[ErrorCode]:
    request = OffsetCommit(
        group=GROUP,
        generation_or_epoch=epoch,
        member=member,
        instance=None,
        offsets=offsets or (at(),),
        retention_ms=retention_ms,
        version=9 if retention_ms is None else 4,
    )
    return {error for *_, error in driver.ask(request, OffsetCommitAnswer).partitions}


def fetch(driver: Driver, *topics: str | UUID, version: int = 9) -> fetching.QueriedOffsets:
    """Partition 0 of these topics; everything where none is named."""
    asked = tuple((name, (0,)) for name in topics) or None
    request = fetching.OffsetFetch(groups=(fetching.OffsetQuery(group=GROUP, topics=asked),), version=version)
    return driver.ask(request, fetching.OffsetFetchAnswer).groups[0]


def offset(driver: Driver, name: str = "t1") -> int:
    ((_, ((_, fetched),)),) = fetch(driver, name).topics
    return fetched.offset


def test_fetch_by_id_of_an_unknown_id_is_an_error_of_its_partitions(driver: Driver) -> None:
    commit(driver)
    strange = UUID(int=9)
    assert fetch(driver, strange, T1, version=10).topics == (
        (T1, ((0, fetching.FetchedOffset(offset=1)),)),
        (strange, ((0, fetching.FetchedOffset(error=ErrorCode.UNKNOWN_TOPIC_ID)),)),
    )


def test_group_that_is_not_stable_keeps_everything() -> None:
    driver = Driver(offsets_retention_check_interval_ms="1000")
    (worker,) = stable(
        driver, Member(driver, protocol_type="connect", protocols=protocols("s"), session_timeout_ms=60_000)
    )
    commit(driver, epoch=1, member=worker.id, retention_ms=1_500)
    driver.advance(5_000)
    assert offset(driver) == 1


def test_retention_time_of_the_request_is_honored() -> None:
    driver = Driver(offsets_retention_check_interval_ms="1000")
    commit(driver, retention_ms=1_500)
    driver.advance(1_499)
    assert offset(driver) == 1
    driver.advance(501)
    assert offset(driver) == -1
    assert GROUP not in driver.engine.state.groups
