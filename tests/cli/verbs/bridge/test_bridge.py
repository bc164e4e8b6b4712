"""`kohort bridge` on a real broker: what it shows, what it refuses, and how it leaves a group."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.command import Kohort
from tests.cli.verbs.watch.running import Running, in_pipe
from tests.kafka.broker import Broker
from tests.kafka.groups import describe, wait_group
from tests.kafka.member import Member
from tests.kafka.members import Members, fresh_name
from tests.kafka.plugin import StartBroker
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from tests.migration.raw_group import RawGroup

pytestmark = [pytest.mark.kafka, pytest.mark.usefixtures("heeded_interrupts")]

DOING = ("--execute", "--yes")


@contextmanager
def bridge(
    kohort: Kohort, directory: Path, broker: Broker, group: str, name: str = "bridge"
) -> Iterator[Running]:
    command = ("bridge", group, "-b", broker.bootstrap, *DOING, "--watch")
    with in_pipe(kohort, directory, *command, name=name) as running:
        yield running


def wait_move(running: Running, move: str) -> None:
    running.wait_for(lambda each: f" s  {move}: " in each.stdout, f"the bridge comes to {move}")


def assert_ended(running: Running, status: int, reason: str) -> None:
    wait_until(
        lambda: running.process.poll() is not None, lambda: f"it ends: {running.stdout}{running.stderr}"
    )
    assert running.process.returncode == status, (running.stdout, running.stderr)
    assert reason in running.stderr
    assert "Traceback" not in running.stderr


@pytest.fixture
def cooperative(broker: Broker, members: Members) -> tuple[str, list[Member]]:
    """A group of two consumers of librdkafka, whose leader writes user data."""
    return librdkafka_group(broker, members)


def librdkafka_group(broker: Broker, members: Members) -> tuple[str, list[Member]]:
    topic, group = fresh_name("orders"), fresh_name("cooperative")
    create_topics(broker, {topic: 4})
    started = []
    for number in (1, 2):
        one = members.confluent(broker, group, [topic], partition_assignment_strategy="cooperative-sticky")
        started.append(one)
        wait_group(broker, group, members=number)
    wait_until(lambda: sizes(started) == [2, 2], "each owns half")
    wait_group(broker, group, members=2)
    return group, started


def sizes(members: list[Member]) -> list[int]:
    return [sum(map(len, each.assignment().values())) for each in members]


def ids(broker: Broker, group: str) -> set[str]:
    found = describe(broker, group)
    return set() if found is None else {each.member_id for each in found.members}


def owned(broker: Broker, group: str) -> dict[str, object]:
    found = describe(broker, group)
    return {} if found is None else {each.member_id: each.assignment for each in found.members}


def test_the_preview_names_the_leader_to_restart_and_joins_nothing(
    kohort: Kohort, broker: Broker, cooperative: tuple[str, list[Member]]
) -> None:
    group, _ = cooperative
    before = owned(broker, group)
    found = kohort("bridge", group, "-b", broker.bootstrap, "--output", "json").succeeded().document
    assert found["leader"] in before
    assert [each["id"] for each in found["restart"]][-1] == found["leader"]
    assert (found["converted"], found["steps"], found["members_with_user_data"]) == (None, [], 2)
    assert owned(broker, group) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_has_it_leave_the_group_as_it_was(
    kohort: Kohort,
    broker: Broker,
    cooperative: tuple[str, list[Member]],
    tmp_path: Path,
    number: signal.Signals,
) -> None:
    group, started = cooperative
    before = owned(broker, group)
    with bridge(kohort, tmp_path, broker, group) as running:
        wait_move(running, "restart")
        assert len(ids(broker, group)) == 3
        assert running.interrupt(number) == 130
    assert ids(broker, group) == set(before)
    wait_group(broker, group, members=2)
    assert owned(broker, group) == before
    assert sizes(started) == [2, 2]


def refusals() -> dict[str, tuple[Callable[[Broker, Members], str], str]]:
    def of_type_consumer(broker: Broker, members: Members) -> str:
        topic, group = fresh_name("orders"), fresh_name("consumer")
        create_topics(broker, {topic: 1})
        members.confluent(broker, group, [topic], group_protocol="consumer")
        wait_group(broker, group, members=1)
        return group

    def homemade(broker: Broker, _: Members) -> str:
        raw = RawGroup(broker=broker, assignor="homemade", user_data=b"data")
        raw.grow(1)
        return raw.id

    def without_user_data(broker: Broker, _: Members) -> str:
        raw = RawGroup(broker=broker, assignor="sticky")
        raw.grow(1)
        return raw.id

    def rebalancing(broker: Broker, _: Members) -> str:
        raw = RawGroup(broker=broker, assignor="sticky", user_data=b"data")
        raw.grow(2)
        raw.start_joining([raw.leader])
        wait_until(lambda: state(broker, raw.id) == "PreparingRebalance", "it rebalances")
        return raw.id

    return {
        "of type consumer": (of_type_consumer, "of type consumer"),
        "with an assignor of its own": (homemade, "homemade"),
        "without user data": (without_user_data, "without a bridge"),
        "rebalancing": (rebalancing, "PreparingRebalance"),
    }


def state(broker: Broker, group: str) -> str:
    found = describe(broker, group)
    return "" if found is None else found.state


@pytest.mark.parametrize("kind", refusals())
def test_it_never_joins_a_group_that_it_cannot_lead(
    kohort: Kohort, broker: Broker, members: Members, kind: str
) -> None:
    make, reason = refusals()[kind]
    group = make(broker, members)
    before = ids(broker, group)
    for options in ((), DOING):
        kohort("bridge", group, "-b", broker.bootstrap, *options).assert_refused(reason, status=4)
    assert ids(broker, group) == before


def test_it_never_joins_where_a_bridge_is(
    kohort: Kohort, broker: Broker, cooperative: tuple[str, list[Member]], tmp_path: Path
) -> None:
    group, _ = cooperative
    with bridge(kohort, tmp_path, broker, group) as running:
        wait_move(running, "restart")
        second = kohort("bridge", group, "-b", broker.bootstrap, *DOING)
        second.assert_refused("a bridge is there already", status=4)
        assert running.interrupt() == 130


def test_it_leaves_when_another_bridge_joins(
    kohort: Kohort,
    broker: Broker,
    members: Members,
    cooperative: tuple[str, list[Member]],
    tmp_path: Path,
) -> None:
    group, _ = cooperative
    empty = fresh_name("empty")
    create_topics(broker, {empty: 1})
    with bridge(kohort, tmp_path, broker, group) as running:
        wait_move(running, "restart")
        own = ids(broker, group)
        members.confluent(
            broker,
            group,
            [empty],
            client_id="kohort-bridge",
            partition_assignment_strategy="cooperative-sticky",
        )
        assert_ended(running, 4, "another bridge has joined")
    assert len(ids(broker, group) - own) == 1
    assert len(ids(broker, group)) == 3


def test_it_leaves_a_group_that_turns_consumer_under_its_feet(
    kohort: Kohort, broker: Broker, members: Members, tmp_path: Path
) -> None:
    topic = fresh_name("orders")
    create_topics(broker, {topic: 2})
    raw = RawGroup(broker=broker, assignor="sticky", topic=topic, user_data=b"data")
    raw.grow(2)
    with bridge(kohort, tmp_path, broker, raw.id) as running:
        wait_until(lambda: state(broker, raw.id) == "PreparingRebalance", "the bridge joins")
        # The leader has been given another version: it writes no user data any more.
        raw.user_data = None
        raw.rebalance()
        wait_move(running, "restart")
        members.confluent(broker, raw.id, [topic], group_protocol="consumer")
        assert_ended(running, 4, "though the bridge has not led it")
    assert "kohort-bridge" not in str(ids(broker, raw.id))


def test_it_ends_when_it_is_removed(
    kohort: Kohort, broker: Broker, cooperative: tuple[str, list[Member]], tmp_path: Path
) -> None:
    group, _ = cooperative
    before = ids(broker, group)
    with bridge(kohort, tmp_path, broker, group) as running:
        wait_move(running, "restart")
        (own,) = ids(broker, group) - before
        RawGroup(broker=broker, id=group, members=[own]).leave(own)
        assert_ended(running, 4, "bridge")
    assert ids(broker, group) == before


def test_a_lost_connection_ends_it(
    kohort: Kohort, start_broker: StartBroker, members: Members, tmp_path: Path
) -> None:
    own = start_broker({})
    group, _ = librdkafka_group(own, members)
    with bridge(kohort, tmp_path, own, group) as running:
        wait_move(running, "restart")
        own.crash()
        assert_ended(running, 4, "session ends within 10 s")


def test_only_a_live_cluster_is_bridged(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "groups.yaml"
    file.write_text("kohort: 1\ngroups: {}\n")
    answer = kohort("bridge", "payments", "--snapshot", file, *DOING)
    answer.assert_refused("only read, never changed")


def test_watch_wants_execute_and_lines(kohort: Kohort) -> None:
    kohort("bridge", "payments", "-b", "localhost:1", "--watch").assert_refused("--execute")
    answer = kohort("bridge", "payments", "-b", "localhost:1", "--watch", *DOING, "--output", "json")
    answer.assert_refused("--output json")
