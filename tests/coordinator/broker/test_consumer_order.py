"""The order in which members are walked through and shown, as a running Kafka 4.3.1 showed it."""

from __future__ import annotations

from tests.coordinator.broker.consumer import Consumer, described, images
from tests.coordinator.broker.driver import Driver


def shown(driver: Driver) -> list[str]:
    return [member.member for member in described(driver).members]


def test_the_map_of_members_does_not_shrink() -> None:
    driver = Driver(images(("foo", 6)))
    first, gone, last = "JEHj1UQQSSt4h2i8_yIYzw", "2DUFKX72dRygyxeDKvhIuQ", "nyZ6DtMZchfdK7oVN0NuXA"
    for name in (first, gone, last):
        Consumer(driver, name).join()
    assert shown(driver) == [first, last, gone]
    Consumer(driver, gone).leave()
    assert shown(driver) == [first, last]


def test_the_map_of_members_makes_room_for_one_more_when_it_replaces_one() -> None:
    driver = Driver(images(("foo", 6)))
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
