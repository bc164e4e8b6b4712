"""`kohort bridge` on a real broker: what it shows, what it refuses, and how it leaves a group."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Kohort
from tests.cli.journal.entries import entries_about
from tests.cli.schemas import faults
from tests.cli.verbs.watch.running import Running, in_pipe
from tests.kafka.broker import Broker
from tests.kafka.coordinator import running_broker
from tests.kafka.events import Partitions
from tests.kafka.groups import describe, wait_group
from tests.kafka.java_host import JavaHost
from tests.kafka.member import Member
from tests.kafka.members import Members, fresh_name
from tests.kafka.ports import HOST, free_ports
from tests.kafka.relay import Relay
from tests.kafka.secure import SCRAM_PASSWORDS, SecureBroker
from tests.kafka.settings import HEARTBEAT_MS
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from tests.migration.end_to_end.bridged import make_it_lead, to_restart
from tests.migration.raw_group import RawGroup
from tests.support.long import LONG

pytestmark = [pytest.mark.kafka, pytest.mark.usefixtures("handled_interrupts")]

DOING = ("--execute", "--yes")


@contextmanager
def bridge(
    kohort: Kohort, directory: Path, broker: Broker | str, group: str, *options: str | Path
) -> Iterator[Running]:
    """Running, at a broker or at an address of one."""
    bootstrap = broker if isinstance(broker, str) else broker.bootstrap
    command = ("bridge", group, "-b", bootstrap, *DOING, "--watch", *options)
    with in_pipe(kohort, directory, *command, name="bridge") as running:
        yield running


def wait_move(running: Running, move: str) -> None:
    running.wait_for(lambda run: f" s  {move}: " in run.stdout, f"the bridge reaches {move}")


def assert_ended(running: Running, status: int, reason: str) -> None:
    ended = running.process.poll
    wait_until(lambda: ended() is not None, lambda: f"it ends: {running.stdout}{running.stderr}")
    assert running.process.returncode == status, (running.stdout, running.stderr)
    assert reason in running.stderr
    assert "Traceback" not in running.stderr


Cooperative = tuple[str, list[Member]]


@pytest.fixture
def cooperative(broker: Broker, members: Members) -> Cooperative:
    """A group of two consumers of librdkafka, whose leader writes user data."""
    return librdkafka_group(broker, members)


def librdkafka_group(broker: Broker, members: Members, heartbeat_ms: int = HEARTBEAT_MS) -> Cooperative:
    topic, group = fresh_name("orders"), fresh_name("cooperative")
    create_topics(broker, {topic: 4})
    started = []
    for number in (1, 2):
        started.append(librdkafka_member(broker, members, group, topic, heartbeat_ms=heartbeat_ms))
        wait_group(broker, group, members=number)
    wait_until(lambda: sizes(started) == [2, 2], "each owns half")
    wait_group(broker, group, members=2)
    return group, started


def librdkafka_member(
    broker: Broker, members: Members, group: str, topic: str, name: str = "", heartbeat_ms: int = HEARTBEAT_MS
) -> Member:
    settings: dict[str, Any] = {"partition_assignment_strategy": "cooperative-sticky"}
    settings["heartbeat_interval_ms"] = heartbeat_ms
    return members.confluent(broker, group, [topic], name, **settings)


def sizes(members: list[Member]) -> list[int]:
    return [sum(map(len, member.assignment().values())) for member in members]


def owned(broker: Broker, group: str) -> dict[str, Partitions]:
    view = describe(broker, group)
    return {} if view is None else {member.member_id: member.assignment for member in view.members}


def test_the_preview_names_the_leader_to_restart_and_joins_nothing(
    kohort: Kohort, broker: Broker, cooperative: Cooperative
) -> None:
    group, _ = cooperative
    before = owned(broker, group)
    preview = kohort("bridge", group, "-b", broker.bootstrap, "--output", "json").succeeded().document
    assert preview["leader"] in before
    assert [restart["id"] for restart in preview["restart"]][-1] == preview["leader"]
    assert (preview["converted"], preview["steps"], preview["members_with_user_data"]) == (None, [], 2)
    assert owned(broker, group) == before


@pytest.mark.parametrize(
    "number",
    [pytest.param(signal.SIGINT, marks=LONG), signal.SIGTERM, pytest.param(signal.SIGHUP, marks=LONG)],
)
def test_a_signal_has_it_leave_the_group_as_it_was(
    kohort: Kohort, broker: Broker, cooperative: Cooperative, tmp_path: Path, number: signal.Signals
) -> None:
    group, started = cooperative
    before = owned(broker, group)
    with bridge(kohort, tmp_path, broker, group) as running:
        wait_move(running, "restart")
        assert len(owned(broker, group)) == 3
        assert running.interrupt(number) == 128 + number
    assert owned(broker, group).keys() == before.keys()
    wait_group(broker, group, members=2)
    assert owned(broker, group) == before
    assert sizes(started) == [2, 2]


def test_its_joining_is_one_rebalance_however_long_that_takes(
    kohort: Kohort, broker: Broker, members: Members, tmp_path: Path
) -> None:
    """Members that send a heartbeat every 3 s, as is librdkafka's default, take longer than the bridge's next look."""
    group, _ = librdkafka_group(broker, members, heartbeat_ms=3000)
    before = rebalances(broker, group)
    with bridge(kohort, tmp_path, broker, group, "--output", "json") as running:
        asks = running.wait_document(lambda line: line["step"]["move"] == "restart", "it asks for a restart")
        assert rebalances(broker, group) == before + 1
        assert running.interrupt() == 130
    ((entry, end),) = entries_about(group, Path(kohort.env["HOME"]))
    assert end is not None
    assert [(item.kind.value, item.name) for item in entry.items] == [("step", "conversion")]
    assert (end.status.value, end.results[0].result.value) == ("stopped", "failed")
    assert asks["leader"] == asks["step"]["restart"][-1]["id"]
    assert [fault for line in running.documents for fault in faults(line)] == []
    assert running.documents[-1]["steps"][-1]["move"] == "restart"


def rebalances(broker: Broker, group: str) -> int:
    """That the broker has begun."""
    return broker.log.read_text(errors="replace").count(f"Preparing to rebalance group {group} ")


def test_a_bridge_that_leads_sticky_assigns_to_the_others_only(
    kohort: Kohort, broker: Broker, members: Members, tmp_path: Path
) -> None:
    """Java's sticky assigns to a member that subscribes to nothing, where that comes first, as the bridge does."""
    topic = fresh_name("orders")
    create_topics(broker, {topic: 4})
    raw = RawGroup(broker=broker, assignor="sticky", topic=topic, user_data=b"data")
    raw.grow(3)

    def rejoin(joining: list[str]) -> None:
        raw.joined(raw.start_joining(joining))
        if raw.leader in raw.members:
            raw.assign({member: {} for member in raw.members})

    def moves(run: Running) -> bool:
        return to_restart(run) in raw.members or state(broker, raw.id) == "PreparingRebalance"

    with bridge(kohort, tmp_path, broker, raw.id) as running:
        while raw.leader in raw.members:
            # It joins, and joins again for a better place: two rebalances, since it leaves first.
            running.wait_for(moves, "it asks for a restart, leaves or joins")
            if to_restart(running) in raw.members:
                raw.leave(to_restart(running) or "")
                rejoin([*raw.members, raw.new_id()])
            else:
                rejoin(raw.members)
        wait_move(running, "lead")
        assert sum(len(parts) for share in owned(broker, raw.id).values() for parts in share.values()) == 4
        members.confluent(broker, raw.id, [topic], group_protocol="consumer")
        for member in [*raw.members]:
            raw.leave(member)
        assert running.process.wait(60) == 0, (running.stdout, running.stderr)
    ((entry, _),) = entries_about(raw.id, Path(kohort.env["HOME"]))
    undo = kohort("undo", entry.id, "-b", broker.bootstrap, *DOING)
    undo.assert_said(4, "--back, or without a plan kohort plan GROUP --to classic", "nothing was changed")
    assert len(owned(broker, raw.id)) == 1


