"""`describe --migration` of groups caught in flight on the real broker, and what its log says of the same."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Kohort
from tests.kafka.broker import Broker
from tests.kafka.groups import wait_group
from tests.kafka.member import Member
from tests.kafka.members import Members, fresh_name
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from tests.migration.raw_consumer import RawConsumer

Described = dict[str, Any]


@pytest.fixture
def describe(kohort: Kohort, broker: Broker) -> Callable[[str], Described]:
    return lambda group: migration(kohort, group, "--bootstrap-server", broker.bootstrap)


def migration(kohort: Kohort, group: str, *source: str) -> Described:
    answer = kohort.quick("describe", group, "--migration", *source, "--output", "json").succeeded()
    (view,) = answer.document["groups"]
    reported: Described = view["migration"]
    return reported


def waits(facts: Described) -> dict[str, list[tuple[str, dict[str, list[int]], str | None]]]:
    return {
        member["id"]: [(wait["for"], wait["partitions"], wait["member"]) for wait in member["waits"]]
        for member in facts["members"]
    }


def test_a_member_that_gives_nothing_up_and_who_waits_for_it(
    broker: Broker, describe: Callable[[str], Described]
) -> None:
    topic, group = fresh_name("orders"), fresh_name("raw")
    create_topics(broker, {topic: 4})
    slow, quick = (RawConsumer(broker=broker, group=group, topics=(topic,)) for _ in range(2))
    slow.join()
    wait_until(lambda: slow.has(4), "all partitions")
    assert waits(describe(group)) == {slow.id: []}

    quick.join()
    slow.heartbeat()  # must revoke, and continues to own all
    kept = {number for numbers in slow.given.values() for number in numbers}
    moving = sorted({0, 1, 2, 3} - kept)
    assert len(moving) == 2
    assert waits(describe(group)) == {
        slow.id: [("revoke", {topic: moving}, None)],
        quick.id: [("release", {topic: moving}, slow.id)],
    }

    slow.accept()
    assert waits(describe(group)) == {slow.id: [], quick.id: [("heartbeat", {topic: moving}, None)]}
    quick.heartbeat()
    assert waits(describe(group)) == {slow.id: [], quick.id: []}


@pytest.mark.kafka
def test_a_group_of_real_members_through_its_upgrade_live_and_in_the_log(
    kohort: Kohort, broker: Broker, members: Members, describe: Callable[[str], Described]
) -> None:
    topic, group = fresh_name("orders"), fresh_name("real")
    create_topics(broker, {topic: 4})

    def in_the_log() -> Described:
        return migration(kohort, group, "--log-dir", str(broker.data))

    first = members.confluent(broker, group, [topic], partition_assignment_strategy="range")
    first.wait_assignment({topic: [0, 1, 2, 3]})
    second = members.confluent(broker, group, [topic], partition_assignment_strategy="range")
    wait_group(broker, group, members=2)
    facts = describe(group)
    assert facts["leader"] == first.member_id()
    assert facts["succession"]["order"] == [second.member_id()]
    assert facts["upgrade_blocked_by"] == []
    assert [member["assignors"] for member in facts["members"]] == [["range"], ["range"]]
    assert in_the_log() == facts

    third = members.confluent(broker, group, [topic], group_protocol="consumer")
    wait_until(third.assignment, "the new member has partitions")
    wait_group(broker, group, members=3)
    facts = describe(group)
    assert facts["standing"] == "Mixed: 1 of 3 members speaks the consumer protocol, 2 speak the classic one."
    assert facts["succession"] is None
    protocols = {member["client_id"]: member["protocol"] for member in facts["members"]}
    assert protocols == {first.name: "classic", second.name: "classic", third.name: "consumer"}
    logged = in_the_log()
    lists = {one["client_id"]: (one.pop("assignors"), one.pop("all_assignors")) for one in logged["members"]}
    assert lists == {first.name: (["range"], True), second.name: (["range"], True), third.name: (None, False)}
    for member in facts["members"]:
        # No API says what the classic members of a consumer group list.
        del member["assignors"], member["all_assignors"]
    assert logged == facts


@pytest.mark.kafka
def test_real_user_data_of_librdkafka_live_in_the_log_and_in_a_snapshot(
    kohort: Kohort, broker: Broker, members: Members, describe: Callable[[str], Described], tmp_path: Path
) -> None:
    topic, other, group = fresh_name("orders"), fresh_name("payments"), fresh_name("user-data")
    create_topics(broker, {topic: 4, other: 1})

    def join() -> Member:
        return members.confluent(broker, group, [topic], partition_assignment_strategy="cooperative-sticky")

    first = join()
    first.wait_assignment({topic: [0, 1, 2, 3]})
    assert describe(group)["upgrade_blocked_by"] == []
    second = join()
    wait_until(lambda: len(second.assignment().get(topic, [])) == 2, "each has two")
    # On a busy machine it may have missed the first rebalance, and joined but once: now it joins again.
    second.subscribe([topic, other])
    wait_until(lambda: second.assignment().get(other) == [0], "the second one has another topic")
    wait_group(broker, group, members=2)
    facts = describe(group)
    assert sorted(facts["upgrade_blocked_by"]) == sorted([first.member_id(), second.member_id()])
    assert all(member["user_data_bytes"] > 0 for member in facts["members"])
    assert facts["leader"] == first.member_id()
    assert migration(kohort, group, "--log-dir", str(broker.data)) == facts

    file = tmp_path / "taken.yaml"
    kohort.quick("snapshot", group, "--leaders", "-b", broker.bootstrap, "--file", file).succeeded()
    assert migration(kohort, group, "--snapshot", str(file)) == facts
    kohort.quick("snapshot", group, "-b", broker.bootstrap, "--file", file).succeeded()
    assert migration(kohort, group, "--snapshot", str(file))["leader"] is None
