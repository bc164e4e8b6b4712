"""Groups that change their protocol, both ways."""

from coordinator.engine.records import ClassicGroupRecord, ClassicGroupValue, ClassicMemberValue
from tests.coordinator.engine.consumer import Consumer, settled
from tests.coordinator.engine.migrating import ClassicConsumer, assignment, subscription
from tests.groups.history.written import Clock, clock, course_of

FOO = ("foo", 6)


def classic(driver: Clock, generation: int, *members: ClassicConsumer) -> None:
    value = ClassicGroupValue(
        protocol_type="consumer",
        generation=generation,
        protocol="range",
        leader=members[0].id,
        state_since_ms=driver.now_ms,
        members=tuple(
            ClassicMemberValue(
                member=member.id,
                instance=member.instance,
                client_id="c",
                host="/127.0.0.1",
                rebalance_timeout_ms=60_000,
                session_timeout_ms=10_000,
                subscription=subscription(("foo",)),
                assignment=assignment(member.owned),
            )
            for member in members
        ),
    )
    driver.put(ClassicGroupRecord(group="g", value=value))
    driver.take(driver.engine.loaded(driver.now_ms))
    for member in members:
        member.generation, member.protocol = generation, "range"


def upgraded() -> tuple[Clock, ClassicConsumer, Consumer]:
    """A classic group of one member at 0 s; at 1 s one of the consumer protocol joins."""
    driver = clock(FOO, group_consumer_migration_policy="bidirectional")
    x = ClassicConsumer(driver, "x", owned={"foo": [0, 1, 2, 3, 4, 5]})
    classic(driver, 1, x)
    driver.advance(1_000)
    n = Consumer(driver, "n")
    n.join()
    x.join()
    x.sync()
    driver.advance(1_000)
    x.join()
    x.sync()
    settled(n)
    return driver, x, n


def test_a_classic_group_is_converted_and_the_one_that_converted_it_joins() -> None:
    driver, _, _ = upgraded()
    result = course_of(driver)
    assert result.causes() == [("classic", 1, "join"), ("consumer", 1, "conversion"), ("consumer", 2, "join")]
    assert result.counts() == [(1, 0, 1, 6, 0, 0), (1, 1, 1, 6, 0, 0), (2, 1, 2, 6, 3, 3)]
    _, converted, joined = result.rebalances
    assert (converted.joined, converted.left, converted.skipped) == ((), (), 0)
    assert converted.start == converted.end == joined.start
    kept = [number for number in range(6) if len(result.spans(number)) == 1]
    # What the member keeps is its own without a break, through the conversion.
    assert [result.spans(number) for number in kept] == [[("x", 1, 0, None)]] * 3


def test_a_consumer_group_is_converted_back_with_its_last_member() -> None:
    driver, x, n = upgraded()
    driver.advance(1_000)
    n.leave()
    driver.advance(1_000)
    x.join()
    result = course_of(driver)
    back = result.rebalances[-1]
    assert (back.protocol, back.epoch, back.causes) == ("classic", 2, ("conversion", "leave"))
    assert (back.members_before, back.members, back.left) == (2, 1, ("n",))
    assert back.start == back.end
    (gone,) = back.departures
    assert len(gone.places) == 3
    assert gone.seen < gone.at
    assert {row.end for row in result.rebalances if row.protocol == "consumer"} != {None}


def test_an_empty_group_that_changes_its_protocol_is_not_converted() -> None:
    driver = clock(FOO)
    a = Consumer(driver, "a")
    a.join()
    settled(a)
    a.leave()
    x = ClassicConsumer(driver)
    x.join()
    result = course_of(driver)
    assert "conversion" not in {cause for row in result.rebalances for cause in row.causes}
