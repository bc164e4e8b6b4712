"""Rules of the consumer protocol that the table of tests/conformance does not show, with exact times."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from coordinator.engine.consumer.member import is_homogeneous
from coordinator.engine.records import RegexRecord, TargetMemberRecord
from coordinator.engine.topics import TopicImage, TopicInfo
from coordinator.errors import RequestRefused
from tests.coordinator.engine import consumer as consumers
from tests.coordinator.engine.driver import Driver
from wire.errors import ErrorCode


def test_an_unsubscribed_topic_is_revoked_before_a_new_target() -> None:
    driver = Driver(consumers.images(("foo", 2), ("bar", 2)), group_consumer_assignment_interval_ms="5000")
    a = consumers.joined(driver, "a", topics=("foo", "bar"))
    driver.advance(1)
    answer = a.beat(topics=("foo",))
    assert (answer.epoch, a.owned) == (2, {"foo": [0, 1]})
    assert consumers.epochs(driver) == ("Assigning", 3, 2)
    driver.advance(5_000)
    a.beat()
    assert consumers.epochs(driver) == ("Stable", 3, 3)


def test_new_racks_of_a_topic_make_a_new_epoch(driver: Driver) -> None:
    a = consumers.joined(driver, "a")
    foo = driver.engine.topics.topics["foo"]
    racked = type(foo)(name="foo", id=foo.id, partitions=6, racks=(("r",),) * 6)
    image = type(driver.engine.topics).of([racked, driver.engine.topics.topics["bar"]], 2)
    driver.take(driver.engine.update_topics(image, driver.now_ms))
    assert a.beat().epoch == 3


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"member": ""}, ErrorCode.INVALID_REQUEST),
        ({"assignor": "Range"}, ErrorCode.UNSUPPORTED_ASSIGNOR),
        ({"epoch": 5}, ErrorCode.GROUP_ID_NOT_FOUND),
        ({"epoch": -1}, ErrorCode.GROUP_ID_NOT_FOUND),
        ({"topics": None, "regex": "("}, ErrorCode.INVALID_REGULAR_EXPRESSION),
    ],
)
def test_a_request_is_refused_before_anything_changes(
    driver: Driver, fields: dict[str, Any], code: ErrorCode
) -> None:
    deadline = driver.engine.next_deadline()
    assert consumers.Consumer(driver, "a").join(**fields).error is code
    assert not driver.engine.state.groups
    assert not driver.records
    assert driver.engine.next_deadline() == deadline


def test_settings_of_a_group_count_from_its_next_heartbeat(driver: Driver) -> None:
    a = consumers.Consumer(driver, "a")
    assert a.join().heartbeat_interval_ms == 5_000
    driver.engine.set_group_config(
        "g", {"consumer.session.timeout.ms": "50000", "consumer.heartbeat.interval.ms": "6000"}
    )
    assert a.beat().heartbeat_interval_ms == 6_000
    driver.advance(49_999)
    assert a.beat().error is ErrorCode.NONE
    driver.engine.set_group_config("g", {})
    assert a.beat().heartbeat_interval_ms == 5_000
    driver.advance(45_000)
    assert consumers.epochs(driver)[0] == "Empty"


def test_settings_from_before_a_restart_count_up_to_the_bounds_of_today() -> None:
    stored = {"consumer.session.timeout.ms": "50000", "consumer.heartbeat.interval.ms": "6000"}
    for bounds, expected in (({}, 6_000), ({"min_": "7000", "": "7000"}, 7_000), ({"max_": "5500"}, 5_500)):
        names = {f"group_consumer_{bound}heartbeat_interval_ms": text for bound, text in bounds.items()}
        driver = Driver(None, **names)
        driver.engine.restore_group_config("g", stored)
        assert consumers.Consumer(driver, "a").join().heartbeat_interval_ms == expected


@pytest.mark.parametrize("stored", [{"consumer.session.timeout.ms": "long"}, {"consumer.sessions": "1"}])
def test_settings_that_no_broker_can_have_kept_are_refused(stored: dict[str, str]) -> None:
    with pytest.raises(RequestRefused) as raised:
        Driver().engine.restore_group_config("g", stored)
    assert raised.value.code is ErrorCode.INVALID_CONFIG


def test_without_an_interval_a_clock_that_was_ahead_does_not_matter(driver: Driver) -> None:
    a, b = consumers.Consumer(driver, "a"), consumers.Consumer(driver, "b")
    driver.now_ms += 60_000
    a.join()
    driver.now_ms -= 60_000
    assert b.join().epoch == 3


@pytest.fixture
def foos() -> Driver:
    return Driver(consumers.images(("foo-1", 2), ("foo-2", 2), ("bar", 2)))


def create(driver: Driver, *topics: tuple[str, int]) -> None:
    version = driver.engine.topics.version + 1
    driver.take(driver.engine.update_topics(consumers.images(*topics, version=version), driver.now_ms))


def by_regex(driver: Driver, name: str, regex: str = "foo-.*") -> consumers.Consumer:
    return consumers.Consumer(driver, name, topics=None, regex=regex)


def test_a_topic_that_is_only_changed_needs_no_resolution(foos: Driver) -> None:
    a = by_regex(foos, "a")
    a.join()
    a.beat()
    foos.advance(20_000)
    resolved = consumers.group_of(foos).regexes["foo-.*"].resolved_ms
    create(foos, ("foo-1", 3), ("foo-2", 2), ("bar", 2))
    assert (a.beat().epoch, a.owned) == (3, {"foo-1": [0, 1, 2], "foo-2": [0, 1]})
    assert consumers.group_of(foos).regexes["foo-.*"].resolved_ms == resolved


def test_regexes_are_refreshed_after_the_refresh_interval(foos: Driver) -> None:
    a = by_regex(foos, "a")
    a.join()
    for _ in range(20):
        foos.advance(30_000)
        assert a.beat().error is ErrorCode.NONE
    first = consumers.group_of(foos).regexes["foo-.*"].resolved_ms
    foos.advance(1)
    a.beat()
    assert consumers.group_of(foos).regexes["foo-.*"].resolved_ms == first + 600_001


def test_a_regex_resolved_by_another_coordinators_version_is_refreshed(foos: Driver) -> None:
    a = by_regex(foos, "a")
    a.join()
    a.beat()
    value = consumers.group_of(foos).regexes["foo-.*"]
    foos.records.append(RegexRecord(group="g", regex="foo-.*", value=replace(value, version=500)))
    foos.restart()
    create(foos, ("foo-1", 2), ("foo-2", 2), ("foo-3", 1))
    foos.advance(10_001)
    a.beat()
    a.beat()
    assert a.owned == {"foo-1": [0, 1], "foo-2": [0, 1], "foo-3": [0]}
    assert consumers.group_of(foos).regexes["foo-.*"].version == foos.engine.topics.version


def test_one_common_regex_is_homogeneous_and_regex_with_name_is_not(foos: Driver) -> None:
    a, b = by_regex(foos, "a"), by_regex(foos, "b")
    a.join()
    b.join()
    assert is_homogeneous(consumers.group_of(foos).members.values())
    b.beat(topics=("foo-1",))
    assert not is_homogeneous(consumers.group_of(foos).members.values())
    a.beat(topics=("foo-1",))
    assert not is_homogeneous(consumers.group_of(foos).members.values())
    consumers.settled(a, b)
    assert consumers.epochs(foos)[0] == "Stable"


def shown(driver: Driver) -> list[str]:
    return [member.id for member in consumers.described_group(driver).members]


def test_the_map_of_members_makes_room_for_one_more_when_it_replaces_one(driver: Driver) -> None:
    names = (
        "G50QC4aoa7mJ1LWHw00Biw",
        "G-mam8FJty7b8GNimSX1Sg",
        "vYdwK40x7o3-2ma2QskxqQ",
        "JVMUnhgs2m1s6_WQm_bQlA",
    )
    for name in names:
        consumers.Consumer(driver, name).join()
    # The last two share a slot: the latest comes first, until there are more slots.
    assert shown(driver) == [*names[:2], names[3], names[2]]
    consumers.Consumer(driver, "cl-0.3771199616903099").join()
    assert shown(driver) == [*names[:2], "cl-0.3771199616903099", *names[2:]]


def test_a_deleted_topic_takes_room_in_the_map_of_a_target() -> None:
    numbers = {"one": 1, "two": 2, "three": 3, "gone": 4, "new": 5}
    topics = [TopicInfo(name=name, id=UUID(int=number), partitions=1) for name, number in numbers.items()]
    orders = []
    for old in (["one", "two", "three"], ["one", "two", "three", "gone"]):
        driver = Driver(TopicImage.of([topic for topic in topics if topic.name in old], 1))
        consumer = consumers.Consumer(driver, "a", topics=tuple(numbers))
        consumer.join()
        image = TopicImage.of([topic for topic in topics if topic.name != "gone"], 2)
        driver.take(driver.engine.update_topics(image, driver.now_ms))
        consumer.beat()
        targets = [record.value for record in driver.records if isinstance(record, TargetMemberRecord)]
        orders.append([key.int for key in targets[-1] or ()])
    # A copy of three topics has four bins, in which 5 is before 1; one of four topics has eight.
    assert orders == [[5, 1, 2, 3], [1, 2, 3, 5]]