def state(broker: Broker, group: str) -> str:
    view = describe(broker, group)
    return "" if view is None else view.state


@pytest.mark.parametrize(
    ("user_data", "reason"), [(None, "no bridge is needed"), (b"data", "PreparingRebalance")]
)
def test_it_never_joins_a_group_that_it_cannot_lead(
    kohort: Kohort, broker: Broker, user_data: bytes | None, reason: str
) -> None:
    raw = RawGroup(broker=broker, assignor="sticky", user_data=user_data)
    raw.grow(2)
    if user_data:
        raw.start_joining([raw.leader])
        wait_until(lambda: state(broker, raw.id) == "PreparingRebalance", "it rebalances")
    before = owned(broker, raw.id).keys()
    for options in ((), DOING):
        kohort("bridge", raw.id, "-b", broker.bootstrap, *options).assert_refused(reason, status=4)
    assert owned(broker, raw.id).keys() == before


def test_there_is_never_another_bridge(
    kohort: Kohort, broker: Broker, members: Members, cooperative: Cooperative, tmp_path: Path
) -> None:
    """A second one does not join; where one joins at the same moment, the first one leaves."""
    group, started = cooperative
    before, empty = owned(broker, group), fresh_name("empty")
    create_topics(broker, {empty: 1})
    with bridge(kohort, tmp_path, broker, group) as running:
        wait_move(running, "restart")
        joined = owned(broker, group)
        second = kohort("bridge", group, "-b", broker.bootstrap, *DOING)
        second.assert_refused("the group already has a bridge", status=4)
        assert owned(broker, group) == joined
        librdkafka_member(broker, members, group, empty, "kohort-bridge")
        assert_ended(running, 4, "another bridge has joined")
    wait_group(broker, group, members=3)
    assert len(set(owned(broker, group)) - set(joined)) == 1
    assert owned(broker, group).items() >= before.items()
    assert sizes(started) == [2, 2]


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
        assert_ended(running, 4, "though the bridge did not lead it")
    assert "kohort-bridge" not in str(owned(broker, raw.id))


