"""The order of members and topics where the broker's maps decide it, as a running Kafka 4.3.1 showed it."""

from __future__ import annotations

from uuid import UUID

from coordinator.engine.records import CurrentAssignmentRecord, TargetMemberRecord
from coordinator.engine.topics import TopicImage, TopicInfo
from tests.coordinator.engine.consumer import Consumer, described_group, joined
from tests.coordinator.engine.driver import Driver


def shown(driver: Driver) -> list[str]:
    return [member.id for member in described_group(driver).members]


def test_the_map_of_members_does_not_shrink(driver: Driver) -> None:
    first, gone, last = "JEHj1UQQSSt4h2i8_yIYzw", "2DUFKX72dRygyxeDKvhIuQ", "nyZ6DtMZchfdK7oVN0NuXA"
    for name in (first, gone, last):
        Consumer(driver, name).join()
    assert shown(driver) == [first, last, gone]
    Consumer(driver, gone).leave()
    assert shown(driver) == [first, last]


def test_the_map_of_members_makes_room_for_one_more_when_it_replaces_one(driver: Driver) -> None:
    names = (
        "G50QC4aoa7mJ1LWHw00Biw",
        "G-mam8FJty7b8GNimSX1Sg",
        "vYdwK40x7o3-2ma2QskxqQ",
        "JVMUnhgs2m1s6_WQm_bQlA",
    )
    for name in names:
        Consumer(driver, name).join()
    # The last two share a slot: the latest comes first, until there are more slots.
    assert shown(driver) == [*names[:2], names[3], names[2]]
    Consumer(driver, "cl-0.3771199616903099").join()
    assert shown(driver) == [*names[:2], "cl-0.3771199616903099", *names[2:]]


def test_targets_are_written_in_the_order_of_the_map_of_member_ids(driver: Driver) -> None:
    for name in ("b", "a", "c"):
        Consumer(driver, name).join()
    written = [each.member for each in driver.records if isinstance(each, TargetMemberRecord)]
    # By String.hashCode a has bin 1, b bin 2, c bin 3.
    assert written == ["b", "a", "b", "a", "b", "c"]


def test_a_deleted_topic_takes_room_in_the_map_of_a_target() -> None:
    numbers = {"one": 1, "two": 2, "three": 3, "gone": 4, "new": 5}
    topics = [TopicInfo(name=name, id=UUID(int=number), partitions=1) for name, number in numbers.items()]
    orders = []
    for old in (["one", "two", "three"], ["one", "two", "three", "gone"]):
        driver = Driver(
            TopicImage.of([each for each in topics if each.name in old], 1),
        )
        consumer = Consumer(driver, "a", topics=tuple(numbers))
        consumer.join()
        image = TopicImage.of([each for each in topics if each.name != "gone"], 2)
        driver.take(driver.engine.update_topics(image, driver.now_ms))
        consumer.beat()
        orders.append([key.int for key in last_orders(driver)[0]])
    # A copy of three topics has four bins, in which 5 is before 1; one of four topics has eight.
    assert orders == [[5, 1, 2, 3], [1, 2, 3, 5]]


def test_new_topics_precede_those_in_the_same_bin() -> None:
    ids = [UUID(int=number) for number in (1, 17, 33)]
    bills, dues, orders = ids
    named = zip(("bills", "dues", "orders"), ids, strict=True)
    image = TopicImage.of([TopicInfo(name=name, id=id_, partitions=1) for name, id_ in named])
    driver = Driver(image)
    consumer = joined(driver, "a", topics=("bills", "dues"))
    assert last_orders(driver) == ([bills, dues], [dues, bills])
    consumer.beat(topics=("bills", "dues", "orders"))
    assert last_orders(driver) == ([orders, bills, dues], [orders, bills, dues])


def last_orders(driver: Driver) -> tuple[list[UUID], list[UUID]]:
    """Of the last target and the last current assignment."""
    targets = [each.value for each in driver.records if isinstance(each, TargetMemberRecord)]
    currents = [each.value for each in driver.records if isinstance(each, CurrentAssignmentRecord)]
    target, current = targets[-1], currents[-1]
    assert target is not None
    assert current is not None
    return list(target), list(current.assigned)
