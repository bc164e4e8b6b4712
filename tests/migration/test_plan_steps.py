"""What holds of every plan, and what each path says in its steps."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import pytest

from groups.findings import Level
from groups.model import Group, GroupState, GroupType, MemberProtocol, Subscription, UserData
from migration.commands import ClusterOptions
from migration.model import (
    Absent,
    Destination,
    Leads,
    MemberCount,
    NoUserData,
    Plan,
    Precedes,
    Present,
    ProtocolIs,
    Replaced,
    Speaking,
    StateIn,
    Step,
    TypeIs,
    round_names,
)
from migration.plan_file import plan_from_data, plan_to_data
from migration.rollout import RoundAction
from tests.cli.sources.live_source import live_source
from tests.kafka.broker import Broker
from tests.kafka.groups import wait_group
from tests.kafka.members import Members, fresh_name
from tests.kafka.topics import fresh_topic
from tests.migration.cases import CLASSIC, CONSUMER, COOPERATIVE, EAGER, EMPTY, GROUP, MIXED, NEW, NEWER, plan
from tests.migration.test_plan import OFFLINE, STREAMS, WAYS

STABLE = StateIn(states=(GroupState.STABLE,))


def all_plans() -> Iterator[tuple[str, Plan]]:
    """Every plan of the table of ways, alone and in rounds of two, and the offline ones."""
    for name, (group, to, clients, _) in WAYS.items():
        yield name, plan(group, to, *clients)
        yield f"{name}-by-2", plan(group, to, *clients, concurrency=2)
    for name, (group, to, cluster, _) in OFFLINE.items():
        yield f"offline-{name}", plan(group, to, cluster=cluster, offline=True)


PLANS = {name: made for name, made in all_plans() if made.steps}


@pytest.mark.parametrize("made", PLANS.values(), ids=PLANS.keys())
class TestEveryPlan:
    def test_says_everything_of_each_step(self, made: Plan) -> None:
        for number, step in enumerate(made.steps, 1):
            assert step.id
            assert step.title
            assert step.actions
            assert step.expect
            assert step.complete_when
            assert step.gate
            assert step.rollback
            assert step.dangers
            assert all(danger.what and danger.symptom and danger.then for danger in step.dangers)
            assert step.commands[0] == f'kohort gate PLAN.yaml --step {number} --wait -b "$BOOTSTRAP"'
            assert bool(step.round_command) == (len(step.rounds) > 1)
        assert made.path
        assert made.clients

    def test_can_be_written_and_read_back(self, made: Plan) -> None:
        assert plan_from_data(plan_to_data(made)) == made

    def test_leads_back_only_to_steps_that_are_there(self, made: Plan) -> None:
        ids = [step.id for step in made.steps]
        assert len(set(ids)) == len(ids)
        assert {stray.back_to for step in made.steps for stray in step.strays} <= set(ids)

    def test_begins_no_round_and_no_step_before_the_group_rests(self, made: Plan) -> None:
        for step in made.steps:
            resting = [one for one in step.gate if isinstance(one, StateIn)]
            assert len(resting) == 1, step.id
            assert (step.id == "stop-all") == (resting != [STABLE])
            if len(step.rounds) > 1:
                assert STABLE in step.between
                assert any(isinstance(one, MemberCount) for one in step.between)

    def test_takes_every_member_once_in_a_step(self, made: Plan) -> None:
        assert made.baseline is not None
        known = set(round_names(made.baseline.members).values())
        for step in made.steps:
            taken = list(chain.from_iterable(step.rounds))
            assert len(set(taken)) == len(taken)
            assert set(taken) <= known
            assert (step.round_action is None) == (not taken and step.id != "start-all")
            assert all(
                len(processes(members)) <= made.concurrency or step.round_action is not RoundAction.RESTART
                for members in step.rounds
            )
            if step.rollout and step.rounds:
                assert [len(some) for some in step.rollout.rounds] == [len(some) for some in step.rounds]


def processes(members: Sequence[str]) -> set[str]:
    """What restarts together: a member, and of Kafka Streams all threads of an instance."""
    return {re.sub(r"-StreamThread-\d+-consumer", "", name) for name in members}


def by_id(made: Plan) -> dict[str, Step]:
    """The steps of a plan."""
    return {step.id: step for step in made.steps}


PREFIX = "partition.assignment.strategy=org.apache.kafka.clients.consumer"
COOPERATIVE_CLASS = f"{PREFIX}.CooperativeStickyAssignor"


def test_two_bounces_put_the_new_assignor_first() -> None:
    first, second = plan(GROUP, COOPERATIVE).steps
    assert first.config == ("# java", f"{COOPERATIVE_CLASS},org.apache.kafka.clients.consumer.RangeAssignor")
    assert second.config == ("# java", COOPERATIVE_CLASS)
    assert ProtocolIs(protocol="cooperative-sticky") in first.gate
    assert not any(isinstance(one, ProtocolIs) for one in first.between)
    (stray,) = second.strays
    assert (stray.back_to, ProtocolIs(protocol="range") in stray.conditions) == ("first-bounce", True)
    group, to, clients, _ = WAYS["java-to-eager"]
    first, second = plan(group, to, *clients).steps
    assert first.config == (
        "# java",
        f"{PREFIX}.RangeAssignor,org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
    )
    assert second.config == ("# java", f"{PREFIX}.RangeAssignor")
    assert ProtocolIs(protocol="range") in first.gate


def test_between_the_bounces_the_second_one_is_left() -> None:
    group, to, clients, _ = WAYS["between-the-bounces"]
    (step,) = plan(group, to, *clients).steps
    assert step.config == ("# java", COOPERATIVE_CLASS)
    # What the group was on before: what it is on now is where the step leads.
    assert [ProtocolIs(protocol="range") in stray.conditions for stray in step.strays] == [True]
    assert "range" in step.rollback
    group, to, clients, _ = WAYS["between-the-bounces-back"]
    (step,) = plan(group, to, *clients).steps
    assert step.config == ("# java", f"{PREFIX}.RangeAssignor")
    assert ProtocolIs(protocol="range") in step.gate


def test_no_stray_is_where_a_gate_opens() -> None:
    for made in PLANS.values():
        for step in made.steps:
            wanted = {one.protocol for one in step.gate if isinstance(one, ProtocolIs)}
            for stray in step.strays:
                strayed = {one.protocol for one in stray.conditions if isinstance(one, ProtocolIs)}
                assert not wanted & strayed


def test_the_assignor_of_a_way_back_can_be_asked_for() -> None:
    group = WAYS["java-to-eager"][0]
    made = plan(group, EAGER, assignor="sticky")
    assert [ProtocolIs(protocol="sticky") in step.gate for step in made.steps] == [True, True]
    made = plan(NEWER, CLASSIC, assignor="cooperative-sticky")
    assert made.steps[-1].config[2] == COOPERATIVE_CLASS
    # Without being asked: what classic members of a mixed group list already.
    listed = replace(
        MIXED, members=(MIXED.members[0], replace(MIXED.members[1], protocols=("roundrobin", "range")))
    )
    assert ProtocolIs(protocol="roundrobin") in plan(listed, CLASSIC).steps[-1].gate


@pytest.mark.parametrize(
    ("client", "lines"),
    [
        ("librdkafka:2.15.0", ["partition.assignment.strategy=cooperative-sticky"]),
        ("franz-go:1.22.0", ["kgo.Balancers(kgo.CooperativeStickyBalancer(), kgo.RangeBalancer())"]),
        ("kafka-python:3.0.12", ["partition_assignment_strategy=[CooperativeStickyAssignor]"]),
    ],
)
def test_each_library_gets_its_own_words(client: str, lines: list[str]) -> None:
    step = next(step for step in plan(GROUP, COOPERATIVE, client).steps if step.config)
    assert step.config == (f"# {client.partition(':')[0]}", *lines)


@pytest.mark.parametrize(
    ("protocol", "assignor"),
    [("range", "range"), ("roundrobin", "uniform"), ("sticky", "uniform"), ("cooperative-sticky", "uniform")],
)
def test_the_nearest_broker_side_assignor(protocol: str, assignor: str) -> None:
    for step in plan(replace(GROUP, protocol=protocol), CONSUMER).steps:
        assert f"group.remote.assignor={assignor}" in step.config


def test_no_assignor_is_asked_for_that_the_brokers_lack() -> None:
    cluster = replace(NEW, settings={"group.consumer.assignors": "uniform"})
    for step in plan(GROUP, CONSUMER, cluster=cluster).steps:
        assert "# no group.remote.assignor: the brokers do not offer range" in step.config


@pytest.mark.parametrize(
    ("client", "line"),
    [
        ("kafkajs:2.2", "partitionAssigners: [PartitionAssigners.roundRobin]"),
        ("kafka-python:3.0.12", "partition_assignment_strategy=[RangePartitionAssignor]"),
    ],
)
def test_a_library_of_the_classic_protocol_alone_gets_lines_that_it_knows(client: str, line: str) -> None:
    made = plan(NEWER, CLASSIC, client)
    assert made.steps[-1].config == (f"# {client.partition(':')[0]}", line)
    assert ProtocolIs(protocol="RoundRobinAssigner" if "js" in client else "range") in made.steps[-1].gate


def test_members_go_back_to_an_assignor_that_all_of_them_have() -> None:
    first, second = MIXED.members
    other = replace(second, protocols=("sticky", "range"))
    for library, assignor in (("java", "sticky"), ("librdkafka", "range")):
        made = plan(replace(MIXED, members=(first, other)), CLASSIC, f"{first.id}={library}:99")
        assert ProtocolIs(protocol=assignor) in made.steps[-1].gate


def test_an_assignor_that_a_library_lacks_is_refused() -> None:
    made = plan(NEWER, CLASSIC, "librdkafka:2.16.0", assignor="sticky")
    assert [(found.rule, found.members) for found in made.findings if found.level is Level.BLOCKER] == [
        ("assignor-of-library", ("m1", "m2"))
    ]


def test_a_custom_assignor_is_what_the_way_to_an_eager_one_begins_with() -> None:
    first, second = plan(replace(GROUP, protocol="com.example.Weighted"), EAGER).steps
    assert "stays on com.example.Weighted" in first.expect
    assert "<the class of 'com.example.Weighted'>" in first.config[1]
    assert "on com.example.Weighted again" in second.strays[0].message


def test_franz_go_needs_a_first_balancer_that_the_broker_has_too() -> None:
    steps = plan(replace(GROUP, protocol="roundrobin"), CONSUMER, "franz-go:1.22.0").steps
    assert steps[0].config[-1] == "kgo.Balancers(kgo.CooperativeStickyBalancer())"


def test_a_change_of_code_is_asked_for_by_name() -> None:
    step = plan(GROUP, CONSUMER, "librdkafka:2.15.0").steps[0]
    assert "incremental_assign()" in step.actions[0]
    assert "# remove: group.protocol.type" in step.config
    assert any(
        "incremental_assign()" in one for one in plan(MIXED, CONSUMER, "librdkafka:2.15.0").steps[0].actions
    )
    # Cooperative members have incremental callbacks already.
    group = WAYS["librdkafka-cooperative-to-consumer"][0]
    assert not any(
        "incremental_assign()" in action for step in plan(group, CONSUMER).steps for action in step.actions
    )


def test_the_first_member_converts_alone() -> None:
    group = WAYS["librdkafka-to-consumer"][0]
    first, others = plan(group, CONSUMER, concurrency=5).steps
    assert first.rounds == (("m1",),)
    assert others.rounds == (("m2", "m3"),)
    assert Speaking(protocol=MemberProtocol.CONSUMER, at_least=1) in first.gate
    assert {TypeIs(type=GroupType.CONSUMER), Speaking(protocol=MemberProtocol.CONSUMER), Replaced()} <= set(
        others.gate
    )
    assert [stray.back_to for stray in others.strays] == ["first-member", "other-members"]


def test_the_bridge_is_gated_by_its_place_its_lead_and_the_user_data() -> None:
    group, to, clients, _ = WAYS["librdkafka-cooperative-to-consumer"]
    steps = by_id(plan(replace(group, leader="m2"), to, *clients))
    bridge = "kohort-bridge"
    assert {Present(client_id=bridge), Precedes(client_id=bridge), MemberCount(at_least=4)} <= set(
        steps["start-bridge"].gate
    )
    assert {Leads(client_id=bridge), NoUserData()} <= set(steps["bridge-leads"].gate)
    assert steps["bridge-leads"].rounds == (("m2",),)
    assert steps["bridge-leads"].config == ()
    # A member that was restarted for the bridge is not the first to convert the group.
    assert steps["first-member"].rounds == (("m1",),)
    # It leaves by itself.
    assert Absent(client_id=bridge) in steps["first-member"].gate
    assert steps["first-member"].rollout is not None
    assert steps["first-member"].rollout.leaving == (bridge,)
    assert steps["other-members"].rounds == (("m2",), ("m3",))
    assert steps["start-bridge"].shell == (
        'kohort bridge payments -b "$BOOTSTRAP"',
        'kohort bridge payments -b "$BOOTSTRAP" --execute --watch',
    )


def test_the_console_consumer_is_the_way_without_kohort_in_the_group() -> None:
    group, to, clients, _ = WAYS["librdkafka-cooperative-to-consumer"]
    (console,) = [each for each in plan(group, to, *clients).alternatives if "console consumer" in each.title]
    assert "--command-property partition.assignment.strategy=org.apache.kafka" in console.why_not
    assert "--command-property client.id=kohort-bridge" in console.why_not


def in_the_map(*ids: str, leader: str, static: str | None = None) -> Plan:
    """The plan of a group of librdkafka whose members are listed as the broker's map has them: of one letter each,
    whose bin of 16 is its code modulo 16."""
    group, to, clients, _ = WAYS["librdkafka-cooperative-to-consumer"]
    members = tuple(
        replace(
            group.members[0],
            id=each,
            client=replace(group.members[0].client, id=f"m{each}"),
            instance=each if each == static else None,
            owned={"orders": (number,)},
            user_data=UserData(assignment=b"d"),
        )
        for number, each in enumerate(ids)
    )
    return plan(replace(group, members=members, leader=leader), to, *clients)


def test_followers_that_no_bridge_comes_before_restart_first() -> None:
    steps = by_id(in_the_map("p", "0", "b", leader="b"))
    assert list(steps) == ["start-bridge", "make-way", "bridge-leads", "first-member", "other-members"]
    place = Precedes(client_id="kohort-bridge")
    assert steps["make-way"].rounds == (("m0",), ("mp",))
    assert [place in steps[name].gate for name in ("start-bridge", "make-way")] == [False, True]
    assert place not in steps["make-way"].between


def test_a_static_leader_stays_stopped_until_the_bridge_leads() -> None:
    steps = by_id(in_the_map("a", "b", leader="b", static="b"))
    lead, back = steps["bridge-leads"], steps["leader-back"]
    assert [lead.round_action, back.round_action] == [RoundAction.STOP, RoundAction.START]
    assert lead.rounds == back.rounds == (("b",),)
    assert {MemberCount(at_least=2), Leads(client_id="kohort-bridge")} <= set(lead.gate)
    assert {MemberCount(at_least=3), Leads(client_id="kohort-bridge")} <= set(back.gate)


def test_with_an_unknown_leader_members_restart_until_the_bridge_leads() -> None:
    group, to, clients, _ = WAYS["librdkafka-cooperative-to-consumer"]
    step = by_id(plan(group, to, *clients))["bridge-leads"]
    assert step.rounds == (("m1",), ("m2",), ("m3",))
    assert Precedes(client_id="kohort-bridge") in step.between


def test_a_bridge_that_stands_is_no_member_to_move() -> None:
    group, to, clients, _ = WAYS["librdkafka-cooperative-to-consumer"]
    bridge = replace(
        group.members[0],
        id="kohort-bridge-1",
        client=replace(group.members[0].client, id="kohort-bridge", library=None, version=None),
        owned={},
    )
    made = plan(replace(group, members=(*group.members, bridge)), to, *clients)
    assert all("kohort-bridge" not in name for step in made.steps for some in step.rounds for name in some)
    assert MemberCount(at_least=4) in made.steps[0].gate


def test_sarama_sheds_its_user_data_and_is_then_replaced() -> None:
    group, to, clients, _ = WAYS["sarama-sticky-to-consumer"]
    shed, first, _ = plan(group, to, *clients).steps
    assert shed.config[1].endswith("{sarama.NewBalanceStrategyRange(), sarama.NewBalanceStrategySticky()}")
    assert {ProtocolIs(protocol="range"), NoUserData()} <= set(shed.gate)
    assert first.config[0] == "# java"
    assert any("replace it" in action for action in first.actions)
    # From range, not from the sticky that it was.
    assert "group.remote.assignor=range" in first.config


def test_the_last_member_of_the_consumer_protocol_goes_alone() -> None:
    before, last = plan(_of(4, NEWER), CLASSIC, concurrency=10).steps
    assert (before.rounds, last.rounds) == ((("m1", "m2", "m3"),), (("m4",),))
    assert {TypeIs(type=GroupType.CONSUMER), Speaking(protocol=MemberProtocol.CLASSIC, at_least=3)} <= set(
        before.gate
    )
    assert {TypeIs(type=GroupType.CLASSIC), ProtocolIs(protocol="range")} <= set(last.gate)
    assert last.config[:3] == ("# java", "group.protocol=classic", f"{PREFIX}.RangeAssignor")


def test_static_members_are_declared_apart_and_stopped_first() -> None:
    static = replace(GROUP, members=tuple(replace(one, instance=f"s-{one.id}") for one in GROUP.members))
    for to in (COOPERATIVE, CONSUMER):
        for step in plan(static, to).steps:
            assert step.actions[-2 if step.round_command else -1].startswith("Stop")
            assert any(
                "Never start a static member before its predecessor has exited: s-m1" in one
                for one in step.actions
            )
            assert any("FENCED_INSTANCE_ID" in danger.symptom for danger in step.dangers)
    assert plan(static, COOPERATIVE).steps[0].rounds == (("s-m1",), ("s-m2",))
    assert "causes no rebalance" in plan(static, COOPERATIVE).steps[0].expect
    assert "causes no rebalance" not in plan(GROUP, COOPERATIVE).steps[0].expect
    stop = plan(static, COOPERATIVE, offline=True).steps[0]
    assert any("until its session expires" in action for action in stop.actions)


def test_a_regex_may_lose_its_owner_in_the_rollback() -> None:
    wanting = Subscription(regex="^orders.*")
    group = replace(NEWER, members=tuple(replace(one, subscription=wanting) for one in NEWER.members))
    for step in plan(group, CLASSIC).steps:
        assert any("20926" in danger.what for danger in step.dangers)
    assert not any("20926" in danger.what for step in plan(NEWER, CLASSIC).steps for danger in step.dangers)


def test_members_that_share_a_client_id_are_called_by_their_hosts() -> None:
    members = tuple(
        replace(one, client=replace(one.client, id="consumer-payments-1", host=f"/10.0.0.{n}"))
        for n, one in enumerate(GROUP.members)
    )
    rounds = (("consumer-payments-1@10.0.0.0",), ("consumer-payments-1@10.0.0.1",))
    assert [step.rounds for step in plan(replace(GROUP, members=members), COOPERATIVE).steps] == [
        rounds,
        rounds,
    ]


def test_members_that_share_a_client_id_and_a_host_are_called_by_their_ids() -> None:
    members = tuple(replace(one, client=replace(one.client, id="rdkafka")) for one in GROUP.members)
    named = replace(
        GROUP,
        members=(*members, replace(GROUP.members[0], id="m3", client=replace(members[0].client, id="own"))),
    )
    assert plan(named, COOPERATIVE).steps[0].rounds == (("m1",), ("m2",), ("own",))


def test_the_commands_name_the_cluster_that_the_plan_was_made_from() -> None:
    connection = ClusterOptions(bootstrap_server="broker:9092", command_config="/etc/my client.properties")
    made = plan(GROUP, COOPERATIVE, connection=connection)
    step = made.steps[0]
    source = "-b broker:9092 --command-config '/etc/my client.properties'"
    assert step.commands[0] == f"kohort gate PLAN.yaml --step 1 --wait {source}"
    assert step.round_command == f'kohort gate PLAN.yaml --step 1 --round "$K" --wait {source}'


@pytest.mark.parametrize(
    ("group", "name"),
    [
        ("payments", "payments"),
        ("a b", "'a b'"),
        ("a'; rm -rf ~ #", """'a'"'"'; rm -rf ~ #'"""),
        ("$(id)", "'$(id)'"),
        ("a|b*", "'a|b*'"),
    ],
)
def test_commands_can_be_pasted(group: str, name: str) -> None:
    made = plan(replace(GROUP, id=group), COOPERATIVE)
    assert made.steps[0].commands[1] == f'kohort describe {name} --migration -b "$BOOTSTRAP"'
    bridged = replace(WAYS["librdkafka-cooperative-to-consumer"][0], id=group)
    made = plan(bridged, CONSUMER)
    assert made.steps[0].shell[0] == f'kohort bridge {name} -b "$BOOTSTRAP"'
    assert f" --group {name} " in made.alternatives[0].why_not


def test_an_id_may_look_like_an_option() -> None:
    step = plan(replace(GROUP, id="-b"), COOPERATIVE).steps[0]
    assert step.commands[1] == 'kohort describe --migration -b "$BOOTSTRAP" -- -b'


def test_a_group_without_members_names_none() -> None:
    (step,) = plan(EMPTY, Destination.CONSUMER, "java:4.1.0").steps
    assert (step.rounds, step.round_action, step.expectation) == ((), RoundAction.START, None)
    assert MemberCount(at_least=1) in step.gate
    # No member knows which assignor its members had.
    assert not any(line.startswith("group.remote.assignor=") for line in step.config)


def test_gates_ask_for_every_member_of_the_group() -> None:
    sizes = {
        one.at_least
        for size in (2, 7)
        for step in plan(_of(size, GROUP), COOPERATIVE).steps
        for one in step.gate
        if isinstance(one, MemberCount)
    }
    assert sizes == {2, 7}


def _of(size: int, group: Group) -> Group:
    """The group with this many members like its first: m1, m2, …"""
    first = group.members[0]
    names = [f"m{number}" for number in range(1, size + 1)]
    members = tuple(replace(first, id=name, client=replace(first.client, id=name)) for name in names)
    return replace(group, members=members)


def test_an_old_java_gets_the_new_client_and_the_list_in_one_bounce() -> None:
    """KIP-429, Upgrade Path: replace the byte code and introduce the cooperative assignor."""
    made = plan(GROUP, COOPERATIVE, "java:2.3.1")
    assert made.path == "two bounces"
    first, second = made.steps
    assert "newer client (java 2.4 or later) and the list below in the same restart" in first.actions[0]
    assert first.actions[0].startswith("Start the members ")
    assert any("ClassNotFoundException" in danger.symptom for danger in first.dangers)
    assert not any("newer client" in action for action in second.actions)
    assert any("separate rolling restart" in each.title for each in made.alternatives)
    assert "newer client" not in "".join(plan(GROUP, COOPERATIVE, "java:2.4").steps[0].actions)
    one = plan(GROUP, COOPERATIVE, "m1=java:2.3.1").steps[0]
    assert one.actions[0].startswith("Start m1 with a newer client")
    (_, start) = plan(GROUP, COOPERATIVE, "java:2.3.1", offline=True).steps
    assert "newer client" in start.actions[0]


def test_in_the_rollback_an_old_client_may_come_in_the_second_bounce() -> None:
    made = plan(replace(GROUP, protocol="cooperative-sticky"), EAGER, "java:3.9")
    first, second = made.steps
    line = "without cooperative-sticky (java before 2.4) only from this step on."
    assert not any(line in action for action in first.actions)
    assert any(line in action for action in second.actions)


def test_streams_goes_by_upgrade_from() -> None:
    """KIP-429, Upgrade Path: Streams: set to the old release in the first bounce, removed in the second."""
    first, second = plan(STREAMS, COOPERATIVE, "java:2.0.1").steps
    assert first.config == ("# Kafka Streams", "upgrade.from=2.0")
    assert second.config == ("# Kafka Streams", "# remove: upgrade.from")
    assert first.rounds == tuple(
        tuple(f"app-{instance}-StreamThread-{thread}-consumer" for thread in (1, 2)) for instance in (1, 2)
    )
    assert all(
        "partition.assignment.strategy" not in line for step in (first, second) for line in step.config
    )
    unknown, _ = plan(STREAMS, COOPERATIVE).steps
    assert unknown.config[1] == "upgrade.from=2.3"
    (back,) = plan(STREAMS, EAGER, "java:3.9.1").steps
    assert back.config[1] == "upgrade.from=2.3"
    _, start = plan(STREAMS, COOPERATIVE, "java:2.3.1", offline=True).steps
    assert (start.id, start.config[1]) == ("start-all", "# remove: upgrade.from")
    (empty,) = plan(replace(STREAMS, state=GroupState.EMPTY, members=()), COOPERATIVE, "java:2.3").steps
    assert (empty.id, empty.rounds) == ("start-all", ())


@pytest.mark.kafka
def test_streams_of_4_3_has_no_eager_rebalancing(broker: Broker, members: Members) -> None:
    """What the plans say of 4.0 and later: the ConfigException, and a group that shows as `stream`."""
    topic = fresh_topic(broker, 2)
    refused = members.streams(
        broker, fresh_name("app"), [topic], group_protocol="classic", upgrade_from="2.3"
    )
    assert "Invalid value 2.3 for configuration upgrade.from" in (refused.wait_event("error").reason or "")
    group = fresh_name("app")
    members.streams(broker, group, [topic], group_protocol="classic")
    wait_group(broker, group, members=1)
    with live_source(broker) as source:
        (found,) = source.describe([group], offsets=False).items
    assert found.protocol == "stream"
    assert [step.id for step in plan(found, COOPERATIVE).steps] == ["first-bounce", "second-bounce"]
    assert not plan(found, COOPERATIVE, "java:4.3.1").findings