def test_it_ends_when_it_is_removed(
    kohort: Kohort, broker: Broker, cooperative: Cooperative, tmp_path: Path
) -> None:
    group, _ = cooperative
    before = owned(broker, group)
    with bridge(kohort, tmp_path, broker, group) as running:
        wait_move(running, "restart")
        (member,) = owned(broker, group).keys() - before
        RawGroup(broker=broker, id=group, members=[member]).leave(member)
        assert_ended(running, 4, "bridge")
    assert owned(broker, group) == before


@pytest.fixture
def relayed(
    kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory, java_host: JavaHost
) -> Iterator[tuple[Broker, Relay, Members]]:
    """A broker, the relay that leads to a listener of it, and what starts members that connect without the relay."""
    client, behind, controller = free_ports(3)
    relay = Relay(behind)
    settings = {
        "listeners": f"CLIENT://{HOST}:{client},RELAYED://{HOST}:{behind},CONTROLLER://{HOST}:{controller}",
        "advertised.listeners": f"CLIENT://{HOST}:{client},RELAYED://{HOST}:{relay.port}",
        "controller.quorum.voters": f"1@{HOST}:{controller}",
        "listener.security.protocol.map": "CLIENT:PLAINTEXT,RELAYED:PLAINTEXT,CONTROLLER:PLAINTEXT",
    }
    directory = tmp_path_factory.mktemp("relayed")
    with running_broker(kafka_jars, directory, settings, port=client) as broker:
        members = Members(java_host, kafka_jars, directory)
        yield broker, relay, members
        members.end()
        relay.cut()


@LONG
def test_a_lost_connection_ends_it_and_the_group_is_as_before(
    kohort: Kohort, relayed: tuple[Broker, Relay, Members], tmp_path: Path
) -> None:
    broker, relay, members = relayed
    group, started = librdkafka_group(broker, members)
    before = owned(broker, group)
    with bridge(kohort, tmp_path, f"{HOST}:{relay.port}", group) as running:
        wait_move(running, "restart")
        relay.cut()
        assert_ended(running, 4, "session expires within 10 s")
    wait_until(lambda: owned(broker, group).keys() == before.keys(), "the bridge's session ends")
    wait_group(broker, group, members=2)
    assert owned(broker, group) == before
    assert sizes(started) == [2, 2]


@LONG
def test_a_conversion_over_tls_and_sasl_with_documented_permissions(
    kohort: Kohort, secure: SecureBroker, members: Members, tmp_path: Path
) -> None:
    broker = secure.broker
    group, started = librdkafka_group(broker, members)
    (topic,) = started[0].assignment()
    file = tmp_path / "client.properties"
    file.write_text(
        "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\nsasl.username=bob\n"
        f"sasl.password={SCRAM_PASSWORDS['bob']}\nssl.ca.location={secure.files}/ca.pem\n",
        encoding="utf-8",
    )
    secure.allow("bob", "group", group, "READ")
    secure.allow("bob", "topic", topic, "DESCRIBE")
    by_name = {member.name: member for member in started}

    def restart(member: str) -> None:
        name = next(name for name in by_name if member.startswith(f"{name}-"))
        by_name[name].stop()
        by_name[name] = librdkafka_member(broker, members, group, topic, name)

    try:
        with bridge(kohort, tmp_path, secure.at("SASL_SSL"), group, "--command-config", file) as running:
            make_it_lead(running, restart)
            members.confluent(broker, group, [topic], group_protocol="consumer")
            assert running.process.wait(120) == 0, (running.stdout, running.stderr)
    finally:
        secure.forbid_all("bob")


def test_only_a_live_cluster_is_bridged(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "groups.yaml"
    file.write_text("kohort: 1\ngroups: {}\n")
    answer = kohort("bridge", "payments", "--snapshot", file, *DOING)
    answer.assert_refused("is read-only")


def test_watch_wants_execute_and_lines(kohort: Kohort) -> None:
    kohort("bridge", "payments", "-b", "localhost:1", "--watch").assert_refused("--execute")
    answer = kohort("bridge", "payments", "-b", "localhost:1", "--watch", *DOING, "--output", "yaml")
    answer.assert_refused("--output yaml")
